package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"revarch/fault"
	"revarch/models"
)

// SyncCursors lists how far each object of a provider has been read.
func (tx *Tx) SyncCursors(provider models.Provider) ([]models.SyncCursor, error) {
	out := []models.SyncCursor{}
	err := tx.db.Where("org_id = ? AND provider = ?", tx.org, provider).Order("object").Find(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list cursors: %w", err)
	}
	return out, nil
}

// BeginFull starts a full enumeration of an object for a run, or goes on with the one the run has started already.
func (tx *Tx) BeginFull(provider models.Provider, object string, run uuid.UUID, now time.Time) (models.SyncCursor, error) {
	var cur models.SyncCursor
	if err := tx.db.Where("org_id = ? AND provider = ? AND object = ?", tx.org, provider, object).Limit(1).Find(&cur).Error; err != nil {
		return cur, fmt.Errorf("read cursor: %w", err)
	}
	if cur.FullRunID != nil && *cur.FullRunID == run {
		return cur, nil
	}
	if cur.FullRunID != nil {
		if err := tx.ClearSeen(*cur.FullRunID, object); err != nil { // the enumeration that this one replaces
			return cur, err
		}
	}
	var stored bool
	err := tx.db.Raw("SELECT EXISTS (SELECT 1 FROM raw_records WHERE org_id = ? AND provider = ? AND object = ?)", tx.org, provider, object).
		Scan(&stored).Error
	if err != nil {
		return cur, fmt.Errorf("look for stored records: %w", err)
	}
	cur = models.SyncCursor{
		OrgID: tx.org, Provider: provider, Object: object, FullRunID: &run, TrackSeen: stored,
		CompletedAt: cur.CompletedAt, DeletionsSince: cur.DeletionsSince, UpdatedAt: now,
	}
	err = tx.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "org_id"}, {Name: "provider"}, {Name: "object"}}, UpdateAll: true}).
		Create(&cur).Error
	if err != nil {
		return cur, fmt.Errorf("begin full enumeration: %w", err)
	}
	return cur, nil
}

// FinishFull ends the run's full enumeration of an object and forgets the ids it met. Ending it twice is harmless.
func (tx *Tx) FinishFull(provider models.Provider, object string, run uuid.UUID, now time.Time) error {
	err := tx.db.Exec(`UPDATE sync_cursors SET full_run_id = NULL, full_done = false, track_seen = false, updated_at = ?
		WHERE org_id = ? AND provider = ? AND object = ? AND full_run_id = ?`, now, tx.org, provider, object, run).Error
	if err != nil {
		return fmt.Errorf("finish full enumeration: %w", err)
	}
	return tx.ClearSeen(run, object)
}

// FullState returns the cursor of an object while the run's full enumeration of it is in progress, a Conflict otherwise.
func (tx *Tx) FullState(provider models.Provider, object string, run uuid.UUID) (models.SyncCursor, error) {
	var cur models.SyncCursor
	err := tx.db.Where("org_id = ? AND provider = ? AND object = ? AND full_run_id = ?", tx.org, provider, object, run).Take(&cur).Error
	if err = notFound(err, ""); fault.Is(err, fault.NotFound) {
		return cur, fault.New(fault.Conflict, "no full enumeration of %s by this run is in progress", object)
	}
	return cur, err
}

// CursorStep is a committed step of a cursor.
type CursorStep struct {
	Provider  models.Provider
	Object    string
	Cursor    string
	Records   int64
	Full      bool // part of a full enumeration
	Done      bool // the stream is at its end for now
	Now       time.Time
	Seen      []string // ids to note while an enumeration tracks them
	SeenByRun uuid.UUID
}

