package records

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/connectors"
	"revarch/models"
	"revarch/store"
)

// Service stores provider records and keeps the canonical ones in step with them.
type Service struct {
	Store *store.Store
	Clock func() time.Time
}

// Counts tell what became of records: Read is the sum of the others.
type Counts struct {
	Read      int64 `json:"read"`
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Unchanged int64 `json:"unchanged"`
	Deleted   int64 `json:"deleted"`
	Failed    int64 `json:"failed"`
}

// Add returns the sums.
func (c Counts) Add(d Counts) Counts {
	return Counts{c.Read + d.Read, c.Created + d.Created, c.Updated + d.Updated, c.Unchanged + d.Unchanged, c.Deleted + d.Deleted, c.Failed + d.Failed}
}

// Result is what became of a page. Warnings are to be added up per code and message over a run.
type Result struct {
	Counts
	Warnings []models.RunWarning
}

// StorePageInput is one page of an object's stream.
type StorePageInput struct {
	OrgID    uuid.UUID
	RunID    uuid.UUID // the run's row exists
	Provider models.Provider
	Mapping  *Mapping // of the page's object
	Page     connectors.Page
	Full     bool // part of a full enumeration: what comes is the truth, also where it is older than what is stored
}

// StorePage stores a page and its cursor in one transaction: all of it or nothing. A page may come again. A record that
// cannot be taken is noted among the run's failures and counted; it never fails the page.
func (s *Service) StorePage(ctx context.Context, in StorePageInput) (Result, error) {
	b := s.batch(in.OrgID, in.RunID, in.Provider, in.Mapping, in.Full)
	b.load(in.Page.Records)
	err := s.Store.InOrg(ctx, in.OrgID, func(tx *store.Tx) error {
		if err := b.store(ctx, tx); err != nil {
			return err
		}
		step := store.CursorStep{
			Provider: in.Provider, Object: in.Mapping.Object, Cursor: string(in.Page.Next), Records: int64(len(in.Page.Records)),
			Full: in.Full, Done: in.Page.Done, Now: b.now, SeenByRun: in.RunID,
		}
		if in.Full {
			step.Seen = b.seen()
		}
		if err := tx.StepCursor(ctx, step); err != nil {
			return err
		}
		return tally(tx, in.RunID, b.result(), b.counts.Read, b.now)
	})
	if err != nil {
		return Result{}, fmt.Errorf("store page of %s: %w", in.Mapping.Object, err)
	}
	return b.result(), nil
}

// StoreDeletionsInput is one page of an object's deletions.
type StoreDeletionsInput struct {
	OrgID    uuid.UUID
	RunID    uuid.UUID
	Provider models.Provider
	Mapping  *Mapping
	Page     connectors.DeletionsPage
	Since    time.Time // kept with the last page as the moment from which the next run asks; zero keeps the one there is
}

// StoreDeletions applies deletions and merges in one transaction. Ids that are not known count as unchanged.
func (s *Service) StoreDeletions(ctx context.Context, in StoreDeletionsInput) (Result, error) {
	b := s.batch(in.OrgID, in.RunID, in.Provider, in.Mapping, false)
	b.load(in.Page.Records)
	err := s.Store.InOrg(ctx, in.OrgID, func(tx *store.Tx) error {
		if err := b.store(ctx, tx); err != nil {
			return err
		}
		if in.Page.Done && !in.Since.IsZero() {
			if err := tx.SetDeletionsSince(in.Provider, in.Mapping.Object, in.Since, b.now); err != nil {
				return err
			}
		}
		return tally(tx, in.RunID, b.result(), 0, b.now)
	})
	if err != nil {
		return Result{}, fmt.Errorf("store deletions of %s: %w", in.Mapping.Object, err)
	}
	return b.result(), nil
}

// ResolveLinks ties children to parents that came after them, at the end of a run. Orphans name an account that is not
// known; they are legal.
func (s *Service) ResolveLinks(ctx context.Context, org uuid.UUID, provider models.Provider) (resolved, orphans int64, err error) {
	now := s.now()
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		pending, err := tx.PendingMerges(provider)
		if err != nil {
			return err
		}
		for _, ref := range pending {
			if _, err := tx.ApplyMerges(ctx, ref, now); err != nil {
				return err
			}
		}
		resolved, orphans, err = tx.ResolveLinks(ctx, provider, now)
		return err
	})
	return resolved, orphans, err
}

// Cursors lists how far each object of a provider has been read.
func (s *Service) Cursors(ctx context.Context, org uuid.UUID, provider models.Provider) (out []models.SyncCursor, err error) {
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		out, err = tx.SyncCursors(provider)
		return err
	})
	return out, err
}

func (s *Service) now() time.Time { return s.Clock().UTC().Truncate(time.Microsecond) }
