package main

import (
	"context"
	"log/slog"

	"revarch/activities"
	"revarch/api"
	"revarch/services/accounts"
	"revarch/services/affinity"
	"revarch/services/dashboard"
	"revarch/services/datasets"
	"revarch/services/expansion"
	"revarch/services/imports"
	"revarch/services/matching"
	"revarch/services/readiness"
	"revarch/services/tasks"
	"revarch/services/uploads"
	"revarch/tools"
	"revarch/workers"
)

// The services below are only collections of what they work on, so they are made where they are needed.

func (a *app) readiness() *readiness.Service {
	return &readiness.Service{Store: a.store, Clock: a.clock, Cursors: a.cursors}
}

func (a *app) dashboard() *dashboard.Service {
	return &dashboard.Service{Store: a.store, Readiness: a.readiness(), Clock: a.clock}
}

func (a *app) matching() *matching.Service {
	return &matching.Service{Store: a.store, Runs: a.runs, Log: a.log, Clock: a.clock}
}

func (a *app) accounts() *accounts.Service {
	return &accounts.Service{Store: a.store, Scores: a.scoring, Clock: a.clock, Cursors: a.cursors}
}

func (a *app) tasks() *tasks.Service {
	return &tasks.Service{Store: a.store, Log: a.log, Clock: a.clock, Cursors: a.cursors}
}

func (a *app) affinity() *affinity.Service {
	return &affinity.Service{Store: a.store, Runs: a.runs, Clock: a.clock, Cursors: a.cursors}
}

func (a *app) expansion() *expansion.Service {
	return &expansion.Service{Store: a.store, Runs: a.runs, Log: a.log, Clock: a.clock, Cursors: a.cursors}
}

func (a *app) datasets() *datasets.Service {
	return &datasets.Service{Store: a.store, Uploads: &uploads.Service{Store: a.store, Clock: a.clock}, Runs: a.runs, Log: a.log, Clock: a.clock}
}

func (a *app) imports() *imports.Service {
	return &imports.Service{Store: a.store, Uploads: &uploads.Service{Store: a.store, Clock: a.clock}, Runs: a.runs, Log: a.log, Clock: a.clock}
}

// work runs the workers of every queue until ctx ends.
func (a *app) work(ctx context.Context, tel *telemetry) error {
	var meter func(provider, outcome string, n int64)
	if tel != nil {
		meter = func(p, outcome string, n int64) { tel.rows.WithLabelValues(p, outcome).Add(float64(n)) }
	}
	if err := a.connections.EnsureSchedules(ctx); err != nil {
		slog.WarnContext(ctx, "sync schedules are not checked", "error", err) // the next start does it
	}
	queues := workers.Queues(workers.Activities{
		Sync:        &activities.Sync{Connections: a.connections, Records: a.records, Runs: a.runs, Clock: a.clock, Meter: meter},
		Remap:       &activities.Remap{Connections: a.connections, Records: a.records, Runs: a.runs, Clock: a.clock},
		Runs:        &activities.Runs{Runs: a.runs, Connections: a.connections},
		Connections: &activities.Connections{Connections: a.connections},
		Compute: &activities.Compute{
			Runs: a.runs, Matcher: a.matching(),
			Scorer: readiness.Scorer{Scoring: a.scoring, Readiness: a.readiness()},
		},
		Expansion: &activities.Expansion{Affinity: a.affinity(), Expansion: a.expansion(), Runs: a.runs},
		Import:    &activities.Import{Imports: a.imports(), Runs: a.runs},
		Ingest:    &activities.Ingest{Datasets: a.datasets(), Matching: a.matching(), Runs: a.runs, Clock: a.clock},
	})
	return workers.Run(ctx, a.temporal, workers.NewSchedules(a.temporal, a.queues), a.queues, queues)
}

// resources lists what the API serves beside sign-in and settings.
func (a *app) resources(rs *api.Runs, registry *tools.Registry) []api.Resource {
	return []api.Resource{
		rs,
		&api.Connectors{Connections: a.connections, Runs: rs, BaseURL: baseURL(a.cfg)},
		&api.Accounts{Accounts: a.accounts()},
		&api.Matches{Matching: a.matching(), Runs: rs, Cursors: a.cursors},
		&api.Tasks{Tasks: a.tasks()},
		&api.Dashboard{Dashboard: a.dashboard(), Readiness: a.readiness()},
		&api.Expansion{Affinity: a.affinity(), Expansion: a.expansion(), Runs: rs},
		&api.Scoring{Scoring: a.scoring, Runs: rs},
		&api.Exports{Accounts: a.accounts(), Tasks: a.tasks()},
		&api.Datasets{Datasets: a.datasets(), Runs: rs},
		&api.Imports{Imports: a.imports(), Runs: rs},
		&api.Tools{Toolbox: registry},
	}
}

// toolDeps are the services that tools work on.
func (a *app) toolDeps() tools.Deps {
	return tools.Deps{
		Log: a.log, Cursors: a.cursors, Connections: a.connections, Accounts: a.accounts(),
		Dashboard: a.dashboard(), Readiness: a.readiness(), Scoring: a.scoring, Tasks: a.tasks(),
		Affinity: a.affinity(), Expansion: a.expansion(),
	}
}
