package affinity_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/affinity/affinitytest"
	"revarch/services/paging"
	"revarch/store"
	"revarch/testkit"
)

type system struct {
	tb    testing.TB
	db    testkit.DB
	store *store.Store
	svc   *affinity.Service
	now   time.Time
}

func setup(tb testing.TB) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb)), now: time.Date(2026, 5, 2, 15, 0, 0, 0, time.UTC)}
	s.store = testkit.OpenStore(tb, s.db.Worker, 6)
	s.svc = &affinity.Service{Store: s.store, Clock: func() time.Time { return s.now }, Cursors: paging.New([]byte("secret"))}
	return s
}

func viewer(org uuid.UUID) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "v@example.org", Role: auth.Viewer, Surface: "rest"}
}

// org makes an organization with products and accounts.
func (s *system) org(products []affinitytest.Product, accounts []affinitytest.Account) uuid.UUID {
	s.tb.Helper()
	org := s.db.NewOrg(s.tb, "Org")
	affinitytest.Seed(s.tb, s.db, org, products, accounts)
	return org
}

func (s *system) compute(org uuid.UUID) map[string]int64 {
	s.tb.Helper()
	counts, err := s.svc.Compute(s.tb.Context(), org, models.NewID(), nil)
	require.NoError(s.tb, err)
	return counts
}

func (s *system) list(org uuid.UUID, in affinity.ListInput) (*affinity.Matrix, []affinity.Entry) {
	s.tb.Helper()
	m, err := s.svc.List(s.tb.Context(), viewer(org), in)
	require.NoError(s.tb, err)
	return m, slices.Collect(m.Entries())
}

// example is the one of the definitions: n 200, a owned by 80, b by 50, both by 35.
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
		a.TotalCents = 500_000 // those that own neither have revenue all the same
		out = append(out, a)
	}
	return out
}

func TestWorkedNumbersComeThroughTheWholePath(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(2)
	org := s.org(products, example())
	counts := s.compute(org)
	require.Equal(t, map[string]int64{"products": 2, "accounts": 200, "records": 130, "entries": 4, "significant": 1}, counts)
	m, entries := s.list(org, affinity.ListInput{Filter: affinity.Filter{Segment: "all"}})
	require.Len(t, entries, 2)
	require.Nil(t, m.Reason)
	e := entries[slices.IndexFunc(entries, func(e affinity.Entry) bool { return e.ProductA.ID == products[0].ID })]
	require.Equal(t, "SKU-000", e.ProductA.SKU)
	require.Equal(t, "Product 1", e.ProductB.Name)
	require.Equal(t, []int64{200, 80, 50, 35}, []int64{e.N, e.NA, e.NB, e.NAB})
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"support": {e.Support, 0.175}, "confidence": {e.Confidence, 0.4375}, "lift": {e.Lift, 1.75}, "leverage": {e.Leverage, 0.075},
		"conviction": {e.Conviction, 1.3333333}, "jaccard": {e.Jaccard, 35.0 / 95}, "phi": {e.Phi, 0.3535534}, "chi_square": {e.ChiSquare, 25},
		"p_value": {e.PValue, 5.733e-7}, "q_value": {e.QValue, 5.733e-7}, "cross_sell": {e.CrossSell, 0.40},
	} {
		require.NotNil(t, c.got, name)
		require.InEpsilon(t, c.want, *c.got, 1e-4, name)
	}
	require.Equal(t, "chi_square", *e.PMethod)
	require.True(t, e.Significant)
	require.Equal(t, models.AffinityMatrix{OrgID: org, RunID: e.RunID, ComputedAt: s.now, AsOf: affinitytest.Day(2026, 5, 2), Products: 2, Accounts: 200, Records: 130}, *m.Info)
}

