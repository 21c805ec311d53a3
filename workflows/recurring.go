package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
)

// Wire names of the workflows that schedules start.
const (
	ReconcileRunsName = "ReconcileRuns"
	KeepAliveName     = "KeepGrantsAlive"
	ScheduledSyncName = "ScheduledSync"
)

// recurringOptions give up early: the schedule comes again.
func recurringOptions(ctx workflow.Context, limit time.Duration, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: limit, Summary: summary,
		HeartbeatTimeout: heartbeat, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: 3},
	})
}

// ReconcileRuns starts queued runs whose workflow never started and closes runs whose workflow has ended.
func ReconcileRuns(ctx workflow.Context) (activities.ReconcileResult, error) {
	var got activities.ReconcileResult
	err := workflow.ExecuteActivity(recurringOptions(ctx, 5*time.Minute, "Compare live runs with their workflows"),
		(*activities.Runs)(nil).ReconcileLiveRuns).Get(ctx, &got)
	return got, err
}

// KeepGrantsAlive refreshes the grants of connections that nobody used for a day.
func KeepGrantsAlive(ctx workflow.Context) (activities.KeepAliveResult, error) {
	var got activities.KeepAliveResult
	err := workflow.ExecuteActivity(recurringOptions(ctx, 2*time.Hour, "Refresh idle grants"), (*activities.Connections)(nil).RefreshIdleGrants).Get(ctx, &got)
	return got, err
}

// ScheduledSync starts the sync of a connection when its schedule fires; the sync has a run and a workflow of its own.
func ScheduledSync(ctx workflow.Context, in activities.ConnectionRef) (activities.ScheduledSyncResult, error) {
	var got activities.ScheduledSyncResult
	err := workflow.ExecuteActivity(recurringOptions(ctx, 5*time.Minute, "Start the sync"), (*activities.Connections)(nil).StartScheduledSync, in).Get(ctx, &got)
	return got, err
}
