package expansion_test

import (
	"encoding/json"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/affinity/affinitytest"
	"revarch/services/expansion"
	"revarch/services/governance"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/store"
	"revarch/testkit"
)

type system struct {
	tb       testing.TB
	db       testkit.DB
	store    *store.Store
	affinity *affinity.Service
	svc      *expansion.Service
	now      time.Time
}

func setup(tb testing.TB) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb)), now: time.Date(2026, 5, 2, 15, 0, 0, 0, time.UTC)}
	s.store = testkit.OpenStore(tb, s.db.Worker, 12)
	clock := func() time.Time { return s.now }
	cursors := paging.New([]byte("secret"))
	s.affinity = &affinity.Service{Store: s.store, Clock: clock, Cursors: cursors}
	s.svc = &expansion.Service{
		Store: s.store, Clock: clock, Cursors: cursors, Log: &governance.Service{Store: s.store, Clock: clock},
		Runs: runs.New(s.store, nil, nil, clock),
	}
	return s
}

func as(org uuid.UUID, role auth.Role) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: string(role) + "@example.org", Role: role, Surface: "rest"}
}

func (s *system) org(products []affinitytest.Product, accounts []affinitytest.Account) uuid.UUID {
	s.tb.Helper()
	org := s.db.NewOrg(s.tb, "Org")
	affinitytest.Seed(s.tb, s.db, org, products, accounts)
	return org
}

func (s *system) compute(org uuid.UUID) {
	s.tb.Helper()
	_, err := s.affinity.Compute(s.tb.Context(), org, models.NewID(), nil)
	require.NoError(s.tb, err)
}

func (s *system) generate(org uuid.UUID) map[string]int64 {
	s.tb.Helper()
	counts, err := s.svc.Generate(s.tb.Context(), org, models.NewID(), nil)
	require.NoError(s.tb, err)
	return counts
}

// all lists every signal that a filter selects, page by page.
func (s *system) all(org uuid.UUID, f expansion.Filter) (out []expansion.Signal) {
	s.tb.Helper()
	in := expansion.ListInput{Filter: f, Limit: 60}
	for {
		page, err := s.svc.List(s.tb.Context(), as(org, auth.Viewer), in)
		require.NoError(s.tb, err)
		out = append(out, page.Signals...)
		if page.NextCursor == nil {
			return out
		}
		in.Cursor = *page.NextCursor
	}
}

func (s *system) kpi(org uuid.UUID) expansion.KPI {
	s.tb.Helper()
	page, err := s.svc.List(s.tb.Context(), as(org, auth.Viewer), expansion.ListInput{Limit: 1})
	require.NoError(s.tb, err)
	return page.KPI
}

func (s *system) move(org uuid.UUID, in expansion.MoveInput) (expansion.Moved, error) {
	return s.svc.Move(s.tb.Context(), as(org, auth.Rep), in)
}

func (s *system) mustMove(org, id uuid.UUID, status string) expansion.Signal {
	s.tb.Helper()
	got, err := s.move(org, expansion.MoveInput{ID: id, Status: status})
	require.NoError(s.tb, err)
	return got.Signal
}

// example is that of the definitions: 45 of 80 owners of the first product do not own the second.
func example() []affinitytest.Account {
	var out []affinitytest.Account
	for i := range 200 {
		var owned []int
		if i < 80 {
			owned = append(owned, 0)
		}
		if i < 35 || i >= 80 && i < 95 {
			owned = append(owned, 1)
		}
		a := affinitytest.Owning("", owned...)
		a.TotalCents, a.Enrollment = 500_000, 1000
		out = append(out, a)
	}
	return out
}

