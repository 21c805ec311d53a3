package scoring

import (
	"math"
	"time"

	"revarch/analytics/scoring"
	"revarch/models"
)

// ScoreView is a score with its decomposition as every surface shows it. Scores are points from 0 to 100, coverages
// fractions of 1; the contributions sum to the composite.
type ScoreView struct {
	Model          string          `json:"model" enum:"health,risk,priority,expansion"`
	CompositeScore *float64        `json:"composite_score" doc:"0 to 100; null when there is too little data"`
	Level          *string         `json:"level" enum:"NONE,INFO,WARNING,CRITICAL" doc:"How urgent the composite is"`
	Coverage       float64         `json:"coverage" doc:"Share of the weight that has data, 0 to 1"`
	Confidence     string          `json:"confidence" enum:"high,medium,low,none"`
	Status         string          `json:"status" enum:"ok,insufficient_data"`
	CategoryScores []CategoryScore `json:"category_scores"`
	RuleResults    []RuleResult    `json:"rule_results"`
	RulesEvaluated int             `json:"rules_evaluated"`
	RulesTriggered []string        `json:"rules_triggered" doc:"Ids of the rules that fired"`
	ComputationMS  float64         `json:"computation_time_ms"`
	ModelVersion   string          `json:"model_version"`
	ComputedAt     time.Time       `json:"computed_at"`
	Levers         []Lever         `json:"levers" doc:"What would change this most, the largest change first"`
}

// CategoryScore is one of the eight categories of a score.
type CategoryScore struct {
	Category string   `json:"category"`
	Weight   float64  `json:"weight" doc:"Percent; the eight sum to 100"`
	Score    *float64 `json:"score" doc:"Null when no rule of the category has data"`
	Coverage float64  `json:"coverage"`
}

// RuleResult is one rule of a score with where its value came from.
type RuleResult struct {
	RuleID       string               `json:"rule_id"`
	Category     string               `json:"category"`
	Value        any                  `json:"value" doc:"Number, text, true, false, or null when unknown"`
	Score        *float64             `json:"score"`
	Threshold    string               `json:"threshold" doc:"When the rule fires"`
	Triggered    bool                 `json:"triggered"`
	Weight       float64              `json:"weight" doc:"Relative to the other rules of the category"`
	Contribution float64              `json:"contribution" doc:"Points of the composite"`
	Missing      bool                 `json:"missing" doc:"The value is unknown: it counts neither for nor against"`
	Expr         string               `json:"expr"`
	Features     []string             `json:"features"`
	Source       *string              `json:"source" doc:"Where the value came from, in words"`
	Sources      []models.FieldSource `json:"sources"`
}

// Lever says what the composite would gain if one rule gave its most favorable score.
type Lever struct {
	RuleID       string  `json:"rule_id"`
	Category     string  `json:"category"`
	Points       float64 `json:"points" doc:"Change of the composite, negative for risk"`
	Missing      bool    `json:"missing" doc:"The rule needs data first"`
	CoverageGain float64 `json:"coverage_gain" doc:"What the coverage would gain from that data, 0 to 1"`
}

// ToView shows a score; prov says where the canonical fields of the account came from and may be nil.
func ToView(r Rendered, prov Provenance) ScoreView {
	v := ScoreView{
		Model: r.Model.String(), CompositeScore: r.Composite, Coverage: r.Coverage, Confidence: string(r.Confidence), Status: string(r.Status),
		CategoryScores: make([]CategoryScore, 0, len(r.Categories)), RuleResults: make([]RuleResult, 0, len(r.Rules)),
		RulesEvaluated: r.RulesEvaluated, RulesTriggered: append([]string{}, r.RulesTriggered...), ComputationMS: r.ComputationMS,
		ModelVersion: r.ModelVersion, ComputedAt: r.ComputedAt.UTC(), Levers: make([]Lever, 0, len(r.Levers)),
	}
	v.Level = LevelOf(r.Model, r.Composite)
	for _, c := range r.Categories {
		v.CategoryScores = append(v.CategoryScores, CategoryScore{c.Category.String(), c.Weight, c.Score, c.Coverage})
	}
	for _, x := range r.Rules {
		sources := []models.FieldSource{}
		if !x.Missing {
			sources = prov.of(x.Features)
		}
		v.RuleResults = append(v.RuleResults, RuleResult{
			RuleID: x.RuleID, Category: x.Category.String(), Value: valueOf(x.Value), Score: x.Score,
			Threshold: x.Threshold, Triggered: x.Triggered, Weight: x.Weight, Contribution: x.Contribution, Missing: x.Missing, Expr: x.Expr,
			Features: append([]string{}, x.Features...), Source: words(sources), Sources: sources,
		})
	}
	for _, l := range r.Levers {
		v.Levers = append(v.Levers, Lever{l.RuleID, l.Category.String(), hundredths(l.Delta), l.Missing, math.Round(l.CoverageGain*1e4) / 1e4})
	}
	return v
}

// LevelOf names how urgent a composite is by the organization's thresholds; nil without a composite.
func LevelOf(m scoring.Model, composite *float64) *string {
	if composite == nil {
		return nil
	}
	level := scoring.DefaultSeverity().Level(m, *composite, scoring.LevelNone).String()
	return &level
}

// AtRisk is the risk composite from which an account counts as at risk: the level WARNING or worse.
func AtRisk() float64 { return scoring.DefaultSeverity().Thresholds[scoring.Risk].Warning }

func valueOf(v scoring.Value) any {
	switch {
	case !v.Known:
		return nil
	case v.Kind == scoring.Enum:
		return v.Label
	case v.Kind == scoring.Bool:
		return v.Num != 0
	}
	return v.Num
}

func hundredths(v float64) float64 { return math.Round(v*100) / 100 }
