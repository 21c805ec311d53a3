package affinity_test

import (
	"encoding/csv"
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/affinity"
)

func TestWorkedExample(t *testing.T) {
	t.Parallel()
	res := compute(t, 2, example())
	aToB, bToA := res.Matrices[0].Pairs[0].Render(affinity.ScopeAll)

	for _, c := range []struct {
		name        string
		got         *float64
		want, delta float64
	}{
		{"support", aToB.Support, 0.175, 1e-12},
		{"confidence", aToB.Confidence, 0.4375, 1e-12},
		{"confidence the other way", bToA.Confidence, 0.70, 1e-12},
		{"lift", aToB.Lift, 1.75, 1e-12},
		{"leverage", aToB.Leverage, 0.075, 1e-12},
		{"conviction", aToB.Conviction, 1.333, 5e-4},
		{"conviction the other way", bToA.Conviction, 2, 1e-12},
		{"Jaccard", aToB.Jaccard, 0.368, 5e-4},
		{"phi", aToB.Phi, 0.354, 5e-4},
		{"chi-square", aToB.ChiSquare, 25, 1e-9},
		{"p", aToB.PValue, 5.7e-7, 5e-9},
		{"q of the only pair", aToB.QValue, *aToB.PValue, 0},
		{"cross-sell", aToB.CrossSell, 0.40, 1e-12},
		{"cross-sell the other way", bToA.CrossSell, (35 + 20*0.4) / 70, 1e-12},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.NotNil(t, c.got)
			require.InDelta(t, c.want, *c.got, c.delta)
		})
	}
	require.InDelta(t, 7.3e-7, affinity.FisherUpper(200, 80, 50, 35), 5e-9)
	require.Equal(t, "chi_square", *aToB.PMethod)
	require.True(t, aToB.Significant)
	require.Nil(t, aToB.Reason)
	require.Nil(t, aToB.LeadShare, "no dates are known")
}

func TestSegmentShrinksToTheOverallProbability(t *testing.T) {
	t.Parallel()
	rows := example()
	for i := range 5 {
		rows[i].Segment = affinity.SMB // five co-owners and nobody else
	}
	smb, _ := compute(t, 2, rows).Matrices[affinity.SMB].Pairs[0].Render(affinity.ScopeSMB)
	require.InDelta(t, (5+15*0.40)/(5+15), *smb.CrossSell, 1e-12)
	none, _ := compute(t, 2, rows).Matrices[affinity.MidMarket].Pairs[0].Render(affinity.ScopeMidMarket)
	require.InDelta(t, 0.40, *none.CrossSell, 1e-12, "a segment without accounts is worth the overall probability")
	require.Equal(t, affinity.ReasonNoData, *none.Reason)
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		rows       []affinity.Row
		aToB, bToA string
		nulls      []string // of a -> b
	}{
		{"no accounts", nil, "no_data", "no_data", []string{
			"support", "confidence", "lift", "leverage", "conviction",
			"jaccard", "phi", "chi_square", "p_value", "q_value", "lead_share", "cross_sell_probability",
		}},
		{"two accounts", repeat(2, owns(0, 1)), "insufficient_n", "insufficient_n", []string{"conviction", "phi", "chi_square", "lead_share"}},
		{"nobody owns b", repeat(40, owns(0)), "no_data", "no_data", []string{"lift", "phi", "chi_square", "p_value", "q_value", "lead_share"}},
		{
			"all accounts own everything", repeat(40, owns(0, 1)), "zero_denominator", "zero_denominator",
			[]string{"conviction", "phi", "chi_square", "lead_share"},
		},
		{
			"few own a", slices.Concat(repeat(9, owns(0, 1)), repeat(20, owns(1)), repeat(91, owns())),
			"insufficient_n_a", "",
			[]string{"conviction", "lead_share"},
		},
		{
			"few own both", slices.Concat(repeat(2, owns(0, 1)), repeat(20, owns(0)), repeat(20, owns(1)), repeat(58, owns())),
			"insufficient_n_ab", "insufficient_n_ab",
			[]string{"lead_share"},
		},
		{
			"independent products", slices.Concat(repeat(25, owns(0, 1)), repeat(25, owns(0)), repeat(25, owns(1)), repeat(25, owns())),
			"not_significant", "not_significant",
			[]string{"lead_share"},
		},
		{
			"every owner of a owns b", slices.Concat(repeat(30, owns(0, 1)), repeat(20, owns(1)), repeat(70, owns())),
			"always", "",
			[]string{"conviction", "lead_share"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			aToB, bToA := compute(t, 2, c.rows).Matrices[0].Pairs[0].Render(affinity.ScopeAll)
			require.Equal(t, c.aToB, text(aToB.Reason))
			require.Equal(t, c.bToA, text(bToA.Reason))
			names := make([]string, 0, len(aToB.NullReasons))
			for name := range aToB.NullReasons {
				names = append(names, name)
			}
			require.ElementsMatch(t, c.nulls, names)
		})
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestBundlesAndLead(t *testing.T) {
	t.Parallel()
	bought := func(a, b int32, bundleA, bundleB uint64) affinity.Row {
		return affinity.Row{Owned: []affinity.Owned{{Product: 1, Start: b, Bundle: bundleB}, {Product: 0, Start: a, Bundle: bundleA}}}
	}
	for _, c := range []struct {
		name         string
		rows         []affinity.Row
		bundle       bool
		leadA, leadB float64
	}{
		{"nine of ten in one bundle", append(repeat(9, bought(5, 5, 1, 1)), bought(1, 2, 1, 1)), true, 0.1, 0},
		{"eight of ten in one bundle", slices.Concat(repeat(8, bought(5, 5, 1, 1)), repeat(2, bought(2, 1, 1, 1))), false, 0, 0.2},
		{"same day but another bundle", repeat(4, bought(5, 5, 1, 2)), false, 0, 0},
		{"same day and no bundle", repeat(4, bought(5, 5, 0, 0)), false, 0, 0},
		{"a first in three of four", append(repeat(3, bought(1, 5, 0, 0)), bought(5, 1, 0, 0)), false, 0.75, 0.25},
		{"an unknown day takes no part", append(repeat(3, bought(1, 5, 0, 0)), bought(affinity.NoDate, 1, 0, 0)), false, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			aToB, bToA := compute(t, 2, c.rows).Matrices[0].Pairs[0].Render(affinity.ScopeAll)
			require.Equal(t, c.bundle, aToB.Bundle)
			require.InDelta(t, c.leadA, *aToB.LeadShare, 1e-12)
			require.InDelta(t, c.leadB, *bToA.LeadShare, 1e-12)
		})
	}

	t.Run("the first of several lines of a product counts", func(t *testing.T) {
		t.Parallel()
		row := affinity.Row{Owned: []affinity.Owned{
			{Product: 0, Start: 9},
			{Product: 1, Start: 4},
			{Product: 0, Start: affinity.NoDate},
			{Product: 0, Start: 3, Bundle: 8},
			{Product: 0, Start: 3},
		}}
		p := compute(t, 2, []affinity.Row{row}).Matrices[0].Pairs[0]
		require.Equal(t, [4]uint32{1, 1, 1, 1}, [4]uint32{p.NA, p.NB, p.NAB, p.FirstA})
	})
}

