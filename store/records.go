package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"revarch/fault"
	"revarch/models"
)

// ObjectRef names one object of one provider and the canonical record it becomes.
type ObjectRef struct {
	Provider models.Provider
	Object   string
	Record   models.RecordType
}

// StoredRecord is what is known of a provider's record.
type StoredRecord struct {
	Hash       []byte
	UpdatedAt  time.Time // at the source; zero when unknown
	Deleted    bool
	MergedInto string
	RecordID   uuid.UUID // the canonical record made from it, Nil if none
	Merged     bool      // its link stands for another record since a merge
}

// pgx runs fn on the transaction's own connection, for what gorm has no words for: COPY, batches and arrays.
func (tx *Tx) pgx(fn func(*pgx.Conn) error) error {
	return tx.conn.Raw(func(dc any) error {
		c, ok := dc.(*stdlib.Conn)
		if !ok {
			return fault.New(fault.Internal, "the connection is not a pgx connection")
		}
		return fn(c.Conn())
	})
}

// run sends a batch in one round trip.
func (tx *Tx) run(ctx context.Context, doing string, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if err := tx.pgx(func(c *pgx.Conn) error { return c.SendBatch(ctx, b).Close() }); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (tx *Tx) orgArg() [16]byte { return tx.org }

// LockObject makes the transaction the only one that stores records of the object until it ends, and pins the plans of
// its statements to index probes: a stage has no statistics, a page must not read a whole table, and a plan that was made
// while the tables were empty must not be kept.
func (tx *Tx) LockObject(ctx context.Context, ref ObjectRef) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
		set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true), set_config('jit', 'off', true),
		set_config('plan_cache_mode', 'force_custom_plan', true)`)
	b.Queue("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "records/"+tx.org.String()+"/"+string(ref.Provider)+"/"+ref.Object)
	return tx.run(ctx, "lock object", b)
}

// FindRecords returns what is stored under the external ids; ids that are not known are missing.
func (tx *Tx) FindRecords(ctx context.Context, ref ObjectRef, externalIDs []string) (map[string]StoredRecord, error) {
	out := make(map[string]StoredRecord, len(externalIDs))
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT x.id, r.content_hash, r.source_updated_at, r.deleted_at IS NOT NULL, COALESCE(r.merged_into, ''),
			COALESCE(l.merged_from, l.record_id), l.merged_from IS NOT NULL
			FROM unnest($4::text[]) AS x (id)
			LEFT JOIN raw_records r ON r.org_id = $1 AND r.provider = $2 AND r.object = $3 AND r.external_id = x.id
			LEFT JOIN record_links l ON l.org_id = $1 AND l.provider = $2 AND l.object = $3 AND l.external_id = r.external_id`,
			tx.orgArg(), string(ref.Provider), ref.Object, externalIDs)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var (
				id  string
				at  *time.Time
				rec *[16]byte
				s   StoredRecord
			)
			if err := rows.Scan(&id, &s.Hash, &at, &s.Deleted, &s.MergedInto, &rec, &s.Merged); err != nil {
				return err
			}
			if s.Hash == nil { // outer joins fix the order: ids first, then one probe each
				continue
			}
			if at != nil {
				s.UpdatedAt = *at
			}
			if rec != nil {
				s.RecordID = *rec
			}
			out[id] = s
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("find records: %w", err)
	}
	return out, nil
}

