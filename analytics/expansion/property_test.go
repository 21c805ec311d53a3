package expansion

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/affinity"
)

// world draws an organization.
func world(t *rapid.T) ([]Product, []Account, *rand.Rand) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	products := testProducts(rapid.SampledFrom([]int{1, 2, 8, 8, 12, 12, 12, 70}).Draw(t, "products"))
	for i := range products {
		if i%3 == 0 {
			products[i].ListPriceCents = new(int64(i) * 1000)
		}
	}
	return products, randomAccounts(rng, rapid.SampledFrom([]int{0, 2, 40, 150, 300}).Draw(t, "accounts"), len(products)), rng
}

// text is every byte of a run.
func text(t require.TestingT, r *Run) string {
	var all []any
	for s := range r.Signals() {
		s.Antecedents = slices.Clone(s.Antecedents)
		all = append(all, s)
	}
	for s := range r.ByAccount() {
		s.Antecedents = slices.Clone(s.Antecedents)
		all = append(all, s)
	}
	b, err := json.Marshal([]any{r.Counts, r.Groups(), all}) // refuses NaN and infinities
	require.NoError(t, err)
	return string(b)
}

func TestProperties(t *testing.T) {
	t.Parallel()

	t.Run("the same accounts give the same bytes in any order and split", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			products, accounts, rng := world(t)
			want := text(t, regenerate(t, products, matrices(t, products, accounts), accounts, 1))
			for i := range accounts {
				o := accounts[i].Owned
				rng.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
			}
			rng.Shuffle(len(accounts), func(i, j int) { accounts[i], accounts[j] = accounts[j], accounts[i] })
			res := matrices(t, products, accounts)
			slices.Reverse(products) // positions follow the ids, whatever order they come in
			require.Equal(t, want, text(t, regenerate(t, products, res, accounts, 3)))
		})
	})
	t.Run("counts add up, amounts are within bounds and the order is that of priority", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			products, accounts, _ := world(t)
			r := regenerate(t, products, matrices(t, products, accounts), accounts, 2)
			c, s := r.Counts, r.Counts.Suppressed
			require.Equal(t, c.Considered, c.NoEvidence+c.Signals+s.OptedOut+s.SaveFirst+s.OpenOpportunity+
				s.AlreadyPitched+s.AlreadyWon+s.RecentlyDismissed+s.NotOffered)
			require.Equal(t, int64(len(accounts)*len(products)), c.Considered+s.Owned)
			require.Equal(t, int64(r.Len()), c.Signals)
			requireSameSignals(t, r)
			byID, unpriced, last, sum := map[uuid.UUID]*Account{}, int64(0), math.Inf(1), int64(0)
			for i := range accounts {
				byID[accounts[i].ID] = &accounts[i]
			}
			for s := range r.Signals() {
				owned := map[uuid.UUID]bool{}
				for _, h := range byID[s.AccountID].Owned {
					owned[testID(int(h.Product))] = true
				}
				require.False(t, owned[s.ProductID])
				require.True(t, s.Probability >= 0.01 && s.Probability <= 0.95)
				share := 0.0
				for _, a := range s.Antecedents {
					require.True(t, owned[a.ProductID])
					require.True(t, a.Lift > 1 && a.Weight > 0 && a.Weight <= 1 && a.Share > 0)
					share += a.Share
				}
				require.InDelta(t, 1, share, 1e-9)
				if s.EstimatedARRCents == nil {
					unpriced++
					continue
				}
				require.Zero(t, unpriced, "unpriced signals come last")
				require.LessOrEqual(t, *s.Priority, last)
				last = *s.Priority
				sum += *s.ExpectedARRCents
			}
			require.Equal(t, c.Unpriced, unpriced)
			k, err := Summarize(r.Groups(), s)
			require.NoError(t, err)
			require.Equal(t, [3]int64{c.Signals, c.Unpriced, sum}, [3]int64{k.TotalPending, k.Unpriced, k.PipelineARRCents})
		})
	})
	t.Run("probabilities and priorities are those of a slow and obvious computation", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			products, accounts, _ := world(t)
			res := matrices(t, products, accounts)
			r := regenerate(t, products, res, accounts, 1)
			entries := entriesOf(res)
			byID := map[uuid.UUID]*Account{}
			for i := range accounts {
				byID[accounts[i].ID] = &accounts[i]
			}
			var expected []int64
			for s := range r.Signals() {
				if s.ExpectedARRCents != nil {
					expected = append(expected, *s.ExpectedARRCents)
				}
			}
			for s := range r.Signals() {
				a := byID[s.AccountID]
				require.InDelta(t, slowProbability(entries, a, s.ProductID), s.Probability, 1e-9)
				requireAmount(t, s.Priority, slowPriority(a, s, expected))
				requireAmount(t, s.EstimatedARRCents, slowARR(accounts, products, a, s.ProductID))
			}
			found := int64(0)
			for i := range accounts {
				for _, p := range products {
					if slowProbability(entries, &accounts[i], p.ID) > 0 {
						found++
					}
				}
			}
			require.Equal(t, found, r.Counts.Considered-r.Counts.NoEvidence)
		})
	})
}

