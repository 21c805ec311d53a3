package activities

import (
	"context"
	"fmt"
	"time"

	"revarch/models"
	"revarch/services/connections"
	"revarch/services/runs"
)

// Runs keeps the rows of runs truthful.
type Runs struct {
	Runs        *runs.Service
	Connections *connections.Service
}

// FinishRun closes a run, and first notes on its connection how the sync ended. Repeating it changes nothing.
func (a *Runs) FinishRun(ctx context.Context, in FinishInput) error {
	end := runs.End{Status: in.Status, Code: in.Code, Message: in.Message}
	if in.Provider != "" {
		sync := end
		if in.Synced {
			sync = runs.End{Status: models.RunSucceeded}
		}
		if err := a.Connections.SyncEnded(ctx, in.OrgID, in.Provider, sync); err != nil {
			return toTemporal(ctx, err)
		}
	}
	return toTemporal(ctx, a.Runs.Finish(ctx, in.OrgID, in.RunID, end))
}

// WaitInput says until when a run waits and the code of why.
type WaitInput struct {
	RunRef
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// NoteWait shows on the run that it waits for the provider.
func (a *Runs) NoteWait(ctx context.Context, in WaitInput) error {
	defer beating(ctx)()
	at := in.Until.UTC().Format(time.RFC3339)
	return toTemporal(ctx, a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{
		Phase: "waiting until " + at,
		Warnings: []models.RunWarning{{
			Code: in.Reason, Count: 1,
			Message: fmt.Sprintf("The provider asked to wait; the run goes on by itself at %s.", at),
		}},
	}))
}

// ReconcileResult counts what a reconciliation did.
type ReconcileResult = runs.Reconciled

// ReconcileLiveRuns compares the live runs of all organizations with their workflows.
func (a *Runs) ReconcileLiveRuns(ctx context.Context) (ReconcileResult, error) {
	defer beating(ctx)()
	got, err := a.Runs.Reconcile(ctx)
	return got, toTemporal(ctx, err)
}
