package tools

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/accounts"
	"revarch/services/scoring"
)

// notAvailable is the reason of what is null because nothing computes it yet.
const notAvailable = "not_available"

var getAccountHealth = define(Spec{
	Name: "get_account_health", Title: "Account health", Category: "core", Effect: Read,
	Description: "Health, risk and priority of one account with the full decomposition: 8 weighted categories, every rule and its source. For contacts and deals use get_account_360.",
}, func(ctx context.Context, d Deps, in accountIn) (accountHealthOut, error) {
	name, s, err := d.Accounts.Health(ctx, auth.From(ctx), in.AccountID)
	if err != nil {
		return accountHealthOut{}, err
	}
	return accountHealthOut{in.AccountID, name, healthModels{
		toModelScore("health", s.Health, s.Reason),
		toModelScore("risk", s.Risk, s.Reason), toModelScore("priority", s.Priority, nil),
	}}, nil
})

type accountIn struct {
	AccountID uuid.UUID `json:"account_id" format:"uuid"`
}

type accountHealthOut struct {
	AccountID uuid.UUID    `json:"account_id" format:"uuid"`
	Name      string       `json:"name"`
	Models    healthModels `json:"models"`
}

type healthModels struct {
	Health   modelScore `json:"health"`
	Risk     modelScore `json:"risk"`
	Priority modelScore `json:"priority"`
}

// Summary gives the composites.
func (o accountHealthOut) Summary() string {
	return scoreLine(o.Models.Health) + "; " + scoreLine(o.Models.Risk) + "; " + scoreLine(o.Models.Priority) + "."
}

func scoreLine(m modelScore) string {
	if m.CompositeScore == nil {
		return m.Model + " unknown (" + *m.Reason + ")"
	}
	line := fmt.Sprintf("%s %.1f at %.0f %% coverage", m.Model, *m.CompositeScore, 100*m.Coverage)
	if len(m.RulesTriggered) > 0 {
		line += ", triggered " + strings.Join(m.RulesTriggered, " ")
	}
	return line
}

// modelScore is a score with its decomposition. A model that is not computed has the same shape, without rows.
type modelScore struct {
	Model          string                  `json:"model"`
	CompositeScore *float64                `json:"composite_score" doc:"0 to 100; null with a reason"`
	Reason         *string                 `json:"reason" doc:"not_available, not_scored or insufficient_data"`
	Level          *string                 `json:"level" doc:"NONE, INFO, WARNING or CRITICAL"`
	Status         string                  `json:"status" doc:"ok, insufficient_data, not_scored or not_available"`
	Coverage       float64                 `json:"coverage" doc:"Share of the weight that has data, 0 to 1"`
	Confidence     string                  `json:"confidence"`
	CategoryScores []scoring.CategoryScore `json:"category_scores"`
	RuleResults    []ruleResult            `json:"rule_results"`
	RulesEvaluated int                     `json:"rules_evaluated"`
	RulesTriggered []string                `json:"rules_triggered"`
	ComputationMS  *float64                `json:"computation_time_ms"`
	ModelVersion   *string                 `json:"model_version"`
	ComputedAt     *time.Time              `json:"computed_at"`
	Levers         []scoring.Lever         `json:"levers" doc:"What would change this most"`
}

// ruleResult is one rule of a score. Schemas have no unions, so what was measured comes twice: Value is the number, with
// 1 and 0 for true and false and null for words and unknowns; ValueText is every known value in words.
type ruleResult struct {
	RuleID       string   `json:"rule_id"`
	Category     string   `json:"category"`
	Expr         string   `json:"expr"`
	Value        *float64 `json:"value" doc:"Number, 1 or 0 for true or false; null for words and unknowns"`
	ValueText    *string  `json:"value_text" doc:"The value in words; null when unknown"`
	Score        *float64 `json:"score"`
	Threshold    string   `json:"threshold" doc:"When the rule fires"`
	Triggered    bool     `json:"triggered"`
	Weight       float64  `json:"weight"`
	Contribution float64  `json:"contribution" doc:"Points of the composite"`
	Missing      bool     `json:"missing"`
	Source       *string  `json:"source"`
}

