package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
)

// ScoreAccountsName is the wire name of ScoreAccounts.
const ScoreAccountsName = "ScoreAccounts"

// ScoreAccountsInput names the organization whose accounts are scored.
type ScoreAccountsInput struct {
	OrgID uuid.UUID `json:"org_id"`
	RunID uuid.UUID `json:"run_id"`
}

// ScoreProgress is how far scoring is.
type ScoreProgress struct {
	Phase  string           `json:"phase"`
	Counts map[string]int64 `json:"counts,omitempty"`
}

// ScoreAccounts computes the scores of every account of an organization from what is stored.
func ScoreAccounts(ctx workflow.Context, in ScoreAccountsInput) (ScoreProgress, error) {
	s := ScoreProgress{Phase: "scoring"}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (ScoreProgress, error) { return s, nil }); err != nil {
		return s, err
	}
	workflow.SetCurrentDetails(ctx, "Scoring every account")
	ref := activities.SyncRef{RunRef: activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}}
	var got activities.CountResult
	err := workflow.ExecuteActivity(computeOptions(ctx, "Score accounts"), (*activities.Compute)(nil).ScoreOrg, ref).Get(ctx, &got)
	s.Phase, s.Counts = "done", got.Counts
	return s, finish(ctx, activities.FinishInput{RunRef: ref.RunRef}, err)
}
