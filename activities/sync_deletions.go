package activities

import (
	"context"
	"time"

	"revarch/connectors"
	"revarch/fault"
	"revarch/services/records"
	"revarch/services/runs"
)

// TombstoneUnseen marks what a complete full enumeration did not meet as deleted, and ends the enumeration.
func (a *Sync) TombstoneUnseen(ctx context.Context, in ObjectInput) (BatchResult, error) {
	defer beating(ctx)()
	got := BatchResult{Full: true, Counts: map[string]int64{}}
	err := a.tombstone(ctx, in, &got)
	got.Done = err == nil
	return got, toTemporal(ctx, err)
}

func (a *Sync) tombstone(ctx context.Context, in ObjectInput, got *BatchResult) error {
	cursors, err := a.Records.Cursors(ctx, in.OrgID, in.Provider)
	if err != nil {
		return err
	}
	if full := cursorOf(cursors, in.Object).FullRunID; full == nil || *full != in.RunID {
		return nil // an attempt before this one came to the end
	}
	mapping, err := a.mapping(ctx, in.SyncRef, in.Object)
	if err != nil {
		return err
	}
	out, err := a.Records.TombstoneUnseen(ctx, records.TombstoneInput{
		OrgID: in.OrgID, RunID: in.RunID, Provider: in.Provider, Mapping: mapping, Confirmed: in.ConfirmDeletions,
	})
	if err != nil {
		return err
	}
	got.add(out.Map())
	if len(out.Warnings) > 0 {
		if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Warnings: out.Warnings}); err != nil {
			return err
		}
	}
	a.Runs.Changed(in.OrgID, in.RunID)
	return a.Records.FinishFull(ctx, in.OrgID, in.Provider, in.Object, in.RunID)
}

// PullDeletions applies what was deleted or merged at the provider since the last sync began, until its time is up.
// After a first load there is nothing to ask: deleted records were not in it.
func (a *Sync) PullDeletions(ctx context.Context, in ObjectInput) (BatchResult, error) {
	defer beating(ctx)()
	got := BatchResult{Full: in.Full, Next: in.After, Counts: map[string]int64{}}
	err := a.deletions(ctx, in, &got)
	return a.ended(ctx, in, got, err)
}

func (a *Sync) deletions(ctx context.Context, in ObjectInput, got *BatchResult) error {
	run, err := a.Runs.Get(ctx, in.OrgID, in.RunID)
	if err != nil {
		return err
	}
	began := run.CreatedAt
	if run.StartedAt != nil {
		began = *run.StartedAt
	}
	mapping, err := a.mapping(ctx, in.SyncRef, in.Object)
	if err != nil {
		return err
	}
	cursors, err := a.Records.Cursors(ctx, in.OrgID, in.Provider)
	if err != nil {
		return err
	}
	since := cursorOf(cursors, in.Object).DeletionsSince
	if since == nil && in.Full && in.After == "" {
		return a.applyDeletions(ctx, in, mapping, connectors.DeletionsPage{Done: true}, began, got)
	}
	if since == nil {
		since = new(time.Time)
	}
	session, err := a.Connections.Open(ctx, in.OrgID, in.Provider)
	if err != nil {
		return err
	}
	for deadline := orNow(a.Clock).Add(batchTime); got.Pages < batchPages && !got.Done && orNow(a.Clock).Before(deadline); {
		page, err := session.Deletions(ctx, connectors.DeletionsRequest{Object: in.Object, Since: *since, After: connectors.Cursor(got.Next)})
		if fault.Is(err, fault.CursorDead) && got.Next != "" { // ask again from the start; nothing is applied twice
			got.Next = ""
			got.Pages++
			continue
		}
		if err != nil {
			return err
		}
		if string(page.Next) == got.Next && !page.Done {
			return fault.New(fault.Unavailable, "The provider keeps answering with the same deletions of %s.", in.Object)
		}
		if err := a.applyDeletions(ctx, in, mapping, page, began, got); err != nil {
			return err
		}
	}
	return nil
}

func (a *Sync) applyDeletions(ctx context.Context, in ObjectInput, m *records.Mapping, page connectors.DeletionsPage, began time.Time, got *BatchResult) error {
	out, err := a.Records.StoreDeletions(ctx, records.StoreDeletionsInput{
		OrgID: in.OrgID, RunID: in.RunID, Provider: in.Provider,
		Mapping: m, Page: page, Since: began,
	})
	if err != nil {
		return err
	}
	got.Pages++
	got.Done, got.Next = page.Done, string(page.Next)
	got.add(out.Map())
	a.Runs.Changed(in.OrgID, in.RunID)
	return nil
}

// ResolveLinks ties children to parents that came after them. Orphans name an account that is not known.
func (a *Sync) ResolveLinks(ctx context.Context, in SyncRef) (CountResult, error) {
	defer beating(ctx)()
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "linking"}); err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	resolved, orphans, err := a.Records.ResolveLinks(ctx, in.OrgID, in.Provider)
	if err != nil {
		return CountResult{}, toTemporal(ctx, err)
	}
	counts := map[string]int64{"links_resolved": resolved, "orphans": orphans}
	return CountResult{Counts: counts}, toTemporal(ctx, a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Counts: counts}))
}