func TestWorkedNumbersComeThroughTheWholePath(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(2)
	accounts := example()
	org := s.org(products, accounts)
	_, err := s.svc.Generate(t.Context(), org, models.NewID(), nil)
	require.True(t, fault.Is(err, fault.Conflict), "there is no matrix yet")
	s.compute(org)
	counts := s.generate(org)
	// p(b|a) = 0.40 with p_b = 0.25 is the only evidence; p(a|b) = (35+20x0.4)/70 = 0.614 for the 15 that own b alone.
	require.EqualValues(t, 45+15, counts["signals"])
	signals := s.all(org, expansion.Filter{ProductID: &products[1].ID})
	require.Len(t, signals, 45)
	x := signals[0]
	require.InDelta(t, 0.40, x.Probability, 1e-9)
	require.EqualValues(t, 100_000, *x.EstimatedARRCents, "100.00 per student times 1,000 students, within what owners pay")
	require.EqualValues(t, 40_000, *x.ExpectedARRCents)
	require.Equal(t, "per_student", x.PriceBasis)
	require.Equal(t, []string{"expected_arr"}, x.PriorityBasis)
	require.Len(t, x.Antecedents, 1)
	require.Equal(t, products[0].ID, x.Antecedents[0].Product.ID)
	require.Equal(t, "SKU-000", x.Antecedents[0].Product.SKU)
	require.InDelta(t, 1, x.Antecedents[0].Share, 1e-9)
	require.InDelta(t, 1.75, x.Antecedents[0].Lift, 1e-6)
	require.Equal(t, "ready", x.Readiness)
	require.Equal(t, "pending", x.Status)
	kpi := s.kpi(org)
	require.EqualValues(t, 60, kpi.TotalPending)
	require.EqualValues(t, 130, kpi.Suppressed.Owned)
	require.Nil(t, kpi.Conversion)
	require.Equal(t, "zero_denominator", *kpi.ConversionReason)
	require.Equal(t, s.now, *kpi.GeneratedAt)
}

// market is an organization with many signals.
func (s *system) market() (uuid.UUID, []affinitytest.Product) {
	s.tb.Helper()
	products := affinitytest.Products(15)
	org := s.org(products, affinitytest.Market(3, 600, 15, 4))
	s.compute(org)
	s.generate(org)
	return org, products
}

func TestRegenerating(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, _ := s.market()
	first := s.all(org, expansion.Filter{})
	require.Greater(t, len(first), 300)

	t.Run("gives the same bytes from the same data", func(t *testing.T) {
		s.now = s.now.Add(time.Hour)
		counts := s.generate(org)
		require.Zero(t, counts["inserted"]+counts["changed"]+counts["removed"])
		a, err := json.Marshal(first)
		require.NoError(t, err)
		b, err := json.Marshal(s.all(org, expansion.Filter{}))
		require.NoError(t, err)
		require.Equal(t, string(a), string(b))
		require.Equal(t, s.now, *s.kpi(org).GeneratedAt)
	})
	t.Run("orders by priority, expected ARR and probability falling, then renewal and ids", func(t *testing.T) {
		require.True(t, slices.IsSortedFunc(first, func(a, b expansion.Signal) int {
			switch {
			case *a.PriorityScore != *b.PriorityScore:
				return int(math.Copysign(1, *b.PriorityScore-*a.PriorityScore))
			case *a.ExpectedARRCents != *b.ExpectedARRCents:
				return int(*b.ExpectedARRCents - *a.ExpectedARRCents)
			}
			return 0
		}))
		seen := map[uuid.UUID]bool{}
		for _, x := range first {
			require.False(t, seen[x.ID])
			seen[x.ID] = true
		}
	})
	t.Run("keeps pitched, won and dismissed and does not make them again", func(t *testing.T) {
		var kept []expansion.Signal
		for i, status := range []string{"pitched", "won", "dismissed"} {
			kept = append(kept, s.mustMove(org, first[i].ID, status))
		}
		counts := s.generate(org)
		require.Zero(t, counts["inserted"])
		for _, k := range kept {
			require.Contains(t, s.all(org, expansion.Filter{Status: k.Status}), k)
			for _, x := range s.all(org, expansion.Filter{AccountID: &k.Account.ID}) {
				require.False(t, x.Product.ID == k.Product.ID && x.ID != k.ID)
			}
		}
		k := s.kpi(org)
		require.Equal(t, []int64{1, 1, 1}, []int64{k.Suppressed.AlreadyPitched, k.Suppressed.AlreadyWon, k.Suppressed.RecentlyDismissed})
		require.InDelta(t, 0.5, *k.Conversion, 1e-12)
		require.Equal(t, *kept[1].EstimatedARRCents, k.WonARRCents)
	})
	t.Run("makes a dismissed one again after 180 days, beside the old one", func(t *testing.T) {
		dismissed := first[2]
		s.now = s.now.AddDate(0, 0, 179)
		require.Zero(t, s.generate(org)["inserted"])
		s.now = s.now.AddDate(0, 0, 1)
		require.EqualValues(t, 1, s.generate(org)["inserted"])
		var again []string
		for _, x := range s.all(org, expansion.Filter{AccountID: &dismissed.Account.ID, ProductID: &dismissed.Product.ID}) {
			again = append(again, x.Status)
		}
		require.ElementsMatch(t, []string{"pending", "dismissed"}, again)
		_, err := s.move(org, expansion.MoveInput{ID: dismissed.ID, Status: "pending"})
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	})
	t.Run("removes what is owned or over since and changes what moved", func(t *testing.T) {
		x := s.all(org, expansion.Filter{Status: "pending"})[0]
		s.db.Exec(t, `INSERT INTO account_products (org_id, id, provider, external_id, account_id, product_id, mapping_id) VALUES ($1, $2, 'csv', 'new', $3, $4, 0)`,
			org, models.NewID(), x.Account.ID, x.Product.ID)
		s.db.Exec(t, "UPDATE accounts SET p1_open = 1 WHERE org_id = $1 AND id <> $2", org, x.Account.ID)
		s.compute(org)
		require.Positive(t, s.generate(org)["removed"])
		_, err := s.move(org, expansion.MoveInput{ID: x.ID, Status: "pitched"})
		require.True(t, fault.Is(err, fault.NotFound))
		for _, y := range s.all(org, expansion.Filter{Status: "pending"}) {
			if y.Account.ID != x.Account.ID {
				require.Equal(t, "not_ready", y.Readiness)
				require.LessOrEqual(t, *y.PriorityScore, 50.0)
			}
		}
	})
}

