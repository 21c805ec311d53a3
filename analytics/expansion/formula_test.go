package expansion

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/analytics/affinity"
)

func testID(i int) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint32(id[12:], uint32(i)+1)
	return id
}

func testProducts(n int) []Product {
	ps := make([]Product, n)
	for i := range ps {
		ps[i].ID = testID(i)
	}
	return ps
}

func TestCombine(t *testing.T) {
	t.Parallel()
	// Products 0 and 1 speak for product 2.
	build := func(base, given0, given1, phi float64) *evidence {
		e := &evidence{products: 3, words: 1, mask: make([]uint64, 3), base: make([]float64, 3)}
		e.gain, e.given, e.lift, e.overlap = make([]float64, 9), make([]float64, 9), make([]float64, 9), make([]float64, 9)
		e.set(0, 2, given0, 1.5, base)
		e.set(1, 2, given1, 1.5, base)
		e.overlap[1], e.overlap[3] = phi, phi
		return e
	}
	for _, c := range []struct {
		name                       string
		base, given0, given1, phi  float64
		owned                      uint64
		probability, weight, delta float64
		terms                      int
	}{
		{"the worked example", 0.25, 0.40, 0.35, 0.5, 0b011, 0.421, 2.0 / 3, 5e-4, 2},
		{"plain addition when they are unrelated", 0.25, 0.40, 0.35, 0, 0b011, 0.519, 1, 5e-4, 2},
		{"one antecedent alone gives its own probability", 0.25, 0.40, 0.35, 0.5, 0b001, 0.40, 1, 1e-12, 1},
		{"two that always go together count as one", 0.25, 0.40, 0.40, 1, 0b011, 0.40, 0.5, 1e-12, 2},
		{"never above 0.95", 0.50, 0.99, 0.99, 0, 0b011, 0.95, 1, 0, 2},
		{"never below 0.01", 1e-6, 2e-6, 2e-6, 0, 0b011, 0.01, 1, 0, 2},
		{"nothing owned, no evidence", 0.25, 0.40, 0.35, 0.5, 0, 0, 0, 0, 0},
		{"evidence not above the base rate is none", 0.40, 0.40, 0.35, 0.5, 0b011, 0, 0, 0, 0},
		{"a product everybody owns cannot be proposed", 1, 1, 1, 0, 0b011, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, terms := build(c.base, c.given0, c.given1, c.phi).combine(2, []uint64{c.owned}, nil)
			require.InDelta(t, c.probability, p, c.delta)
			require.Len(t, terms, c.terms)
			for _, x := range terms {
				require.InDelta(t, c.weight, x.weight, 1e-12)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sorted      []float64
		share, want float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0.9, 7},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.1, 2},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.9, 10},
		{[]float64{0, 10}, 0.9, 9},
	} {
		require.InDelta(t, c.want, percentile(c.sorted, c.share), 1e-12)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	// Product 0: five Enterprise owners at 1 to 5 dollars a student, four SMB owners at 10. Product 1: one owner known
	// by licenses alone. Product 2: nobody.
	e, err := New(testProducts(3), &affinity.Result{})
	require.NoError(t, err)
	prices := e.Prices()
	add := func(seg affinity.Segment, size Size, h ...Holding) { require.NoError(t, prices.Add(seg, size, h)) }
	for i := range int64(5) {
		// In two lines of half the amount each.
		add(affinity.Enterprise, Size{Students: new(1000.0)}, Holding{Product: 0, ARRCents: (i + 1) * 50_000}, Holding{Product: 0, ARRCents: (i + 1) * 50_000})
	}
	for range 4 {
		add(affinity.SMB, Size{Students: new(100.0)}, Holding{Product: 0, ARRCents: 100_000})
	}
	add(affinity.SMB, Size{}, Holding{Product: 1, ARRCents: 10_000, Quantity: new(20.0)}, Holding{Product: 1, ARRCents: 10_000, Quantity: new(5.0)})
	add(affinity.SMB, Size{Students: new(1.0)}, Holding{Product: 2, ARRCents: 0}, Holding{Product: 1, ARRCents: -5})
	list := prices.Plan().prices

	for _, c := range []struct {
		name      string
		product   int
		segment   affinity.Segment
		size      Size
		listPrice *int64
		cents     int64
		basis     PriceBasis
		scope     affinity.Segment
	}{
		{"the median of the segment times the size", 0, affinity.Enterprise, Size{Students: new(1200.0)}, nil, 360_000, PerStudent, affinity.Enterprise},
		{"at least the 10th percentile of the segment", 0, affinity.Enterprise, Size{Students: new(1.0)}, nil, 140_000, PerStudent, affinity.Enterprise},
		{"at most the 90th percentile of the segment", 0, affinity.Enterprise, Size{Students: new(1e9)}, nil, 460_000, PerStudent, affinity.Enterprise},
		{"fewer than five owners: those of all segments", 0, affinity.SMB, Size{Students: new(400.0)}, nil, 200_000, PerStudent, affinity.NoSegment},
		{"no segment: all owners", 0, affinity.NoSegment, Size{Students: new(400.0)}, nil, 200_000, PerStudent, affinity.NoSegment},
		{"per license, from the quantity of all lines", 1, affinity.SMB, Size{Students: new(50.0), Licenses: new(25.0)}, nil, 20_000, PerLicense, affinity.NoSegment},
		{"no owner: list price", 2, affinity.SMB, Size{Students: new(50.0)}, new(int64(777)), 777, ListPrice, affinity.NoSegment},
		{"size unknown: list price", 0, affinity.SMB, Size{}, new(int64(777)), 777, ListPrice, affinity.NoSegment},
		{"size 0 is unknown", 0, affinity.SMB, Size{Students: new(0.0)}, new(int64(777)), 777, ListPrice, affinity.NoSegment},
		{"nothing known: unpriced", 2, affinity.SMB, Size{Students: new(50.0)}, nil, 0, Unpriced, affinity.NoSegment},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cents, basis, scope := list.quote(c.product, c.segment, c.size, c.listPrice)
			require.Equal(t, c.cents, cents)
			require.Equal(t, c.basis, basis)
			require.Equal(t, c.scope, scope)
		})
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	fine := Account{AgeDays: new(400.0), Health: new(50.0), P1Open: new(0.0), OverdueDays: new(60.0), UseRatio: new(0.3)}
	with := func(change func(*Account)) Account {
		a := fine
		change(&a)
		return a
	}
	for _, c := range []struct {
		name    string
		account Account
		want    []GateReason
		ready   string
	}{
		{"at every limit it is ready", fine, []GateReason{}, Ready},
		{"health below 50", with(func(a *Account) { a.Health = new(49.9) }), []GateReason{{"health", "below_50"}}, NotReady},
		{"a P1 is open", with(func(a *Account) { a.P1Open = new(1.0) }), []GateReason{{"p1_open", "open"}}, NotReady},
		{"overdue", with(func(a *Account) { a.OverdueDays = new(61.0) }), []GateReason{{"overdue_days", "above_60"}}, NotReady},
		{"hardly used", with(func(a *Account) { a.UseRatio = new(0.29) }), []GateReason{{"use_ratio", "below_0.3"}}, NotReady},
		{"onboarding", with(func(a *Account) { a.AgeDays, a.OnboardingPct = new(89.0), new(0.79) }), []GateReason{{"onboarding", "onboarding"}}, NotReady},
		{"onboarded early", with(func(a *Account) { a.AgeDays, a.OnboardingPct = new(10.0), new(0.8) }), []GateReason{}, Ready},
		{"age unknown and not onboarded", with(func(a *Account) { a.AgeDays, a.OnboardingPct = nil, new(0.1) }), []GateReason{{"onboarding", "unknown"}}, Ready},
		{"young and onboarding unknown", with(func(a *Account) { a.AgeDays = new(10.0) }), []GateReason{{"onboarding", "unknown"}}, Ready},
		{"everything unknown passes", Account{}, []GateReason{
			{"onboarding", "unknown"},
			{"health", "unknown"},
			{"p1_open", "unknown"},
			{"overdue_days", "unknown"},
			{"use_ratio", "unknown"},
		}, Ready},
		{"not a number is unknown", with(func(a *Account) { a.Health = new(math.NaN()) }), []GateReason{{"health", "unknown"}}, Ready},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := gate(&c.account)
			require.Equal(t, c.want, g.Reasons())
			require.Equal(t, c.ready, g.Readiness())
		})
	}
}

