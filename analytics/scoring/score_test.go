package scoring_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/scoring"
	"revarch/fault"
)

func TestWorkedExample(t *testing.T) {
	t.Parallel()

	// One pass-through rule per category, so that the category scores can be set directly.
	feature := []scoring.Feature{
		scoring.NPS, scoring.LeadHeat, scoring.ESSERCliff, scoring.ICPFit, scoring.ARRPercentile, scoring.Seats,
		scoring.TitleIPercentile, scoring.Contacts,
	}
	c := scoring.DefaultConfig()
	c.Rules = nil
	c.Models = map[scoring.Model]bool{scoring.Health: true}
	for cat, f := range feature {
		c.Rules = append(c.Rules, scoring.Rule{
			ID: scoring.Category(cat).String(), Category: scoring.Category(cat),
			Expr: f.String(), Score: "pass", Threshold: "< 50", Weight: 3,
		})
	}
	rs, err := scoring.NewRuleSet(c)
	require.NoError(t, err)
	var f scoring.Features
	for cat, s := range []float64{60, 50, 40, 90, 70, -1, 55, 80} {
		if scoring.Category(cat) != scoring.Outcomes {
			f.Set(feature[cat], s)
		}
	}

	var r scoring.Result
	require.True(t, rs.Score(scoring.Health, scoring.MidMarket, &f, &r))
	require.InDelta(t, 5440.0/88, r.Composite, 1e-12)
	require.InDelta(t, 0.88, r.Coverage, 1e-12)
	require.Equal(t, 8, r.Evaluated)
	require.Equal(t, 1, r.Triggered)
	require.True(t, math.IsNaN(r.Categories[scoring.Outcomes].Score))

	shown := rs.Render(&r, scoring.Stamp{})
	require.Equal(t, scoring.HighConfidence, shown.Confidence)
	require.Equal(t, scoring.StatusOK, shown.Status)
	require.Equal(t, []string{"engagement"}, shown.RulesTriggered)
	require.InDelta(t, 22.0/88*60, ruleNamed(t, shown, "adoption").Contribution, 1e-12)
	require.InDelta(t, 61.82, *shown.Rounded().Composite, 0)
}

