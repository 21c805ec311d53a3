package affinity

import "slices"

// Finish computes the matrices from what has been counted. The accumulator can go on counting afterwards.
func (acc *Accumulator) Finish() *Result {
	all := build(acc.ids).segs[NoSegment]
	for s := range acc.segs {
		all.merge(&acc.segs[s])
	}
	res := &Result{Products: slices.Clone(acc.ids)}
	for i, scope := range Scopes() {
		c := &acc.segs[i]
		if scope == ScopeAll {
			c = &all
		}
		res.Matrices[i] = c.matrix(scope)
	}
	overall := res.Matrices[0].Pairs
	for m := range res.Matrices {
		pairs := res.Matrices[m].Pairs
		for i := range pairs {
			pairs[i].cross(&overall[i], m == 0)
		}
	}
	return res
}

// matrix tests every pair and corrects for their number.
func (c *counts) matrix(scope Scope) Matrix {
	m := Matrix{Scope: scope, N: c.n, Owners: slices.Clone(c.owners), Pairs: make([]Pair, len(c.cells))}
	ps, tested := make([]float64, 0, len(c.cells)), make([]int, 0, len(c.cells))
	i := 0
	for a := range c.owners {
		for b := a + 1; b < len(c.owners); b++ {
			x, p := &c.cells[i], &m.Pairs[i]
			*p = Pair{
				A: uint16(a), B: uint16(b),
				N: c.n, NA: c.owners[a], NB: c.owners[b], NAB: x.both,
				FirstA: x.firstA, FirstB: x.firstB, SameDay: x.sameDay, Bundled: x.bundled, P: Unknown, Q: Unknown,
			}
			if p.P, p.Method = p.test(); p.Method != NotTested {
				ps, tested = append(ps, p.P), append(tested, i)
			}
			i++
		}
	}
	for k, q := range BenjaminiHochberg(ps) {
		p := &m.Pairs[tested[k]]
		p.Q = q
		p.SignificantAB = significance(p, p.NA) == ""
		p.SignificantBA = significance(p, p.NB) == ""
	}
	return m
}

// cross sets the cross-sell probabilities: shrunk to the share of all accounts that own the product, and in a segment
// to the overall probability.
func (p *Pair) cross(overall *Pair, isOverall bool) {
	if overall.N == 0 {
		p.CrossAB, p.CrossBA = Unknown, Unknown
		return
	}
	n := float64(overall.N)
	shrink := func(both, owners uint32, to, weight float64) float64 {
		return (float64(both) + weight*to) / (float64(owners) + weight)
	}
	p.CrossAB = shrink(overall.NAB, overall.NA, float64(overall.NB)/n, crossPrior)
	p.CrossBA = shrink(overall.NAB, overall.NB, float64(overall.NA)/n, crossPrior)
	if !isOverall {
		p.CrossAB = shrink(p.NAB, p.NA, p.CrossAB, segmentPrior)
		p.CrossBA = shrink(p.NAB, p.NB, p.CrossBA, segmentPrior)
	}
}

// significance returns why the direction from a product with that many owners is not significant, "" when it is.
func significance(p *Pair, antecedent uint32) string {
	_, ok := p.Phi()
	switch {
	case p.NA == 0 || p.NB == 0:
		return ReasonNoData
	case p.N < MinAccounts:
		return ReasonFewAccounts
	case antecedent < MinOwners:
		return ReasonFewOwners
	case p.NAB < MinCoOwners:
		return ReasonFewCoOwners
	case !ok:
		return ReasonZeroDenominator
	case p.Q > MaxQ:
		return ReasonNotSignificant
	}
	return ""
}
