package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"revarch/fault"
)

// Weights holds one number per category. In JSON it is an object of category names; a missing name is 0.
type Weights [NumCategories]float64

// MarshalJSON writes all eight categories in order.
func (w Weights) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, v := range w {
		n, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encoding weight of %s: %w", Category(i), err)
		}
		fmt.Fprintf(&b, ",%q:%s", Category(i).String(), n)
	}
	out := b.Bytes()
	out[0] = '{'
	return append(out, '}'), nil
}

// UnmarshalJSON reads an object of category names; an unknown one is a fault.Invalid.
func (w *Weights) UnmarshalJSON(data []byte) error {
	var in map[Category]float64
	if err := json.Unmarshal(data, &in); err != nil {
		return fault.Wrap(err, fault.Invalid, "weights must be an object of categories and numbers")
	}
	*w = Weights{}
	for c, v := range in {
		w[c] = v
	}
	return nil
}

// Override changes one rule of an organization; nil fields leave it as it is.
type Override struct {
	Weight  *float64 `json:"weight,omitempty"`
	Enabled *bool    `json:"enabled,omitempty"`
}

// Config is what an organization can set. Start from DefaultConfig: missing entries are not filled in, except that a
// segment without multipliers or factor counts as 1.
type Config struct {
	Models             map[Model]bool      `json:"models"` // absent is off
	CategoryWeights    map[Model]Weights   `json:"category_weights"`
	Rules              []Rule              `json:"rules"`
	Overrides          map[string]Override `json:"overrides,omitempty"` // by rule id
	SegmentMultipliers map[Segment]Weights `json:"segment_multipliers"`
	PriorityFactors    map[Segment]float64 `json:"priority_factors"`
	Severity           Severity            `json:"severity"` // not part of a rule set's identity: it changes no score
}

// effective returns the rules with the overrides applied.
func (c Config) effective() ([]Rule, error) {
	rules := append([]Rule(nil), c.Rules...)
	left := len(c.Overrides)
	for i := range rules {
		o, ok := c.Overrides[rules[i].ID]
		if !ok {
			continue
		}
		left--
		if o.Weight != nil {
			rules[i].Weight = *o.Weight
		}
		if o.Enabled != nil {
			rules[i].Disabled = !*o.Enabled
		}
	}
	if left > 0 {
		return nil, fault.New(fault.Invalid, "an override names a rule that does not exist")
	}
	return rules, nil
}

func checkWeights(what string, w Weights) error {
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fault.New(fault.Invalid, "%s: the weight of %s must be 0 or more", what, Category(i))
		}
	}
	return nil
}
