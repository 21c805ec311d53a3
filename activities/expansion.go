package activities

import (
	"context"

	"revarch/services/affinity"
	"revarch/services/expansion"
	"revarch/services/runs"
)

// Expansion computes which products are owned together and what accounts could buy next.
type Expansion struct {
	Affinity  *affinity.Service
	Expansion *expansion.Service
	Runs      *runs.Service
}

// TurnResult says whether a run has to wait, and whether an affinity matrix was ever computed.
type TurnResult struct {
	Wait     bool `json:"wait,omitempty"`
	NoMatrix bool `json:"no_matrix,omitempty"`
}

// AwaitExpansionTurn asks whether a run of the other kind goes before this one.
func (a *Expansion) AwaitExpansionTurn(ctx context.Context, in RunRef) (TurnResult, error) {
	t, err := a.Expansion.Turn(ctx, in.OrgID, in.RunID)
	if err != nil {
		return TurnResult{}, toTemporal(ctx, err)
	}
	if t.Wait {
		err = a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "waiting for the run before", Running: true})
	}
	return TurnResult{Wait: t.Wait, NoMatrix: t.NoMatrix}, toTemporal(ctx, err)
}

// RecomputeMatrix computes and stores the affinity matrices, from the start when it is repeated.
func (a *Expansion) RecomputeMatrix(ctx context.Context, in RunRef) (CountResult, error) {
	defer beating(ctx)()
	note := newThrottle(a.Runs, in)
	if err := note.write(ctx, runs.Progress{Phase: "computing affinity", Unit: "accounts", Done: new(int64), Running: true}); err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	counts, err := a.Affinity.Compute(ctx, in.OrgID, in.RunID, func(done int64) { note.rows(ctx, done) })
	if err == nil {
		total := counts["accounts"]
		err = note.write(ctx, runs.Progress{Counts: counts, Done: &total, Total: &total})
	}
	return CountResult{Counts: counts}, toTemporal(ctx, err)
}

// RegenerateSignals finds the expansion signals of every owning account and replaces the pending ones, from the start
// when it is repeated.
func (a *Expansion) RegenerateSignals(ctx context.Context, in RunRef) (CountResult, error) {
	defer beating(ctx)()
	note := newThrottle(a.Runs, in)
	if err := note.write(ctx, runs.Progress{Phase: "finding signals", Unit: "accounts", Done: new(int64), Running: true}); err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	counts, err := a.Expansion.Generate(ctx, in.OrgID, in.RunID, func(done, total int64) {
		if note.maybe(ctx, done, total); done == total {
			_ = note.write(ctx, runs.Progress{Phase: "storing signals"}) // the phase is a courtesy
		}
	})
	if err == nil {
		err = note.write(ctx, runs.Progress{Counts: counts})
	}
	return CountResult{Counts: counts}, toTemporal(ctx, err)
}