// StepCursor moves a cursor on, in the transaction that stores its page.
func (tx *Tx) StepCursor(ctx context.Context, s CursorStep) error {
	b, org := &pgx.Batch{}, tx.orgArg()
	var completed *time.Time
	if s.Done {
		completed = &s.Now
	}
	b.Queue(`INSERT INTO sync_cursors (org_id, provider, object, cursor, pulled, completed_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org_id, provider, object) DO UPDATE SET cursor = $4, pulled = sync_cursors.pulled + $5,
		completed_at = COALESCE($6, sync_cursors.completed_at), updated_at = $7,
		full_done = sync_cursors.full_done OR ($8 AND $6 IS NOT NULL AND sync_cursors.full_run_id IS NOT NULL)`,
		org, string(s.Provider), s.Object, s.Cursor, s.Records, completed, s.Now, s.Full)
	if s.Full && len(s.Seen) > 0 {
		b.Queue(`INSERT INTO sync_seen (org_id, run_id, object, external_id) SELECT $1, $2, $3, x FROM unnest($4::text[]) x
			WHERE EXISTS (SELECT 1 FROM sync_cursors c WHERE c.org_id = $1 AND c.provider = $5 AND c.object = $3 AND c.full_run_id = $2 AND c.track_seen)
			ON CONFLICT DO NOTHING`, org, [16]byte(s.SeenByRun), s.Object, s.Seen, string(s.Provider))
	}
	return tx.run(ctx, "step cursor", b)
}

// SetDeletionsSince notes from which moment the next run asks for deletions.
func (tx *Tx) SetDeletionsSince(provider models.Provider, object string, since, now time.Time) error {
	err := tx.db.Exec(`INSERT INTO sync_cursors (org_id, provider, object, deletions_since, updated_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (org_id, provider, object) DO UPDATE SET deletions_since = excluded.deletions_since, updated_at = excluded.updated_at`,
		tx.org, provider, object, since, now).Error
	if err != nil {
		return fmt.Errorf("note deletions: %w", err)
	}
	return nil
}

// ClearSeen forgets the ids that a run's enumeration of an object met.
func (tx *Tx) ClearSeen(run uuid.UUID, object string) error {
	if err := tx.db.Exec("DELETE FROM sync_seen WHERE org_id = ? AND run_id = ? AND object = ?", tx.org, run, object).Error; err != nil {
		return fmt.Errorf("clear seen ids: %w", err)
	}
	return nil
}

// CountUnseen returns how many live records of an object are stored and how many of them the run's enumeration has not met.
func (tx *Tx) CountUnseen(ref ObjectRef, run uuid.UUID) (live, unseen int64, err error) {
	err = tx.db.Raw(`SELECT count(*), count(*) FILTER (WHERE s.external_id IS NULL) FROM raw_records r
		LEFT JOIN sync_seen s ON s.org_id = r.org_id AND s.run_id = ? AND s.object = r.object AND s.external_id = r.external_id
		WHERE r.org_id = ? AND r.provider = ? AND r.object = ? AND r.deleted_at IS NULL`, run, tx.org, ref.Provider, ref.Object).
		Row().Scan(&live, &unseen)
	if err != nil {
		return 0, 0, fmt.Errorf("count unseen records: %w", err)
	}
	return live, unseen, nil
}

// Unseen lists up to limit live records after one, by external id, that the run's enumeration has not met.
func (tx *Tx) Unseen(ref ObjectRef, run uuid.UUID, after string, limit int) ([]Deletion, error) {
	var out []Deletion
	err := tx.db.Raw(`SELECT u.external_id, COALESCE(l.merged_from, l.record_id) AS record_id FROM (
			SELECT r.external_id FROM raw_records r WHERE r.org_id = ? AND r.provider = ? AND r.object = ? AND r.external_id > ?
			AND r.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM sync_seen s WHERE s.org_id = r.org_id AND s.run_id = ?
			AND s.object = r.object AND s.external_id = r.external_id) ORDER BY r.external_id LIMIT ?) u
		LEFT JOIN record_links l ON l.org_id = ? AND l.provider = ? AND l.object = ? AND l.external_id = u.external_id ORDER BY 1`,
		tx.org, ref.Provider, ref.Object, after, run, limit, tx.org, ref.Provider, ref.Object).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list unseen records: %w", err)
	}
	return out, nil
}
