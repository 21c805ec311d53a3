package scoring

import (
	"math"
	"time"
)

// Stamp says when a score was computed and how long that took; it is stored beside the compact form.
type Stamp struct {
	ComputedAt time.Time
	Took       time.Duration
}

// Rendered is a score with its full decomposition, as every surface shows it. Scores are points from 0 to 100,
// coverages fractions of 1, unrounded; the contributions sum to the composite.
type Rendered struct {
	Model          Model         `json:"model"`
	Status         Status        `json:"status"`
	Composite      *float64      `json:"composite_score"` // nil when there is too little data
	Coverage       float64       `json:"coverage"`
	Confidence     Confidence    `json:"confidence"`
	Segment        Segment       `json:"segment"`
	SegmentFactor  float64       `json:"segment_factor"` // multiplier on the composite before clamping at 100
	Categories     []CategoryRow `json:"category_scores"`
	Rules          []RuleRow     `json:"rule_results"`
	RulesEvaluated int           `json:"rules_evaluated"`
	RulesTriggered []string      `json:"rules_triggered"` // ids of the rules that fired
	ComputationMS  float64       `json:"computation_time_ms"`
	ModelVersion   string        `json:"model_version"`
	ComputedAt     time.Time     `json:"computed_at"` // UTC
}

// CategoryRow is one of the eight categories of a rendered score; Score is nil when none of its rules has data.
type CategoryRow struct {
	Category Category `json:"category"`
	Weight   float64  `json:"weight"` // percent, after segment multipliers; the eight sum to 100
	Score    *float64 `json:"score"`
	Coverage float64  `json:"coverage"`
}

// RuleRow is one rule of a rendered score. Value and Score are null when the rule has no data.
type RuleRow struct {
	RuleID       string   `json:"rule_id"`
	Category     Category `json:"category"`
	Value        Value    `json:"value"`
	Score        *float64 `json:"score"`
	Threshold    string   `json:"threshold"`
	Triggered    bool     `json:"triggered"`
	Weight       float64  `json:"weight"`
	Contribution float64  `json:"contribution"`
	Missing      bool     `json:"missing"`
	Expr         string   `json:"expr"`
	Features     []string `json:"features"`   // what the rule reads, to look up where its value came from
	BestScore    float64  `json:"best_score"` // the most favorable score the rule can give
}

// Render shows a stored score by the rules it was computed with; rs must be the rule set named by its version.
func Render(rs *RuleSet, c Compact, at Stamp) (Rendered, error) {
	var r Result
	if err := rs.Decode(c, &r); err != nil {
		return Rendered{}, err
	}
	return rs.Render(&r, at), nil
}

// Render shows a result of this rule set.
func (rs *RuleSet) Render(r *Result, at Stamp) Rendered {
	mr := &rs.models[r.Model]
	out := Rendered{
		Model: r.Model, Status: StatusInsufficientData, Coverage: r.Coverage, Confidence: ConfidenceOf(r.Coverage),
		Segment: r.Segment, SegmentFactor: mr.factor[r.Segment],
		Categories: make([]CategoryRow, 0, NumCategories), Rules: make([]RuleRow, 0, len(r.Rules)),
		RulesEvaluated: r.Evaluated, RulesTriggered: []string{},
		ComputationMS: float64(at.Took) / float64(time.Millisecond),
		ModelVersion:  rs.version, ComputedAt: at.ComputedAt.UTC(),
	}
	if r.Scored {
		out.Status, out.Composite = StatusOK, known(r.Composite)
	} else {
		out.Confidence = NoConfidence
	}
	for c, cat := range r.Categories {
		out.Categories = append(out.Categories, CategoryRow{Category(c), cat.Weight, known(cat.Score), cat.Coverage})
	}
	for i := range r.Rules {
		row := mr.rules[i].row(&r.Rules[i])
		out.Rules = append(out.Rules, row)
		if row.Triggered {
			out.RulesTriggered = append(out.RulesTriggered, row.RuleID)
		}
	}
	return out
}

func (c *compiledRule) row(r *RuleResult) RuleRow {
	lo, best := c.form.span()
	if c.def.Model == Risk { // a low risk is the good one
		best = lo
	}
	names := make([]string, 0, len(c.feats))
	for _, f := range c.feats {
		names = append(names, f.String())
	}
	return RuleRow{
		RuleID: c.def.ID, Category: c.cat, Value: valueOf(c.kind, c.labels, r.Value), Score: known(r.Score),
		Threshold: c.def.Threshold, Triggered: r.Triggered, Weight: c.weight, Contribution: r.Contribution,
		Missing: r.Missing, Expr: c.def.Expr, Features: names, BestScore: best,
	}
}

// known returns a pointer to v, nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
