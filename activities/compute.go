package activities

import (
	"context"

	"github.com/google/uuid"

	"revarch/services/runs"
)

// Scorer scores every account of an organization and returns what it counted. progress may be called at any rate.
type Scorer interface {
	ScoreOrg(ctx context.Context, org uuid.UUID, runID uuid.UUID, progress func(done, total int64)) (map[string]int64, error)
}

// Matcher ties the accounts of an organization to official records and returns what it counted.
type Matcher interface {
	MatchOrg(ctx context.Context, org uuid.UUID) (map[string]int64, error)
}

// Compute runs computations over a whole organization. A nil Scorer or Matcher makes its activity do nothing.
type Compute struct {
	Runs    *runs.Service
	Scorer  Scorer
	Matcher Matcher
}

// MatchOrg ties accounts to districts and institutions.
func (a *Compute) MatchOrg(ctx context.Context, in SyncRef) (CountResult, error) {
	if a.Matcher == nil {
		return CountResult{Skipped: true}, nil
	}
	defer beating(ctx)()
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "matching", Running: true}); err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	counts, err := a.Matcher.MatchOrg(ctx, in.OrgID)
	return a.counted(ctx, in, counts, err)
}

// ScoreOrg scores every account, from the start when it is repeated.
func (a *Compute) ScoreOrg(ctx context.Context, in SyncRef) (CountResult, error) {
	if a.Scorer == nil {
		return CountResult{Skipped: true}, nil
	}
	defer beating(ctx)()
	note := newThrottle(a.Runs, in.RunRef)
	if err := note.write(ctx, runs.Progress{Phase: "scoring", Unit: "accounts", Done: new(int64), Running: true}); err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	counts, err := a.Scorer.ScoreOrg(ctx, in.OrgID, in.RunID, func(done, total int64) { note.maybe(ctx, done, total) })
	return a.counted(ctx, in, counts, err)
}

func (a *Compute) counted(ctx context.Context, in SyncRef, counts map[string]int64, err error) (CountResult, error) {
	if err == nil && len(counts) > 0 {
		err = a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Counts: counts})
	}
	return CountResult{Counts: counts}, toTemporal(ctx, err)
}
