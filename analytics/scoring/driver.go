package scoring

import (
	"cmp"
	"math"
	"slices"
)

// Driver is a rule that fired, with what it did to the composite.
type Driver struct {
	RuleID   string   `json:"rule_id"`
	Category Category `json:"category"`
	Value    Value    `json:"value"`
	Points   float64  `json:"points"` // risk, priority, expansion: points it adds; health: points it costs, negative
}

// Drivers lists the rules that fired, the strongest first, then by rule id. Points are 0 without a composite.
func Drivers(r Rendered) []Driver {
	out := []Driver{}
	for i, x := range r.Rules {
		if !x.Triggered {
			continue
		}
		d := Driver{RuleID: x.RuleID, Category: x.Category, Value: x.Value, Points: x.Contribution}
		if r.Model == Health && r.Composite != nil {
			d.Points = *r.Composite - r.composite(i, x.BestScore)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Driver) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Points), math.Abs(a.Points)), cmp.Compare(a.RuleID, b.RuleID))
	})
	return out
}
