package scoring_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/scoring"
)

func TestProperties(t *testing.T) {
	t.Parallel()

	t.Run("contributions sum to the composite and everything stays in range", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			rs, err := scoring.NewRuleSet(anyConfig(t))
			require.NoError(t, err)
			var out scoring.Results
			rs.ScoreAll(anySegment(t), anyFeatures(t), &out)
			for _, r := range out.Of {
				sum, weights := 0.0, 0.0
				for _, x := range r.Rules {
					require.GreaterOrEqual(t, x.Contribution, 0.0)
					sum += x.Contribution
				}
				for _, c := range r.Categories {
					weights += c.Weight
					require.True(t, math.IsNaN(c.Score) || c.Score >= 0 && c.Score <= 100)
				}
				require.InDelta(t, 100, weights, 1e-9)
				require.True(t, r.Coverage >= 0 && r.Coverage <= 1)
				if !r.Scored {
					require.Less(t, r.Coverage, 0.3)
					require.True(t, math.IsNaN(r.Composite))
					require.Zero(t, sum)
					continue
				}
				require.True(t, r.Composite >= 0 && r.Composite <= 100)
				require.InDelta(t, r.Composite, sum, 1e-9)
			}
		})
	})

	t.Run("shown contributions sum to the shown composite to the hundredth", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		rapid.Check(t, func(t *rapid.T) {
			var r scoring.Result
			rs.Score(scoring.Health, anySegment(t), anyFeatures(t), &r)
			shown := rs.Render(&r, scoring.Stamp{}).Rounded()
			if shown.Composite == nil {
				return
			}
			cents := 0.0
			for _, x := range shown.Rules {
				cents += math.Round(x.Contribution * 100)
			}
			require.Equal(t, math.Round(*shown.Composite*100), cents)
			cents = 0
			for _, c := range shown.Categories {
				cents += math.Round(c.Weight * 100)
			}
			require.Equal(t, 10000.0, cents)
		})
	})

	t.Run("a missing feature changes no rule that does not read it", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		rapid.Check(t, func(t *rapid.T) {
			f := anyFeatures(t)
			m := rapid.SampledFrom([]scoring.Model{scoring.Health, scoring.Risk, scoring.Expansion}).Draw(t, "model")
			gone := rapid.SampledFrom(rs.FeaturesOf(m)).Draw(t, "gone")
			var with, without scoring.Result
			rs.Score(m, scoring.SMB, f, &with)
			f.Clear(gone)
			rs.Score(m, scoring.SMB, f, &without)
			rows := rs.Render(&with, scoring.Stamp{}).Rules
			for i, row := range rs.Render(&without, scoring.Stamp{}).Rules {
				reads := false
				for _, name := range row.Features {
					reads = reads || name == gone.String()
				}
				if reads {
					continue
				}
				row.Contribution, rows[i].Contribution = 0, 0
				require.Equal(t, rows[i], row)
			}
		})
	})

	t.Run("the order of rules in the configuration changes nothing", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			c := anyConfig(t)
			rs, err := scoring.NewRuleSet(c)
			require.NoError(t, err)
			c.Rules = rapid.Permutation(c.Rules).Draw(t, "rules")
			shuffled, err := scoring.NewRuleSet(c)
			require.NoError(t, err)
			require.Equal(t, rs.ModelVersion(), shuffled.ModelVersion())
			f, seg := anyFeatures(t), anySegment(t)
			var a, b scoring.Results
			rs.ScoreAll(seg, f, &a)
			shuffled.ScoreAll(seg, f, &b)
			for m := range a.Of {
				require.Equal(t, rs.Encode(nil, &a.Of[m]), shuffled.Encode(nil, &b.Of[m]))
			}
		})
	})

	t.Run("a stored score renders the same, also by a reloaded rule set", func(t *testing.T) {
		t.Parallel()
		at := scoring.Stamp{ComputedAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Took: 1500 * time.Nanosecond}
		rapid.Check(t, func(t *rapid.T) {
			rs, err := scoring.NewRuleSet(anyConfig(t))
			require.NoError(t, err)
			data, err := json.Marshal(rs)
			require.NoError(t, err)
			old, err := scoring.LoadRuleSet(data)
			require.NoError(t, err)
			require.Equal(t, rs.ModelVersion(), old.ModelVersion())
			var out scoring.Results
			rs.ScoreAll(anySegment(t), anyFeatures(t), &out)
			for m := range out.Of {
				got, err := scoring.Render(old, rs.Encode(nil, &out.Of[m]), at)
				require.NoError(t, err)
				require.Equal(t, rs.Render(&out.Of[m], at), got)
			}
		})
	})

	t.Run("disabled rules are not counted and rules without data are", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			c := anyConfig(t)
			rs, err := scoring.NewRuleSet(c)
			require.NoError(t, err)
			var out scoring.Results
			rs.ScoreAll(anySegment(t), anyFeatures(t), &out)
			for m := range out.Of {
				r := rs.Render(&out.Of[m], scoring.Stamp{})
				enabled := 0
				for _, rule := range rs.AllRules() {
					if rule.Model == scoring.Model(m) && !rule.Disabled {
						enabled++
					}
				}
				require.Equal(t, enabled, r.RulesEvaluated)
				require.Len(t, r.Rules, enabled)
				for _, x := range r.Rules {
					require.False(t, x.Missing && x.Triggered)
					require.Equal(t, x.Missing, x.Score == nil)
				}
			}
		})
	})

	t.Run("more use never lowers health nor raises risk", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		rapid.Check(t, func(t *rapid.T) {
			f, seg := anyFeatures(t), anySegment(t)
			low := rapid.Float64Range(0, 1).Draw(t, "low")
			high := rapid.Float64Range(low, 1).Draw(t, "high")
			var a, b scoring.Results
			f.Set(scoring.UseRatio, low)
			rs.ScoreAll(seg, f, &a)
			f.Set(scoring.UseRatio, high)
			rs.ScoreAll(seg, f, &b)
			if a.Of[scoring.Health].Scored {
				require.LessOrEqual(t, a.Of[scoring.Health].Composite, b.Of[scoring.Health].Composite+1e-9)
			}
			if a.Of[scoring.Risk].Scored {
				require.GreaterOrEqual(t, a.Of[scoring.Risk].Composite, b.Of[scoring.Risk].Composite-1e-9)
			}
		})
	})

	t.Run("a lever says what rescoring would say", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		rapid.Check(t, func(t *rapid.T) {
			f, seg := anyFeatures(t), anySegment(t)
			var r scoring.Result
			rs.Score(scoring.Health, seg, f, &r)
			for _, l := range scoring.Levers(rs.Render(&r, scoring.Stamp{})) {
				if l.RuleID != "H-FI1" || !r.Scored {
					continue
				}
				f.Set(scoring.ICPFit, 100)
				var best scoring.Result
				rs.Score(scoring.Health, seg, f, &best)
				require.InDelta(t, best.Composite-r.Composite, l.Delta, 1e-9)
				require.True(t, !l.Missing || math.Abs(best.Coverage-r.Coverage-l.CoverageGain) < 1e-9)
			}
		})
	})
}
