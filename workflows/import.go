package workflows

import (
	"encoding/json"
	"strings"

	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
)

// ImportFileName is the wire name of ImportFile.
const ImportFileName = "ImportFile"

// ImportInput names the run and the upload that it imports.
type ImportInput struct {
	activities.ImportRef
}

// ImportProgress is how far an import is.
type ImportProgress struct {
	Phase  string           `json:"phase"`
	Rows   int64            `json:"rows"`
	Bad    int64            `json:"bad"`
	Counts map[string]int64 `json:"counts,omitempty"`
	Merged bool             `json:"merged,omitempty"` // the records are there
}

type importer struct {
	in    ImportInput
	state ImportProgress
}

// ImportFile reads an uploaded CSV file, checks every row, and makes records of all of them in one transaction or of
// none. However it ends, the file and what was staged of it are removed. Scores that depend on it follow.
func ImportFile(ctx workflow.Context, in ImportInput) (ImportProgress, error) {
	m := &importer{in: in, state: ImportProgress{Phase: "reading"}}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (ImportProgress, error) { return m.state, nil }); err != nil {
		return m.state, err
	}
	scores, err := m.load(ctx)
	if closeErr := m.close(ctx); err == nil {
		err = closeErr
	}
	if err == nil && scores {
		err = m.score(ctx)
	}
	if err == nil {
		m.phase(ctx, "done")
	}
	return m.state, finish(ctx, activities.FinishInput{RunRef: in.RunRef, Synced: m.state.Merged}, err)
}

func (m *importer) load(ctx workflow.Context) (scores bool, err error) {
	var a *activities.Import
	m.phase(ctx, "reading")
	var staged activities.StageImportResult
	if err := workflow.ExecuteActivity(loadOptions(ctx, "Read and check the file"), a.StageImport, m.in.ImportRef).Get(ctx, &staged); err != nil {
		return false, err
	}
	m.state.Rows, m.state.Bad = staged.Rows, staged.Bad
	m.phase(ctx, "merging")
	var merged activities.MergeImportResult
	if err := workflow.ExecuteActivity(loadOptions(ctx, "Make records of all rows"), a.MergeImport, m.in.ImportRef).Get(ctx, &merged); err != nil {
		return false, err
	}
	m.state.Counts, m.state.Merged = merged.Counts, true
	return merged.Scores, nil
}

// close removes the upload and the staged rows, also when the run was canceled.
func (m *importer) close(ctx workflow.Context) error {
	closing, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	return workflow.ExecuteActivity(loadOptions(closing, "Remove the file"), (*activities.Import)(nil).CloseImport, m.in.ImportRef).Get(closing, nil)
}

// score ties accounts to official records and scores them anew.
func (m *importer) score(ctx workflow.Context) error {
	var a *activities.Compute
	ref := activities.SyncRef{RunRef: m.in.RunRef}
	m.phase(ctx, "matching")
	if err := workflow.ExecuteActivity(computeOptions(ctx, "Match accounts to official records"), a.MatchOrg, ref).Get(ctx, nil); err != nil {
		return err
	}
	m.phase(ctx, "scoring")
	return workflow.ExecuteActivity(computeOptions(ctx, "Score accounts"), a.ScoreOrg, ref).Get(ctx, nil)
}

// phase notes what the import is at and shows it to operators.
func (m *importer) phase(ctx workflow.Context, name string) {
	m.state.Phase = name
	var b strings.Builder
	say(&b, "Import of **%s**, phase **%s**\n\n- rows: %d\n- rows that could not be used: %d\n\n", m.in.File.Resource, name, m.state.Rows, m.state.Bad)
	countLines(&b, m.state.Counts)
	workflow.SetCurrentDetails(ctx, b.String())
}

func launchImport(run models.Run) (Launch, error) {
	in := ImportInput{activities.ImportRef{RunRef: activities.RunRef{OrgID: run.OrgID, RunID: run.ID}}}
	if err := json.Unmarshal(run.Input, &in.File); err != nil {
		return Launch{}, fault.Wrap(err, fault.Invalid, "the input of the run cannot be read")
	}
	return Launch{Workflow: ImportFileName, Queue: QueueIngest, Summary: "Import " + run.Subject, Input: in}, nil
}
