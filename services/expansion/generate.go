// Package expansion finds what an organization's accounts could buy next and keeps what people make of it. What belongs
// here: reading the owning accounts, replacing pending signals as a whole, moving single signals, and the lists and
// sums over them. The computation itself is in analytics/expansion, the matrix it rests on in services/affinity.
package expansion

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/analytics/expansion"
	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	affinitysvc "revarch/services/affinity"
	"revarch/services/governance"
	"revarch/services/jobs"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/store"
)

// Service finds and keeps expansion signals. Runs, Log and Cursors are for the surfaces only.
type Service struct {
	Store   *store.Store
	Runs    *runs.Service
	Log     *governance.Service
	Cursors paging.Codec
	Clock   func() time.Time
}

// Start starts finding the signals of the caller's organization anew and returns its run; already tells that one was
// live, which is returned instead. Faults: Denied.
func (s *Service) Start(ctx context.Context, p auth.Principal) (run models.Run, already bool, err error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Run{}, false, err
	}
	return s.Runs.Start(ctx, p, runs.StartInput{Kind: models.KindExpansion, Subject: "signals", WorkflowID: jobs.ExpansionID(p.OrgID)})
}

// Turn says whether a run may begin.
type Turn struct {
	Wait     bool // a run of the other kind was asked for before and is live
	NoMatrix bool // no affinity matrix was ever computed
}

// Turn lets the recompute and the regeneration of an organization follow each other in the order they were asked for.
// Faults: NotFound.
func (s *Service) Turn(ctx context.Context, org, run uuid.UUID) (t Turn, err error) {
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		own, err := tx.Run(run)
		if err != nil {
			return err
		}
		other, subject := models.KindAffinity, "products"
		if own.Kind == models.KindAffinity {
			other, subject = models.KindExpansion, "signals"
		}
		live, ok, err := tx.LiveRun(other, subject)
		if err != nil {
			return err
		}
		t.Wait = ok && (live.CreatedAt.Before(own.CreatedAt) || live.CreatedAt.Equal(own.CreatedAt) && live.ID.String() < own.ID.String())
		_, computed, err := tx.AffinityMatrix()
		t.NoMatrix = !computed
		return err
	})
	return t, err
}

const (
	progressEvery = 2000
	dismissedDays = 180
	// dismissedRise is what P must have gained for a dismissed signal to come back early, less what rounding may take.
	dismissedRise = 0.10 - 1e-9
)

// whitespace is what a regeneration keeps of who owns what: counts by scope, in the order of affinity.Scopes.
type whitespace struct {
	Accounts scopeCounts               `json:"accounts"` // owning accounts
	Owners   map[uuid.UUID]scopeCounts `json:"owners"`   // by active product
}

type scopeCounts [affinity.NumScopes]int64

func (c *scopeCounts) add(seg uint8) {
	c[0]++
	if seg > 0 {
		c[seg]++
	}
}

// found is what a regeneration computed and from what.
type found struct {
	run        *expansion.Run
	matrix     models.AffinityMatrix
	today      time.Time
	since      time.Time   // a dismissal from then on still counts
	closed     []uuid.UUID // signals that were not pending
	whitespace whitespace
}

// Generate finds the signals of every owning account from the stored matrix and puts them in the place of the pending
// ones, in one transaction. The same data gives the same signals. progress may be nil. It returns what it counted.
// Faults: Conflict without a matrix.
func (s *Service) Generate(ctx context.Context, org, run uuid.UUID, progress func(done, total int64)) (map[string]int64, error) {
	f, err := s.find(ctx, org, progress)
	if err != nil {
		return nil, err
	}
	now := s.Clock().UTC().Truncate(time.Microsecond)
	var counts expansion.Counts
	var done store.Replaced
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		counts = f.run.Counts
		next, stop := iter.Pull(f.rows())
		defer stop()
		done, err = tx.ReplacePending(ctx, now, f.since, dismissedRise, f.closed, func() *models.ExpansionSignal {
			row, ok := next()
			if !ok {
				return nil
			}
			return row
		})
		if err != nil {
			return err
		}
		counts.Suppressed.AlreadyPitched += done.Withheld["pitched"]
		counts.Suppressed.AlreadyWon += done.Withheld["won"]
		counts.Suppressed.RecentlyDismissed += done.Withheld["dismissed"]
		for _, n := range done.Withheld {
			counts.Signals -= n
		}
		return f.save(tx, run, now, counts)
	})
	if err != nil {
		return nil, err
	}
	suppressed := counts.Suppressed
	return map[string]int64{
		"accounts": counts.Accounts, "signals": counts.Signals, "unpriced": counts.Unpriced, "inserted": done.Inserted, "changed": done.Changed,
		"removed": done.Removed, "suppressed": suppressed.OptedOut + suppressed.SaveFirst + suppressed.OpenOpportunity + suppressed.AlreadyPitched +
			suppressed.AlreadyWon + suppressed.RecentlyDismissed + suppressed.NotOffered,
	}, nil
}

