package activities

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/connections"
	"revarch/services/records"
	"revarch/services/runs"
)

// Bounds of one batch: an activity costs about a tenth of a second, a page less.
const (
	batchPages = 50
	batchTime  = 30 * time.Second
)

// Sync copies the records of a connection. Clock nil is time.Now.
type Sync struct {
	Connections *connections.Service
	Records     *records.Service
	Runs        *runs.Service
	Clock       func() time.Time
	Meter       func(provider, outcome string, n int64) // counts rows for metrics; nil counts nowhere
}

// PlanSync reads the provider's schema anew and says which objects to read, and how.
func (a *Sync) PlanSync(ctx context.Context, in PlanInput) (Plan, error) {
	defer beating(ctx)()
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "discovering", Unit: "records", Running: true}); err != nil {
		return Plan{}, toTemporal(ctx, err)
	}
	plan, err := a.plan(ctx, in)
	if until, ok := waitFor(err, orNow(a.Clock)); ok {
		return Plan{ResumeAt: until, Reason: string(fault.CodeOf(err))}, nil
	}
	if err != nil {
		return Plan{}, a.failed(ctx, in.RunRef, err)
	}
	return plan, nil
}

// failed is toTemporal, and tells the run's watchers why nothing moves while a provider is away.
func (a *Sync) failed(ctx context.Context, ref RunRef, err error) error {
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil {
		noted := a.Runs.Progress(ctx, ref.OrgID, ref.RunID, runs.Progress{Warnings: []models.RunWarning{{
			Code: "retried", Message: fault.Public(err), Count: int64(activity.GetInfo(ctx).Attempt),
		}}})
		if noted != nil {
			slog.DebugContext(ctx, "retry not noted", "org_id", ref.OrgID, "run_id", ref.RunID, "error", noted)
		}
	}
	return toTemporal(ctx, err)
}

func (a *Sync) plan(ctx context.Context, in PlanInput) (Plan, error) {
	run, err := a.Runs.Get(ctx, in.OrgID, in.RunID)
	if err != nil {
		return Plan{}, err
	}
	if !run.Status.Live() {
		return Plan{}, fault.New(fault.Conflict, "The run had ended before its work began.")
	}
	session, err := a.Connections.Open(ctx, in.OrgID, in.Provider)
	if err != nil {
		return Plan{}, err
	}
	schema, drift, err := a.Connections.DiscoverFor(ctx, in.OrgID, in.Provider)
	if err != nil {
		return Plan{}, err
	}
	specs, err := a.Connections.Objects(in.Provider)
	if err != nil {
		return Plan{}, err
	}
	set, err := a.Connections.MappingFor(ctx, in.OrgID, in.Provider)
	if err != nil {
		return Plan{}, err
	}
	cursors, err := a.Records.Cursors(ctx, in.OrgID, in.Provider)
	if err != nil {
		return Plan{}, err
	}
	warnings := driftWarnings(drift)
	var plan Plan
	for _, spec := range specs {
		if !slices.ContainsFunc(schema.Objects, func(o connectors.Object) bool { return o.Name == spec.Name }) {
			warnings = append(warnings, models.RunWarning{
				Code: "object_skipped", Count: 1,
				Message: spec.Name + " cannot be read by the connected user and was left out.",
			})
			continue
		}
		if !slices.ContainsFunc(set.Mappings, func(m models.FieldMapping) bool { return m.Object == spec.Name }) {
			continue
		}
		plan.Objects = append(plan.Objects, PlannedObject{
			Name: spec.Name, After: spec.After,
			Full: in.Full || cursorOf(cursors, spec.Name).Cursor == "",
		})
	}
	if len(plan.Objects) == 0 {
		return Plan{}, fault.New(fault.Conflict, "No object of this connection is both mapped and readable. Map fields or grant the connected user access.")
	}
	return plan, a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "syncing", Total: total(ctx, session, plan.Objects), Warnings: warnings})
}

// total is how many records a sync will read, nil when that cannot be known beforehand.
func total(ctx context.Context, session connectors.Session, objects []PlannedObject) *int64 {
	var sum int64
	for _, o := range objects {
		if !o.Full {
			return nil
		}
		n, err := session.Count(ctx, o.Name)
		if err != nil || n < 0 {
			slog.DebugContext(ctx, "records not counted", "object", o.Name, "error", err)
			return nil
		}
		sum += n
	}
	return &sum
}

func driftWarnings(d connections.Drift) []models.RunWarning {
	var out []models.RunWarning
	for _, w := range []struct {
		code, text string
		names      []string
	}{
		{"mapped_field_gone", "Mapped fields that can no longer be read; their values stay as they were: ", d.Unmapped},
		{"field_type_changed", "Fields whose type changed: ", d.Retyped},
	} {
		if n := len(w.names); n > 0 {
			out = append(out, models.RunWarning{Code: w.code, Count: int64(n), Message: w.text + strings.Join(w.names[:min(n, 10)], ", ")})
		}
	}
	return out
}

func cursorOf(cursors []models.SyncCursor, object string) models.SyncCursor {
	for _, c := range cursors {
		if c.Object == object {
			return c
		}
	}
	return models.SyncCursor{Object: object}
}

// PullPages copies pages until its time is up, each page, its cursor and its counts in one transaction: repeating it
// goes on where the last commit left off. What stands in the way of this object alone makes it skipped.
func (a *Sync) PullPages(ctx context.Context, in ObjectInput) (BatchResult, error) {
	defer beating(ctx)()
	got := BatchResult{Full: in.Full, Counts: map[string]int64{}}
	err := a.pull(ctx, in, &got)
	return a.ended(ctx, in, got, err)
}

