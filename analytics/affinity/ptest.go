package affinity

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// test returns the p value of the association and how it was computed: chi-square with one degree of freedom and no
// continuity correction, or Fisher's upper tail where that approximation is poor.
func (p *Pair) test() (float64, Method) {
	if p.NA == 0 || p.NB == 0 {
		return Unknown, NotTested
	}
	smallest := uint64(min(p.NA, p.N-p.NA)) * uint64(min(p.NB, p.N-p.NB)) // n times the smallest expected cell
	if p.N < 100 || smallest < 5*uint64(p.N) {
		return FisherUpper(int64(p.N), int64(p.NA), int64(p.NB), int64(p.NAB)), Fisher
	}
	phi, _ := p.Phi()
	return distuv.ChiSquared{K: 1}.Survival(float64(p.N) * phi * phi), ChiSquare
}

// FisherUpper returns the probability that nab or more of nb draws out of n are among na marked ones. The first term
// is taken in log space and the rest relative to it; the tail that does not hold the mode is summed, so no term can
// overflow and none that matters is lost.
func FisherUpper(n, na, nb, nab int64) float64 {
	lo, hi := max(0, na+nb-n), min(na, nb)
	if nab <= lo {
		return 1
	}
	if nab > hi {
		return 0
	}
	var tail float64
	upper := float64(nab)*float64(n) >= float64(na)*float64(nb)
	if upper {
		tail = hyperTail(n, na, nb, nab, hi, 1)
	} else {
		tail = 1 - hyperTail(n, na, nb, nab-1, lo, -1)
	}
	return max(0, min(1, tail))
}

// hyperTail sums the hypergeometric probabilities from k to end, away from the mode: they only shrink.
func hyperTail(n, na, nb, k, end, step int64) float64 {
	first := logChoose(na, k) + logChoose(n-na, nb-k) - logChoose(n, nb)
	sum, term := 1.0, 1.0
	for ; k != end && term > sum*1e-18; k += step {
		if step > 0 {
			term *= float64(na-k) / float64(k+1) * (float64(nb-k) / float64(n-na-nb+k+1))
		} else {
			term *= float64(k) / float64(na-k+1) * (float64(n-na-nb+k) / float64(nb-k+1))
		}
		sum += term
	}
	return math.Exp(first + math.Log(sum))
}

func logChoose(n, k int64) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int64) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// BenjaminiHochberg returns the q value of each p value: the smallest false discovery rate at which it is accepted.
func BenjaminiHochberg(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	qs, least := make([]float64, len(ps)), 1.0
	for rank, i := range slices.Backward(order) {
		least = min(least, ps[i]*(float64(len(ps))/float64(rank+1)))
		qs[i] = least
	}
	return qs
}