func (f *found) save(tx *store.Tx, run uuid.UUID, now time.Time, counts expansion.Counts) error {
	c, err := json.Marshal(counts)
	if err != nil {
		return fmt.Errorf("encode counts: %w", err)
	}
	w, err := json.Marshal(f.whitespace)
	if err != nil {
		return fmt.Errorf("encode whitespace: %w", err)
	}
	return tx.SaveExpansionRun(models.ExpansionRun{RunID: run, MatrixRunID: f.matrix.RunID, ComputedAt: now, AsOf: f.today, Counts: c, Whitespace: w})
}

// find reads everything in one snapshot, the owning accounts twice: for prices, then for signals.
func (s *Service) find(ctx context.Context, org uuid.UUID, progress func(done, total int64)) (*found, error) {
	f := &found{}
	err := s.Store.Snapshot(ctx, org, func(tx *store.Tx) error {
		o, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		zone, err := time.LoadLocation(o.TimeZone)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the organization's time zone is unknown")
		}
		f.today = today
		y, m, d := today.Date()
		f.since = time.Date(y, m, d-dismissedDays+1, 0, 0, 0, 0, zone)
		res, info, ok, err := affinitysvc.Result(ctx, tx)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.Conflict, "no affinity matrix was computed yet; start POST /api/expansion/affinity first")
		}
		f.matrix = info
		r, err := newReader(tx, res, today, zone)
		if err != nil {
			return err
		}
		if err := tx.EachOwner(ctx, today, o.RenewalGraceDays, r.price); err != nil {
			return err
		}
		r.plan, r.prices = r.prices.Plan(), nil // what every owner pays is a lot to keep
		r.collector = r.plan.Collector()
		total := r.owners[0]
		r.seen = func(done int64) {
			if progress != nil && (done%progressEvery == 0 || done == total) {
				progress(done, total)
			}
		}
		if err := tx.EachOwner(ctx, today, o.RenewalGraceDays, r.collect); err != nil {
			return err
		}
		f.run, f.whitespace, f.closed = r.plan.Finish(r.collector), r.whitespace(), r.closed
		return nil
	})
	return f, err
}

// rows turns the signals into rows, account by account. A row belongs to its step.
func (f *found) rows() iter.Seq[*models.ExpansionSignal] {
	scopes := affinity.Scopes()
	scope := func(s affinity.Scope) int16 { return int16(slices.Index(scopes[:], s)) }
	return func(yield func(*models.ExpansionSignal) bool) {
		var row models.ExpansionSignal
		var packed []byte
		for s := range f.run.ByAccount() {
			packed = pack(packed[:0], s.Antecedents)
			row = models.ExpansionSignal{
				ID: models.NewID(), AccountID: s.AccountID, ProductID: s.ProductID, Priority: s.Priority, PriorityBasis: int16(s.Basis),
				Probability: s.Probability, EstimatedARRCents: s.EstimatedARRCents, ExpectedARRCents: s.ExpectedARRCents,
				PriceBasis: int16(s.PriceBasis), PriceScope: scope(s.PriceScope), EvidenceScope: scope(s.Scope),
				GateFailed: int16(s.Gate.Failed), GateUnknown: int16(s.Gate.Unknown), Antecedents: packed, Place: -1,
			}
			if s.DaysToRenewal != nil {
				row.DaysToRenewal = new(int32(*s.DaysToRenewal))
			}
			if s.Priority != nil {
				row.Place = *s.Priority
			}
			if s.EstimatedARRCents == nil {
				row.Place -= unpricedBelow
			}
			if !yield(&row) {
				return
			}
		}
	}
}

// unpricedBelow puts every signal without a price behind those that have one.
const unpricedBelow = 1000

const antecedentSize = 32

// pack writes antecedents in 32 bytes each.
func pack(b []byte, list []expansion.Antecedent) []byte {
	for _, a := range list {
		b = append(b, a.ProductID[:]...)
		for _, v := range [...]float64{a.Probability, a.Lift, a.Weight, a.Share} {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	return b
}

// unpack reads what pack wrote; the numbers come back to six digits.
func unpack(b []byte) []expansion.Antecedent {
	out := make([]expansion.Antecedent, 0, len(b)/antecedentSize)
	for ; len(b) >= antecedentSize; b = b[antecedentSize:] {
		v := func(i int) float64 {
			return math.Round(float64(math.Float32frombits(binary.BigEndian.Uint32(b[16+4*i:])))*1e6) / 1e6
		}
		out = append(out, expansion.Antecedent{ProductID: uuid.UUID(b[:16]), Probability: v(0), Lift: v(1), Weight: v(2), Share: v(3)})
	}
	return out
}
