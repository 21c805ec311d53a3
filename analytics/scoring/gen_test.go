package scoring_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/scoring"
)

func defaults(t require.TestingT) *scoring.RuleSet {
	rs, err := scoring.NewRuleSet(scoring.DefaultConfig())
	require.NoError(t, err)
	return rs
}

// anyFeatures draws an account with some features known, at values inside and beyond their usual ranges.
func anyFeatures(t *rapid.T) *scoring.Features {
	var f scoring.Features
	p := rapid.IntRange(0, 10).Draw(t, "known of ten")
	for i, info := range scoring.FeatureCatalogue() {
		x := scoring.Feature(i)
		if x == scoring.RiskComposite || rapid.IntRange(1, 10).Draw(t, "draw") > p {
			continue
		}
		switch info.Kind {
		case scoring.Bool:
			f.SetBool(x, rapid.Bool().Draw(t, info.Name))
		case scoring.Enum:
			require.NoError(t, f.SetEnum(x, rapid.SampledFrom(info.Labels).Draw(t, info.Name)))
		default:
			unit := rapid.Float64Range(-1, 1.5).Draw(t, info.Name)
			f.Set(x, rapid.SampledFrom([]float64{unit, math.Round(unit * 5), unit * 200, unit * 1e6}).Draw(t, "scaled"))
		}
	}
	return &f
}

// anyConfig draws overrides, category weights and disabled rules on top of the defaults.
func anyConfig(t *rapid.T) scoring.Config {
	c := scoring.DefaultConfig()
	c.Overrides = map[string]scoring.Override{}
	for _, r := range c.Rules {
		switch rapid.IntRange(0, 5).Draw(t, "change") {
		case 0:
			if r.Category == scoring.Adoption { // keeps every model computable
				continue
			}
			off := false
			c.Overrides[r.ID] = scoring.Override{Enabled: &off}
		case 1:
			w := rapid.Float64Range(0.1, 50).Draw(t, "weight")
			c.Overrides[r.ID] = scoring.Override{Weight: &w}
		}
	}
	for _, m := range scoring.ComputeOrder() {
		w := c.CategoryWeights[m]
		for i := range w {
			w[i] *= rapid.Float64Range(0.2, 4).Draw(t, "category")
		}
		c.CategoryWeights[m] = w
	}
	return c
}

func anySegment(t *rapid.T) scoring.Segment {
	return rapid.SampledFrom([]scoring.Segment{scoring.NoSegment, scoring.Enterprise, scoring.MidMarket, scoring.SMB}).Draw(t, "segment")
}

func ruleNamed(t *testing.T, r scoring.Rendered, id string) scoring.RuleRow {
	t.Helper()
	for _, x := range r.Rules {
		if x.RuleID == id {
			return x
		}
	}
	require.Failf(t, "no such rule", "%s in %s", id, r.Model)
	return scoring.RuleRow{}
}
