package data

import "time"

// affinity is the sales model: who buys a product by itself, and who when another is already there.
type affinity struct {
	product     int
	k12, higher float64 // base share of owners
	given       int     // a product that makes this one likelier, -1 for none
	lifted      float64 // share of owners among those who have it
}

// The order matters: a product comes after the one it depends on.
var affinities = []affinity{
	{readingPath, 0.55, 0.02, -1, 0},
	{mathMomentum, 0.30, 0.03, readingPath, 0.52},
	{assessPro, 0.12, 0.05, readingPath, 0.55},
	{classHub, 0.38, 0.58, -1, 0},
	{rosterBridge, 0.08, 0.06, classHub, 0.60},
	{familyConnect, 0.34, 0.03, -1, 0},
	{safeHallways, 0.25, 0.14, -1, 0},
	{collegeCompass, 0.22, 0.05, -1, 0},
	{campusInsight, 0.03, 0.45, -1, 0},
	{retainAdvise, 0.01, 0.12, campusInsight, 0.62},
	{examShield, 0.04, 0.16, classHub, 0.22},
}

// assets makes what the account has on contract and what has ended. FamilyConnect and TranslateNow are one bundle:
// always both, with the same dates.
func (p *plan) assets() []Asset {
	if p.status == Prospect {
		return nil
	}
	r := p.rand("assets")
	owned := p.owned(r)
	var out []Asset
	for product := range Products {
		if !owned[product] || product == translateNow {
			continue
		}
		out = append(out, p.lines(r, product, owned[translateNow])...)
	}
	return out
}

func (p *plan) owned(r rng) map[int]bool {
	owned := map[int]bool{}
	for _, a := range affinities {
		share := a.k12
		if p.who.sector == Higher {
			share = a.higher
		}
		if a.given >= 0 && owned[a.given] {
			share = a.lifted
		}
		owned[a.product] = r.chance(share)
	}
	any := false
	for _, yes := range owned {
		any = any || yes
	}
	if !any && p.who.sector == Higher {
		owned[classHub] = true
	} else if !any {
		owned[readingPath] = true
	}
	owned[translateNow] = owned[familyConnect]
	owned[typingTrail] = p.who.sector == K12 && r.chance(0.08)
	owned[legacyGradebook] = r.chance(0.06)
	return owned
}

// lines makes the one or two contract lines of a product, with the bundle partner beside it.
func (p *plan) lines(r rng, product int, bundled bool) []Asset {
	share := r.normal(0.75, 0.2, 0.15, 1)
	seats := max(25, int(float64(p.who.enrollment)*share))
	discount := 1 - r.normal(0.1, 0.07, 0, 0.35)
	span := max(1, int(p.g.cfg.Anchor.Sub(p.start)/(24*time.Hour)))
	begun := p.start.AddDate(0, 0, r.IntN(span*2/3+1))
	ended := p.status == Former || !Products[product].Active && r.chance(0.8)
	dropped := p.status == Customer && Products[product].Active && r.chance(0.08)
	line := func(product, seats int, begun time.Time) Asset {
		a := Asset{Product: product, Quantity: seats, Installed: !ended, Start: begun, End: Some(p.renew)}
		a.Price = int64(float64(Products[product].Cents*int64(seats)) * discount)
		a.Stamps = p.stamps(r, begun, p.day(0))
		if ended && p.status == Customer {
			a.End = Some(begun.AddDate(1, 0, 0))
			if a.End.V.After(p.day(-1)) {
				a.End = Some(p.day(-1))
			}
		}
		return a
	}
	out := []Asset{line(product, seats, begun)}
	if product == familyConnect && bundled {
		out = append(out, line(translateNow, seats, begun))
	}
	if !ended && dropped && product != familyConnect { // an earlier contract of other products that was not renewed
		end := begun.AddDate(0, 0, -1)
		old := line(product, max(25, seats/2), begun.AddDate(-1, 0, 0))
		old.Installed, old.End = false, Some(end)
		out = append(out, old)
	}
	if !ended && product != familyConnect && r.chance(0.12) {
		// Not in the last weeks: a renewal that is overdue ends before them.
		later := begun.AddDate(0, 0, r.IntN(max(1, int(p.g.cfg.Anchor.Sub(begun)/(24*time.Hour))-32)))
		out = append(out, line(product, max(25, seats/5), later))
	}
	return out
}
