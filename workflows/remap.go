package workflows

import (
	"strings"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/models"
)

// RemapRecordsName is the wire name of RemapRecords.
const RemapRecordsName = "RemapRecords"

// RemapRecordsInput names the connection whose stored records are mapped again.
type RemapRecordsInput struct {
	OrgID    uuid.UUID       `json:"org_id"`
	RunID    uuid.UUID       `json:"run_id"`
	Provider models.Provider `json:"provider"`
	State    RemapProgress   `json:"state,omitzero"`
}

// RemapProgress is how far a remap is.
type RemapProgress struct {
	Version int64            `json:"version"`           // of the mapping in use, 0 before the start
	Objects []string         `json:"objects,omitempty"` // still to do, the first one in progress
	After   string           `json:"after,omitempty"`   // of the first object
	Batches int              `json:"batches"`
	Counts  map[string]int64 `json:"counts,omitempty"`
	Synced  bool             `json:"synced,omitempty"` // every record is mapped
}

// RemapRecords maps the stored raw records of a connection again, without asking the provider, and scores the accounts.
// A mapping that changes meanwhile makes it begin anew.
func RemapRecords(ctx workflow.Context, in RemapRecordsInput) (RemapProgress, error) {
	s := in.State
	if s.Counts == nil {
		s.Counts = map[string]int64{}
	}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (RemapProgress, error) { return s, nil }); err != nil {
		return s, err
	}
	ref := activities.SyncRef{RunRef: activities.RunRef{OrgID: in.OrgID, RunID: in.RunID}, Provider: in.Provider}
	err := remap(ctx, in, ref, &s)
	if workflow.IsContinueAsNewError(err) {
		return s, err
	}
	return s, finish(ctx, activities.FinishInput{RunRef: ref.RunRef}, err)
}

func remap(ctx workflow.Context, in RemapRecordsInput, ref activities.SyncRef, s *RemapProgress) error {
	var a *activities.Remap
	for batches := 0; !s.Synced; {
		if batches >= batchesPerRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			in.State = *s
			return workflow.NewContinueAsNewError(ctx, RemapRecords, in)
		}
		if len(s.Objects) == 0 { // at the start, and to see whether the mapping is still the one that was used
			var plan activities.RemapPlan
			if err := workflow.ExecuteActivity(stepOptions(ctx, "Read the mapping"), a.PlanRemap, ref).Get(ctx, &plan); err != nil {
				return err
			}
			if s.Version == plan.Version && s.Batches > 0 || len(plan.Objects) == 0 {
				s.Synced = true
				break
			}
			s.Version, s.Objects, s.After = plan.Version, plan.Objects, ""
		}
		batches++
		s.Batches++
		var got activities.RemapResult
		err := workflow.ExecuteActivity(batchOptions(ctx, "Map "+s.Objects[0]+" again"), a.RemapBatch,
			activities.RemapInput{SyncRef: ref, Object: s.Objects[0], After: s.After}).Get(ctx, &got)
		if err != nil {
			return err
		}
		for _, k := range workflow.DeterministicKeys(got.Counts) {
			s.Counts[k] += got.Counts[k]
		}
		switch {
		case got.Version != s.Version:
			s.Objects, s.After = nil, ""
		case got.Done:
			s.Objects, s.After = s.Objects[1:], ""
		default:
			s.After = got.Next
		}
		remapDetails(ctx, in.Provider, *s)
	}
	return workflow.ExecuteActivity(computeOptions(ctx, "Score accounts"), (*activities.Compute)(nil).ScoreOrg, ref).Get(ctx, nil)
}

func remapDetails(ctx workflow.Context, p models.Provider, s RemapProgress) {
	var b strings.Builder
	say(&b, "Remap of **%s**, mapping version %d, %d batches, %d objects to go\n\n", p, s.Version, s.Batches, len(s.Objects))
	countLines(&b, s.Counts)
	workflow.SetCurrentDetails(ctx, b.String())
}
