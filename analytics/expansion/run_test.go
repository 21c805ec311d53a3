package expansion

import (
	"encoding/csv"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/analytics/affinity"
)

// matrices counts what the accounts own.
func matrices(t require.TestingT, products []Product, accounts []Account) *affinity.Result {
	ids := make([]uuid.UUID, len(products))
	for i, p := range products {
		ids[i] = p.ID
	}
	acc, err := affinity.New(ids)
	require.NoError(t, err)
	for _, a := range accounts {
		row := affinity.Row{Segment: a.Segment}
		for _, h := range a.Owned {
			row.Owned = append(row.Owned, affinity.Owned{Product: h.Product, Start: affinity.NoDate})
		}
		require.NoError(t, acc.Add(row))
	}
	return acc.Finish()
}

// regenerate runs everything, the accounts dealt out to that many collectors.
func regenerate(t require.TestingT, products []Product, res *affinity.Result, accounts []Account, collectors int) *Run {
	e, err := New(products, res)
	require.NoError(t, err)
	prices, cs := make([]*Prices, collectors), make([]*Collector, collectors)
	for i := range prices {
		prices[i] = e.Prices()
	}
	for i := range accounts {
		a := &accounts[i]
		require.NoError(t, prices[i%collectors].Add(a.Segment, a.Size, a.Owned))
	}
	for _, p := range prices[1:] {
		prices[0].Merge(p)
	}
	plan := prices[0].Plan()
	for i := range cs {
		cs[i] = plan.Collector()
	}
	for i := range accounts {
		require.NoError(t, cs[i%collectors].Add(&accounts[i]))
	}
	return plan.Finish(cs...)
}

func hundredAccounts() []Account {
	accounts := make([]Account, 100)
	for i := range accounts {
		a := &accounts[i]
		a.ID = testID(i)
		switch {
		case i < 10:
			a.Size.Students = new(1000 + 100*float64(i))
			a.Owned = []Holding{{Product: 0, ARRCents: 1}}
		case i < 50:
			size := int64(1 + i%2)
			a.Size.Students = new(1000 * float64(size))
			a.Owned = []Holding{{Product: 1, ARRCents: size * 200_000}, {Product: 0, ARRCents: 1}}
		}
	}
	accounts[5].Expansion = new(50.0)
	accounts[6].Risk = new(80.0)
	accounts[7].Past = []Past{{Product: 1, Status: Dismissed, DaysAgo: 10, Probability: new(0.65)}}
	accounts[8].Size.Students = nil
	accounts[9].Health = new(40.0)
	return accounts
}

func TestGolden(t *testing.T) {
	t.Parallel()
	accounts, products := hundredAccounts(), testProducts(2)
	run := regenerate(t, products, matrices(t, products, accounts), accounts, 1)

	f, err := os.Open("testdata/hundred_accounts.csv")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	r := csv.NewReader(f)
	r.Comment = '#'
	lines, err := r.ReadAll()
	require.NoError(t, err)
	want := lines[1:]
	require.Equal(t, len(want), run.Len())
	for s := range run.Signals() {
		line := want[0]
		want = want[1:]
		buyer, err := strconv.Atoi(line[0])
		require.NoError(t, err)
		require.Equal(t, testID(buyer), s.AccountID)
		require.Equal(t, testID(1), s.ProductID)
		requireNumber(t, line[1], &s.Probability)
		require.Equal(t, line[2], cents(s.EstimatedARRCents))
		require.Equal(t, line[3], cents(s.ExpectedARRCents))
		requireNumber(t, line[4], s.Priority)
		require.Equal(t, line[5], strings.Join(s.Basis.Names(), "+"))
		require.Equal(t, line[6], s.Gate.Readiness())
		require.Len(t, s.Antecedents, 1)
		require.Equal(t, testID(0), s.Antecedents[0].ProductID)
		require.InDelta(t, 1, s.Antecedents[0].Share, 1e-12)
		require.InDelta(t, 2, s.Antecedents[0].Lift, 1e-12)
	}
	require.Equal(t, Counts{
		Accounts: 100, Considered: 10 + 2*50, NoEvidence: 100, Signals: 8, Unpriced: 1,
		Suppressed: Suppressed{Owned: 90, SaveFirst: 1, RecentlyDismissed: 1},
	}, run.Counts)
}

// requireNumber compares with a fraction, or with what follows the equals sign of a computation.
func requireNumber(t *testing.T, text string, got *float64) {
	t.Helper()
	if text == "" {
		require.Nil(t, got)
		return
	}
	fraction, ok := new(big.Rat).SetString(text[strings.Index(text, "=")+1:])
	require.True(t, ok, text)
	want, _ := fraction.Float64()
	require.NotNil(t, got)
	require.InDelta(t, want, *got, 1e-6)
}

