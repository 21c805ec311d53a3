package scoring_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/scoring"
	"revarch/fault"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := scoring.DefaultConfig()

	t.Run("there are 57 rules and every category of every model has one", func(t *testing.T) {
		t.Parallel()
		require.Len(t, c.Rules, 57)
		seen := map[scoring.Model]map[scoring.Category]bool{}
		for _, r := range c.Rules {
			require.NoError(t, r.Validate())
			if seen[r.Model] == nil {
				seen[r.Model] = map[scoring.Category]bool{}
			}
			seen[r.Model][r.Category] = true
		}
		require.Len(t, seen, scoring.NumModels)
		for _, cats := range seen {
			require.Len(t, cats, scoring.NumCategories)
		}
	})
	t.Run("the category weights of each model sum to 100", func(t *testing.T) {
		t.Parallel()
		for m, w := range c.CategoryWeights {
			sum := 0.0
			for _, v := range w {
				sum += v
			}
			require.InDelta(t, 100, sum, 0, m.String())
		}
	})
	t.Run("every feature has a name and a description", func(t *testing.T) {
		t.Parallel()
		for i, info := range scoring.FeatureCatalogue() {
			got, ok := scoring.FeatureByName(info.Name)
			require.True(t, ok)
			require.Equal(t, scoring.Feature(i), got)
			require.NotEmpty(t, info.Doc)
		}
	})
}

func TestRefusedRules(t *testing.T) {
	t.Parallel()
	ok := scoring.Rule{ID: "X", Expr: "use_ratio", Score: "lin 0->0, 1->100", Threshold: "< 0.5", Weight: 1}
	require.NoError(t, ok.Validate())
	tests := []struct{ name, expr, score, threshold string }{
		{"an unknown feature", "usage", "pass", "> 1"},
		{"an unfinished expression", "use_ratio +", "pass", "> 1"},
		{"two expressions", "use_ratio seats", "pass", "> 1"},
		{"an open parenthesis", "(use_ratio", "pass", "> 1"},
		{"arithmetic on a boolean", "rfp_open + 1", "pass", "> 1"},
		{"logic on a number", "seats or rfp_open", "bool 1, 0", "true"},
		{"a label of another enumeration", "champion_status", "map A:100", "= active"},
		{"a comparison with a foreign label", "champion_status", "map active:100", "= gone"},
		{"ordering enumerators", "champion_status", "map active:100", "< active"},
		{"lin over an enumeration", "champion_status", "lin 0->0, 1->100", "= active"},
		{"lin without a slope", "seats", "lin 1->0, 1->100", "> 1"},
		{"lin with other ends", "seats", "lin 1->10, 2->90", "> 1"},
		{"a map that does not ascend", "seats", "map 2:0, 1:50", "> 1"},
		{"an open key in the middle", "seats", "map 0:0, 1+:50, 2:60", "> 1"},
		{"points over 100", "rfp_open", "bool 120, 0", "true"},
		{"pass with arguments", "seats", "pass 3", "> 1"},
		{"an unknown score", "seats", "sqrt 3", "> 1"},
		{"an empty threshold", "seats", "pass", ""},
		{"a threshold that is a number", "seats", "pass", "value + 1"},
		{"value outside a threshold", "value", "pass", "> 1"},
		{"a stray character", "seats; drop", "pass", "> 1"},
		{"deep nesting", strings.Repeat("(", 200) + "seats" + strings.Repeat(")", 200), "pass", "> 1"},
		{"an endless expression", strings.Repeat("seats+", 200) + "1", "pass", "> 1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := scoring.Rule{ID: "X", Expr: tc.expr, Score: tc.score, Threshold: tc.threshold, Weight: 1}
			require.True(t, fault.Is(r.Validate(), fault.Invalid))
		})
	}
	for _, weight := range []float64{0, -1} {
		ok.Weight = weight
		require.True(t, fault.Is(ok.Validate(), fault.Invalid))
	}
}

func TestRefusedConfigs(t *testing.T) {
	t.Parallel()
	off := false
	tests := []struct {
		name   string
		change scoring.Config
	}{
		{"an override of no rule", scoring.Config{Overrides: map[string]scoring.Override{"Z-1": {Enabled: &off}}}},
		{"a rule defined twice", scoring.Config{Rules: append(scoring.DefaultRules(), scoring.DefaultRules()[0])}},
		{"a negative weight", scoring.Config{CategoryWeights: map[scoring.Model]scoring.Weights{scoring.Health: {-1, 10}}}},
		{"no weight at all", scoring.Config{CategoryWeights: map[scoring.Model]scoring.Weights{scoring.Health: {}}}},
		{"a factor of 0", scoring.Config{PriorityFactors: map[scoring.Segment]float64{scoring.SMB: 0}}},
		{"risk that reads itself", scoring.Config{Rules: append(scoring.DefaultRules(),
			scoring.Rule{ID: "R-X", Model: scoring.Risk, Expr: "risk_composite", Score: "pass", Threshold: "> 1", Weight: 1})}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := scoring.DefaultConfig()
			c.Overrides = tc.change.Overrides
			if tc.change.Rules != nil {
				c.Rules = tc.change.Rules
			}
			maps.Copy(c.CategoryWeights, tc.change.CategoryWeights)
			maps.Copy(c.PriorityFactors, tc.change.PriorityFactors)
			_, err := scoring.NewRuleSet(c)
			require.True(t, fault.Is(err, fault.Invalid))
		})
	}
}

