package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/services/scoring"
)

// Scoring is the rules of scores and their computation.
type Scoring struct {
	Scoring *scoring.Service
	Runs    *Runs
}

// ScoringRules is the summary of the rules that scores are computed with.
type ScoringRules scoring.Rules

type scoringRulesInput struct {
	Model    string `query:"model" enum:"health,risk,priority,expansion"`
	Category string `query:"category" enum:"adoption,relationship,engagement,support,commercial,outcomes,funding,fit"`
}

type computeScoresInput struct {
	Prefer string `header:"Prefer" doc:"wait=N waits up to N seconds, at most 60, for the end"`
}

// Register adds the operations.
func (a *Scoring) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-scoring-rules", http.MethodGet, "/scoring/rules", "List the rules of the models that are scored", "Scoring", auth.PermRead),
		func(ctx context.Context, in *scoringRulesInput) (*struct{ Body ScoringRules }, error) {
			r, err := a.Scoring.ScoringRules(ctx, auth.From(ctx), in.Model, in.Category)
			return &struct{ Body ScoringRules }{ScoringRules(r)}, problem(err)
		})
	compute := operation("compute-scores", http.MethodPost, "/scores/compute", "Start scoring all accounts anew", "Scoring", auth.PermOperate)
	compute.DefaultStatus = http.StatusAccepted
	huma.Register(h, compute, func(ctx context.Context, in *computeScoresInput) (*startedRun, error) {
		r, already, err := scoring.Start(ctx, a.Runs.Runs, auth.From(ctx))
		if err != nil {
			return nil, problem(err)
		}
		return a.Runs.started(ctx, r, already, in.Prefer)
	})
}
