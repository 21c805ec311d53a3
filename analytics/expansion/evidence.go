package expansion

import (
	"math"
	"math/bits"

	"revarch/analytics/affinity"
	"revarch/fault"
)

// The bounds of a probability.
const (
	minProbability = 0.01
	maxProbability = 0.95
)

// evidence is one matrix laid out for combining: for every product the antecedents it may have and what each is worth.
type evidence struct {
	products, words int
	mask            []uint64  // by product: the set of its antecedents, words long
	base            []float64 // by product: logit p_b
	gain            []float64 // by product and antecedent: logit p(b|a) - logit p_b
	given           []float64 // by product and antecedent: p(b|a)
	lift            []float64 // by product and antecedent
	overlap         []float64 // by antecedent pair: phi where positive
}

// newEvidence reads a matrix; position says where each of its products is among ours, negative when it is gone.
func newEvidence(m *affinity.Matrix, position []int, products int) (*evidence, error) {
	square := products * products
	e := &evidence{
		products: products, words: (products + 63) / 64,
		base: make([]float64, products), gain: make([]float64, square), given: make([]float64, square),
		lift: make([]float64, square), overlap: make([]float64, square),
	}
	e.mask = make([]uint64, products*e.words)
	for i := range m.Pairs {
		p := &m.Pairs[i]
		if int(p.A) >= len(position) || int(p.B) >= len(position) {
			return nil, fault.New(fault.Internal, "a pair of products %d and %d among %d", p.A, p.B, len(position))
		}
		a, b := position[p.A], position[p.B]
		if a < 0 || b < 0 {
			continue
		}
		if phi, ok := p.Phi(); ok && phi > 0 {
			e.overlap[a*products+b], e.overlap[b*products+a] = phi, phi
		}
		lift, ok := p.Lift()
		if !ok || p.Bundle() || lift <= 1 {
			continue
		}
		if p.SignificantAB {
			e.set(a, b, p.CrossAB, lift, float64(p.NB)/float64(p.N))
		}
		if p.SignificantBA {
			e.set(b, a, p.CrossBA, lift, float64(p.NA)/float64(p.N))
		}
	}
	return e, nil
}

// set makes a an antecedent of b if it is worth anything. Nobody is left to sell to where everybody owns b.
func (e *evidence) set(a, b int, given, lift, base float64) {
	if base >= 1 || given <= base {
		return
	}
	at := b*e.products + a
	e.base[b] = logit(base)
	e.gain[at], e.given[at], e.lift[at] = logit(given)-logit(base), given, lift
	e.mask[b*e.words+a/64] |= 1 << (a % 64)
}

// term is one antecedent's part in a probability.
type term struct {
	product uint16
	weight  float64 // omega
	gain    float64 // weight x log-odds gain
}

// combine returns the probability of owning b given what is owned and each antecedent's part in it; no terms mean no
// evidence. Antecedents that go together share their weight, so nothing counts twice.
func (e *evidence) combine(b int, owned []uint64, terms []term) (float64, []term) {
	terms = terms[:0]
	for w, set := range e.mask[b*e.words : (b+1)*e.words] {
		for set &= owned[w]; set != 0; set &= set - 1 {
			terms = append(terms, term{product: uint16(w*64 + bits.TrailingZeros64(set))})
		}
	}
	if len(terms) == 0 {
		return 0, terms
	}
	odds := e.base[b]
	for i := range terms {
		a, crowd := int(terms[i].product), 1.0
		row := e.overlap[a*e.products : (a+1)*e.products]
		for j := range terms {
			crowd += row[terms[j].product] // that of a product with itself is 0
		}
		terms[i].weight = 1 / crowd
		terms[i].gain = terms[i].weight * e.gain[b*e.products+a]
		odds += terms[i].gain
	}
	return max(minProbability, min(maxProbability, 1/(1+math.Exp(-odds)))), terms
}

func logit(p float64) float64 {
	p = max(1e-12, min(1-1e-12, p))
	return math.Log(p) - math.Log1p(-p)
}
