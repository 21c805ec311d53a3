// Package governance keeps each organization's append-only, hash-chained log of writes: who did what, through which
// surface, with what effect. Refused and failed writes are logged too, in transactions of their own.
package governance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/store"
)

// Service reads and writes the log.
type Service struct {
	Store *store.Store
	Clock func() time.Time

	walks walks
}

// Entry is what a writer says about its write; who and when are taken from the principal and the clock.
type Entry struct {
	Tool                   string // tool or operation name
	Args                   any    // what was asked, without secrets
	SubjectType, SubjectID string
	Before, After          any // nil for none
	Reason                 string
}

// Record appends the entry of a successful write; call it last in the write's transaction. It returns the entry's id.
func (s *Service) Record(tx *store.Tx, p auth.Principal, e Entry) (uuid.UUID, error) {
	row, err := s.row(p, e, "ok")
	if err != nil {
		return uuid.Nil, err
	}
	return row.ID, tx.AppendGovernance(row)
}

// RecordRefused logs a write that was denied or failed, in a transaction of its own; trouble in doing so is only logged,
// since the caller already has an error to answer.
func (s *Service) RecordRefused(ctx context.Context, p auth.Principal, e Entry, denied bool) {
	outcome := "failed"
	if denied {
		outcome = "denied"
	}
	row, err := s.row(p, e, outcome)
	if err == nil {
		err = s.Store.InOrg(context.WithoutCancel(ctx), p.OrgID, func(tx *store.Tx) error { return tx.AppendGovernance(row) })
	}
	if err != nil {
		slog.ErrorContext(ctx, "governance entry lost", "org_id", p.OrgID, "tool", e.Tool, "error", err)
	}
}

func (s *Service) row(p auth.Principal, e Entry, outcome string) (*models.GovernanceEntry, error) {
	row := &models.GovernanceEntry{
		ID: models.NewID(), At: s.Clock(), ActorKind: p.Kind, ActorID: p.ID.String(), ActorLabel: p.Label, KeyPrefix: p.KeyPrefix,
		Surface: p.Surface, Tool: e.Tool, Outcome: outcome, SubjectType: e.SubjectType, SubjectID: e.SubjectID,
		Reason: e.Reason, RequestID: p.RequestID,
	}
	for _, f := range []struct {
		dst *json.RawMessage
		src any
	}{{&row.Args, e.Args}, {&row.Before, e.Before}, {&row.After, e.After}} {
		b, err := json.Marshal(f.src)
		if err != nil {
			return nil, fmt.Errorf("encode governance entry: %w", err)
		}
		*f.dst = b
	}
	if e.Args == nil {
		row.Args = json.RawMessage("{}")
	}
	return row, nil
}

// Filter narrows the log; zero values do not.
type Filter = store.GovernanceFilter

// List returns entries, newest first. The principal must be allowed to read.
func (s *Service) List(ctx context.Context, p auth.Principal, f Filter) ([]models.GovernanceEntry, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, err
	}
	var out []models.GovernanceEntry
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		out, err = tx.GovernanceEntries(f)
		return err
	})
	return out, err
}