func TestWhatCountsAsOwned(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(3)
	products[2].Retired = true
	line := func(edit func(*affinitytest.Line)) affinitytest.Account {
		a := affinitytest.Owning("SMB", 0)
		l := affinitytest.Line{Product: 1, ARRCents: 100, Start: affinitytest.Day(2024, 1, 1)}
		edit(&l)
		a.Lines = append(a.Lines, l)
		return a
	}
	for name, c := range map[string]struct {
		account   affinitytest.Account
		n, na, nb int64
	}{
		"a line in force":                         {line(func(*affinitytest.Line) {}), 1, 1, 1},
		"the same product on three lines":         {affinitytest.Owning("SMB", 0, 1, 1, 1), 1, 1, 1},
		"a line that ends today":                  {line(func(l *affinitytest.Line) { l.End = affinitytest.Day(2026, 5, 2) }), 1, 1, 1},
		"one that waits for a late renewal":       {line(func(l *affinitytest.Line) { l.End = affinitytest.Day(2026, 4, 1) }), 1, 1, 1},
		"one whose grace is over":                 {line(func(l *affinitytest.Line) { l.End = affinitytest.Day(2026, 1, 1) }), 1, 1, 0},
		"an expired one without revenue":          {line(func(l *affinitytest.Line) { l.End, l.Free = affinitytest.Day(2026, 5, 1), true }), 1, 1, 0},
		"a free one in force":                     {line(func(l *affinitytest.Line) { l.Free = true }), 1, 1, 1},
		"one that the source calls ended":         {line(func(l *affinitytest.Line) { l.Ended, l.End = true, affinitytest.Day(2026, 4, 30) }), 1, 1, 0},
		"one that starts tomorrow":                {line(func(l *affinitytest.Line) { l.Start = affinitytest.Day(2026, 5, 3) }), 1, 1, 0},
		"one without dates":                       {line(func(l *affinitytest.Line) { l.Start = time.Time{} }), 1, 1, 1},
		"a retired product":                       {affinitytest.Owning("SMB", 0, 2), 1, 1, 0},
		"an account without revenue":              {affinitytest.Account{Segment: "SMB", Lines: []affinitytest.Line{{Product: 0, Free: true}}}, 0, 0, 0},
		"revenue of the account as a whole":       {affinitytest.Account{Segment: "SMB", TotalCents: 5, Lines: []affinitytest.Line{{Product: 0, Free: true}}}, 1, 1, 0},
		"a total once the product lines are over": {affinitytest.Account{TotalCents: 5, Lines: []affinitytest.Line{{Product: 0, ARRCents: 5, Start: affinitytest.Day(2024, 1, 1), End: affinitytest.Day(2024, 12, 31)}}}, 0, 0, 0},
		"credits that outweigh":                   {affinitytest.Account{Lines: []affinitytest.Line{{Product: 0, ARRCents: 5}, {Product: 1, ARRCents: -6}}}, 0, 0, 0},
		"an account that was deleted":             {affinitytest.Account{Deleted: true, Lines: []affinitytest.Line{{Product: 0, ARRCents: 5}}}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			org := s.org(slices.Clone(products), []affinitytest.Account{c.account})
			require.Equal(t, c.n, s.compute(org)["accounts"])
			_, entries := s.list(org, affinity.ListInput{Filter: affinity.Filter{Segment: "all", IncludeZero: true}})
			require.Len(t, entries, 2)
			e := entries[slices.IndexFunc(entries, func(e affinity.Entry) bool { return e.ProductA.ID == products[0].ID })]
			require.Equal(t, []int64{c.n, c.na, c.nb}, []int64{e.N, e.NA, e.NB})
		})
	}
}