func TestUnpricedStandLast(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(3)
	var accounts []affinitytest.Account
	for i := range 120 {
		a := affinitytest.Account{TotalCents: 100, Lines: []affinitytest.Line{{Product: 0, Free: true}}}
		if i < 50 {
			a.Lines = append(a.Lines, affinitytest.Line{Product: 1, Free: true}, affinitytest.Line{Product: 2, Free: true})
		}
		if i >= 80 {
			a.Lines = nil
		}
		accounts = append(accounts, a)
	}
	products[1].ListPriceCents = 9900
	org := s.org(products, accounts)
	s.compute(org)
	require.Positive(t, s.generate(org)["unpriced"])
	signals := s.all(org, expansion.Filter{})
	unpriced := false
	for _, x := range signals {
		require.True(t, x.Unpriced || !unpriced, "nothing priced behind an unpriced one")
		unpriced = x.Unpriced
		if x.Unpriced {
			require.Nil(t, x.EstimatedARRCents)
			require.Equal(t, "unpriced", x.PriceBasis)
			require.Nil(t, x.PriorityScore)
		}
	}
	require.True(t, unpriced)
	require.False(t, signals[0].Unpriced)
	require.Positive(t, s.kpi(org).Unpriced)
}

func TestBadInputHasDefinedAnswers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, c := range map[string]struct {
		products []affinitytest.Product
		accounts []affinitytest.Account
	}{
		"an organization with none of it": {nil, nil},
		"one product":                     {affinitytest.Products(1), []affinitytest.Account{affinitytest.Owning("", 0)}},
		"a segment with two accounts":     {affinitytest.Products(2), []affinitytest.Account{affinitytest.Owning("SMB", 0), affinitytest.Owning("SMB", 1)}},
		"everybody owns everything":       {affinitytest.Products(2), slices.Repeat([]affinitytest.Account{affinitytest.Owning("SMB", 0, 1)}, 50)},
	} {
		t.Run(name, func(t *testing.T) {
			org := s.org(c.products, c.accounts)
			s.compute(org)
			require.Zero(t, s.generate(org)["signals"])
			page, err := s.svc.List(t.Context(), as(org, auth.Viewer), expansion.ListInput{})
			require.NoError(t, err)
			require.Empty(t, page.Signals)
			require.NotNil(t, page.Signals)
			sum, err := s.svc.Summary(t.Context(), as(org, auth.Viewer), expansion.SummaryInput{})
			require.NoError(t, err)
			require.Zero(t, *sum.TotalAddressableCents)
			require.Len(t, sum.WhitespaceByProduct, len(c.products))
		})
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, _ := s.market()
	signals := s.all(org, expansion.Filter{})
	x := signals[0]

	t.Run("records who, when and why, with an entry in the log", func(t *testing.T) {
		why := " They asked for a quote "
		got, err := s.move(org, expansion.MoveInput{ID: x.ID, Status: "pitched", Reason: &why, Version: &x.Version})
		require.NoError(t, err)
		require.Equal(t, "pitched", got.Signal.Status)
		require.Equal(t, "They asked for a quote", *got.Signal.Reason)
		require.Equal(t, "rep@example.org", *got.Signal.StatusChangedBy)
		require.Equal(t, s.now, *got.Signal.StatusChangedAt)
		require.Equal(t, x.Version+1, got.Signal.Version)
		require.EqualValues(t, 1, s.db.Count(t, `SELECT count(*) FROM governance_log WHERE id = $1 AND before->>'status' = 'pending' AND after->>'status' = 'pitched'
			AND subject_id = $2 AND reason = 'They asked for a quote'`, got.GovernanceEntryID, x.ID.String()))
	})
	t.Run("refuses a stale version, an unknown status, an unknown signal and a viewer", func(t *testing.T) {
		_, err := s.move(org, expansion.MoveInput{ID: x.ID, Status: "won", Version: &x.Version})
		require.True(t, fault.Is(err, fault.Stale))
		_, err = s.move(org, expansion.MoveInput{ID: x.ID, Status: "lost"})
		require.True(t, fault.Is(err, fault.Invalid))
		_, err = s.move(org, expansion.MoveInput{ID: models.NewID(), Status: "won"})
		require.True(t, fault.Is(err, fault.NotFound))
		_, err = s.move(s.db.NewOrg(t, "Other"), expansion.MoveInput{ID: x.ID, Status: "won"})
		require.True(t, fault.Is(err, fault.NotFound))
		_, err = s.svc.Move(t.Context(), as(org, auth.Viewer), expansion.MoveInput{ID: x.ID, Status: "won"})
		require.True(t, fault.Is(err, fault.Denied))
	})
	t.Run("setting what it is changes nothing and is logged", func(t *testing.T) {
		before := s.db.Count(t, "SELECT count(*) FROM governance_log")
		got := s.mustMove(org, x.ID, "pitched")
		require.Equal(t, x.Version+1, got.Version)
		require.Equal(t, "They asked for a quote", *got.Reason)
		require.Equal(t, before+1, s.db.Count(t, "SELECT count(*) FROM governance_log"))
	})
	t.Run("may be repeated under a key", func(t *testing.T) {
		in := expansion.MoveInput{ID: x.ID, Status: "dismissed", IdempotencyKey: "k"}
		p := as(org, auth.Rep)
		a, err := s.svc.Move(t.Context(), p, in)
		require.NoError(t, err)
		b, err := s.svc.Move(t.Context(), p, in)
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
	t.Run("a burst ends in one of the sent states with every move in the log", func(t *testing.T) {
		y := signals[1]
		sent := []string{"pitched", "won", "dismissed", "pending"}
		var wg sync.WaitGroup
		errs := make([]error, 24)
		for i := range errs {
			wg.Go(func() { _, errs[i] = s.move(org, expansion.MoveInput{ID: y.ID, Status: sent[i%len(sent)]}) })
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.EqualValues(t, len(errs), s.db.Count(t, "SELECT count(*) FROM governance_log WHERE subject_id = $1", y.ID.String()))
		require.EqualValues(t, 1, s.db.Count(t, `SELECT count(*) FROM expansion_signals s JOIN governance_log g ON g.subject_id = s.id::text
			WHERE s.id = $1 AND g.after->>'status' = s.status AND g.seq = (SELECT max(seq) FROM governance_log WHERE subject_id = $2)`, y.ID, y.ID.String()))
		v, err := s.svc.Log.Verify(t.Context(), org)
		require.NoError(t, err)
		require.True(t, v.OK)
	})
}

// TestMovesWhileRegenerating moves signals while they are regenerated, over and over: no move is lost and none comes
// back as a pending one.
func TestMovesWhileRegenerating(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, _ := s.market()
	signals := s.all(org, expansion.Filter{Status: "pending"})
	stop := make(chan struct{})
	var regenerating sync.WaitGroup
	var rounds int
	var risen int64 // pending ones beside a moved one, after any round
	regenerating.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := s.svc.Generate(t.Context(), org, models.NewID(), nil); err != nil {
					t.Error(err)
					return
				}
				rounds++
				risen += s.db.Count(t, `SELECT count(*) FROM expansion_signals p JOIN expansion_signals k USING (org_id, account_id, product_id)
					WHERE p.status = 'pending' AND k.status IN ('pitched', 'won', 'dismissed')`)
			}
		}
	})
	want := map[uuid.UUID]string{}
	for i, x := range signals[:120] {
		status := []string{"pitched", "won", "dismissed"}[i%3]
		_, err := s.move(org, expansion.MoveInput{ID: x.ID, Status: status})
		require.NoError(t, err)
		want[x.ID] = status
	}
	close(stop)
	regenerating.Wait()
	require.Positive(t, rounds)
	require.Zero(t, risen)
	pairs := map[string]int{}
	for _, x := range s.all(org, expansion.Filter{}) {
		if status, moved := want[x.ID]; moved {
			require.Equal(t, status, x.Status)
			delete(want, x.ID)
		}
		pairs[x.Account.ID.String()+x.Product.ID.String()]++
	}
	require.Empty(t, want, "moved signals that are gone")
	for pair, n := range pairs {
		require.Equal(t, 1, n, pair)
	}
}

