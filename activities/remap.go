package activities

import (
	"context"
	"slices"
	"time"

	"revarch/models"
	"revarch/services/connections"
	"revarch/services/records"
	"revarch/services/runs"
)

// Remap maps stored records again without asking the provider. Clock nil is time.Now.
type Remap struct {
	Connections *connections.Service
	Records     *records.Service
	Runs        *runs.Service
	Clock       func() time.Time
}

// PlanRemap lists the objects that are stored and mapped, and the version of the mapping.
func (a *Remap) PlanRemap(ctx context.Context, in SyncRef) (RemapPlan, error) {
	defer beating(ctx)()
	plan, err := a.plan(ctx, in)
	return plan, toTemporal(ctx, err)
}

func (a *Remap) plan(ctx context.Context, in SyncRef) (RemapPlan, error) {
	if err := a.Runs.Progress(ctx, in.OrgID, in.RunID, runs.Progress{Phase: "remapping", Unit: "records", Running: true}); err != nil {
		return RemapPlan{}, err
	}
	set, err := a.Connections.MappingFor(ctx, in.OrgID, in.Provider)
	if err != nil {
		return RemapPlan{}, err
	}
	cursors, err := a.Records.Cursors(ctx, in.OrgID, in.Provider)
	if err != nil {
		return RemapPlan{}, err
	}
	specs, err := a.Connections.Objects(in.Provider)
	if err != nil {
		return RemapPlan{}, err
	}
	plan := RemapPlan{Version: set.Version}
	for _, spec := range specs {
		stored := slices.ContainsFunc(cursors, func(c models.SyncCursor) bool { return c.Object == spec.Name })
		mapped := slices.ContainsFunc(set.Mappings, func(m models.FieldMapping) bool { return m.Object == spec.Name })
		if stored && mapped {
			plan.Objects = append(plan.Objects, spec.Name)
		}
	}
	return plan, nil
}

// RemapBatch maps stored records of an object until its time is up. Doing it again changes nothing.
func (a *Remap) RemapBatch(ctx context.Context, in RemapInput) (RemapResult, error) {
	defer beating(ctx)()
	got, err := a.batch(ctx, in)
	return got, toTemporal(ctx, err)
}

func (a *Remap) batch(ctx context.Context, in RemapInput) (RemapResult, error) {
	got := RemapResult{Next: in.After, Counts: map[string]int64{}}
	set, err := a.Connections.MappingFor(ctx, in.OrgID, in.Provider)
	if err != nil {
		return got, err
	}
	got.Version = set.Version
	specs, err := a.Connections.Objects(in.Provider)
	if err != nil {
		return got, err
	}
	if !slices.ContainsFunc(set.Mappings, func(m models.FieldMapping) bool { return m.Object == in.Object }) {
		got.Done = true // the mapping changed and no longer has this object
		return got, nil
	}
	mapping, err := records.Compile(specs, in.Object, set.Mappings)
	if err != nil {
		return got, err
	}
	for deadline := orNow(a.Clock).Add(batchTime); !got.Done && orNow(a.Clock).Before(deadline); {
		next, out, err := a.Records.Remap(ctx, records.RemapInput{OrgID: in.OrgID, RunID: in.RunID, Provider: in.Provider, Mapping: mapping, After: got.Next})
		if err != nil {
			return got, err
		}
		got.Next, got.Done = next, next == ""
		for k, n := range out.Map() {
			got.Counts[k] += n
		}
		a.Runs.Changed(in.OrgID, in.RunID)
	}
	return got, nil
}
