package scoring

import (
	"cmp"
	"math"
	"slices"
)

// Lever says what the composite would become if one rule gave its most favorable score.
type Lever struct {
	RuleID       string   `json:"rule_id"`
	Category     Category `json:"category"`
	Missing      bool     `json:"missing"` // the rule has no data now: the change needs data first
	Score        *float64 `json:"score"`   // now
	BestScore    float64  `json:"best_score"`
	Delta        float64  `json:"delta"`         // points on the composite, negative for risk; 0 without a composite
	CoverageGain float64  `json:"coverage_gain"` // of a missing rule, had it data: fraction of 1
}

// Levers answers "what would change this most": every rule that is not at its best, the largest change first, then
// the largest gain in coverage, then by rule id.
func Levers(r Rendered) []Lever {
	out := []Lever{}
	total := map[Category]float64{}
	for _, x := range r.Rules {
		total[x.Category] += x.Weight
	}
	for i, x := range r.Rules {
		l := Lever{RuleID: x.RuleID, Category: x.Category, Missing: x.Missing, Score: x.Score, BestScore: x.BestScore}
		if x.Missing {
			l.CoverageGain = r.weight(x.Category) / 100 * x.Weight / total[x.Category]
		} else if *x.Score == x.BestScore {
			continue
		}
		if r.Composite != nil {
			l.Delta = r.composite(i, x.BestScore) - *r.Composite
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Lever) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)),
			cmp.Compare(b.CoverageGain, a.CoverageGain), cmp.Compare(a.RuleID, b.RuleID))
	})
	return out
}

func (r Rendered) weight(c Category) float64 {
	for _, row := range r.Categories {
		if row.Category == c {
			return row.Weight
		}
	}
	return 0
}

// composite works the composite out again with rule number i scoring s.
func (r Rendered) composite(i int, s float64) float64 {
	var points, weights Weights
	for j, x := range r.Rules {
		if j == i {
			x.Score = &s
		}
		if x.Score != nil {
			points[x.Category] += x.Weight * *x.Score
			weights[x.Category] += x.Weight
		}
	}
	weighted, sum := 0.0, 0.0
	for c, w := range weights {
		if w > 0 {
			weighted += r.weight(Category(c)) * points[c] / w
			sum += r.weight(Category(c))
		}
	}
	if sum == 0 {
		return 0
	}
	return clamp100(weighted / sum * r.SegmentFactor)
}
