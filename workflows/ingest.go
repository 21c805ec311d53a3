package workflows

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
)

// IngestDatasetName is the wire name of IngestDataset.
const IngestDatasetName = "IngestDataset"

// IngestInput names the run and the upload that it loads.
type IngestInput struct {
	activities.IngestRef
}

// IngestProgress is how far an ingestion is.
type IngestProgress struct {
	Phase         string    `json:"phase"`
	ReleaseID     uuid.UUID `json:"release_id,omitzero"`
	Rows          int64     `json:"rows"`
	Bad           int64     `json:"bad"`
	AlreadyLoaded bool      `json:"already_loaded,omitempty"`
	Current       bool      `json:"current,omitempty"` // readers see the release
	Orgs          int64     `json:"orgs"`              // organizations whose accounts were matched since
}

type ingester struct {
	in    IngestInput
	state IngestProgress
}

// IngestDataset loads an uploaded official file as a release of its dataset. Readers see the release once it is loaded
// and checked as a whole; however the workflow ends before that, they see what they saw, and nothing of it is left.
func IngestDataset(ctx workflow.Context, in IngestInput) (IngestProgress, error) {
	g := &ingester{in: in, state: IngestProgress{Phase: "recognizing"}}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (IngestProgress, error) { return g.state, nil }); err != nil {
		return g.state, err
	}
	err := g.load(ctx)
	if cleanErr := g.close(ctx, err); err == nil {
		err = cleanErr
	}
	if err == nil && g.state.Current {
		err = g.match(ctx)
	}
	if err == nil {
		g.phase(ctx, "done")
	}
	return g.state, finish(ctx, activities.FinishInput{RunRef: in.RunRef}, err)
}

func (g *ingester) load(ctx workflow.Context) error {
	var a *activities.Ingest
	g.phase(ctx, "recognizing")
	var reg activities.RegisterResult
	if err := workflow.ExecuteActivity(batchOptions(ctx, "Recognize the file"), a.RegisterRelease, g.in.IngestRef).Get(ctx, &reg); err != nil {
		return err
	}
	g.state.ReleaseID, g.state.AlreadyLoaded = reg.ReleaseID, reg.AlreadyLoaded
	if reg.AlreadyLoaded {
		return nil
	}
	g.phase(ctx, "loading")
	ref := activities.ReleaseInput{IngestRef: g.in.IngestRef, ReleaseID: reg.ReleaseID}
	var loaded activities.LoadResult
	if err := workflow.ExecuteActivity(loadOptions(ctx, "Load and check "+g.in.File.Dataset), a.LoadRelease, ref).Get(ctx, &loaded); err != nil {
		return err
	}
	g.state.Rows, g.state.Bad = loaded.Rows, loaded.Bad
	g.phase(ctx, "publishing")
	var published activities.PublishResult
	if err := workflow.ExecuteActivity(batchOptions(ctx, "Let readers see it"), a.PublishRelease, ref).Get(ctx, &published); err != nil {
		return err
	}
	g.state.Current = published.Current
	return nil
}

// loadOptions are for reading a whole file, which no attempt before has left anything of.
func loadOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Hour, HeartbeatTimeout: heartbeat,
		RetryPolicy: &retries, WaitForCancellation: true, Summary: summary,
	})
}

// close removes the upload and what was not published, also when the run was canceled.
func (g *ingester) close(ctx workflow.Context, cause error) error {
	in := activities.CloseInput{IngestRef: g.in.IngestRef}
	if cause != nil {
		if _, _, in.Failure = Outcome(cause); in.Failure == "" {
			in.Failure = "The job was stopped."
		}
	}
	closing, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	return workflow.ExecuteActivity(batchOptions(closing, "Remove the upload"), (*activities.Ingest)(nil).CloseIngest, in).Get(closing, nil)
}

// match ties the accounts of every organization to the roster that has just changed.
func (g *ingester) match(ctx workflow.Context) error {
	g.phase(ctx, "matching")
	for next := (uuid.UUID{}); ; {
		var got activities.MatchEveryResult
		err := workflow.ExecuteActivity(batchOptions(ctx, "Match accounts to the roster"), (*activities.Ingest)(nil).MatchEveryOrg,
			activities.MatchEveryInput{RunRef: g.in.RunRef, After: next}).Get(ctx, &got)
		if err != nil {
			return err
		}
		g.state.Orgs += got.Orgs
		if next = got.Next; got.Done {
			return nil
		}
	}
}

// phase notes what the ingestion is at and shows it to operators.
func (g *ingester) phase(ctx workflow.Context, name string) {
	g.state.Phase = name
	var b strings.Builder
	say(&b, "Ingestion of **%s** %s, phase **%s**\n\n", g.in.File.Dataset, g.in.File.Vintage, name)
	say(&b, "- rows: %d\n- rows that could not be used: %d\n- organizations matched: %d\n", g.state.Rows, g.state.Bad, g.state.Orgs)
	if g.state.AlreadyLoaded {
		b.WriteString("\nThese very bytes were loaded before; nothing was changed.\n")
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

func launchIngest(run models.Run) (Launch, error) {
	in := IngestInput{activities.IngestRef{RunRef: activities.RunRef{OrgID: run.OrgID, RunID: run.ID}}}
	if err := json.Unmarshal(run.Input, &in.File); err != nil {
		return Launch{}, fault.Wrap(err, fault.Invalid, "the input of the run cannot be read")
	}
	return Launch{
		Workflow: IngestDatasetName, Queue: QueueIngest, Summary: "Load " + run.Subject, Input: in,
		Attributes: []temporal.SearchAttributeUpdate{DatasetAttribute.ValueSet(in.File.Dataset)},
	}, nil
}