func (a *Sync) pull(ctx context.Context, in ObjectInput, got *BatchResult) error {
	session, err := a.Connections.Open(ctx, in.OrgID, in.Provider)
	if err != nil {
		return err
	}
	mapping, err := a.mapping(ctx, in.SyncRef, in.Object)
	if err != nil {
		return err
	}
	cur, err := a.cursor(ctx, in, got)
	if err != nil || got.Done {
		return err
	}
	restarted := false
	for deadline := orNow(a.Clock).Add(batchTime); got.Pages < batchPages && !got.Done && orNow(a.Clock).Before(deadline); {
		page, err := session.Pull(ctx, connectors.PullRequest{Object: in.Object, After: connectors.Cursor(cur)})
		if fault.Is(err, fault.CursorDead) && cur != "" && !restarted {
			restarted, got.Full = true, true
			slog.InfoContext(ctx, "cursor no longer known; reading from the start", "org_id", in.OrgID, "run_id", in.RunID, "provider", in.Provider, "object", in.Object)
			if cur, err = a.restart(ctx, in); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if string(page.Next) == cur && !page.Done {
			return fault.New(fault.Unavailable, "The provider keeps answering with the same page of %s.", in.Object)
		}
		out, err := a.Records.StorePage(ctx, records.StorePageInput{
			OrgID: in.OrgID, RunID: in.RunID, Provider: in.Provider,
			Mapping: mapping, Page: page, Full: got.Full,
		})
		if err != nil {
			return err
		}
		cur = string(page.Next)
		got.Pages++
		got.Done = page.Done
		got.add(out.Map())
		a.meter(in.Provider, out.Map())
		if err := a.note(ctx, in.RunRef, page.Warnings); err != nil {
			return err
		}
	}
	return nil
}

// meter counts what became of a page's records, the rows that were read among them.
func (a *Sync) meter(p models.Provider, counts map[string]int64) {
	if a.Meter == nil {
		return
	}
	for outcome, n := range counts {
		a.Meter(string(p), outcome, n)
	}
}

// cursor returns where to go on. A full enumeration that this run has begun stays one when an attempt is repeated.
func (a *Sync) cursor(ctx context.Context, in ObjectInput, got *BatchResult) (string, error) {
	cursors, err := a.Records.Cursors(ctx, in.OrgID, in.Provider)
	if err != nil {
		return "", err
	}
	cur := cursorOf(cursors, in.Object)
	got.Full = got.Full || (cur.FullRunID != nil && *cur.FullRunID == in.RunID)
	if got.Full {
		if cur, err = a.Records.BeginFull(ctx, in.OrgID, in.Provider, in.Object, in.RunID); err != nil {
			return "", err
		}
		got.Done = cur.FullDone
	}
	return cur.Cursor, nil
}

// restart begins a full enumeration in place of a stream whose position is lost.
func (a *Sync) restart(ctx context.Context, in ObjectInput) (string, error) {
	if err := a.Records.FinishFull(ctx, in.OrgID, in.Provider, in.Object, in.RunID); err != nil {
		return "", err
	}
	cur, err := a.Records.BeginFull(ctx, in.OrgID, in.Provider, in.Object, in.RunID)
	return cur.Cursor, err
}

func (a *Sync) mapping(ctx context.Context, ref SyncRef, object string) (*records.Mapping, error) {
	specs, err := a.Connections.Objects(ref.Provider)
	if err != nil {
		return nil, err
	}
	set, err := a.Connections.MappingFor(ctx, ref.OrgID, ref.Provider)
	if err != nil {
		return nil, err
	}
	return records.Compile(specs, object, set.Mappings)
}

// note tells watchers that a page was stored, and adds the provider's warnings to the run.
func (a *Sync) note(ctx context.Context, ref RunRef, warnings []connectors.Warning) error {
	if len(warnings) == 0 {
		a.Runs.Changed(ref.OrgID, ref.RunID)
		return nil
	}
	var add []models.RunWarning
	for _, w := range warnings {
		add = append(add, models.RunWarning{Code: w.Code, Message: w.Message, Count: w.Count})
	}
	return a.Runs.Progress(ctx, ref.OrgID, ref.RunID, runs.Progress{Warnings: add})
}

// ended turns the end of a batch into its result: waits and unreadable objects are results, too.
func (a *Sync) ended(ctx context.Context, in ObjectInput, got BatchResult, err error) (BatchResult, error) {
	if err == nil {
		return got, nil
	}
	if until, ok := waitFor(err, orNow(a.Clock)); ok {
		got.ResumeAt, got.Reason = until, string(fault.CodeOf(err))
		return got, nil
	}
	if unreadable(err) {
		got.Skipped = string(fault.CodeOf(err))
		slog.WarnContext(ctx, "object skipped", "org_id", in.OrgID, "run_id", in.RunID, "provider", in.Provider, "object", in.Object, "error", err)
		err = a.note(ctx, in.RunRef, []connectors.Warning{{
			Code: "object_skipped", Count: 1,
			Message: fmt.Sprintf("%s was left out: %s", in.Object, fault.Public(err)),
		}})
	}
	return got, a.failed(ctx, in.RunRef, err)
}

func (r *BatchResult) add(counts map[string]int64) {
	for k, n := range counts {
		r.Counts[k] += n
	}
}
