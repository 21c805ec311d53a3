package scoring

import (
	"math"

	"revarch/fault"
)

// Rule is the definition of one scoring rule, as people write and read it.
//
//   - Expr is an expression over features: names, numbers, + - * /, abs(), log10(), comparisons, and, or, not.
//   - Score turns its value into points: "lin A->0, B->100", "map active:100, left:0", "map 0:0, 1:60, 2+:100",
//     "bool 80, 0" or "pass".
//   - Threshold is the condition under which the rule fires: "< 0.35", "!= active", "true", or with further clauses
//     "< 0.6 and account_age_days > 90".
//   - Weight counts relative to the other rules of the category.
type Rule struct {
	ID        string   `json:"id"`
	Model     Model    `json:"model"`
	Category  Category `json:"category"`
	Expr      string   `json:"expr"`
	Score     string   `json:"score"`
	Threshold string   `json:"threshold"`
	Weight    float64  `json:"weight"`
	Disabled  bool     `json:"disabled,omitempty"`
}

// compiledRule is the form that scoring runs. The common shape, one feature against one constant, has a fast path.
type compiledRule struct {
	def    Rule
	kind   Kind
	labels []string
	feats  []Feature // what the expression and the threshold read

	direct bool // the expression is the single feature feat
	feat   Feature
	expr   program

	form   scoreForm
	simple opcode // the threshold is value <simple> limit; 0 when it needs cond
	limit  float64
	cond   program

	weight float64
	cat    Category
}

// maxRuleID bounds the length of a rule's id.
const maxRuleID = 40

// Validate reports what is wrong with a rule as a fault.Invalid, nil when it compiles.
func (r Rule) Validate() error {
	_, err := compileRule(r)
	return err
}

func compileRule(r Rule) (compiledRule, error) {
	c := compiledRule{def: r, weight: r.Weight, cat: r.Category}
	if r.ID == "" || len(r.ID) > maxRuleID {
		return c, fault.New(fault.Invalid, "a rule needs an id of at most %d characters", maxRuleID)
	}
	if r.Model >= NumModels || r.Category >= NumCategories {
		return c, fault.New(fault.Invalid, "rule %s: unknown model or category", r.ID)
	}
	if !(r.Weight > 0) || math.IsInf(r.Weight, 0) {
		return c, fault.New(fault.Invalid, "rule %s: the weight must be above 0; disable the rule to leave it out", r.ID)
	}
	expr, value, err := parseExpr(r.Expr)
	if err != nil {
		return c, fault.Wrap(err, fault.Invalid, "rule %s: expression: %s", r.ID, fault.Public(err))
	}
	c.expr, c.kind, c.labels, c.feats = expr, value.kind, value.labels, expr.features()
	if len(expr) == 1 && expr[0].code == opFeature {
		c.direct, c.feat = true, expr[0].feat
	}
	if c.form, err = parseScore(r.Score, value); err != nil {
		return c, fault.Wrap(err, fault.Invalid, "rule %s: score: %s", r.ID, fault.Public(err))
	}
	if c.cond, err = parseCondition(r.Threshold, value); err != nil {
		return c, fault.Wrap(err, fault.Invalid, "rule %s: threshold: %s", r.ID, fault.Public(err))
	}
	if p := c.cond; len(p) == 3 && p[0].code == opValue && p[1].code == opConst {
		c.simple, c.limit = p[2].code, p[1].num
	}
	c.feats = append(c.feats, c.cond.features()...)
	return c, nil
}

// read evaluates the expression; NaN is null.
func (c *compiledRule) read(f *Features) float64 {
	if c.direct {
		return f.at(c.feat)
	}
	return c.expr.eval(f, math.NaN())
}

// fires evaluates the threshold for a value that is not null. A condition that cannot be decided does not fire.
func (c *compiledRule) fires(f *Features, value float64) bool {
	if c.simple != 0 {
		return compare(c.simple, value, c.limit)
	}
	return c.cond.eval(f, value) == 1
}