func TestAccumulator(t *testing.T) {
	t.Parallel()
	t.Run("no product and one product have no pairs", func(t *testing.T) {
		t.Parallel()
		for n := range 2 {
			for _, m := range compute(t, n, []affinity.Row{{Segment: affinity.SMB}}).Matrices {
				require.Empty(t, m.Pairs)
			}
		}
	})
	t.Run("a product that is not in the matrix is refused", func(t *testing.T) {
		t.Parallel()
		acc, err := affinity.New(products(3))
		require.NoError(t, err)
		require.Error(t, acc.Add(owns(3)))
		require.Error(t, acc.Add(affinity.Row{Segment: 4}))
		_, ok := acc.Index(productID(3))
		require.False(t, ok)
		i, ok := acc.Index(productID(2))
		require.True(t, ok)
		require.Equal(t, uint16(2), i)
	})
	t.Run("the order of the products does not matter and none may come twice", func(t *testing.T) {
		t.Parallel()
		ids := products(5)
		slices.Reverse(ids)
		acc, err := affinity.New(ids)
		require.NoError(t, err)
		require.Equal(t, products(5), acc.Products())
		_, err = affinity.New(append(ids, ids[0]))
		require.Error(t, err)
	})
	t.Run("only accumulators over the same products merge", func(t *testing.T) {
		t.Parallel()
		a, err := affinity.New(products(3))
		require.NoError(t, err)
		b, err := affinity.New(products(2))
		require.NoError(t, err)
		require.Error(t, a.Merge(b))
	})
	t.Run("400 products work", func(t *testing.T) {
		t.Parallel()
		every := make([]uint16, 400)
		for i := range every {
			every[i] = uint16(i)
		}
		m := compute(t, 400, repeat(50, owns(every...))).Matrices[affinity.Enterprise]
		require.Len(t, m.Pairs, 400*399/2)
		for i := range m.Pairs {
			require.Equal(t, uint32(50), m.Pairs[i].NAB)
		}
	})
}

// The golden file is small enough to check by hand.
func TestGolden(t *testing.T) {
	t.Parallel()
	rows := []affinity.Row{owns(0, 1), owns(0, 1), owns(0), owns(1, 2), owns(), owns(0)}
	rows[0].Owned[0].Start, rows[0].Owned[1].Start = 10, 20
	f, err := os.Open("testdata/six_accounts.csv")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	r := csv.NewReader(f)
	r.Comment = '#'
	lines, err := r.ReadAll()
	require.NoError(t, err)
	want := lines[1:]
	for _, p := range compute(t, 3, rows).Matrices[affinity.Enterprise].Pairs {
		aToB, bToA := p.Render(affinity.ScopeEnterprise)
		requireLine(t, lines[0], want[0], p.A, p.B, aToB)
		requireLine(t, lines[0], want[1], p.B, p.A, bToA)
		want = want[2:]
	}
	require.Empty(t, want)
}

// requireLine compares an entry with a line of fractions, column by column, by the names the entry has as JSON.
func requireLine(t *testing.T, names, line []string, a, b uint16, e affinity.Entry) {
	t.Helper()
	text, err := json.Marshal(e)
	require.NoError(t, err)
	got := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &got))
	got["a"], got["b"] = float64(a), float64(b)
	for i, name := range names {
		if line[i] == "" {
			require.Nil(t, got[name], "%s of %v", name, line)
			continue
		}
		fraction, ok := new(big.Rat).SetString(line[i])
		require.True(t, ok)
		want, _ := fraction.Float64()
		require.InDelta(t, want, got[name], 1e-12, "%s of %v", name, line)
	}
}
