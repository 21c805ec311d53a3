package main

import (
	"context"
	"time"

	"revarch/activities"
	"revarch/api"
	"revarch/tools"
	"revarch/workers"
)

// work runs the workers of every queue until ctx ends.
func (a *app) work(ctx context.Context, _ *telemetry) error {
	queues := workers.Queues(workers.Activities{
		Sync:        &activities.Sync{Connections: a.connections, Records: a.records, Runs: a.runs, Clock: time.Now},
		Remap:       &activities.Remap{Connections: a.connections, Records: a.records, Runs: a.runs, Clock: time.Now},
		Runs:        &activities.Runs{Runs: a.runs, Connections: a.connections},
		Connections: &activities.Connections{Connections: a.connections},
		Compute:     &activities.Compute{Runs: a.runs, Scorer: a.scoring},
	})
	return workers.Run(ctx, a.temporal, workers.NewSchedules(a.temporal, ""), "", queues)
}

// resources lists what the API serves beside sign-in and settings.
func (a *app) resources(rs *api.Runs, registry *tools.Registry) []api.Resource {
	return []api.Resource{
		rs,
		&api.Connectors{Connections: a.connections, Runs: rs, BaseURL: baseURL(a.cfg)},
	}
}

// toolDeps are the services that tools work on.
func (a *app) toolDeps() tools.Deps {
	return tools.Deps{Identity: a.identity, Log: a.log, Cursors: a.cursors}
}