func TestPriority(t *testing.T) {
	t.Parallel()
	full := Account{Expansion: new(80.0), Readiness: new(60.0), WindowDays: new(90.0), ICPFit: new(50.0)}
	for _, c := range []struct {
		name    string
		account Account
		rank    *float64
		gate    Gate
		want    float64
		basis   []string
	}{
		{"all parts", full, new(0.75), Gate{}, 100 * (0.4*0.75 + 0.2*0.8 + 0.15*0.6 + 0.15*0.5 + 0.1*0.5), []string{"expected_arr", "expansion", "readiness", "window", "icp_fit"}},
		{"halved when not ready", full, new(0.75), Gate{Failed: CheckHealth}, 50 * (0.4*0.75 + 0.2*0.8 + 0.15*0.6 + 0.15*0.5 + 0.1*0.5), []string{"expected_arr", "expansion", "readiness", "window", "icp_fit"}},
		{"the rank alone", Account{}, new(0.3), Gate{Unknown: CheckHealth}, 30, []string{"expected_arr"}},
		{"unpriced", full, nil, Gate{}, 100 * (0.2*0.8 + 0.15*0.6 + 0.15*0.5 + 0.1*0.5) / 0.6, []string{"expansion", "readiness", "window", "icp_fit"}},
		{"an open window and nothing else", Account{WindowDays: new(0.0)}, nil, Gate{}, 100, []string{"window"}},
		{"a window beyond 180 days", Account{WindowDays: new(400.0)}, nil, Gate{}, 0, []string{"window"}},
		{"what is not a number is unknown", Account{ICPFit: new(math.NaN())}, new(0.3), Gate{}, 30, []string{"expected_arr"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, basis, ok := meritOf(&c.account).priority(c.rank, c.gate)
			require.True(t, ok)
			require.InDelta(t, c.want, p, 1e-12)
			require.Equal(t, c.basis, basis.Names())
		})
	}
	_, basis, ok := meritOf(&Account{}).priority(nil, Gate{})
	require.False(t, ok)
	require.Empty(t, basis.Names())
}

