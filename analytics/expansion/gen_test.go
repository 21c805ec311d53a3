package expansion

import (
	"math/rand/v2"

	"revarch/analytics/affinity"
)

// randomAccounts makes accounts of four kinds, each with its own favorite products, so that affinities exist.
func randomAccounts(rng *rand.Rand, n, products int) []Account {
	accounts := make([]Account, n)
	for i := range accounts {
		randomAccount(rng, &accounts[i], i, products)
	}
	return accounts
}

func randomAccount(rng *rand.Rand, a *Account, i, products int) {
	maybe := func(top float64) *float64 {
		if rng.IntN(4) == 0 {
			return nil
		}
		return new(float64(rng.IntN(int(top) + 1)))
	}
	kind := rng.IntN(4)
	*a = Account{ID: testID(i), Segment: affinity.Segment(rng.IntN(4)), Owned: a.Owned[:0]}
	a.Size = Size{Students: maybe(20000), Licenses: maybe(300)}
	for p := range products {
		chance := 0.05
		if p%4 == kind {
			chance = 0.65
		}
		if rng.Float64() < chance {
			for range 1 + rng.IntN(8)/7 {
				a.Owned = append(a.Owned, Holding{Product: uint16(p), ARRCents: int64(rng.IntN(5_000_000)), Quantity: maybe(50)})
			}
		}
	}
	rng.Shuffle(len(a.Owned), func(i, j int) { a.Owned[i], a.Owned[j] = a.Owned[j], a.Owned[i] })
	a.Expansion, a.Readiness, a.ICPFit, a.Health, a.Risk = maybe(100), maybe(100), maybe(100), maybe(100), maybe(85)
	a.WindowDays, a.DaysToRenewal, a.AgeDays, a.OverdueDays = maybe(360), maybe(365), maybe(1000), maybe(80)
	a.OnboardingPct, a.UseRatio, a.P1Open = new(rng.Float64()), new(rng.Float64()), new(float64(rng.IntN(8)/7))
	a.OptedOut = rng.IntN(30) == 0
	other := func() uint16 { return uint16(rng.IntN(products)) }
	if rng.IntN(4) == 0 {
		a.OpenOpportunities, a.NotOffered = []uint16{other()}, []uint16{other(), other()}
		a.Past = []Past{{Product: other(), Status: []Status{Pitched, Won, Dismissed}[rng.IntN(3)], DaysAgo: float64(rng.IntN(300)), Probability: new(rng.Float64())}}
	}
}