func TestRunsFollowEachOther(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.db.NewOrg(t, "Org")
	manager := as(org, auth.Manager)
	turn := func(run models.Run) expansion.Turn {
		got, err := s.svc.Turn(t.Context(), org, run.ID)
		require.NoError(t, err)
		return got
	}
	s.affinity.Runs = s.svc.Runs
	_, _, err := s.svc.Start(t.Context(), as(org, auth.Rep))
	require.True(t, fault.Is(err, fault.Denied))
	recompute, _, err := s.affinity.Start(t.Context(), manager)
	require.NoError(t, err)
	s.now = s.now.Add(time.Second)
	regenerate, already, err := s.svc.Start(t.Context(), manager)
	require.NoError(t, err)
	require.False(t, already)
	again, already, err := s.svc.Start(t.Context(), manager)
	require.NoError(t, err)
	require.True(t, already)
	require.Equal(t, regenerate.ID, again.ID)
	require.Equal(t, expansion.Turn{NoMatrix: true}, turn(recompute))
	require.Equal(t, expansion.Turn{Wait: true, NoMatrix: true}, turn(regenerate))
	s.compute(org)
	require.NoError(t, s.svc.Runs.Finish(t.Context(), org, recompute.ID, runs.End{Status: models.RunSucceeded}))
	require.Equal(t, expansion.Turn{}, turn(regenerate))
	s.now = s.now.Add(time.Second)
	later, _, err := s.affinity.Start(t.Context(), manager)
	require.NoError(t, err)
	require.Equal(t, expansion.Turn{Wait: true}, turn(later))
	require.Equal(t, expansion.Turn{}, turn(regenerate))
}