// requireSameSignals checks that the two ways through a run meet the same signals, the second in order of ids.
func requireSameSignals(t *rapid.T, r *Run) {
	var ranked, stored [][2]uuid.UUID
	for s := range r.Signals() {
		ranked = append(ranked, [2]uuid.UUID{s.AccountID, s.ProductID})
	}
	for s := range r.ByAccount() {
		stored = append(stored, [2]uuid.UUID{s.AccountID, s.ProductID})
	}
	slices.SortFunc(ranked, func(a, b [2]uuid.UUID) int {
		return cmp.Or(bytes.Compare(a[0][:], b[0][:]), bytes.Compare(a[1][:], b[1][:]))
	})
	require.Equal(t, ranked, stored)
}

func requireAmount[N int64 | float64](t *rapid.T, got *N, want *float64) {
	if want == nil {
		require.Nil(t, got)
		return
	}
	require.NotNil(t, got)
	require.InDelta(t, *want, float64(*got), 0.51e-6+boundOf(*got))
}

// boundOf is what rounding to whole cents may cost.
func boundOf[N int64 | float64](v N) float64 {
	if _, whole := any(v).(int64); whole {
		return 0.51
	}
	return 0
}

type direction struct {
	scope affinity.Scope
	a, b  uuid.UUID
}

func entriesOf(res *affinity.Result) map[direction]affinity.Entry {
	all := map[direction]affinity.Entry{}
	for _, m := range res.Matrices {
		for _, p := range m.Pairs {
			a, b := res.Products[p.A], res.Products[p.B]
			all[direction{m.Scope, a, b}], all[direction{m.Scope, b, a}] = p.Render(m.Scope)
		}
	}
	return all
}

// slowProbability follows the definition from served entries; 0 when there is no evidence or the product is owned.
func slowProbability(entries map[direction]affinity.Entry, acc *Account, b uuid.UUID) float64 {
	owned := map[uuid.UUID]bool{}
	for _, h := range acc.Owned {
		owned[testID(int(h.Product))] = true
	}
	if owned[b] {
		return 0
	}
	for _, scope := range []affinity.Scope{affinity.Scopes()[acc.Segment], affinity.ScopeAll} {
		var from []uuid.UUID
		for a := range owned {
			e := entries[direction{scope, a, b}]
			if e.Significant && !e.Bundle && *e.Lift > 1 && *e.CrossSell > float64(e.NB)/float64(e.N) {
				from = append(from, a)
			}
		}
		if len(from) == 0 {
			continue
		}
		first := entries[direction{scope, from[0], b}]
		base := math.Log(float64(first.NB) / float64(first.N-first.NB))
		odds := base
		for _, a := range from {
			crowd := 1.0
			for _, other := range from {
				if e := entries[direction{scope, a, other}]; other != a && e.Phi != nil {
					crowd += math.Max(0, *e.Phi)
				}
			}
			given := *entries[direction{scope, a, b}].CrossSell
			odds += (math.Log(given/(1-given)) - base) / crowd
		}
		return math.Min(0.95, math.Max(0.01, 1/(1+math.Exp(-odds))))
	}
	return 0
}

func slowPriority(a *Account, s Signal, expected []int64) *float64 {
	top, weight := 0.0, 0.0
	add := func(w float64, v *float64, scale float64) {
		if v != nil {
			top, weight = top+w**v/scale, weight+w
		}
	}
	if s.ExpectedARRCents != nil {
		below, equal := 0.0, 0.0
		for _, x := range expected {
			if x < *s.ExpectedARRCents {
				below++
			} else if x == *s.ExpectedARRCents {
				equal++
			}
		}
		add(0.40, new((below+0.5*equal)/float64(len(expected))), 1)
	}
	add(0.20, a.Expansion, 100)
	add(0.15, a.Readiness, 100)
	if a.WindowDays != nil {
		add(0.15, new(math.Max(0, 180-*a.WindowDays)), 180)
	}
	add(0.10, a.ICPFit, 100)
	if weight == 0 {
		return nil
	}
	priority := 100 * top / weight
	if s.Gate.Readiness() == NotReady {
		priority /= 2
	}
	return &priority
}

func slowARR(accounts []Account, products []Product, x *Account, b uuid.UUID) *float64 {
	for perLicense, size := range []*float64{x.Size.Students, x.Size.Licenses} {
		if size == nil || *size == 0 {
			continue
		}
		for _, everybody := range []bool{false, true} {
			if !everybody && x.Segment == affinity.NoSegment {
				continue
			}
			var prices, arrs []float64
			for i := range accounts {
				o := &accounts[i]
				arr, licenses, unknown := 0.0, 0.0, false
				for _, h := range o.Owned {
					if testID(int(h.Product)) == b {
						arr += float64(h.ARRCents)
						if h.Quantity == nil || *h.Quantity == 0 {
							unknown = true
						} else {
							licenses += *h.Quantity
						}
					}
				}
				if arr <= 0 || (!everybody && o.Segment != x.Segment) {
					continue
				}
				arrs = append(arrs, arr)
				units := o.Size.Students
				if perLicense == 1 {
					if units = &licenses; unknown {
						units = o.Size.Licenses
					}
				}
				if units != nil && *units > 0 {
					prices = append(prices, arr / *units)
				}
			}
			if len(prices) == 0 || (!everybody && len(prices) < 5) {
				continue
			}
			slices.Sort(prices)
			slices.Sort(arrs)
			arr := percentile(prices, 0.5) * *size
			return new(math.Min(percentile(arrs, 0.9), math.Max(percentile(arrs, 0.1), arr)))
		}
	}
	for _, p := range products {
		if p.ID == b && p.ListPriceCents != nil {
			return new(float64(*p.ListPriceCents))
		}
	}
	return nil
}
