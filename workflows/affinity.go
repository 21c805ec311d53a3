package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/models"
)

// RecomputeAffinityName is the wire name of RecomputeAffinity.
const RecomputeAffinityName = "RecomputeAffinity"

// RecomputeAffinityInput names the organization whose matrix is computed.
type RecomputeAffinityInput struct {
	OrgID uuid.UUID `json:"org_id"`
	RunID uuid.UUID `json:"run_id"`
}

// ExpansionProgress is how far a run about products is.
type ExpansionProgress struct {
	Phase  string           `json:"phase"`
	Counts map[string]int64 `json:"counts,omitempty"`
}

// RecomputeAffinity computes which products of an organization are owned together and replaces what was known, as a
// whole. It follows a regeneration that was asked for before.
func RecomputeAffinity(ctx workflow.Context, in RecomputeAffinityInput) (ExpansionProgress, error) {
	s := ExpansionProgress{Phase: "waiting"}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (ExpansionProgress, error) { return s, nil }); err != nil {
		return s, err
	}
	ref := activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}
	_, err := awaitTurn(ctx, ref)
	if err == nil {
		s.Phase = "computing"
		workflow.SetCurrentDetails(ctx, "Computing which products are owned together")
		var got activities.CountResult
		err = workflow.ExecuteActivity(computeOptions(ctx, "Compute affinity"), (*activities.Expansion)(nil).RecomputeMatrix, ref).Get(ctx, &got)
		s.Counts = got.Counts
	}
	s.Phase = "done"
	return s, finish(ctx, activities.FinishInput{RunRef: ref}, err)
}

// The pace of asking whether a run before has ended.
const (
	firstAsk = time.Second
	lastAsk  = 15 * time.Second
)

// awaitTurn waits until no run of the other kind that was asked for before is live.
func awaitTurn(ctx workflow.Context, ref activities.RunRef) (activities.TurnResult, error) {
	asking := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queueBeside(ctx, QueueCompute), StartToCloseTimeout: time.Minute, RetryPolicy: &retries, Summary: "Ask whether it is its turn",
	})
	for pause := firstAsk; ; pause = min(pause*2, lastAsk) {
		var t activities.TurnResult
		if err := workflow.ExecuteActivity(asking, (*activities.Expansion)(nil).AwaitExpansionTurn, ref).Get(ctx, &t); err != nil || !t.Wait {
			return t, err
		}
		workflow.SetCurrentDetails(ctx, "Waiting for the run before")
		if err := workflow.Sleep(ctx, pause); err != nil {
			return t, err
		}
	}
}

func launchAffinity(run models.Run) (Launch, error) {
	return Launch{
		Workflow: RecomputeAffinityName, Queue: QueueCompute, Summary: "Compute affinity",
		Input: RecomputeAffinityInput{OrgID: run.OrgID, RunID: run.ID},
	}, nil
}
