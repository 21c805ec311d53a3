package affinity

import (
	"math"

	"github.com/google/uuid"
)

// The numbers of the definitions.
const (
	MinAccounts  = 30   // n below which nothing is significant
	MinOwners    = 10   // owners of the antecedent
	MinCoOwners  = 3    // accounts that own both
	MaxQ         = 0.05 // largest q of a significant pair
	crossPrior   = 20   // weight of p_b in a cross-sell probability, in accounts
	segmentPrior = 15   // weight of the overall probability in a segment's, in accounts
	bundlePct    = 90   // percent of co-owners who bought both in one bundle
)

// Unknown stands for a probability of a Pair that has no value.
const Unknown = -1.0

// Method says how a p value was computed.
type Method uint8

// The methods. NotTested is for pairs one of whose products has no owner in the scope.
const (
	NotTested Method = iota
	ChiSquare
	Fisher
)

// String returns the method's name on the wire.
func (m Method) String() string {
	return [...]string{"", "chi_square", "fisher"}[min(m, Fisher)]
}

// Pair is what is stored of an unordered pair of products in one scope: the counts, and what takes the whole scope to
// compute. Everything else follows from it on reading.
type Pair struct {
	A, B           uint16 // positions in Result.Products, A < B
	N, NA, NB, NAB uint32

	// Of the co-owners whose dates are both known: who had a first, who had b first, who bought both on one day.
	FirstA, FirstB, SameDay uint32
	Bundled                 uint32 // of SameDay: in the same bundle

	Method                       Method
	SignificantAB, SignificantBA bool
	P, Q                         float64 // Unknown when not tested
	CrossAB, CrossBA             float64 // cross-sell probability p(b|a) and p(a|b), shrunk; Unknown without accounts
}

// Matrix holds all pairs of the products in one scope, ordered by (A, B), those never owned together included.
type Matrix struct {
	Scope  Scope
	N      uint32   // owning accounts
	Owners []uint32 // by product position
	Pairs  []Pair
}

// Result is the outcome of one computation: the matrices in the order of Scopes.
type Result struct {
	Products []uuid.UUID // in order of id; Pair.A and Pair.B are positions here
	Matrices [NumScopes]Matrix
}

// Lift returns how much likelier owners of one product are to own the other; false when one has no owner.
func (p *Pair) Lift() (float64, bool) {
	if p.NA == 0 || p.NB == 0 {
		return 0, false
	}
	return float64(p.N) * float64(p.NAB) / (float64(p.NA) * float64(p.NB)), true
}

// Phi returns the correlation of owning one product with owning the other; false when all or no accounts own one.
func (p *Pair) Phi() (float64, bool) {
	n, a, b := float64(p.N), float64(p.NA), float64(p.NB)
	if p.NA == 0 || p.NB == 0 || p.NA >= p.N || p.NB >= p.N {
		return 0, false
	}
	// n11 n00 - n10 n01 equals n n_ab - n_a n_b, whole numbers until the division.
	top := float64(int64(p.N)*int64(p.NAB) - int64(p.NA)*int64(p.NB))
	phi := top / math.Sqrt((a*(n-a))*(b*(n-b)))
	return max(-1, min(1, phi)), true
}

// Bundle says whether the products are always sold as one bundle: such a pair says nothing about affinity.
func (p *Pair) Bundle() bool {
	return p.NAB > 0 && 100*uint64(p.Bundled) >= bundlePct*uint64(p.NAB)
}
