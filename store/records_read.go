package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"revarch/models"
)

// StoredRaw is a stored payload with what is known of its record.
type StoredRaw struct {
	ExternalID string
	Payload    []byte
	StoredRecord
}

// RawAfter lists up to limit stored records of an object by external id, after one; deleted ones too.
func (tx *Tx) RawAfter(ctx context.Context, ref ObjectRef, after string, limit int) ([]StoredRaw, error) {
	var out []StoredRaw
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT r.external_id, r.payload::text, r.content_hash, r.source_updated_at, r.deleted_at IS NOT NULL,
			COALESCE(r.merged_into, ''), COALESCE(l.merged_from, l.record_id), l.merged_from IS NOT NULL
			FROM raw_records r LEFT JOIN record_links l USING (org_id, provider, object, external_id)
			WHERE r.org_id = $1 AND r.provider = $2 AND r.object = $3 AND r.external_id > $4 ORDER BY r.external_id LIMIT $5`,
			tx.orgArg(), string(ref.Provider), ref.Object, after, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var (
				r    StoredRaw
				text string
				at   *time.Time
				rec  *[16]byte
			)
			if err := rows.Scan(&r.ExternalID, &text, &r.Hash, &at, &r.Deleted, &r.MergedInto, &rec, &r.Merged); err != nil {
				return err
			}
			r.Payload = []byte(text)
			if at != nil {
				r.UpdatedAt = *at
			}
			if rec != nil {
				r.RecordID = *rec
			}
			out = append(out, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list raw records: %w", err)
	}
	return out, nil
}

// AddFailures notes records that a run could not take; the same record fails once per run.
func (tx *Tx) AddFailures(ctx context.Context, failures []models.RunFailure) error {
	if len(failures) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	for _, f := range failures {
		b.Queue(`INSERT INTO run_failures (org_id, run_id, object, external_id, code, message, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (org_id, run_id, object, external_id) DO UPDATE SET code = excluded.code, message = excluded.message`,
			tx.orgArg(), [16]byte(f.RunID), f.Object, f.ExternalID, f.Code, f.Message, f.At)
	}
	return tx.run(ctx, "note failures", b)
}