// toModelScore shows a score; without one, reason says why, nil that the model is not available.
func toModelScore(model string, v *scoring.ScoreView, reason *string) modelScore {
	if v == nil {
		why := notAvailable
		if reason != nil {
			why = *reason
		}
		return modelScore{
			Model: model, Reason: &why, Status: why, Confidence: "none", CategoryScores: []scoring.CategoryScore{},
			RuleResults: []ruleResult{}, RulesTriggered: []string{}, Levers: []scoring.Lever{},
		}
	}
	out := modelScore{
		Model: v.Model, CompositeScore: v.CompositeScore, Level: v.Level, Status: v.Status, Coverage: v.Coverage, Confidence: v.Confidence,
		CategoryScores: v.CategoryScores, RuleResults: make([]ruleResult, 0, len(v.RuleResults)), RulesEvaluated: v.RulesEvaluated,
		RulesTriggered: v.RulesTriggered, ComputationMS: &v.ComputationMS, ModelVersion: &v.ModelVersion, ComputedAt: &v.ComputedAt, Levers: v.Levers,
	}
	if v.CompositeScore == nil {
		out.Reason = &v.Status
	}
	for _, r := range v.RuleResults {
		n, text := measured(r.Value)
		out.RuleResults = append(out.RuleResults, ruleResult{
			r.RuleID, r.Category, r.Expr, n, text, r.Score, r.Threshold, r.Triggered, r.Weight,
			r.Contribution, r.Missing, r.Source,
		})
	}
	return out
}

// measured splits a rule's value into a number and words.
func measured(value any) (*float64, *string) {
	var n float64
	var text string
	switch v := value.(type) {
	case float64:
		n, text = v, strconv.FormatFloat(v, 'g', 6, 64)
	case bool:
		if text = strconv.FormatBool(v); v {
			n = 1
		}
	case string:
		return nil, &v
	default:
		return nil, nil
	}
	return &n, &text
}

// scoreBrief is a score without its rules, for answers that hold much else.
type scoreBrief struct {
	CompositeScore *float64                `json:"composite_score"`
	Reason         *string                 `json:"reason"`
	Level          *string                 `json:"level"`
	Coverage       float64                 `json:"coverage"`
	Confidence     string                  `json:"confidence"`
	CategoryScores []scoring.CategoryScore `json:"category_scores"`
	RulesTriggered []string                `json:"rules_triggered"`
	ComputedAt     *time.Time              `json:"computed_at"`
}

type scoreBriefs struct {
	Health    scoreBrief `json:"health"`
	Risk      scoreBrief `json:"risk"`
	Priority  scoreBrief `json:"priority"`
	Expansion scoreBrief `json:"expansion"`
}

func toScoreBriefs(s accounts.AccountScores) scoreBriefs {
	brief := func(model string, v *scoring.ScoreView, reason *string) scoreBrief {
		m := toModelScore(model, v, reason)
		return scoreBrief{m.CompositeScore, m.Reason, m.Level, m.Coverage, m.Confidence, m.CategoryScores, m.RulesTriggered, m.ComputedAt}
	}
	return scoreBriefs{brief("health", s.Health, s.Reason), brief("risk", s.Risk, s.Reason), brief("priority", s.Priority, nil), brief("expansion", s.Expansion, nil)}
}

var getScoringRules = define(Spec{
	Name: "get_scoring_rules", Title: "Scoring rules", Category: "core", Effect: Read,
	Description: "The rules scores are computed with: expression, weight, threshold, and the weight of each category. For what they gave one account use get_account_health.",
}, func(ctx context.Context, d Deps, in scoringRulesIn) (scoringRulesOut, error) {
	r, err := d.Scoring.ScoringRules(ctx, auth.From(ctx), in.Model, in.Category)
	out := scoringRulesOut{Rules: r}
	if r.Reason != nil {
		out.Note = "this model is not computed yet; health and risk are"
	}
	return out, err
})

type scoringRulesIn struct {
	Model    string `json:"model,omitempty" enum:"health,risk,priority,expansion"`
	Category string `json:"category,omitempty" enum:"adoption,relationship,engagement,support,commercial,outcomes,funding,fit"`
}

type scoringRulesOut struct {
	scoring.Rules
	Note string `json:"note,omitempty"`
}

// Summary counts the rules.
func (o scoringRulesOut) Summary() string {
	return fmt.Sprintf("%d scoring rules in %d models, version %s.", len(o.Rules.Rules), len(o.CategoryWeights), o.ModelVersion)
}
