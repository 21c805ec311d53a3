package activities

import (
	"context"

	"revarch/services/imports"
	"revarch/services/runs"
)

// Import makes records of imported files.
type Import struct {
	Imports *imports.Service
	Runs    *runs.Service
}

// ImportRef names the run of an import and what it imports.
type ImportRef struct {
	RunRef
	File imports.RunInput `json:"file"`
}

// StageImportResult counts the rows of a file.
type StageImportResult struct {
	Rows int64 `json:"rows"`
	Bad  int64 `json:"bad"`
}

// StageImport reads and checks the file chunk by chunk; repeating it goes on behind the last chunk that was committed.
func (a *Import) StageImport(ctx context.Context, in ImportRef) (StageImportResult, error) {
	defer beating(ctx)()
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "reading", Unit: "rows", Running: true}); err != nil {
		return StageImportResult{}, toTemporal(ctx, err)
	}
	note := newThrottle(a.Runs, in.RunRef)
	got, err := a.Imports.Stage(ctx, in.OrgID, in.RunID, in.File, func(rows int64) { note.rows(ctx, rows) })
	return StageImportResult{Rows: got.Rows, Bad: got.Bad}, toTemporal(ctx, err)
}

// MergeImportResult counts what became of the rows of a file.
type MergeImportResult struct {
	Counts map[string]int64 `json:"counts,omitempty"`
	Scores bool             `json:"scores,omitempty"` // scores depend on what was imported
}

// MergeImport makes records of all rows in one transaction, or of none.
func (a *Import) MergeImport(ctx context.Context, in ImportRef) (MergeImportResult, error) {
	defer beating(ctx)()
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "merging"}); err != nil {
		return MergeImportResult{}, toTemporal(ctx, err)
	}
	got, err := a.Imports.Merge(ctx, in.OrgID, in.RunID, in.File)
	a.Runs.Changed(in.OrgID, in.RunID)
	return MergeImportResult{Scores: got.Scores, Counts: map[string]int64{
		"read": got.Read, "created": got.Created,
		"updated": got.Updated, "unchanged": got.Unchanged,
	}}, toTemporal(ctx, err)
}

// CloseImport removes what an import leaves: its upload and its staged rows.
func (a *Import) CloseImport(ctx context.Context, in ImportRef) error {
	defer beating(ctx)()
	return toTemporal(ctx, a.Imports.Close(ctx, in.OrgID, in.RunID, in.File))
}
