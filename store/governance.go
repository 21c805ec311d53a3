package store

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gowebpki/jcs"

	"revarch/models"
)

// AppendGovernance adds an entry to the organization's chain: it locks the head row, so call it as the last statement
// of the write's transaction. Seq, PrevHash and Hash are filled in.
func (tx *Tx) AppendGovernance(e *models.GovernanceEntry) error {
	err := tx.db.Exec("INSERT INTO governance_heads (org_id, seq, hash) VALUES (?, 0, ''::bytea) ON CONFLICT DO NOTHING", tx.org).Error
	if err != nil {
		return fmt.Errorf("make governance head: %w", err)
	}
	var head models.GovernanceHead
	if err := tx.db.Raw("SELECT org_id, seq, hash FROM governance_heads WHERE org_id = ? FOR UPDATE", tx.org).Scan(&head).Error; err != nil {
		return fmt.Errorf("lock governance head: %w", err)
	}
	e.OrgID, e.Seq, e.PrevHash = tx.org, head.Seq+1, head.Hash
	e.At = e.At.UTC().Truncate(time.Microsecond) // what the column keeps, or the hash would not check
	if e.Hash, err = GovernanceHash(e); err != nil {
		return err
	}
	if err := tx.db.Create(e).Error; err != nil {
		return fmt.Errorf("append governance entry: %w", err)
	}
	err = tx.db.Exec("UPDATE governance_heads SET seq = ?, hash = ? WHERE org_id = ?", e.Seq, e.Hash, tx.org).Error
	if err != nil {
		return fmt.Errorf("move governance head: %w", err)
	}
	return nil
}

// GovernanceHash is SHA-256(prev_hash + RFC 8785 JSON of the entry without its hashes).
func GovernanceHash(e *models.GovernanceEntry) ([]byte, error) {
	doc, err := json.Marshal(map[string]any{
		"org_id": e.OrgID, "seq": e.Seq, "id": e.ID, "at": e.At.UTC().Format(time.RFC3339Nano),
		"actor_kind": e.ActorKind, "actor_id": e.ActorID, "actor_label": e.ActorLabel, "key_prefix": e.KeyPrefix,
		"surface": e.Surface, "tool": e.Tool, "outcome": e.Outcome, "args": e.Args, "subject_type": e.SubjectType,
		"subject_id": e.SubjectID, "before": e.Before, "after": e.After, "reason": e.Reason, "request_id": e.RequestID,
	})
	if err != nil {
		return nil, fmt.Errorf("encode governance entry: %w", err)
	}
	canonical, err := jcs.Transform(doc)
	if err != nil {
		return nil, fmt.Errorf("canonicalize governance entry: %w", err)
	}
	sum := sha256.Sum256(append(append([]byte{}, e.PrevHash...), canonical...))
	return sum[:], nil
}

// GovernanceFilter narrows the log; zero values do not.
type GovernanceFilter struct {
	Tool, Actor, SubjectID string
	Since, Until           time.Time
	BeforeSeq              int64 // entries older than this one; 0: from the newest
	Limit                  int
}

// GovernanceEntries lists entries, newest first.
func (tx *Tx) GovernanceEntries(f GovernanceFilter) ([]models.GovernanceEntry, error) {
	q := tx.db.Order("seq DESC").Limit(f.Limit)
	if f.Tool != "" {
		q = q.Where("tool = ?", f.Tool)
	}
	if f.Actor != "" {
		q = q.Where("actor_id = ? OR actor_label = ?", f.Actor, f.Actor)
	}
	if f.SubjectID != "" {
		q = q.Where("subject_id = ?", f.SubjectID)
	}
	if !f.Since.IsZero() {
		q = q.Where("at >= ?", f.Since)
	}
	if !f.Until.IsZero() {
		q = q.Where("at < ?", f.Until)
	}
	if f.BeforeSeq > 0 {
		q = q.Where("seq < ?", f.BeforeSeq)
	}
	var out []models.GovernanceEntry
	if err := q.Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list governance entries: %w", err)
	}
	return out, nil
}

// GovernancePage returns entries in chain order after a sequence number, and the head as it was before they were read,
// so that an entry written meanwhile is newer than the head and none is missing up to it.
func (tx *Tx) GovernancePage(after int64, limit int) ([]models.GovernanceEntry, models.GovernanceHead, error) {
	var out []models.GovernanceEntry
	var head models.GovernanceHead
	if err := tx.db.Raw("SELECT org_id, seq, hash FROM governance_heads WHERE org_id = ?", tx.org).Scan(&head).Error; err != nil {
		return nil, head, fmt.Errorf("read governance head: %w", err)
	}
	if err := tx.db.Where("seq > ?", after).Order("seq").Limit(limit).Find(&out).Error; err != nil {
		return nil, head, fmt.Errorf("read governance entries: %w", err)
	}
	return out, head, nil
}
