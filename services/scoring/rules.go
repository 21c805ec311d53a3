package scoring

import (
	"context"

	"revarch/analytics/scoring"
	"revarch/auth"
	"revarch/fault"
)

// ScoringRule is one rule of an organization's scoring.
type ScoringRule struct {
	RuleID     string  `json:"rule_id"`
	Model      string  `json:"model" enum:"health,risk,priority,expansion"`
	Category   string  `json:"category"`
	Expr       string  `json:"expr" doc:"What is computed, over features"`
	Score      string  `json:"score" doc:"How its value becomes points"`
	Weight     float64 `json:"weight" doc:"Relative to the other rules of the category"`
	Threshold  string  `json:"threshold" doc:"When the rule fires"`
	Enabled    bool    `json:"enabled"`
	Overridden bool    `json:"overridden" doc:"Differs from the default"`
}

// Rules is the summary of an organization's scoring rules.
type Rules struct {
	Rules           []ScoringRule                 `json:"rules"`
	CategoryWeights map[string]map[string]float64 `json:"category_weights" doc:"Per model, percent per category before segment multipliers"`
	ModelVersion    string                        `json:"model_version"`
	Reason          *string                       `json:"reason" doc:"Why there are no rules: not_available for a model that is not scored yet"`
}

// ScoringRules lists the rules of the models that are scored; model and category narrow it, "" does not. Faults:
// Denied, Invalid for a name that does not exist.
func (s *Service) ScoringRules(ctx context.Context, p auth.Principal, model, category string) (Rules, error) {
	out := Rules{Rules: []ScoringRule{}, CategoryWeights: map[string]map[string]float64{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	if model != "" {
		if _, err := scoring.ParseModel(model); err != nil {
			return out, fault.WithFields(fault.Public(err), fault.FieldError{Field: "model", Message: fault.Public(err)})
		}
	}
	if category != "" {
		var c scoring.Category
		if err := c.UnmarshalText([]byte(category)); err != nil {
			return out, fault.WithFields(fault.Public(err), fault.FieldError{Field: "category", Message: fault.Public(err)})
		}
	}
	rs, err := s.RuleSet(ctx, p.OrgID)
	if err != nil {
		return out, err
	}
	out.ModelVersion = rs.ModelVersion()
	defaults := map[string]scoring.Rule{}
	for _, r := range scoring.DefaultConfig().Rules {
		defaults[r.ID] = r
	}
	for _, r := range rs.AllRules() {
		if !rs.Enabled(r.Model) || model != "" && r.Model.String() != model || category != "" && r.Category.String() != category {
			continue
		}
		out.Rules = append(out.Rules, ScoringRule{
			RuleID: r.ID, Model: r.Model.String(), Category: r.Category.String(), Expr: r.Expr, Score: r.Score,
			Weight: r.Weight, Threshold: r.Threshold, Enabled: !r.Disabled, Overridden: r != defaults[r.ID],
		})
	}
	for m := range scoring.Model(scoring.NumModels) {
		if !rs.Enabled(m) || model != "" && m.String() != model {
			continue
		}
		weights := map[string]float64{}
		for c, w := range rs.CategoryWeights(m, scoring.NoSegment) {
			weights[scoring.Category(c).String()] = hundredths(w)
		}
		out.CategoryWeights[m.String()] = weights
	}
	if len(out.CategoryWeights) == 0 {
		reason := "not_available"
		out.Reason = &reason
	}
	return out, nil
}