func TestBadInputHasDefinedAnswers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	everything := func(n, products int) []affinitytest.Account {
		var out []affinitytest.Account
		all := make([]int, products)
		for i := range all {
			all[i] = i
		}
		for range n {
			out = append(out, affinitytest.Owning("Enterprise", all...))
		}
		return out
	}
	for name, c := range map[string]struct {
		products []affinitytest.Product
		accounts []affinitytest.Account
		reason   string
		entries  int // of the overall matrix with those never owned together
	}{
		"an organization with none of it": {nil, nil, "fewer_than_two_products", 0},
		"no products":                     {nil, []affinitytest.Account{{TotalCents: 5}}, "fewer_than_two_products", 0},
		"one product":                     {affinitytest.Products(1), everything(40, 1), "fewer_than_two_products", 0},
		"products that nobody owns":       {affinitytest.Products(3), nil, "", 6},
		"a segment with two accounts":     {affinitytest.Products(2), everything(2, 2), "", 2},
		"all accounts owning everything":  {affinitytest.Products(4), everything(60, 4), "", 12},
		"400 products":                    {affinitytest.Products(400), everything(3, 400), "", 400 * 399},
	} {
		t.Run(name, func(t *testing.T) {
			org := s.org(c.products, c.accounts)
			m, entries := s.list(org, affinity.ListInput{})
			require.Empty(t, entries)
			require.Equal(t, "not_computed", *m.Reason)
			s.compute(org)
			m, entries = s.list(org, affinity.ListInput{Filter: affinity.Filter{Segment: "all", IncludeZero: true}})
			require.Len(t, entries, c.entries)
			if c.reason != "" {
				require.Equal(t, c.reason, *m.Reason)
			}
			for _, e := range entries {
				for name, v := range map[string]*float64{
					"support": e.Support, "confidence": e.Confidence, "lift": e.Lift, "leverage": e.Leverage,
					"conviction": e.Conviction, "jaccard": e.Jaccard, "phi": e.Phi, "chi_square": e.ChiSquare, "p_value": e.PValue, "q_value": e.QValue,
					"lead_share": e.LeadShare, "cross_sell_probability": e.CrossSell,
				} {
					if v == nil {
						require.NotEmpty(t, e.NullReasons[name], name)
						continue
					}
					require.False(t, math.IsNaN(*v) || math.IsInf(*v, 0), name)
				}
				require.False(t, e.Significant)
				require.NotNil(t, e.Reason)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(12)
	org := s.org(products, affinitytest.Market(7, 400, 12, 4))
	s.compute(org)
	whole, all := s.list(org, affinity.ListInput{Filter: affinity.Filter{IncludeZero: true}})
	require.Len(t, all, 4*12*11)
	require.Equal(t, len(all), whole.Len)

	t.Run("orders by segment, lift falling with unknown ones last, and ids", func(t *testing.T) {
		rank := map[string]int{"all": 0, "Enterprise": 1, "Mid-Market": 2, "SMB": 3}
		key := func(e affinity.Entry) string {
			lift := -1.0
			if e.Lift != nil {
				lift = *e.Lift
			}
			return fmt.Sprintf("%d %020.12f %s %s", rank[string(e.Segment)], 1e6-lift, e.ProductA.ID, e.ProductB.ID)
		}
		require.True(t, slices.IsSortedFunc(all, func(a, b affinity.Entry) int {
			if key(a) < key(b) {
				return -1
			}
			return 1
		}))
	})
	t.Run("pages show every entry once", func(t *testing.T) {
		in := affinity.ListInput{Filter: affinity.Filter{IncludeZero: true}, Limit: 37}
		var got []affinity.Entry
		for {
			m, page := s.list(org, in)
			got = append(got, page...)
			if m.NextCursor == nil {
				break
			}
			in.Cursor = *m.NextCursor
		}
		require.Equal(t, all, got)
	})
	t.Run("narrows by segment, product, lift and significance", func(t *testing.T) {
		want := func(keep func(affinity.Entry) bool) (out []affinity.Entry) {
			for _, e := range all {
				if e.NAB > 0 && keep(e) {
					out = append(out, e)
				}
			}
			return out
		}
		yes, no := true, false
		for name, c := range map[string]struct {
			f    affinity.Filter
			keep func(affinity.Entry) bool
		}{
			"nothing":         {affinity.Filter{}, func(affinity.Entry) bool { return true }},
			"segment":         {affinity.Filter{Segment: "Mid-Market"}, func(e affinity.Entry) bool { return e.Segment == "Mid-Market" }},
			"product":         {affinity.Filter{ProductID: &products[3].ID}, func(e affinity.Entry) bool { return e.ProductA.ID == products[3].ID || e.ProductB.ID == products[3].ID }},
			"lift":            {affinity.Filter{MinLift: 1.1}, func(e affinity.Entry) bool { return e.Lift != nil && *e.Lift >= 1.1 }},
			"significant":     {affinity.Filter{Significant: &yes}, func(e affinity.Entry) bool { return e.Significant }},
			"not significant": {affinity.Filter{Significant: &no}, func(e affinity.Entry) bool { return !e.Significant }},
		} {
			_, got := s.list(org, affinity.ListInput{Filter: c.f})
			require.NotEmpty(t, got, name)
			require.Equal(t, want(c.keep), got, name)
		}
	})
	t.Run("refuses what makes no sense, and cursors of others and of former computations", func(t *testing.T) {
		for _, in := range []affinity.ListInput{{Limit: -1}, {Limit: 1001}, {Filter: affinity.Filter{Segment: "Huge"}}, {Filter: affinity.Filter{MinLift: math.NaN()}}} {
			_, err := s.svc.List(t.Context(), viewer(org), in)
			require.True(t, fault.Is(err, fault.Invalid), "%+v", in)
		}
		m, _ := s.list(org, affinity.ListInput{Limit: 5})
		_, err := s.svc.List(t.Context(), viewer(s.db.NewOrg(t, "Other")), affinity.ListInput{Limit: 5, Cursor: *m.NextCursor})
		require.True(t, fault.Is(err, fault.Invalid))
		s.now = s.now.Add(time.Minute)
		s.compute(org)
		_, err = s.svc.List(t.Context(), viewer(org), affinity.ListInput{Limit: 5, Cursor: *m.NextCursor})
		require.True(t, fault.Is(err, fault.CursorDead))
	})
	t.Run("keeps organizations apart", func(t *testing.T) {
		other := s.db.NewOrg(t, "Other")
		m, entries := s.list(other, affinity.ListInput{})
		require.Nil(t, m.Info)
		require.Empty(t, entries)
		_, err := s.svc.List(t.Context(), auth.Principal{OrgID: other}, affinity.ListInput{})
		require.True(t, fault.Is(err, fault.Denied))
	})
	t.Run("what was retired since leaves with the next computation", func(t *testing.T) {
		s.db.Exec(t, "UPDATE products SET active = false WHERE id = $1", products[0].ID)
		s.compute(org)
		_, entries := s.list(org, affinity.ListInput{Filter: affinity.Filter{IncludeZero: true}})
		require.Len(t, entries, 4*11*10)
	})
}
