package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"revarch/fault"
	"revarch/models"
)

// InsertRun writes a new run; inserted is false when a live run of the same kind and subject exists already.
func (tx *Tx) InsertRun(r *models.Run) (inserted bool, err error) {
	r.OrgID = tx.org
	res := tx.db.Clauses(clause.OnConflict{
		Columns:     []clause.Column{{Name: "org_id"}, {Name: "kind"}, {Name: "subject"}},
		TargetWhere: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "status IN ('queued', 'running')"}}},
		DoNothing:   true,
	}).Create(r)
	if res.Error != nil {
		return false, fmt.Errorf("insert run: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// Run loads a run. Faults: NotFound.
func (tx *Tx) Run(id uuid.UUID) (models.Run, error) {
	var r models.Run
	err := tx.db.Where("org_id = ? AND id = ?", tx.org, id).Take(&r).Error
	return r, notFound(err, "no run %s", id)
}

// LiveRun loads the live run of a kind and subject; ok is false when there is none.
func (tx *Tx) LiveRun(kind, subject string) (r models.Run, ok bool, err error) {
	res := tx.db.Where("org_id = ? AND kind = ? AND subject = ? AND status IN ('queued', 'running')", tx.org, kind, subject).
		Limit(1).Find(&r)
	if res.Error != nil {
		return r, false, fmt.Errorf("look for a live run: %w", res.Error)
	}
	return r, res.RowsAffected == 1, nil
}

// LiveRuns lists the runs that have not ended and were written before a moment, oldest first.
func (tx *Tx) LiveRuns(before time.Time) ([]models.Run, error) {
	var out []models.Run
	err := tx.db.Where("org_id = ? AND status IN ('queued', 'running') AND created_at < ?", tx.org, before).
		Order("created_at, id").Find(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list live runs: %w", err)
	}
	return out, nil
}

// RunFilter selects runs; zero fields select everything. A page starts after (BeforeCreated, BeforeID).
type RunFilter struct {
	Kind, Subject string
	Status        []models.RunStatus
	Since         time.Time
	BeforeCreated time.Time
	BeforeID      uuid.UUID
	Limit         int
}

// Runs lists runs, newest first.
func (tx *Tx) Runs(f RunFilter) ([]models.Run, error) {
	q := tx.db.Where("org_id = ?", tx.org)
	if f.Kind != "" {
		q = q.Where("kind = ?", f.Kind)
	}
	if f.Subject != "" {
		q = q.Where("subject = ?", f.Subject)
	}
	if len(f.Status) > 0 {
		q = q.Where("status IN ?", f.Status)
	}
	if !f.Since.IsZero() {
		q = q.Where("created_at >= ?", f.Since)
	}
	if !f.BeforeCreated.IsZero() {
		q = q.Where("(created_at, id) < (?, ?)", f.BeforeCreated, f.BeforeID)
	}
	var out []models.Run
	if err := q.Order("created_at DESC, id DESC").Limit(f.Limit).Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return out, nil
}

// RunProgress changes a live run. Nil and zero fields leave what is there, but a total of another unit; Counts and Warnings with the same code are
// replaced, others kept.
type RunProgress struct {
	Phase    string
	Done     *int64
	Total    *int64
	Unit     string
	Counts   map[string]int64
	Warnings []models.RunWarning
	Running  bool // mark a queued run as running
}

// UpdateRun writes progress into a run that has not ended; ok is false when it has.
func (tx *Tx) UpdateRun(id uuid.UUID, p RunProgress, now time.Time) (ok bool, err error) {
	set := map[string]any{"updated_at": now}
	if p.Phase != "" {
		set["phase"] = p.Phase
	}
	if p.Done != nil {
		set["progress_done"] = *p.Done
	}
	if p.Unit != "" {
		set["progress_unit"] = p.Unit
		set["progress_total"] = clause.Expr{SQL: "CASE WHEN progress_unit = ? THEN progress_total END", Vars: []any{p.Unit}}
	}
	if p.Total != nil {
		set["progress_total"] = *p.Total
	}
	if p.Running {
		set["status"] = models.RunRunning
		set["started_at"] = clause.Expr{SQL: "COALESCE(started_at, ?)", Vars: []any{now}}
	}
	if len(p.Counts) > 0 {
		raw, err := json.Marshal(p.Counts)
		if err != nil {
			return false, fmt.Errorf("encode counts: %w", err)
		}
		set["counts"] = clause.Expr{SQL: "counts || ?::jsonb", Vars: []any{string(raw)}}
	}
	if len(p.Warnings) > 0 {
		raw, err := json.Marshal(p.Warnings)
		if err != nil {
			return false, fmt.Errorf("encode warnings: %w", err)
		}
		set["warnings"] = clause.Expr{SQL: warningsMerged, Vars: []any{string(raw), string(raw)}}
	}
	res := tx.db.Model(&models.Run{}).
		Where("org_id = ? AND id = ? AND status IN ('queued', 'running')", tx.org, id).Updates(set)
	if res.Error != nil {
		return false, fmt.Errorf("update run: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// warningsMerged replaces warnings of the same code and message and keeps at most a hundred.
const warningsMerged = `(SELECT COALESCE(jsonb_agg(w), '[]') FROM (
  SELECT w FROM jsonb_array_elements(CASE jsonb_typeof(warnings) WHEN 'array' THEN warnings ELSE '[]' END) w
    WHERE NOT EXISTS (SELECT 1 FROM jsonb_array_elements(?::jsonb) n WHERE n->>'code' = w->>'code' AND n->>'message' = w->>'message')
  UNION ALL SELECT n FROM jsonb_array_elements(?::jsonb) n LIMIT 100) merged)`

// RunAddition is what a piece of work adds to its run: numbers to its counts, warnings to those of the same code and
// message, and Done to its progress.
type RunAddition struct {
	Counts   map[string]int64
	Warnings []models.RunWarning
	Done     int64
}

// AddToRun adds to a run that has not ended. Call it last in the transaction that stores what is counted: the two then
// never disagree, and the run's row is locked briefly.
func (tx *Tx) AddToRun(id uuid.UUID, a RunAddition, now time.Time) error {
	if len(a.Counts) == 0 && len(a.Warnings) == 0 && a.Done == 0 {
		return nil
	}
	counts, err := json.Marshal(a.Counts)
	if err != nil {
		return fmt.Errorf("encode counts: %w", err)
	}
	warnings := []byte("[]")
	if len(a.Warnings) > 0 {
		if warnings, err = json.Marshal(a.Warnings); err != nil {
			return fmt.Errorf("encode warnings: %w", err)
		}
	}
	err = tx.db.Exec(`UPDATE runs SET updated_at = ?, progress_done = progress_done + ?,
		counts = counts || (SELECT COALESCE(jsonb_object_agg(key, COALESCE((counts->>key)::bigint, 0) + value::bigint), '{}')
			FROM jsonb_each_text(NULLIF(?::jsonb, 'null'))),
		warnings = CASE WHEN ?::jsonb = '[]' THEN warnings ELSE `+warningsAdded+` END
		WHERE org_id = ? AND id = ? AND status IN ('queued', 'running')`,
		now, a.Done, string(counts), string(warnings), string(warnings), tx.org, id).Error
	if err != nil {
		return fmt.Errorf("add to run: %w", err)
	}
	return nil
}

// warningsAdded adds up warnings of the same code and message and keeps at most a hundred.
const warningsAdded = `(SELECT COALESCE(jsonb_agg(w ORDER BY first), '[]') FROM (
  SELECT min(n) AS first, jsonb_build_object('code', w->>'code', 'message', w->>'message', 'count', sum((w->>'count')::bigint)) AS w
  FROM jsonb_array_elements((CASE jsonb_typeof(warnings) WHEN 'array' THEN warnings ELSE '[]' END) || ?::jsonb) WITH ORDINALITY e(w, n)
  GROUP BY w->>'code', w->>'message' ORDER BY 1 LIMIT 100) merged)`

// RunEnd is how a run ended.
type RunEnd struct {
	Status       models.RunStatus // final
	ErrorCode    string
	ErrorMessage string
	At           time.Time
}

// EndRun closes a run; ok is false when it had ended already, and then nothing changes.
func (tx *Tx) EndRun(id uuid.UUID, e RunEnd) (ok bool, err error) {
	if e.Status.Live() {
		return false, fault.New(fault.Internal, "a run cannot end as %s", e.Status)
	}
	set := map[string]any{"status": e.Status, "phase": string(e.Status), "finished_at": e.At, "updated_at": e.At}
	if e.ErrorCode != "" {
		set["error_code"], set["error_message"] = e.ErrorCode, e.ErrorMessage
	}
	res := tx.db.Model(&models.Run{}).
		Where("org_id = ? AND id = ? AND status IN ('queued', 'running')", tx.org, id).Updates(set)
	if res.Error != nil {
		return false, fmt.Errorf("end run: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// RequestCancel notes that somebody asked a live run to stop; ok is false when it had ended.
func (tx *Tx) RequestCancel(id uuid.UUID, now time.Time) (ok bool, err error) {
	res := tx.db.Model(&models.Run{}).
		Where("org_id = ? AND id = ? AND status IN ('queued', 'running')", tx.org, id).
		Updates(map[string]any{"cancel_requested_at": clause.Expr{SQL: "COALESCE(cancel_requested_at, ?)", Vars: []any{now}}, "updated_at": now})
	if res.Error != nil {
		return false, fmt.Errorf("request cancellation: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// RunFailures lists the records that a run could not take, after (object, external id), in that order.
func (tx *Tx) RunFailures(run uuid.UUID, afterObject, afterID string, limit int) ([]models.RunFailure, error) {
	var out []models.RunFailure
	err := tx.db.Where("org_id = ? AND run_id = ? AND (object, external_id) > (?, ?)", tx.org, run, afterObject, afterID).
		Order("object, external_id").Limit(limit).Find(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list run failures: %w", err)
	}
	return out, nil
}