// TestSingleRules pins values, points and firing of the default rules at hand-computed places.
func TestSingleRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, features string
		score          float64
		fires          bool
	}{
		{"H-AD1", `{"use_ratio":0.45}`, 50, false},
		{"H-AD1", `{"use_ratio":0.35}`, 100 * 0.25 / 0.7, false},
		{"H-AD1", `{"use_ratio":0}`, 0, true},
		{"H-AD1", `{"use_ratio":1.2}`, 100, false},
		{"H-AD2", `{"use_trend":-0.25}`, 30, true},
		{"H-AD3", `{"products_live":1,"products_owned":2}`, 100 * 0.2 / 0.7, true},
		{"H-RE1", `{"champion_status":"active"}`, 100, false},
		{"H-RE1", `{"champion_status":"none"}`, 30, true},
		{"H-RE1", `{"champion_status":"left"}`, 0, true},
		{"H-RE3", `{"exec_contact_days":135}`, 50, true},
		{"H-SU1", `{"p1_open":0}`, 100, false},
		{"H-SU1", `{"p1_open":1}`, 40, true},
		{"H-SU1", `{"p1_open":7}`, 0, true},
		{"H-CO1", `{"overdue_days":0}`, 100, false},
		{"H-FI1", `{"icp_fit":39}`, 39, true},
		{"R-RE1", `{"champion_status":"none"}`, 60, false},
		{"R-RE3", `{"contacts_active_90d":1}`, 75, true},
		{"R-CO1", `{"days_to_renewal":-12}`, 100, true},
		{"R-CO1", `{"days_to_renewal":90}`, 100 * 90.0 / 165, true},
		{"R-CO1", `{"days_to_renewal":91}`, 100 * 89.0 / 165, false},
		{"R-CO2", `{"competitor_seen":true}`, 80, true},
		{"R-CO2", `{"competitor_seen":false}`, 0, false},
		{"R-OU1", `{"onboarding_pct":0.3,"account_age_days":91}`, 100, true},
		{"R-OU1", `{"onboarding_pct":0.3,"account_age_days":90}`, 100, false},
		{"R-OU1", `{"onboarding_pct":0.3}`, 100, false},
		{"R-OU2", `{"value_reviews_12m":0}`, 80, true},
		{"R-OU2", `{"value_reviews_12m":3}`, 0, false},
		{"R-FU1", `{"enrollment_cagr_3y":-0.03}`, 75, true},
		{"P-AD1", `{"use_trend":-0.3}`, 75, true},
		{"P-CO1", `{"arr":60000,"expansion_arr_est":30000,"open_opp_arr":10000}`, 60, false},
		{"P-CO1", `{"arr":0,"expansion_arr_est":0,"open_opp_arr":0}`, 0, false},
		{"P-FU1", `{"window_days":0}`, 100, true},
		{"P-FU3", `{"title_i_state_percentile":80}`, 80, true},
		{"P-OU1", `{"prof_gap_flag":false}`, 20, false},
		{"E-RE1", `{"champion_status":"active"}`, 100, true},
		{"E-FU1", `{"bond_passed_12m":true}`, 90, true},
		{"E-FU1", `{"bond_passed_12m":false,"budget_chg":0.04}`, 90, true},
		{"E-FU1", `{"bond_passed_12m":false,"budget_chg":0.03}`, 30, false},
		{"E-FI1", `{"sis_lms_match":false}`, 40, false},
	}
	rs := defaults(t)
	models := map[byte]scoring.Model{'H': scoring.Health, 'R': scoring.Risk, 'P': scoring.Priority, 'E': scoring.Expansion}
	for _, tc := range tests {
		t.Run(tc.rule+" with "+tc.features, func(t *testing.T) {
			t.Parallel()
			var f scoring.Features
			require.NoError(t, f.UnmarshalJSON([]byte(tc.features)))
			var r scoring.Result
			rs.Score(models[tc.rule[0]], scoring.NoSegment, &f, &r)
			row := ruleNamed(t, rs.Render(&r, scoring.Stamp{}), tc.rule)
			require.NotNil(t, row.Score)
			require.InDelta(t, tc.score, *row.Score, 1e-9)
			require.Equal(t, tc.fires, row.Triggered)
		})
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	rs := defaults(t)

	t.Run("an account without data has no score but evaluates every rule", func(t *testing.T) {
		t.Parallel()
		var out scoring.Results
		rs.ScoreAll(scoring.SMB, &scoring.Features{}, &out)
		for m, n := range map[scoring.Model]int{scoring.Health: 16, scoring.Risk: 18, scoring.Priority: 12, scoring.Expansion: 11} {
			r := rs.Render(&out.Of[m], scoring.Stamp{})
			require.Equal(t, n, r.RulesEvaluated)
			require.Empty(t, r.RulesTriggered)
			require.Nil(t, r.Composite)
			require.Equal(t, scoring.StatusInsufficientData, r.Status)
			require.Equal(t, scoring.NoConfidence, r.Confidence)
			require.Len(t, r.Categories, 8)
		}
	})
	t.Run("a ratio of nothing and an undecided or are null", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		f.Set(scoring.ProductsLive, 0)
		f.Set(scoring.ProductsOwned, 0)
		f.SetBool(scoring.BondPassed12m, false)
		var out scoring.Results
		rs.ScoreAll(scoring.SMB, &f, &out)
		require.True(t, ruleNamed(t, rs.Render(&out.Of[scoring.Health], scoring.Stamp{}), "H-AD3").Missing)
		require.True(t, ruleNamed(t, rs.Render(&out.Of[scoring.Expansion], scoring.Stamp{}), "E-FU1").Missing)
	})
	t.Run("a value that is not finite is unknown", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		f.Set(scoring.Seats, 4)
		f.Set(scoring.Seats, math.NaN())
		require.False(t, f.Has(scoring.Seats))
	})
}

