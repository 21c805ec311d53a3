// Package affinity computes and shows which products of an organization are owned together. What belongs here: reading
// the owning accounts once, storing the matrices as a whole, and serving their entries. The measures themselves are in
// analytics/affinity.
//
// An account owns a product while it has a line of it that counts: begun, and not over or waiting for a late renewal as
// its revenue does.
package affinity

import (
	"context"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/auth"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/store"
)

// Service computes and shows affinity. Runs and Cursors are for the surfaces only.
type Service struct {
	Store   *store.Store
	Runs    *runs.Service
	Cursors paging.Codec
	Clock   func() time.Time
}

// Start starts computing the matrix of the caller's organization anew and returns its run; already tells that one was
// live, which is returned instead. Faults: Denied.
func (s *Service) Start(ctx context.Context, p auth.Principal) (run models.Run, already bool, err error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Run{}, false, err
	}
	return s.Runs.Start(ctx, p, runs.StartInput{Kind: models.KindAffinity, Subject: "products", WorkflowID: jobs.AffinityID(p.OrgID)})
}

// progressEvery is how many accounts pass between two reports.
const progressEvery = 5000

// Compute computes all matrices of an organization and puts them in the place of the former ones, in one transaction.
// Repeating it gives the same. progress may be nil. It returns what it counted.
func (s *Service) Compute(ctx context.Context, org, run uuid.UUID, progress func(done int64)) (map[string]int64, error) {
	res, m, err := s.Read(ctx, org, progress)
	if err != nil {
		return nil, err
	}
	m.RunID, m.ComputedAt = run, s.Clock().UTC().Truncate(time.Microsecond)
	stored, significant, err := s.Replace(ctx, org, m, res)
	return map[string]int64{
		"products": m.Products, "accounts": m.Accounts, "records": m.Records, "entries": stored, "significant": significant,
	}, err
}

// Read streams the owning accounts of an organization as of its day, in one snapshot, and computes the matrices. Memory
// depends on the number of products alone.
func (s *Service) Read(ctx context.Context, org uuid.UUID, progress func(done int64)) (res *affinity.Result, m models.AffinityMatrix, err error) {
	err = s.Store.Snapshot(ctx, org, func(tx *store.Tx) error {
		o, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		products, err := tx.ActiveProducts()
		if err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(products))
		for i, p := range products {
			ids[i] = p.ID
		}
		acc, err := affinity.New(ids)
		if err != nil {
			return err
		}
		r := newReader(acc, progress)
		if err := tx.EachOwnedLine(ctx, today, o.RenewalGraceDays, r.line); err != nil {
			return err
		}
		if err := r.end(); err != nil {
			return err
		}
		res = acc.Finish()
		m = models.AffinityMatrix{OrgID: org, AsOf: today, Products: int64(len(ids)), Accounts: r.accounts}
		for _, n := range res.Matrices[0].Owners {
			m.Records += int64(n)
		}
		return nil
	})
	return res, m, err
}

// reader puts the lines of each account together.
type reader struct {
	acc      *affinity.Accumulator
	index    map[uuid.UUID]uint16
	account  uuid.UUID
	row      affinity.Row
	open     bool
	accounts int64
	progress func(int64)
}

func newReader(acc *affinity.Accumulator, progress func(int64)) *reader {
	r := &reader{acc: acc, index: map[uuid.UUID]uint16{}, progress: progress}
	for i, id := range acc.Products() {
		r.index[id] = uint16(i)
	}
	return r
}

func (r *reader) line(l *store.OwnedLine) error {
	if !r.open || l.AccountID != r.account {
		if err := r.end(); err != nil {
			return err
		}
		r.open, r.account = true, l.AccountID
		r.row.Segment, r.row.Owned = affinity.Segment(l.Segment), r.row.Owned[:0]
	}
	if !l.HasLine {
		return nil
	}
	if at, active := r.index[l.ProductID]; active {
		start := affinity.NoDate
		if l.HasStart {
			start = l.Start
		}
		r.row.Owned = append(r.row.Owned, affinity.Owned{Product: at, Start: start, Bundle: l.Bundle})
	}
	return nil
}

func (r *reader) end() error {
	if !r.open {
		return nil
	}
	r.open = false
	if r.accounts++; r.progress != nil && r.accounts%progressEvery == 0 {
		r.progress(r.accounts)
	}
	return r.acc.Add(r.row)
}

// Replace stores matrices in the place of the organization's former ones and returns how many rows that are and how
// many of them are significant in some direction.
func (s *Service) Replace(ctx context.Context, org uuid.UUID, m models.AffinityMatrix, res *affinity.Result) (stored, significant int64, err error) {
	per := len(res.Matrices[0].Pairs)
	for i := range res.Matrices {
		for k := range res.Matrices[i].Pairs {
			if p := &res.Matrices[i].Pairs[k]; p.SignificantAB || p.SignificantBA {
				significant++
			}
		}
	}
	total := per * len(res.Matrices)
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		return tx.ReplaceAffinity(ctx, m, total, func(i int) models.AffinityEntry {
			p := &res.Matrices[i/per].Pairs[i%per]
			return models.AffinityEntry{
				Scope: int16(i / per), ProductA: res.Products[p.A], ProductB: res.Products[p.B],
				N: int64(p.N), NA: int64(p.NA), NB: int64(p.NB), NAB: int64(p.NAB), FirstA: int64(p.FirstA), FirstB: int64(p.FirstB),
				SameDay: int64(p.SameDay), Bundled: int64(p.Bundled), Method: int16(p.Method), SignificantAB: p.SignificantAB,
				SignificantBA: p.SignificantBA, P: p.P, Q: p.Q, CrossAB: p.CrossAB, CrossBA: p.CrossBA,
			}
		})
	})
	return int64(total), significant, err
}
