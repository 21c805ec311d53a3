package records

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// BeginFull starts a full enumeration of an object for a run: its cursor returns to the start. For the run that has
// started it already it returns the cursor to go on from.
func (s *Service) BeginFull(ctx context.Context, org uuid.UUID, p models.Provider, object string, run uuid.UUID) (cur models.SyncCursor, err error) {
	now := s.now()
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		cur, err = tx.BeginFull(p, object, run, now)
		return err
	})
	return cur, err
}

// FinishFull ends the run's full enumeration of an object, complete or not, and forgets what it met. It may come again.
func (s *Service) FinishFull(ctx context.Context, org uuid.UUID, p models.Provider, object string, run uuid.UUID) error {
	now := s.now()
	return s.Store.InOrg(ctx, org, func(tx *store.Tx) error { return tx.FinishFull(p, object, run, now) })
}

// TombstoneInput asks for the records that a full enumeration did not meet to be marked deleted.
type TombstoneInput struct {
	OrgID, RunID uuid.UUID
	Provider     models.Provider
	Mapping      *Mapping
	SafetyShare  float64 // of the live records; more than this is refused; 0: 0.5
	Confirmed    bool    // a person has agreed to more
}

// TombstoneUnseen marks what the run's enumeration of an object did not meet as deleted, in batches; it may be started
// again. The enumeration must be complete: Conflict otherwise. When too large a share would go it marks nothing and warns.
// On the first load of an object there is nothing to find. FinishFull is to follow.
func (s *Service) TombstoneUnseen(ctx context.Context, in TombstoneInput) (Result, error) {
	if in.SafetyShare == 0 {
		in.SafetyShare = 0.5
	}
	ref := in.Mapping.ref(in.Provider)
	var live, unseen int64
	err := s.Store.InOrg(ctx, in.OrgID, func(tx *store.Tx) error {
		cur, err := tx.FullState(in.Provider, ref.Object, in.RunID)
		if err != nil {
			return err
		}
		if !cur.FullDone {
			return fault.New(fault.Conflict, "the full enumeration of %s is not complete", ref.Object)
		}
		if cur.TrackSeen {
			live, unseen, err = tx.CountUnseen(ref, in.RunID)
		}
		return err
	})
	if err != nil || unseen == 0 {
		return Result{}, err
	}
	if !in.Confirmed && float64(unseen) > in.SafetyShare*float64(live) {
		return Result{Warnings: []models.RunWarning{{Code: "deletions_refused", Count: unseen, Message: fmt.Sprintf(
			"%d of %d stored records of %s were not found at the provider. They were kept; a full sync with confirmed deletions deletes them.", unseen, live, ref.Object)}}}, nil
	}
	var out Result
	for after := ""; ; {
		n, last, err := s.tombstone(ctx, in, ref, after)
		if err != nil {
			return out, err
		}
		out.Counts = out.Add(Counts{Read: n, Deleted: n})
		if n == 0 {
			return out, nil
		}
		after = last
	}
}

// tombstone marks one batch and returns how many and the last id.
func (s *Service) tombstone(ctx context.Context, in TombstoneInput, ref store.ObjectRef, after string) (n int64, last string, err error) {
	now := s.now()
	err = s.Store.InOrg(ctx, in.OrgID, func(tx *store.Tx) error {
		if err := tx.LockObject(ctx, ref); err != nil {
			return err
		}
		deletions, err := tx.Unseen(ref, in.RunID, after, 2000)
		if err != nil {
			return err
		}
		if n = int64(len(deletions)); n > 0 {
			last = deletions[n-1].ExternalID
		}
		if err := tx.DeleteRecords(ctx, ref, deletions, now); err != nil {
			return err
		}
		return tally(tx, in.RunID, Result{Counts: Counts{Read: n, Deleted: n}}, 0, now)
	})
	return n, last, err
}
