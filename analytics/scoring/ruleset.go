package scoring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"revarch/fault"
)

// EngineVersion is the version of the arithmetic. Its major part changes when a stored score would render
// differently under the new code; rule sets of another major version are refused.
const EngineVersion = "1.0.0"

// maxRules bounds the rules of one model.
const maxRules = 64

// Definition is the complete, versioned content of a rule set: what is stored per version so that an old score can be
// shown by the rules it was computed with.
type Definition struct {
	Engine             string              `json:"engine"`
	Models             []Model             `json:"models"` // enabled ones
	CategoryWeights    map[Model]Weights   `json:"category_weights"`
	Rules              []Rule              `json:"rules"` // by model, category and id, disabled ones included
	SegmentMultipliers map[Segment]Weights `json:"segment_multipliers"`
	PriorityFactors    map[Segment]float64 `json:"priority_factors"`
}

// RuleSet is a compiled definition. It is immutable and safe for concurrent use.
type RuleSet struct {
	def     Definition
	version string
	check   [4]byte // start of the hash, stored with each score
	models  [NumModels]modelRules
}

type modelRules struct {
	enabled bool
	rules   []compiledRule         // enabled ones, by category and id
	span    [NumCategories + 1]int // rules[span[c]:span[c+1]] belong to category c
	total   [NumCategories]float64 // sum of rule weights
	weights [NumSegments]Weights   // per segment, summing to 100
	factor  [NumSegments]float64   // on the composite
}

// NewRuleSet compiles a configuration. What is wrong with it comes back as a fault.Invalid.
func NewRuleSet(c Config) (*RuleSet, error) {
	rules, err := c.effective()
	if err != nil {
		return nil, err
	}
	d := Definition{
		Engine: EngineVersion, CategoryWeights: maps.Clone(c.CategoryWeights), Rules: rules,
		SegmentMultipliers: maps.Clone(c.SegmentMultipliers), PriorityFactors: maps.Clone(c.PriorityFactors),
	}
	for m := range Model(NumModels) {
		if c.Models[m] {
			d.Models = append(d.Models, m)
		}
	}
	return compile(d)
}

// LoadRuleSet reads a definition that MarshalJSON wrote. A definition of another major engine version is a
// fault.Conflict.
func LoadRuleSet(data []byte) (*RuleSet, error) {
	var d Definition
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the rule set is not readable")
	}
	if major(d.Engine) != major(EngineVersion) {
		return nil, fault.New(fault.Conflict, "the rule set belongs to engine %s, this is %s", d.Engine, EngineVersion)
	}
	return compile(d)
}

func major(v string) string {
	m, _, _ := strings.Cut(v, ".")
	return m
}

func compile(d Definition) (*RuleSet, error) {
	slices.SortFunc(d.Rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Category, b.Category), cmp.Compare(a.ID, b.ID))
	})
	slices.Sort(d.Models)
	rs := &RuleSet{def: d}
	seen := map[string]bool{}
	for _, r := range d.Rules {
		c, err := compileRule(r)
		switch {
		case err != nil:
			return nil, err
		case seen[r.ID]:
			return nil, fault.New(fault.Invalid, "rule %s is defined twice", r.ID)
		case r.Model == Risk && slices.Contains(c.feats, RiskComposite):
			return nil, fault.New(fault.Invalid, "rule %s: risk cannot read its own composite", r.ID)
		}
		seen[r.ID] = true
		if m := &rs.models[r.Model]; !r.Disabled {
			m.rules = append(m.rules, c)
			m.total[r.Category] += r.Weight
		}
	}
	for s, w := range d.SegmentMultipliers {
		if err := checkWeights("segment "+s.String(), w); err != nil {
			return nil, err
		}
	}
	for s, v := range d.PriorityFactors {
		if !(v > 0 && v <= 10) {
			return nil, fault.New(fault.Invalid, "the priority factor of %s must lie above 0 and up to 10", s)
		}
	}
	for _, m := range d.Models {
		if err := rs.models[m].finish(m, d); err != nil {
			return nil, err
		}
	}
	return rs, rs.identify()
}

// finish indexes the rules of an enabled model and works out its weights per segment. A category without an enabled
// rule is switched off: its weight goes to the others, because coverage measures data and not configuration.
func (mr *modelRules) finish(m Model, d Definition) error {
	if len(mr.rules) > maxRules {
		return fault.New(fault.Invalid, "%s has more than %d rules", m, maxRules)
	}
	if err := checkWeights(m.String(), d.CategoryWeights[m]); err != nil {
		return err
	}
	mr.enabled = true
	for c := range NumCategories {
		mr.span[c+1] = mr.span[c]
		for mr.span[c+1] < len(mr.rules) && int(mr.rules[mr.span[c+1]].cat) == c {
			mr.span[c+1]++
		}
	}
	for s := range NumSegments {
		mult, ok := d.SegmentMultipliers[Segment(s)]
		sum := 0.0
		for c, w := range d.CategoryWeights[m] {
			if ok {
				w *= mult[c]
			}
			if mr.span[c] == mr.span[c+1] {
				w = 0
			}
			mr.weights[s][c] = w
			sum += w
		}
		if !(sum > 0) {
			return fault.New(fault.Invalid, "%s has no category with both a weight and an enabled rule", m)
		}
		for c := range mr.weights[s] {
			mr.weights[s][c] *= 100 / sum
		}
		mr.factor[s] = 1
		if f, ok := d.PriorityFactors[Segment(s)]; ok && m == Priority {
			mr.factor[s] = f
		}
	}
	return nil
}

func (rs *RuleSet) identify() error {
	d := rs.def
	d.Engine = "" // the version names it already
	b, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("hashing the rule set: %w", err)
	}
	sum := sha256.Sum256(b)
	copy(rs.check[:], sum[:])
	rs.version = rs.def.Engine + "+" + hex.EncodeToString(sum[:6])
	return nil
}

// ModelVersion returns engine version and weights hash, as in 1.0.0+3fa1c2d4e5f6. Equal versions mean equal scores.
func (rs *RuleSet) ModelVersion() string { return rs.version }

// MarshalJSON writes the definition, the same bytes for the same version.
func (rs *RuleSet) MarshalJSON() ([]byte, error) { return json.Marshal(rs.def) }

// Enabled reports whether a model is scored.
func (rs *RuleSet) Enabled(m Model) bool { return m < NumModels && rs.models[m].enabled }

// Rules returns the definitions of a model's rules in the order of rule results; disabled rules are left out.
func (rs *RuleSet) Rules(m Model) []Rule {
	out := make([]Rule, 0, len(rs.models[m].rules))
	for i := range rs.models[m].rules {
		out = append(out, rs.models[m].rules[i].def)
	}
	return out
}

// AllRules returns every rule of the set, disabled ones included, by model, category and id.
func (rs *RuleSet) AllRules() []Rule { return slices.Clone(rs.def.Rules) }

// CategoryWeights returns a model's weights for a segment, renormalized to a sum of 100.
func (rs *RuleSet) CategoryWeights(m Model, s Segment) Weights { return rs.models[m].weights[s] }

// FeaturesOf returns the features that a model's enabled rules read, each once, in catalogue order.
func (rs *RuleSet) FeaturesOf(m Model) []Feature {
	var out []Feature
	for i := range rs.models[m].rules {
		out = append(out, rs.models[m].rules[i].feats...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
