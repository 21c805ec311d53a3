package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/models"
)

// MatchAccountsName is the wire name of MatchAccounts.
const MatchAccountsName = "MatchAccounts"

// MatchAccountsInput names the organization whose accounts are matched.
type MatchAccountsInput struct {
	OrgID uuid.UUID `json:"org_id"`
	RunID uuid.UUID `json:"run_id"`
}

// MatchProgress is how far matching is.
type MatchProgress struct {
	Phase  string           `json:"phase"`
	Counts map[string]int64 `json:"counts,omitempty"`
}

// MatchAccounts ties the accounts of an organization to districts and institutions anew.
func MatchAccounts(ctx workflow.Context, in MatchAccountsInput) (MatchProgress, error) {
	s := MatchProgress{Phase: "matching"}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (MatchProgress, error) { return s, nil }); err != nil {
		return s, err
	}
	workflow.SetCurrentDetails(ctx, "Matching every account")
	ref := activities.SyncRef{RunRef: activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}}
	var got activities.CountResult
	err := workflow.ExecuteActivity(computeOptions(ctx, "Match accounts"), (*activities.Compute)(nil).MatchOrg, ref).Get(ctx, &got)
	s.Phase, s.Counts = "done", got.Counts
	return s, finish(ctx, activities.FinishInput{RunRef: ref.RunRef}, err)
}

func launchMatch(run models.Run) (Launch, error) {
	return Launch{
		Workflow: MatchAccountsName, Queue: QueueCompute, Summary: "Match accounts",
		Input: MatchAccountsInput{OrgID: run.OrgID, RunID: run.ID},
	}, nil
}