func TestConfidenceBoundaries(t *testing.T) {
	t.Parallel()
	for coverage, want := range map[float64]scoring.Confidence{
		0.8: scoring.HighConfidence, 0.79: scoring.MediumConfidence, 0.5: scoring.MediumConfidence,
		0.49: scoring.LowConfidence, 0.1 + 0.2: scoring.LowConfidence, 0.29: scoring.NoConfidence,
	} {
		require.Equal(t, want, scoring.ConfidenceOf(coverage), "coverage %v", coverage)
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	rs := defaults(t)

	t.Run("enterprise multipliers renormalize to 100", func(t *testing.T) {
		t.Parallel()
		w := rs.CategoryWeights(scoring.Health, scoring.Enterprise)
		sum := 100 + 14*0.2 + 16*0.1 // relationship 1.2, commercial 1.1
		require.InDelta(t, 14*1.2*100/sum, w[scoring.Relationship], 1e-12)
		require.InDelta(t, 22*100/sum, w[scoring.Adoption], 1e-12)
	})
	t.Run("the segment weighs priority only and is clamped at 100", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		f.Set(scoring.ICPFit, 100)
		f.SetBool(scoring.RFPOpen, true)
		f.Set(scoring.WindowDays, 0)
		f.Set(scoring.LeadHeat, 100)
		var plain, big, small scoring.Result
		rs.Score(scoring.Priority, scoring.NoSegment, &f, &plain)
		rs.Score(scoring.Priority, scoring.Enterprise, &f, &big)
		rs.Score(scoring.Priority, scoring.SMB, &f, &small)
		require.InDelta(t, 100, plain.Composite, 1e-9)
		require.InDelta(t, 100, big.Composite, 1e-9)
		require.InDelta(t, 90, small.Composite, 1e-9)
		require.InDelta(t, 0.9, small.Factor, 1e-9)
	})
	t.Run("priority reads the risk composite times the ARR percentile", func(t *testing.T) {
		t.Parallel()
		var f scoring.Features
		f.Set(scoring.UseRatio, 0.1)
		f.Set(scoring.UseTrend, -0.5)
		f.SetBool(scoring.CompetitorSeen, true)
		f.Set(scoring.ContactsActive90d, 1)
		f.Set(scoring.P1Open, 2)
		f.Set(scoring.ARRPercentile, 50)
		f.Set(scoring.RiskComposite, 3) // not the caller's to say
		var out scoring.Results
		rs.ScoreAll(scoring.MidMarket, &f, &out)
		row := ruleNamed(t, rs.Render(&out.Of[scoring.Priority], scoring.Stamp{}), "P-CO3")
		require.InDelta(t, out.Of[scoring.Risk].Composite/2, row.Value.Num, 1e-9)
	})
}

func TestSeverity(t *testing.T) {
	t.Parallel()
	s := scoring.DefaultSeverity()
	tests := []struct {
		name  string
		model scoring.Model
		score float64
		prev  scoring.Level
		want  scoring.Level
	}{
		{"health just below 40 is critical", scoring.Health, 39.9, scoring.LevelNone, scoring.LevelCritical},
		{"health of 40 is a warning", scoring.Health, 40, scoring.LevelNone, scoring.LevelWarning},
		{"critical health is kept below 43", scoring.Health, 42.9, scoring.LevelCritical, scoring.LevelCritical},
		{"critical health is left at 43", scoring.Health, 43, scoring.LevelCritical, scoring.LevelWarning},
		{"health leaves by several levels at once", scoring.Health, 90, scoring.LevelCritical, scoring.LevelNone},
		{"health between thresholds keeps the level reached", scoring.Health, 77, scoring.LevelInfo, scoring.LevelInfo},
		{"risk of 75 is critical", scoring.Risk, 75, scoring.LevelNone, scoring.LevelCritical},
		{"critical risk is kept at 72", scoring.Risk, 72, scoring.LevelCritical, scoring.LevelCritical},
		{"critical risk is left below 72", scoring.Risk, 71.9, scoring.LevelCritical, scoring.LevelWarning},
		{"risk of 74 alone is a warning", scoring.Risk, 74, scoring.LevelWarning, scoring.LevelWarning},
		{"priority of 85 is critical", scoring.Priority, 85, scoring.LevelNone, scoring.LevelCritical},
		{"expansion of 45 is info", scoring.Expansion, 45, scoring.LevelNone, scoring.LevelInfo},
		{"expansion below 45 is nothing", scoring.Expansion, 44, scoring.LevelNone, scoring.LevelNone},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, s.Level(tc.model, tc.score, tc.prev))
		})
	}
	t.Run("thresholds out of order are refused", func(t *testing.T) {
		t.Parallel()
		bad := scoring.DefaultSeverity()
		require.NoError(t, bad.Validate())
		bad.Thresholds[scoring.Health] = scoring.Thresholds{Critical: 60, Warning: 40, Info: 75}
		require.True(t, fault.Is(bad.Validate(), fault.Invalid))
	})
}