func TestListAndWhitespace(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, products := s.market()
	signals := s.all(org, expansion.Filter{})

	t.Run("narrows by status, segment, product, account and priority", func(t *testing.T) {
		s.mustMove(org, signals[3].ID, "pitched")
		for name, c := range map[string]struct {
			f    expansion.Filter
			keep func(expansion.Signal) bool
		}{
			"status":   {expansion.Filter{Status: "pitched"}, func(x expansion.Signal) bool { return x.Status == "pitched" }},
			"segment":  {expansion.Filter{Segment: "Enterprise"}, func(x expansion.Signal) bool { return x.Account.Segment != nil && *x.Account.Segment == "Enterprise" }},
			"product":  {expansion.Filter{ProductID: &signals[0].Product.ID}, func(x expansion.Signal) bool { return x.Product.ID == signals[0].Product.ID }},
			"account":  {expansion.Filter{AccountID: &signals[0].Account.ID}, func(x expansion.Signal) bool { return x.Account.ID == signals[0].Account.ID }},
			"priority": {expansion.Filter{MinPriority: 90}, func(x expansion.Signal) bool { return x.PriorityScore != nil && *x.PriorityScore >= 90 }},
		} {
			var want []uuid.UUID
			for _, x := range s.all(org, expansion.Filter{}) {
				if c.keep(x) {
					want = append(want, x.ID)
				}
			}
			var got []uuid.UUID
			for _, x := range s.all(org, c.f) {
				got = append(got, x.ID)
			}
			require.NotEmpty(t, want, name)
			require.Equal(t, want, got, name)
		}
	})
	t.Run("refuses bad filters and foreign cursors", func(t *testing.T) {
		for _, in := range []expansion.ListInput{{Limit: 201}, {Filter: expansion.Filter{Status: "lost"}}, {Filter: expansion.Filter{Segment: "all"}}, {Filter: expansion.Filter{MinPriority: 101}}, {Cursor: "x"}} {
			_, err := s.svc.List(t.Context(), as(org, auth.Viewer), in)
			require.True(t, fault.Is(err, fault.Invalid), "%+v", in)
		}
	})
	t.Run("counts whitespace the same by product and by account", func(t *testing.T) {
		for _, in := range []expansion.WhitespaceInput{{}, {Segment: "SMB"}, {Territory: "t3"}} {
			unowned, arr := map[uuid.UUID]int64{}, int64(0)
			in.Limit = 100
			var last expansion.Whitespace
			for n := 0; ; n++ {
				page, err := s.svc.Whitespace(t.Context(), as(org, auth.Viewer), in)
				require.NoError(t, err)
				for _, a := range page.Accounts {
					require.Equal(t, len(products), int(a.Owned)+len(a.Unowned))
					for _, p := range a.Unowned {
						unowned[p.ID]++
					}
					arr += a.ARRCents
				}
				last = page
				if page.NextCursor == nil {
					break
				}
				in.Cursor = *page.NextCursor
			}
			require.Len(t, last.Products, len(products))
			var total int64
			for _, p := range last.Products {
				require.Equal(t, unowned[p.ProductID], p.Accounts, "%+v", in)
				total += p.ARRCents
			}
			require.Equal(t, arr, total)
			sum, err := s.svc.Summary(t.Context(), as(org, auth.Viewer), expansion.SummaryInput{Segment: in.Segment, Territory: in.Territory})
			require.NoError(t, err)
			require.Equal(t, last.Products, sum.WhitespaceByProduct)
			require.Equal(t, total, *sum.TotalAddressableCents)
			require.NotEmpty(t, sum.TopCandidates)
		}
	})
	t.Run("knows nothing of the past and refuses the future", func(t *testing.T) {
		sum, err := s.svc.Summary(t.Context(), as(org, auth.Viewer), expansion.SummaryInput{AsOf: "2026-01-01"})
		require.NoError(t, err)
		require.Nil(t, sum.TotalAddressableCents)
		require.Equal(t, "not_recorded", *sum.Reason)
		_, err = s.svc.Summary(t.Context(), as(org, auth.Viewer), expansion.SummaryInput{AsOf: "2026-12-01"})
		require.True(t, fault.Is(err, fault.Invalid))
	})
	t.Run("keeps organizations apart", func(t *testing.T) {
		other := s.db.NewOrg(t, "Other")
		require.Empty(t, s.all(other, expansion.Filter{}))
		require.Nil(t, s.kpi(other).GeneratedAt)
		w, err := s.svc.Whitespace(t.Context(), as(other, auth.Viewer), expansion.WhitespaceInput{})
		require.NoError(t, err)
		require.Empty(t, w.Accounts)
	})
}
