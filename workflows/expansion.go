package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/models"
)

// RegenerateExpansionName is the wire name of RegenerateExpansion.
const RegenerateExpansionName = "RegenerateExpansion"

// RegenerateExpansionInput names the organization whose signals are found.
type RegenerateExpansionInput struct {
	OrgID uuid.UUID `json:"org_id"`
	RunID uuid.UUID `json:"run_id"`
}

// RegenerateExpansion finds what the accounts of an organization could buy and replaces the pending signals as a whole.
// It follows a computation of affinity that was asked for before, and computes it first when nobody ever did.
func RegenerateExpansion(ctx workflow.Context, in RegenerateExpansionInput) (ExpansionProgress, error) {
	s := ExpansionProgress{Phase: "waiting"}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (ExpansionProgress, error) { return s, nil }); err != nil {
		return s, err
	}
	ref := activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}
	turn, err := awaitTurn(ctx, ref)
	var a *activities.Expansion
	if err == nil && turn.NoMatrix {
		s.Phase = "computing"
		workflow.SetCurrentDetails(ctx, "Computing which products are owned together")
		err = workflow.ExecuteActivity(computeOptions(ctx, "Compute affinity"), a.RecomputeMatrix, ref).Get(ctx, nil)
	}
	if err == nil {
		s.Phase = "finding"
		workflow.SetCurrentDetails(ctx, "Finding expansion signals")
		var got activities.CountResult
		err = workflow.ExecuteActivity(computeOptions(ctx, "Find expansion signals"), a.RegenerateSignals, ref).Get(ctx, &got)
		s.Counts = got.Counts
	}
	s.Phase = "done"
	return s, finish(ctx, activities.FinishInput{RunRef: ref}, err)
}

func launchExpansion(run models.Run) (Launch, error) {
	return Launch{
		Workflow: RegenerateExpansionName, Queue: QueueCompute, Summary: "Find expansion signals",
		Input: RegenerateExpansionInput{OrgID: run.OrgID, RunID: run.ID},
	}, nil
}