func cents(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	accounts, products := hundredAccounts(), testProducts(2)
	run := regenerate(t, products, matrices(t, products, accounts), accounts, 1)

	t.Run("pipeline is the sum of the expected ARR that is shown", func(t *testing.T) {
		t.Parallel()
		kept := []Group{
			{ProductID: testID(0), Status: Won, Count: 3, EstimatedARRCents: 900, ExpectedARRCents: 400},
			{ProductID: testID(1), Status: Dismissed, Count: 1, EstimatedARRCents: 50},
			{ProductID: testID(1), Status: Pitched, Count: 2},
		}
		k, err := Summarize(append(run.Groups(), kept...), run.Counts.Suppressed)
		require.NoError(t, err)
		sum := int64(205714 + 192000 + 178286 + 260571 + 164571 + 150857 + 137143)
		require.Equal(t, KPI{
			TotalPending: 8, PipelineARRCents: sum, Unpriced: 1, WonARRCents: 900, Conversion: new(0.75),
			ByStatus: ByStatus{Pending: 8, Pitched: 2, Won: 3, Dismissed: 1},
			ByProduct: []ProductKPI{
				{ProductID: testID(1), PipelineARRCents: sum, ByStatus: ByStatus{Pending: 8, Pitched: 2, Dismissed: 1}},
				{ProductID: testID(0), ByStatus: ByStatus{Won: 3}},
			},
			Suppressed: Suppressed{Owned: 90, SaveFirst: 1, RecentlyDismissed: 1},
		}, k)
	})
	t.Run("without closed signals conversion is null for a reason", func(t *testing.T) {
		t.Parallel()
		k, err := Summarize(nil, Suppressed{})
		require.NoError(t, err)
		require.Nil(t, k.Conversion)
		require.Equal(t, "zero_denominator", *k.ConversionReason)
		require.NotNil(t, k.ByProduct)
	})
	t.Run("an unknown status is refused", func(t *testing.T) {
		t.Parallel()
		_, err := Summarize([]Group{{Status: "lost"}}, Suppressed{})
		require.Error(t, err)
	})
}

func TestEdges(t *testing.T) {
	t.Parallel()
	t.Run("nothing at all gives nothing", func(t *testing.T) {
		t.Parallel()
		run := regenerate(t, nil, &affinity.Result{}, nil, 1)
		require.Zero(t, run.Len())
		require.Empty(t, run.Groups())
		e, err := New(nil, &affinity.Result{})
		require.NoError(t, err)
		require.Zero(t, e.Prices().Plan().Finish().Len())
	})
	t.Run("a product retired after the matrix was computed is neither proposed nor evidence", func(t *testing.T) {
		t.Parallel()
		accounts, products := hundredAccounts(), testProducts(2)
		res := matrices(t, products, accounts)
		for i := range accounts {
			accounts[i].Owned = nil
		}
		require.Zero(t, regenerate(t, products[:1], res, accounts, 1).Len())
	})
	t.Run("a product the matrix does not know is never proposed", func(t *testing.T) {
		t.Parallel()
		accounts, products := hundredAccounts(), testProducts(2)
		run := regenerate(t, testProducts(70), matrices(t, products, accounts), accounts, 2)
		require.Equal(t, 8, run.Len())
	})
	t.Run("a bundle gives no signals", func(t *testing.T) {
		t.Parallel()
		accounts, products := hundredAccounts(), testProducts(2)
		res := matrices(t, products, accounts)
		res.Matrices[0].Pairs[0].Bundled = 36
		require.Zero(t, regenerate(t, products, res, accounts, 1).Len())
		res.Matrices[0].Pairs[0].Bundled = 35
		require.Equal(t, 8, regenerate(t, products, res, accounts, 1).Len())
	})
	t.Run("evidence of the segment goes before that of all", func(t *testing.T) {
		t.Parallel()
		accounts, products := hundredAccounts(), testProducts(2)
		for i := range accounts {
			accounts[i].Segment = affinity.SMB
		}
		accounts[4].Segment = affinity.Enterprise // alone there
		scopes := map[uuid.UUID]affinity.Scope{}
		for s := range regenerate(t, products, matrices(t, products, accounts), accounts, 1).Signals() {
			scopes[s.AccountID] = s.Scope
		}
		require.Equal(t, affinity.ScopeAll, scopes[testID(4)])
		require.Equal(t, affinity.ScopeSMB, scopes[testID(3)])
	})
	t.Run("ties go by days to renewal, unknown last, then by account", func(t *testing.T) {
		t.Parallel()
		accounts, products := hundredAccounts(), testProducts(2)
		for i := range 10 {
			accounts[i] = Account{ID: testID(i), Owned: accounts[i].Owned, Size: Size{Students: new(1000.0)}}
		}
		accounts[7].DaysToRenewal, accounts[3].DaysToRenewal, accounts[5].DaysToRenewal = new(20.0), new(30.0), new(20.0)
		slices.Reverse(accounts)
		var got, want []uuid.UUID
		for s := range regenerate(t, products, matrices(t, products, accounts), accounts, 2).Signals() {
			got = append(got, s.AccountID)
		}
		for _, i := range []int{5, 7, 3, 0, 1, 2, 4, 6, 8, 9} {
			want = append(want, testID(i))
		}
		require.Equal(t, want, got)
	})
	t.Run("bad positions, segments and products are refused", func(t *testing.T) {
		t.Parallel()
		e, err := New(testProducts(2), &affinity.Result{})
		require.NoError(t, err)
		require.Error(t, e.Prices().Add(affinity.SMB, Size{}, []Holding{{Product: 2}}))
		require.Error(t, e.Prices().Plan().Collector().Add(&Account{Segment: 9}))
		_, err = New(append(testProducts(2), testProducts(1)...), &affinity.Result{})
		require.Error(t, err)
		broken := &affinity.Result{}
		broken.Matrices[2].Pairs = []affinity.Pair{{A: 0, B: 1}}
		_, err = New(testProducts(2), broken)
		require.Error(t, err)
	})
}