// FindLinks returns the canonical records that external ids of an object stand for now, winners of merges included.
func (tx *Tx) FindLinks(ctx context.Context, provider models.Provider, object string, externalIDs []string) (map[string]uuid.UUID, error) {
	out := make(map[string]uuid.UUID, len(externalIDs))
	if len(externalIDs) == 0 || object == "" {
		return out, nil
	}
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT x.id, l.record_id FROM unnest($4::text[]) AS x (id)
			LEFT JOIN record_links l ON l.org_id = $1 AND l.provider = $2 AND l.object = $3 AND l.external_id = x.id`,
			tx.orgArg(), string(provider), object, externalIDs)
		if err != nil {
			return err
		}
		var (
			id  string
			rec *[16]byte
		)
		_, err = pgx.ForEachRow(rows, []any{&id, &rec}, func() error {
			if rec != nil {
				out[id] = *rec
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find links: %w", err)
	}
	return out, nil
}

// Touch says that a record is newer at the source and otherwise the same.
type Touch struct {
	ExternalID string
	At         time.Time
}

// TouchRecords notes how new records are, so that older news of them is known to be old.
func (tx *Tx) TouchRecords(ctx context.Context, ref ObjectRef, touches []Touch) error {
	b := &pgx.Batch{}
	for _, t := range touches {
		b.Queue(`UPDATE raw_records SET source_updated_at = $5 WHERE org_id = $1 AND external_id = $4 AND object = $3 AND provider = $2`,
			tx.orgArg(), string(ref.Provider), ref.Object, t.ExternalID, t.At)
	}
	return tx.run(ctx, "touch records", b)
}

// Merge says how staged rows become stored ones.
type Merge struct {
	ObjectRef
	MappingID int32
	SourceRef string // what facts say they come from
	Now       time.Time
	RawKept   bool // a remap: payloads stay as they are
}

// MergeRecords stores rows: raw records, canonical records, links, the facts that changed and the account's revenue
// line, each by one statement from a staging table. It returns how many existing canonical rows changed.
func (tx *Tx) MergeRecords(ctx context.Context, m Merge, rows []StageRow) (int64, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	t := tableOf(m.Record)
	if _, err := tx.CopyStaged(ctx, t.stage, t.ddl, t.copied, &stageSource{rows: rows, links: len(t.links), width: len(t.copied)}); err != nil {
		return 0, err
	}
	var rawNew, rawOld, recNew, recOld bool
	for i := range rows {
		r := &rows[i]
		rawNew, rawOld = rawNew || r.RawNew, rawOld || !r.RawNew
		recNew, recOld = recNew || r.Mapped && r.RecordNew, recOld || r.Mapped && !r.RecordNew
	}
	org, provider, b := tx.orgArg(), string(m.Provider), &pgx.Batch{}
	if rawNew && !m.RawKept {
		b.Queue(`INSERT INTO raw_records (org_id, provider, object, external_id, payload, source_updated_at, content_hash, received_at)
			SELECT $1, $2, $3, s.external_id, s.payload, s.source_updated_at, s.content_hash, $4 FROM `+t.stage+" s WHERE s.raw_new",
			org, provider, m.Object, m.Now)
	}
	if rawOld && m.RawKept {
		for i := range rows {
			if len(rows[i].Hash) == 0 {
				b.Queue(`UPDATE raw_records SET content_hash = '' WHERE org_id = $1 AND external_id = $4 AND object = $3 AND provider = $2
					AND content_hash <> ''`, org, provider, m.Object, rows[i].ExternalID)
			}
		}
	} else if rawOld { // ON CONFLICT and not UPDATE: it probes the key whatever the planner thinks of the stage
		b.Queue(`INSERT INTO raw_records (org_id, provider, object, external_id, payload, source_updated_at, content_hash, received_at)
			SELECT $1, $2, $3, s.external_id, s.payload, s.source_updated_at, s.content_hash, $4 FROM `+t.stage+` s WHERE NOT s.raw_new
			ON CONFLICT (org_id, external_id, object, provider) DO UPDATE SET payload = excluded.payload,
			source_updated_at = excluded.source_updated_at, content_hash = excluded.content_hash, deleted_at = NULL, merged_into = NULL,
			received_at = excluded.received_at`, org, provider, m.Object, m.Now)
	}
	var changed int64
	queueCanonical(b, t, m, org, recNew, recOld, &changed)
	return changed, tx.run(ctx, "merge records", b)
}

// queueCanonical merges what is staged into the canonical table and what is derived from it: links, facts, revenue.
func queueCanonical(b *pgx.Batch, t *table, m Merge, org [16]byte, recNew, recOld bool, changed *int64) {
	provider, accounts := string(m.Provider), m.Record == models.RecordAccount
	if m.Record == models.RecordProduct {
		b.Queue(pricesOfStaged, org)
	}
	if recNew {
		b.Queue("SELECT set_config('plan_cache_mode', 'auto', true)") // a plan per check of a foreign key would double the time
		b.Queue(t.insert, org, provider, m.MappingID, m.Now)
		b.Queue(`INSERT INTO record_links (org_id, provider, object, external_id, record_type, record_id)
			SELECT $1, $2, $3, s.external_id, $4, s.record_id FROM `+t.stage+" s WHERE s.mapped AND s.record_new",
			org, provider, m.Object, string(m.Record))
		if accounts {
			b.Queue(factsOfNew, org, m.Now, m.SourceRef)
		}
	}
	if recOld {
		b.Queue("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")
		if accounts {
			b.Queue(factsOfChanged, org, m.Now, m.SourceRef) // before the update: it compares with what is stored
		}
		b.Queue(t.update, org, m.MappingID, m.Now, !m.RawKept).Exec(func(tag pgconn.CommandTag) error {
			*changed = tag.RowsAffected()
			return nil
		})
	}
	if accounts {
		queueAccountTotals(b, org, provider, m.Now, recOld)
	}
	if m.Record == models.RecordAccountProduct {
		b.Queue(stagedLinesOver, org)
		b.Queue(stagedLines, org, m.Now)
	}
}

// queueAccountTotals turns the revenue that the CRM states for an account into its one line; the line has the account's id.
func queueAccountTotals(b *pgx.Batch, org [16]byte, provider string, now time.Time, existing bool) {
	const insert = `INSERT INTO subscription_lines (org_id, id, account_id, source, provider, external_id, arr_cents, created_at, updated_at)
		SELECT $1, s.record_id, s.record_id, 'account_total', $2, s.external_id, s.arr_cents, $3, $3 FROM stage_accounts s
		WHERE s.mapped AND s.arr_cents IS NOT NULL`
	if !existing {
		b.Queue(insert, org, provider, now)
		return
	}
	b.Queue(`DELETE FROM subscription_lines l USING stage_accounts s, accounts a WHERE l.org_id = $1 AND l.id = s.record_id AND s.mapped
		AND a.org_id = $1 AND a.id = s.record_id AND (s.arr_cents IS NULL OR a.deleted_at IS NOT NULL)`, org)
	b.Queue(insert+` AND EXISTS (SELECT 1 FROM accounts a WHERE a.org_id = $1 AND a.id = s.record_id AND a.deleted_at IS NULL)
		ON CONFLICT (org_id, id) DO UPDATE SET arr_cents = excluded.arr_cents, updated_at = excluded.updated_at
		WHERE subscription_lines.arr_cents <> excluded.arr_cents`, org, provider, now)
}
