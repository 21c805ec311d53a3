// Package workers ties workflows and activities to task queues: the table of what is registered where, worker options,
// and the schedules of recurring work. What belongs here: names and numbers of execution. What is executed belongs to
// workflows and activities.
package workers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/workflows"
)

// Activities are the structs whose methods are the activities, with their dependencies set.
type Activities struct {
	Sync        *activities.Sync
	Remap       *activities.Remap
	Runs        *activities.Runs
	Connections *activities.Connections
	Compute     *activities.Compute
	Ingest      *activities.Ingest
	Import      *activities.Import
	Expansion   *activities.Expansion
}

// Queue is a task queue and what runs on it. Workflows go by wire name; of activities, each exported method is one.
type Queue struct {
	Name       string
	Slots      int // activities at once
	Workflows  map[string]any
	Activities []any
}

// Queues is the table of everything that is registered. A new workflow is a line here, in the golden list of the test
// and in workflows.Launches, and comes with a recorded history.
func Queues(a Activities) []Queue {
	return []Queue{
		{
			Name: workflows.QueueSync, Slots: 64,
			Workflows: map[string]any{
				workflows.ConnectorSyncName: workflows.ConnectorSync,
				workflows.RemapRecordsName:  workflows.RemapRecords,
				workflows.ReconcileRunsName: workflows.ReconcileRuns,
				workflows.KeepAliveName:     workflows.KeepGrantsAlive,
				workflows.ScheduledSyncName: workflows.ScheduledSync,
			},
			Activities: []any{a.Sync, a.Remap, a.Runs, a.Connections},
		},
		{
			Name: workflows.QueueCompute, Slots: runtime.NumCPU(),
			Workflows: map[string]any{
				workflows.ScoreAccountsName:       workflows.ScoreAccounts,
				workflows.MatchAccountsName:       workflows.MatchAccounts,
				workflows.RecomputeAffinityName:   workflows.RecomputeAffinity,
				workflows.RegenerateExpansionName: workflows.RegenerateExpansion,
			},
			Activities: []any{a.Compute, a.Expansion, a.Runs},
		},
		{
			Name: workflows.QueueIngest, Slots: 2,
			Workflows: map[string]any{
				workflows.IngestDatasetName: workflows.IngestDataset,
				workflows.ImportFileName:    workflows.ImportFile,
			},
			Activities: []any{a.Ingest, a.Import, a.Runs},
		},
	}
}

// Names lists what the queues have registered, as "queue workflow Name" and "queue activity Name", sorted.
func Names(queues []Queue) []string {
	var out []string
	for _, q := range queues {
		for name := range q.Workflows {
			out = append(out, q.Name+" workflow "+name)
		}
		for _, a := range q.Activities {
			t := reflect.TypeOf(a)
			for method := range t.Methods() {
				out = append(out, q.Name+" activity "+method.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// When a worker stops, activities may go on for grace; then they are interrupted, which they answer with a failure that
// another worker takes up at once. Those that do not answer are given up after stopTimeout, before a supervisor kills.
const (
	grace       = 2 * time.Second
	stopTimeout = 8 * time.Second
)

// Set is running workers, one per queue.
type Set struct {
	workers   []worker.Worker
	interrupt context.CancelCauseFunc // of all activities
}

// Start starts a worker per queue. prefix is put before the names of the queues: "" in production, else ending in a
// dash. fatal is called when a worker cannot go on. adjust, if any, changes options, such as interceptors.
func Start(c client.Client, prefix string, queues []Queue, fatal func(error), adjust ...func(*worker.Options)) (*Set, error) {
	ctx, interrupt := context.WithCancelCause(context.Background())
	set := &Set{interrupt: interrupt}
	for _, q := range queues {
		o := worker.Options{
			MaxConcurrentActivityExecutionSize: q.Slots,
			WorkerStopTimeout:                  stopTimeout,
			BackgroundActivityContext:          ctx,
			// Cancellations travel on the answers to heartbeats: a person who stops a run sees it stop within seconds.
			MaxHeartbeatThrottleInterval:     time.Second,
			DefaultHeartbeatThrottleInterval: time.Second,
			OnFatalError:                     fatal,
		}
		for _, fn := range adjust {
			fn(&o)
		}
		w := worker.New(c, prefix+q.Name, o)
		for _, name := range slices.Sorted(maps.Keys(q.Workflows)) {
			w.RegisterWorkflowWithOptions(q.Workflows[name], workflow.RegisterOptions{Name: name})
		}
		for _, a := range q.Activities {
			w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
		}
		if err := w.Start(); err != nil {
			set.Stop()
			return nil, fmt.Errorf("start worker of queue %s: %w", q.Name, err)
		}
		set.workers = append(set.workers, w)
	}
	return set, nil
}

// Stop stops taking work and waits shortly for what is under way; the rest is taken up by other workers.
func (s *Set) Stop() {
	late := time.AfterFunc(grace, func() { s.interrupt(worker.ErrWorkerShutdown) })
	defer s.interrupt(worker.ErrWorkerShutdown)
	defer late.Stop()
	done := make(chan struct{}, len(s.workers))
	for _, w := range s.workers {
		go func() {
			w.Stop()
			done <- struct{}{}
		}()
	}
	for range s.workers {
		<-done
	}
}

// Run starts the workers and the platform's schedules and stops the workers when ctx ends. It returns the error of a
// worker that could not go on.
func Run(ctx context.Context, c client.Client, schedules *Schedules, prefix string, queues []Queue, adjust ...func(*worker.Options)) error {
	failed := make(chan error, len(queues))
	set, err := Start(c, prefix, queues, func(err error) {
		select {
		case failed <- err:
		default:
		}
	}, adjust...)
	if err != nil {
		return err
	}
	defer set.Stop()
	if err := schedules.EnsurePlatform(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("worker: %w", err)
	}
}