func TestModelVersion(t *testing.T) {
	t.Parallel()
	base := defaults(t).ModelVersion()
	require.Regexp(t, `^\d+\.\d+\.\d+\+[0-9a-f]{12}$`, base)

	t.Run("a changed weight changes it", func(t *testing.T) {
		t.Parallel()
		c, w := scoring.DefaultConfig(), 11.0
		c.Overrides = map[string]scoring.Override{"H-AD1": {Weight: &w}}
		rs, err := scoring.NewRuleSet(c)
		require.NoError(t, err)
		require.NotEqual(t, base, rs.ModelVersion())
	})
	t.Run("an override to the same weight and other severity thresholds do not", func(t *testing.T) {
		t.Parallel()
		c, w := scoring.DefaultConfig(), 10.0
		c.Overrides = map[string]scoring.Override{"H-AD1": {Weight: &w}}
		c.Severity.Hysteresis = 5
		rs, err := scoring.NewRuleSet(c)
		require.NoError(t, err)
		require.Equal(t, base, rs.ModelVersion())
	})
	t.Run("a disabled model is not scored and a configuration survives JSON", func(t *testing.T) {
		t.Parallel()
		c := scoring.DefaultConfig()
		c.Models[scoring.Priority] = false
		data, err := json.Marshal(c)
		require.NoError(t, err)
		var back scoring.Config
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, c, back)
		rs, err := scoring.NewRuleSet(back)
		require.NoError(t, err)
		require.False(t, rs.Enabled(scoring.Priority))
		var out scoring.Results
		rs.ScoreAll(scoring.SMB, &scoring.Features{}, &out)
		require.Empty(t, out.Of[scoring.Priority].Rules)
	})
	t.Run("a definition of another engine is refused", func(t *testing.T) {
		t.Parallel()
		_, err := scoring.LoadRuleSet([]byte(`{"engine":"2.0.0"}`))
		require.True(t, fault.Is(err, fault.Conflict))
	})
}

func TestFeaturesJSON(t *testing.T) {
	t.Parallel()
	t.Run("known features survive and null means unknown", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		in := `{"seats":120,"use_ratio":0.5,"champion_status":"left","competitor_seen":false}`
		require.NoError(t, json.Unmarshal([]byte(in), &f))
		out, err := json.Marshal(f)
		require.NoError(t, err)
		require.JSONEq(t, in, string(out))
		require.NoError(t, json.Unmarshal([]byte(`{"seats":null}`), &f))
		require.False(t, f.Has(scoring.Seats))
		require.False(t, f.Has(scoring.UseRatio))
	})
	for name, in := range map[string]string{
		"an unknown name": `{"nope":1}`, "a text for a number": `{"seats":"3"}`, "a number for an enumerator": `{"champion_status":1}`,
		"an unknown enumerator": `{"champion_status":"gone"}`, "a number for a boolean": `{"rfp_open":7}`, "an array": `[1]`,
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			var f scoring.Features
			require.True(t, fault.Is(f.UnmarshalJSON([]byte(in)), fault.Invalid))
		})
	}
}

// FuzzRule feeds the compiler text it did not expect: it must refuse or yield a rule that scores without harm.
func FuzzRule(f *testing.F) {
	for _, r := range scoring.DefaultRules() {
		f.Add(r.Expr, r.Score, r.Threshold)
	}
	f.Fuzz(func(t *testing.T, expr, score, threshold string) {
		c := scoring.DefaultConfig()
		c.Models = map[scoring.Model]bool{scoring.Health: true}
		c.Rules = []scoring.Rule{{ID: "F", Expr: expr, Score: score, Threshold: threshold, Weight: 1}}
		rs, err := scoring.NewRuleSet(c)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		var known scoring.Features
		for i := range scoring.NumFeatures {
			known.Set(scoring.Feature(i), 1)
		}
		for _, in := range []scoring.Features{{}, known} {
			var r scoring.Result
			rs.Score(scoring.Health, scoring.NoSegment, &in, &r)
			require.True(t, !r.Scored || r.Composite >= 0 && r.Composite <= 100)
			_, err = json.Marshal(rs.Render(&r, scoring.Stamp{}))
			require.NoError(t, err)
		}
	})
}
