package expansion

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/idempotency"
	"revarch/store"
)

const maxReason = 1000

// MoveInput moves a signal to a status. Version, when given, must be the signal's current one; without it the last
// mover wins.
type MoveInput struct {
	ID             uuid.UUID `json:"id"`
	Status         string    `json:"status"`
	Reason         *string   `json:"reason,omitempty"`
	Version        *int64    `json:"version,omitempty"`
	IdempotencyKey string    `json:"-"`
}

// Moved is a moved signal and the entry in the governance log.
type Moved struct {
	Signal            Signal    `json:"signal"`
	GovernanceEntryID uuid.UUID `json:"governance_entry_id" format:"uuid"`
}

// Move sets where a signal stands. Every status may follow every other; setting the one it has changes nothing but a
// reason that is sent along, and is logged all the same. Faults: Denied, Invalid, NotFound, Stale, Conflict when the
// account has another live signal for the product.
func (s *Service) Move(ctx context.Context, p auth.Principal, in MoveInput) (out Moved, err error) {
	if err := p.Require(auth.PermWrite); err != nil {
		return out, err
	}
	if err := in.normalize(); err != nil {
		return out, err
	}
	now := s.Clock().UTC().Truncate(time.Microsecond)
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		req := idempotency.Request{Key: in.IdempotencyKey, Tool: "move_expansion_signal", Input: in}
		out, _, err = idempotency.Once(tx, p, now, req, func() (Moved, error) { return s.move(tx, p, in, now) })
		return err
	})
	return out, err
}

func (in *MoveInput) normalize() error {
	var bad []fault.FieldError
	if !slices.Contains(Statuses, in.Status) {
		bad = append(bad, fault.FieldError{Field: "status", Message: "must be one of " + strings.Join(Statuses, ", ")})
	}
	if in.Reason != nil {
		text := strings.TrimSpace(*in.Reason)
		if utf8.RuneCountInString(text) > maxReason || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			bad = append(bad, fault.FieldError{Field: "reason", Message: "must be text of at most 1000 characters"})
		}
		if in.Reason = &text; text == "" {
			in.Reason = nil
		}
	}
	if len(bad) > 0 {
		return fault.WithFields("the move is not valid: "+bad[0].Field+" "+bad[0].Message, bad...)
	}
	return nil
}

func (s *Service) move(tx *store.Tx, p auth.Principal, in MoveInput, now time.Time) (Moved, error) {
	before, err := tx.LockExpansionSignal(in.ID)
	if err != nil {
		return Moved{}, err
	}
	if in.Version != nil && *in.Version != before.Version {
		return Moved{}, fault.New(fault.Stale, "the signal was changed by someone else and is now at version %d; read it again", before.Version)
	}
	after := before
	switch {
	case in.Status != before.Status:
		after.Status, after.Reason = in.Status, in.Reason
	case in.Reason != nil:
		after.Reason = in.Reason
	}
	if after.Status != before.Status || !same(after.Reason, before.Reason) {
		after.Version++
		after.StatusChangedBy, after.StatusChangedAt, after.UpdatedAt = p.Label, &now, now
		if err := tx.SaveSignalStatus(before.Status, &after); err != nil {
			return Moved{}, err
		}
	}
	row, err := tx.ExpansionSignal(in.ID)
	if err != nil {
		return Moved{}, err
	}
	shown, err := views(tx, []store.SignalRow{row})
	if err != nil {
		return Moved{}, err
	}
	entry, err := s.Log.Record(tx, p, governance.Entry{
		Tool: "move_expansion_signal", Args: in, SubjectType: "expansion_signal", SubjectID: in.ID.String(),
		Before: logged(before), After: logged(after), Reason: text(in.Reason),
	})
	return Moved{shown[0], entry}, err
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// logged is what the governance log keeps of a signal.
func logged(s models.ExpansionSignal) map[string]any {
	return map[string]any{
		"account_id": s.AccountID, "product_id": s.ProductID, "status": s.Status, "reason": s.Reason, "version": s.Version,
		"status_changed_by": s.StatusChangedBy, "status_changed_at": s.StatusChangedAt,
	}
}
