package scoring

import "math"

// RuleResult is what one rule said about an account. NaN stands for null in Value and Score.
type RuleResult struct {
	Value        float64
	Score        float64 // 0 to 100
	Contribution float64 // points of the composite; 0 when missing or without a composite
	Missing      bool    // the value, or the score of the value, is unknown
	Triggered    bool
}

// CategoryResult is what a category said. Score is NaN when none of its rules has a value.
type CategoryResult struct {
	Weight   float64 // after segment multipliers, summing to 100 over the categories
	Score    float64
	Coverage float64 // share of rule weight with a value, 0 to 1
}

// Result is one score. Rules is aligned with RuleSet.Rules and reused from call to call.
type Result struct {
	Model      Model
	Segment    Segment
	Scored     bool    // false: coverage below 0.3, Composite is NaN
	Composite  float64 // 0 to 100
	Coverage   float64 // 0 to 1
	Factor     float64 // what the segment multiplied the composite by, after clamping at 100
	Categories [NumCategories]CategoryResult
	Rules      []RuleResult
	Evaluated  int // enabled rules, those without data included
	Triggered  int
}

// minCoverage is the coverage below which there is no composite.
const minCoverage = 0.3

// Score computes one model for one account into out, without allocating once out has been used. It returns false and
// an empty result when the model is not enabled. Priority rules read RiskComposite from f: use ScoreAll, or set it.
func (rs *RuleSet) Score(m Model, seg Segment, f *Features, out *Result) bool {
	if !out.prepare(rs, m, seg) {
		return false
	}
	rules := rs.models[m].rules
	for i := range rules {
		r, c := &out.Rules[i], &rules[i]
		r.Value = c.read(f)
		r.Score = c.form.of(r.Value)
		r.Missing = math.IsNaN(r.Score)
		r.Triggered = !r.Missing && c.fires(f, r.Value)
	}
	rs.compose(out)
	return true
}

// prepare empties out and makes room for the model's rules.
func (out *Result) prepare(rs *RuleSet, m Model, seg Segment) bool {
	buf := out.Rules[:0]
	*out = Result{Model: m, Segment: seg, Composite: math.NaN(), Factor: 1, Rules: buf}
	if m >= NumModels || seg >= NumSegments || !rs.models[m].enabled {
		return false
	}
	n := len(rs.models[m].rules)
	if cap(buf) < n {
		buf = make([]RuleResult, maxRules)
	}
	out.Rules, out.Evaluated = buf[:n], n
	return true
}

// compose works out categories, composite and contributions from the rule scores in out. Rendering a stored score
// takes the same path, so both always agree.
func (rs *RuleSet) compose(out *Result) {
	mr := &rs.models[out.Model]
	var known [NumCategories]float64 // rule weight that has a value
	weighted, sum := 0.0, 0.0
	for c := range NumCategories {
		points := 0.0
		for i := mr.span[c]; i < mr.span[c+1]; i++ {
			r := &out.Rules[i]
			r.Contribution = 0
			if r.Triggered {
				out.Triggered++
			}
			if !r.Missing {
				known[c] += mr.rules[i].weight
				points += mr.rules[i].weight * r.Score
			}
		}
		cat := &out.Categories[c]
		*cat = CategoryResult{Weight: mr.weights[out.Segment][c], Score: math.NaN()}
		if known[c] == 0 {
			continue
		}
		cat.Score = clamp100(points / known[c])
		cat.Coverage = known[c] / mr.total[c]
		out.Coverage += cat.Weight * cat.Coverage / 100
		weighted += cat.Weight * cat.Score
		sum += cat.Weight
	}
	out.Coverage = math.Min(out.Coverage, 1)
	if sum == 0 || out.Coverage+coverageSlack < minCoverage {
		return
	}
	raw := clamp100(weighted / sum)
	out.Scored = true
	out.Composite = clamp100(raw * mr.factor[out.Segment])
	if raw > 0 {
		out.Factor = out.Composite / raw
	}
	for c := range NumCategories {
		if known[c] == 0 {
			continue
		}
		share := out.Categories[c].Weight / sum / known[c] * out.Factor
		for i := mr.span[c]; i < mr.span[c+1]; i++ {
			if r := &out.Rules[i]; !r.Missing {
				r.Contribution = share * mr.rules[i].weight * r.Score
			}
		}
	}
}

// Results holds the scores of one account, indexed by Model, with the buffers to reuse for the next one.
type Results struct {
	Of    [NumModels]Result
	input Features
}

// ScoreAll computes every enabled model in dependency order: health and risk, then expansion, then priority, which
// reads the risk composite (null when risk is off or has too little data, whatever f says). Results of models that
// are off are empty. It does not allocate once out has been used.
func (rs *RuleSet) ScoreAll(seg Segment, f *Features, out *Results) {
	out.input = *f
	out.input.Clear(RiskComposite)
	for _, m := range ComputeOrder() {
		rs.Score(m, seg, &out.input, &out.Of[m])
		if m == Risk {
			out.input.Set(RiskComposite, out.Of[Risk].Composite)
		}
	}
}
