package scoring

import (
	"cmp"
	"math"
	"slices"
)

// Rounded returns a copy for display: points and weights with two decimals, coverages with four. Contributions and
// category weights are rounded by largest remainder, so that what is shown still sums to the composite shown and
// to 100.
func (r Rendered) Rounded() Rendered {
	r.Coverage = round(r.Coverage, 1e4)
	r.Categories, r.Rules = slices.Clone(r.Categories), slices.Clone(r.Rules)
	weights := make([]float64, len(r.Categories))
	for i, c := range r.Categories {
		weights[i] = c.Weight
		r.Categories[i].Score = roundKnown(c.Score)
		r.Categories[i].Coverage = round(c.Coverage, 1e4)
	}
	split(weights, 100)
	for i := range r.Categories {
		r.Categories[i].Weight = weights[i]
	}
	parts := make([]float64, len(r.Rules))
	for i, x := range r.Rules {
		parts[i] = x.Contribution
		r.Rules[i].Score = roundKnown(x.Score)
	}
	if r.Composite = roundKnown(r.Composite); r.Composite != nil {
		split(parts, *r.Composite)
	}
	for i := range r.Rules {
		r.Rules[i].Contribution = parts[i]
	}
	return r
}

// split rounds parts to hundredths so that they sum to total, giving the spare hundredths to the largest remainders;
// ties go to the earlier part.
func split(parts []float64, total float64) {
	cents := make([]float64, len(parts))
	order := make([]int, len(parts))
	spare := math.Round(total * 100)
	for i, p := range parts {
		order[i] = i
		cents[i] = math.Floor(p*100 + 1e-9)
		spare -= cents[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(parts[b]*100-cents[b], parts[a]*100-cents[a])
	})
	for _, i := range order {
		if spare >= 1 && parts[i] > 0 {
			cents[i]++
			spare--
		}
		parts[i] = cents[i] / 100
	}
}

// round rounds half to even at 1/scale.
func round(v, scale float64) float64 { return math.RoundToEven(v*scale) / scale }

func roundKnown(v *float64) *float64 {
	if v == nil {
		return nil
	}
	x := round(*v, 100)
	return &x
}
