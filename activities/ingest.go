package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"revarch/services/datasets"
	"revarch/services/matching"
	"revarch/services/runs"
)

// Ingest loads official files and ties accounts to what was loaded. Clock nil is time.Now.
type Ingest struct {
	Datasets *datasets.Service
	Matching *matching.Service
	Runs     *runs.Service
	Clock    func() time.Time
}

// IngestRef names the run of an ingestion and what it loads.
type IngestRef struct {
	RunRef
	File datasets.RunInput `json:"file"`
}

// RegisterResult is the release that a run loads; nothing is left to do when AlreadyLoaded.
type RegisterResult struct {
	ReleaseID     uuid.UUID `json:"release_id"`
	AlreadyLoaded bool      `json:"already_loaded,omitempty"`
}

// RegisterRelease recognizes the uploaded file anew and notes the release that it is.
func (a *Ingest) RegisterRelease(ctx context.Context, in IngestRef) (RegisterResult, error) {
	defer beating(ctx)()
	got, err := a.Datasets.Register(ctx, in.OrgID, in.RunID, in.File)
	if err != nil {
		return RegisterResult{}, toTemporal(ctx, err)
	}
	p := runs.Progress{Phase: "loading", Unit: "rows", Running: true}
	if got.AlreadyLoaded {
		p = runs.Progress{
			Phase: "loaded before", Unit: "rows", Running: true, Done: &got.Rows, Total: &got.Rows,
			Counts: map[string]int64{"read": 0, "loaded": 0, "failed": 0}, Warnings: datasets.Warnings(got, datasets.Published{Current: got.Current}),
		}
	}
	err = a.Runs.Progress(ctx, in.OrgID, in.RunID, p)
	return RegisterResult{ReleaseID: got.ReleaseID, AlreadyLoaded: got.AlreadyLoaded}, toTemporal(ctx, err)
}

// ReleaseInput names a release that a run loads.
type ReleaseInput struct {
	IngestRef
	ReleaseID uuid.UUID `json:"release_id"`
}

// LoadResult counts the rows of a load.
type LoadResult struct {
	Rows int64 `json:"rows"`
	Bad  int64 `json:"bad"`
}

// LoadRelease reads the file, checks it, and stores its rows where nobody sees them yet; from the start when repeated.
func (a *Ingest) LoadRelease(ctx context.Context, in ReleaseInput) (LoadResult, error) {
	defer beating(ctx)()
	note := newThrottle(a.Runs, in.RunRef)
	got, err := a.Datasets.Load(ctx, in.OrgID, in.RunID, in.ReleaseID, in.File, func(rows int64) { note.rows(ctx, rows) })
	if err != nil {
		return LoadResult{}, toTemporal(ctx, err)
	}
	total := got.Rows + got.Bad
	err = note.write(ctx, runs.Progress{Done: &total, Total: &total, Counts: map[string]int64{"read": total, "loaded": got.Rows, "failed": got.Bad}})
	return LoadResult{Rows: got.Rows, Bad: got.Bad}, toTemporal(ctx, err)
}

// PublishResult tells whether readers see the new release.
type PublishResult struct {
	Current bool `json:"current,omitempty"`
}

// PublishRelease lets readers see the new release, unless a better one is there.
func (a *Ingest) PublishRelease(ctx context.Context, in ReleaseInput) (PublishResult, error) {
	defer beating(ctx)()
	got, err := a.Datasets.Publish(ctx, in.OrgID, in.ReleaseID)
	if err != nil {
		return PublishResult{}, toTemporal(ctx, err)
	}
	reg := datasets.Registered{Label: in.File.Vintage}
	err = a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "published", Warnings: datasets.Warnings(reg, got)})
	return PublishResult{Current: got.Current}, toTemporal(ctx, err)
}

// CloseInput ends an ingestion; Failure is the public text of why it failed.
type CloseInput struct {
	IngestRef
	Failure string `json:"failure,omitempty"`
}

// CloseIngest removes what an ingestion leaves: its upload, and a release that was not published.
func (a *Ingest) CloseIngest(ctx context.Context, in CloseInput) error {
	defer beating(ctx)()
	return toTemporal(ctx, a.Datasets.Close(ctx, in.OrgID, in.RunID, in.File, in.Failure))
}

// MatchEveryInput asks to match the next organizations after one.
type MatchEveryInput struct {
	RunRef
	After uuid.UUID `json:"after,omitzero"`
}

// MatchEveryResult counts a batch of organizations; Next is where to go on.
type MatchEveryResult struct {
	Next uuid.UUID `json:"next,omitzero"`
	Done bool      `json:"done,omitempty"`
	Orgs int64     `json:"orgs"`
}

// MatchEveryOrg ties the accounts of one organization after the other until its time is up.
func (a *Ingest) MatchEveryOrg(ctx context.Context, in MatchEveryInput) (MatchEveryResult, error) {
	defer beating(ctx)()
	got := MatchEveryResult{Next: in.After}
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "matching"}); err != nil {
		return got, toTemporal(ctx, err)
	}
	orgs, err := a.Matching.Orgs(ctx)
	if err != nil {
		return got, toTemporal(ctx, err)
	}
	deadline := orNow(a.Clock).Add(batchTime)
	for _, org := range orgs {
		if org.String() <= in.After.String() {
			continue
		}
		if !orNow(a.Clock).Before(deadline) {
			return got, nil
		}
		if _, err := a.Matching.MatchOrg(ctx, org); err != nil {
			return got, toTemporal(ctx, err)
		}
		got.Next = org
		got.Orgs++
	}
	got.Done = true
	return got, nil
}