func TestSuppression(t *testing.T) {
	t.Parallel()
	past := func(s Status, ago float64, p *float64) []Past {
		return []Past{{Product: 4, Status: s, DaysAgo: ago, Probability: p}}
	}
	for _, c := range []struct {
		name    string
		account Account
		want    Suppressed
	}{
		{"nothing against it", Account{Risk: new(74.9)}, Suppressed{}},
		{"opted out comes first", Account{OptedOut: true, Risk: new(90.0)}, Suppressed{OptedOut: 1}},
		{"save first", Account{Risk: new(75.0), OpenOpportunities: []uint16{4}}, Suppressed{SaveFirst: 1}},
		{"an open opportunity", Account{OpenOpportunities: []uint16{1, 4}, NotOffered: []uint16{4}}, Suppressed{OpenOpportunity: 1}},
		{"an opportunity for another product", Account{OpenOpportunities: []uint16{1}}, Suppressed{}},
		{"pitched long ago", Account{Past: past(Pitched, 900, nil)}, Suppressed{AlreadyPitched: 1}},
		{"won", Account{Past: past(Won, 900, nil)}, Suppressed{AlreadyWon: 1}},
		{"dismissed lately", Account{Past: past(Dismissed, 179, new(0.31))}, Suppressed{RecentlyDismissed: 1}},
		{"dismissed lately at an unknown P", Account{Past: past(Dismissed, 0, nil)}, Suppressed{RecentlyDismissed: 1}},
		{"dismissed lately but P rose by 0.10", Account{Past: past(Dismissed, 1, new(0.30))}, Suppressed{}},
		{"dismissed 180 days ago", Account{Past: past(Dismissed, 180, new(0.40))}, Suppressed{}},
		{"another product was won", Account{Past: []Past{{Product: 3, Status: Won}}}, Suppressed{}},
		{"not offered there", Account{NotOffered: []uint16{4}}, Suppressed{NotOffered: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var s Suppressed
			if n := s.reason(&c.account, 4, 0.40); n != nil {
				*n++
			}
			require.Equal(t, c.want, s)
		})
	}
}
