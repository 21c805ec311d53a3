package workers

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/workflows"
)

// Schedules keeps the recurring work in Temporal; it implements jobs.Schedules.
type Schedules struct {
	client client.Client
	prefix string
}

var _ jobs.Schedules = (*Schedules)(nil)

// NewSchedules returns the schedules; queuePrefix is that of the workers and is put before the ids, too.
func NewSchedules(c client.Client, queuePrefix string) *Schedules {
	return &Schedules{client: c, prefix: queuePrefix}
}

// SyncScheduleID is the id of the schedule that syncs a connection.
func SyncScheduleID(org uuid.UUID, p models.Provider) string {
	return "schedule/sync/" + org.String() + "/" + string(p)
}

// EnsureSync makes the hourly schedule of a connection, or starts it again when it was paused.
func (s *Schedules) EnsureSync(ctx context.Context, org uuid.UUID, p models.Provider) error {
	return s.ensure(ctx, client.ScheduleOptions{
		ID: s.prefix + SyncScheduleID(org, p),
		Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{
			{Every: jobs.SyncEvery, Offset: jobs.SyncOffset(org, p)},
		}},
		Action: &client.ScheduleWorkflowAction{
			ID: s.prefix + "scheduled/" + jobs.SyncID(org, p), Workflow: workflows.ScheduledSyncName,
			Args: []any{activities.ConnectionRef{OrgID: org, Provider: p}}, TaskQueue: s.prefix + workflows.QueueSync,
			TypedSearchAttributes: temporal.NewSearchAttributes(workflows.OrgIDAttribute.ValueSet(org.String()), workflows.ProviderAttribute.ValueSet(string(p))),
			StaticSummary:         "Start the incremental sync of " + string(p),
		},
	})
}

// PauseSync stops the schedule of a connection; one that does not exist is no error.
func (s *Schedules) PauseSync(ctx context.Context, org uuid.UUID, p models.Provider, why string) error {
	err := s.client.ScheduleClient().GetHandle(ctx, s.prefix+SyncScheduleID(org, p)).Pause(ctx, client.SchedulePauseOptions{Note: why})
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing || err == nil {
		return nil
	}
	return engineFault(err)
}

// EnsurePlatform makes the schedules that belong to no organization: the reconciler each minute, the keep-alive of
// grants each day.
func (s *Schedules) EnsurePlatform(ctx context.Context) error {
	for _, p := range []struct {
		id, workflow, summary string
		every                 time.Duration
	}{
		{"schedule/reconcile-runs", workflows.ReconcileRunsName, "Compare live runs with their workflows", time.Minute},
		{"schedule/keep-grants-alive", workflows.KeepAliveName, "Refresh idle grants", 24 * time.Hour},
	} {
		err := s.ensure(ctx, client.ScheduleOptions{
			ID:   s.prefix + p.id,
			Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: p.every}}},
			Action: &client.ScheduleWorkflowAction{
				ID: s.prefix + p.id[len("schedule/"):], Workflow: p.workflow, Args: []any{},
				TaskQueue: s.prefix + workflows.QueueSync, StaticSummary: p.summary,
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ensure creates a schedule, or gives the one there is the wanted form and starts it again.
func (s *Schedules) ensure(ctx context.Context, o client.ScheduleOptions) error {
	o.Overlap, o.CatchupWindow = enums.SCHEDULE_OVERLAP_POLICY_SKIP, 10*time.Minute
	_, err := s.client.ScheduleClient().Create(ctx, o)
	if err == nil {
		return nil
	}
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return engineFault(err)
	}
	err = s.client.ScheduleClient().GetHandle(ctx, o.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			next := in.Description.Schedule
			next.Spec, next.Action = &o.Spec, o.Action
			next.Policy = &client.SchedulePolicies{Overlap: o.Overlap, CatchupWindow: o.CatchupWindow}
			if next.State != nil {
				next.State.Paused, next.State.Note = false, ""
			}
			return &client.ScheduleUpdate{Schedule: &next}, nil
		},
	})
	return engineFault(err)
}

func engineFault(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Wrap(err, fault.Unavailable, "The workflow engine does not answer.")
}
