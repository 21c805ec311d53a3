package affinity_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/affinity"
)

func TestProperties(t *testing.T) {
	t.Parallel()

	t.Run("counts are those of a slow and obvious computation", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			rows := anyRows(t, 6)
			for s, m := range compute(t, 6, rows).Matrices {
				for _, p := range m.Pairs {
					want := slow(rows, affinity.Segment(s), p.A, p.B)
					require.Equal(t, want, [8]uint32{p.N, p.NA, p.NB, p.NAB, p.FirstA, p.FirstB, p.SameDay, p.Bundled})
				}
			}
		})
	})
	t.Run("lift, phi and Jaccard are the same both ways and every measure is within its bounds", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			for _, m := range compute(t, 6, anyRows(t, 6)).Matrices {
				for i := range m.Pairs {
					a, b := m.Pairs[i].Render(m.Scope)
					require.Equal(t, a.Lift, b.Lift)
					require.Equal(t, a.Phi, b.Phi)
					require.Equal(t, a.Jaccard, b.Jaccard)
					require.Equal(t, a.NullReasons["lift"], b.NullReasons["lift"])
					bounded(t, a)
					bounded(t, b)
				}
			}
		})
	})
	t.Run("the order of accounts and the split among accumulators do not matter", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			rows := anyRows(t, 6)
			want := compute(t, 6, rows)
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 2))
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			one, err := affinity.New(products(6))
			require.NoError(t, err)
			two := one.Fork()
			for i, r := range rows {
				require.NoError(t, []*affinity.Accumulator{one, two}[i%2].Add(r))
			}
			require.NoError(t, one.Merge(two))
			require.Equal(t, want, one.Finish())
		})
	})
	t.Run("an unrelated account never raises support", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			rows := anyRows(t, 4)
			before := compute(t, 5, rows).Matrices[0].Pairs
			after := compute(t, 5, append(rows, owns(4))).Matrices[0].Pairs
			for i := range before {
				b, _ := before[i].Render(affinity.ScopeAll)
				a, _ := after[i].Render(affinity.ScopeAll)
				if b.Support != nil {
					require.LessOrEqual(t, *a.Support, *b.Support)
				}
			}
		})
	})
	t.Run("q is monotone in p, never below it and that of the textbook", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			ps := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 40).Draw(t, "p")
			qs := affinity.BenjaminiHochberg(ps)
			for i, p := range ps {
				require.InDelta(t, slowQ(ps, p), qs[i], 1e-12)
				require.GreaterOrEqual(t, qs[i], p)
				for j := range ps {
					require.False(t, ps[i] <= ps[j] && qs[i] > qs[j])
				}
			}
		})
	})
	t.Run("Fisher's upper tail is exact", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.Int64Range(1, 400).Draw(t, "n")
			na, nb := rapid.Int64Range(0, n).Draw(t, "n_a"), rapid.Int64Range(0, n).Draw(t, "n_b")
			k := rapid.Int64Range(0, min(na, nb)+1).Draw(t, "n_ab")
			want := exactTail(n, na, nb, k)
			require.InDelta(t, want, affinity.FisherUpper(n, na, nb, k), 1e-10*want+1e-300)
		})
	})
}

// slow counts a pair account by account: n, n_a, n_b, n_ab, a first, b first, same day, bundled.
func slow(rows []affinity.Row, s affinity.Segment, a, b uint16) (c [8]uint32) {
	for _, r := range rows {
		if s != affinity.NoSegment && r.Segment != s {
			continue
		}
		first := func(p uint16) *affinity.Owned {
			var lines []affinity.Owned
			for _, o := range r.Owned {
				if o.Product == p {
					lines = append(lines, o)
				}
			}
			slices.SortFunc(lines, func(x, y affinity.Owned) int {
				switch {
				case x.Start == y.Start:
					return int(y.Bundle) - int(x.Bundle) // bundles are 0 and 1 here
				case x.Start == affinity.NoDate:
					return 1
				case y.Start == affinity.NoDate:
					return -1
				}
				return int(x.Start) - int(y.Start)
			})
			if len(lines) == 0 {
				return nil
			}
			return &lines[0]
		}
		x, y := first(a), first(b)
		dated := x != nil && y != nil && x.Start != affinity.NoDate && y.Start != affinity.NoDate
		for i, is := range []bool{
			true, x != nil, y != nil, x != nil && y != nil, dated && x.Start < y.Start, dated && x.Start > y.Start,
			dated && x.Start == y.Start, dated && x.Start == y.Start && x.Bundle == 1 && y.Bundle == 1,
		} {
			if is {
				c[i]++
			}
		}
	}
	return c
}

// slowQ is the least m p'/rank over the p' that are not smaller, rank counting the p” <= p'.
func slowQ(ps []float64, p float64) float64 {
	q := 1.0
	for _, at := range ps {
		rank := 0
		for _, other := range ps {
			if other <= at {
				rank++
			}
		}
		if at >= p {
			q = min(q, at*float64(len(ps))/float64(rank))
		}
	}
	return q
}

func exactTail(n, na, nb, k int64) float64 {
	sum, term := new(big.Int), new(big.Int)
	for ; k <= min(na, nb); k++ {
		if nb-k <= n-na {
			sum.Add(sum, term.Mul(new(big.Int).Binomial(na, k), new(big.Int).Binomial(n-na, nb-k)))
		}
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Binomial(n, nb)).Float64()
	return p
}

// bounded checks the range of every measure; that no NaN and no infinity leaves is what Marshal refuses them for.
func bounded(t *rapid.T, e affinity.Entry) {
	_, err := json.Marshal(e)
	require.NoError(t, err)
	for name, m := range map[string]struct {
		v        *float64
		low, top float64
	}{
		"support": {e.Support, 0, 1}, "confidence": {e.Confidence, 0, 1}, "lift": {e.Lift, 0, 1e6},
		"leverage": {e.Leverage, -0.25, 0.25}, "conviction": {e.Conviction, 0, 1e6}, "jaccard": {e.Jaccard, 0, 1},
		"phi": {e.Phi, -1, 1}, "chi_square": {e.ChiSquare, 0, float64(e.N)}, "p_value": {e.PValue, 0, 1},
		"q_value": {e.QValue, 0, 1}, "lead_share": {e.LeadShare, 0, 1}, "cross_sell_probability": {e.CrossSell, 0, 1},
	} {
		if m.v == nil {
			require.NotEmpty(t, e.NullReasons[name], name)
			continue
		}
		require.Empty(t, e.NullReasons[name], name)
		require.GreaterOrEqual(t, *m.v, m.low, name)
		require.LessOrEqual(t, *m.v, m.top, name)
	}
	if e.Significant {
		require.True(t, e.N >= 30 && e.NA >= 10 && e.NAB >= 3 && *e.QValue <= 0.05)
		require.Equal(t, e.Conviction == nil, e.Reason != nil)
	} else {
		require.NotNil(t, e.Reason)
	}
}
