package scoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/scoring"
)

func TestEdges(t *testing.T) {
	t.Parallel()

	t.Run("a risk composite that the caller sets is not used", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		f.Set(scoring.RiskComposite, 90)
		f.Set(scoring.ARRPercentile, 100)
		rs := defaults(t)
		var out scoring.Results
		rs.ScoreAll(scoring.SMB, &f, &out)
		require.True(t, ruleNamed(t, rs.Render(&out.Of[scoring.Priority], scoring.Stamp{}), "P-CO3").Missing)
	})

	t.Run("a category without enabled rules gives its weight to the others", func(t *testing.T) {
		t.Parallel()
		off := false
		c := scoring.DefaultConfig()
		c.Overrides = map[string]scoring.Override{"H-FI1": {Enabled: &off}}
		rs, err := scoring.NewRuleSet(c)
		require.NoError(t, err)
		var r scoring.Result
		rs.Score(scoring.Health, scoring.MidMarket, full(), &r)
		require.Zero(t, r.Categories[scoring.Fit].Weight)
		require.InDelta(t, 22*100.0/94, r.Categories[scoring.Adoption].Weight, 1e-12)
		require.InDelta(t, 1, r.Coverage, 1e-12)
		require.Equal(t, 15, r.Evaluated)
	})

	t.Run("levers of risk point down and leave out what is at its best", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		require.NoError(t, f.UnmarshalJSON([]byte(`{"use_ratio":0.1,"use_trend":-0.5,"champion_status":"left",
			"p1_open":0,"last_activity_days":1}`)))
		rs := defaults(t)
		var r scoring.Result
		rs.Score(scoring.Risk, scoring.MidMarket, &f, &r)
		// adoption 20 x 100, relationship 16 x 100, engagement 12 x 0, support 10 x 0
		require.InDelta(t, 3600.0/58, r.Composite, 1e-9)
		levers := scoring.Levers(rs.Render(&r, scoring.Stamp{}))
		require.Equal(t, "R-RE1", levers[0].RuleID)
		require.InDelta(t, -1600.0/58, levers[0].Delta, 1e-9)
		for _, l := range levers {
			require.NotContains(t, []string{"R-SU1", "R-EN1"}, l.RuleID)
		}
	})

	t.Run("levers of a score without data rank what would be known", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		var r scoring.Result
		rs.Score(scoring.Health, scoring.MidMarket, &scoring.Features{}, &r)
		levers := scoring.Levers(rs.Render(&r, scoring.Stamp{}))
		require.Len(t, levers, 16)
		require.Equal(t, "H-AD1", levers[0].RuleID)
		require.InDelta(t, 0.22*10/23, levers[0].CoverageGain, 1e-12)
		require.Zero(t, levers[0].Delta)
	})

	t.Run("drivers are the rules that fired, strongest first", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		require.NoError(t, f.UnmarshalJSON([]byte(`{"use_ratio":0.1,"use_trend":0.1,"champion_status":"none",
			"p1_open":0,"last_activity_days":48.5}`)))
		rs := defaults(t)
		var health, risk scoring.Result
		rs.Score(scoring.Health, scoring.MidMarket, &f, &health)
		rs.Score(scoring.Risk, scoring.MidMarket, &f, &risk)
		got := scoring.Drivers(rs.Render(&health, scoring.Stamp{}))
		require.Len(t, got, 3) // of 58: adoption 22 x 10/18 x 100, relationship 14 x 70, engagement 12 x 50
		require.Equal(t, []string{"H-AD1", "H-RE1", "H-EN1"}, []string{got[0].RuleID, got[1].RuleID, got[2].RuleID})
		require.InDelta(t, -22.0/58*10/18*100, got[0].Points, 1e-9)
		require.InDelta(t, -14.0/58*70, got[1].Points, 1e-9)
		got = scoring.Drivers(rs.Render(&risk, scoring.Stamp{}))
		require.Len(t, got, 1)
		require.InDelta(t, 20.0/58*9/19*100, got[0].Points, 1e-9)
	})

	t.Run("a stored composite that its values do not give is refused", func(t *testing.T) {
		t.Parallel()
		rs := defaults(t)
		var r scoring.Result
		rs.Score(scoring.Health, scoring.MidMarket, full(), &r)
		r.Composite++
		_, err := scoring.Render(rs, rs.Encode(nil, &r), scoring.Stamp{})
		require.Error(t, err)
	})
}
