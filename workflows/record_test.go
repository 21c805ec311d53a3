package workflows_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"revarch/activities"
	"revarch/models"
	"revarch/services/imports"
	"revarch/testkit"
	"revarch/workers"
	"revarch/workflows"
)

var (
	record  = flag.Bool("record", false, "keep the histories of this run for the replay test; on main only")
	release = flag.String("release", "v0.1.0", "the release that recorded histories are named after")
)

// recording is a workflow with activities that answer as arranged, on a real server.
type recording struct {
	workflow string
	name     string
	input    any
	fakes    map[string]any
	drive    func(t *testing.T, c client.Client, id string) // acts while it runs
	fails    bool
}

var (
	org    = uuid.MustParse("01975b6e-0000-7000-8000-000000000001")
	run    = uuid.MustParse("01975b6e-0000-7000-8000-000000000002")
	ref    = activities.RunRef{OrgID: org, RunID: run}
	counts = map[string]int64{"read": 10, "created": 10}
)

func ok[In any](context.Context, In) error { return nil }

func answer[In, Out any](out Out) func(context.Context, In) (Out, error) {
	return func(context.Context, In) (Out, error) { return out, nil }
}

func recordings() []recording {
	counted := answer[activities.SyncRef](activities.CountResult{Counts: map[string]int64{"accounts_scored": 3}})
	batch := func(full bool) func(context.Context, activities.ObjectInput) (activities.BatchResult, error) {
		return func(_ context.Context, in activities.ObjectInput) (activities.BatchResult, error) {
			return activities.BatchResult{Pages: 1, Done: true, Full: full && in.Object == "Account", Counts: counts}, nil
		}
	}
	sync := func(plan activities.Plan, pull any) map[string]any {
		return map[string]any{
			"PlanSync": answer[activities.PlanInput](plan), "PullPages": pull, "TombstoneUnseen": batch(true),
			"PullDeletions": batch(false), "ResolveLinks": counted, "MatchOrg": counted, "ScoreOrg": counted,
			"FinishRun": ok[activities.FinishInput], "NoteWait": ok[activities.WaitInput],
		}
	}
	matrix := answer[activities.RunRef](activities.CountResult{Counts: map[string]int64{"accounts": 3, "entries": 4}})
	signals := answer[activities.RunRef](activities.CountResult{Counts: map[string]int64{"signals": 5}})
	one := activities.Plan{Objects: []activities.PlannedObject{{Name: "Account"}}}
	in := workflows.SyncInput{OrgID: org, RunID: run, Provider: models.CRMA}
	remap := workflows.RemapRecordsInput{OrgID: org, RunID: run, Provider: models.CRMA}
	return []recording{
		{
			workflow: workflows.ConnectorSyncName, name: "full", input: workflows.SyncInput{OrgID: org, RunID: run, Provider: models.CRMA, Full: true},
			fakes: sync(activities.Plan{Objects: []activities.PlannedObject{{Name: "Account", Full: true}, {Name: "Contact", After: []string{"Account"}}}}, batch(true)),
		},
		{workflow: workflows.ConnectorSyncName, name: "incremental", input: in, fakes: sync(one, batch(false))},
		{workflow: workflows.ConnectorSyncName, name: "waiting", input: in, fakes: sync(one, waitsOnce())},
		{workflow: workflows.ConnectorSyncName, name: "cancelled", input: in, fakes: sync(one, blocks), drive: cancelBlocked, fails: true},
		{workflow: workflows.RemapRecordsName, name: "done", input: remap, fakes: map[string]any{
			"PlanRemap":  answer[activities.SyncRef](activities.RemapPlan{Version: 3, Objects: []string{"Account", "Contact"}}),
			"RemapBatch": answer[activities.RemapInput](activities.RemapResult{Version: 3, Done: true, Counts: counts}),
			"ScoreOrg":   counted, "FinishRun": ok[activities.FinishInput],
		}},
		{
			workflow: workflows.ScoreAccountsName, name: "done", input: workflows.ScoreAccountsInput{OrgID: org, RunID: run},
			fakes: map[string]any{"ScoreOrg": counted, "FinishRun": ok[activities.FinishInput]},
		},
		{
			workflow: workflows.MatchAccountsName, name: "done", input: workflows.MatchAccountsInput{OrgID: org, RunID: run},
			fakes: map[string]any{"MatchOrg": counted, "FinishRun": ok[activities.FinishInput]},
		},
		{workflow: workflows.RecomputeAffinityName, name: "done", input: workflows.RecomputeAffinityInput{OrgID: org, RunID: run}, fakes: map[string]any{
			"AwaitExpansionTurn": answer[activities.RunRef](activities.TurnResult{}), "RecomputeMatrix": matrix, "FinishRun": ok[activities.FinishInput],
		}},
		{workflow: workflows.RegenerateExpansionName, name: "first", input: workflows.RegenerateExpansionInput{OrgID: org, RunID: run}, fakes: map[string]any{
			"AwaitExpansionTurn": answer[activities.RunRef](activities.TurnResult{NoMatrix: true}), "RecomputeMatrix": matrix,
			"RegenerateSignals": signals, "FinishRun": ok[activities.FinishInput],
		}},
		{workflow: workflows.RegenerateExpansionName, name: "after_affinity", input: workflows.RegenerateExpansionInput{OrgID: org, RunID: run}, fakes: map[string]any{
			"AwaitExpansionTurn": waitsATurn(), "RegenerateSignals": signals, "FinishRun": ok[activities.FinishInput],
		}},
		{workflow: workflows.ReconcileRunsName, name: "done", fakes: map[string]any{
			"ReconcileLiveRuns": func(context.Context) (activities.ReconcileResult, error) {
				return activities.ReconcileResult{Looked: 2, Closed: 1}, nil
			},
		}},
		{workflow: workflows.KeepAliveName, name: "done", fakes: map[string]any{
			"RefreshIdleGrants": func(context.Context) (activities.KeepAliveResult, error) {
				return activities.KeepAliveResult{Refreshed: 1}, nil
			},
		}},
		{workflow: workflows.ScheduledSyncName, name: "done", input: activities.ConnectionRef{OrgID: org, Provider: models.CRMA}, fakes: map[string]any{
			"StartScheduledSync": answer[activities.ConnectionRef](activities.ScheduledSyncResult{Started: true, RunID: run}),
		}},
		{workflow: workflows.IngestDatasetName, name: "loaded", input: workflows.IngestInput{IngestRef: activities.IngestRef{RunRef: ref}}, fakes: map[string]any{
			"RegisterRelease": answer[activities.IngestRef](activities.RegisterResult{ReleaseID: run}),
			"LoadRelease":     answer[activities.ReleaseInput](activities.LoadResult{Rows: 10}),
			"PublishRelease":  answer[activities.ReleaseInput](activities.PublishResult{Current: true}),
			"MatchEveryOrg":   answer[activities.MatchEveryInput](activities.MatchEveryResult{Done: true, Orgs: 1}),
			"CloseIngest":     ok[activities.CloseInput], "FinishRun": ok[activities.FinishInput],
		}},
		{workflow: workflows.ImportFileName, name: "merged", input: importing, fakes: imported(nil)},
		{
			workflow: workflows.ImportFileName, name: "refused", input: importing, fails: true,
			fakes: imported(temporal.NewNonRetryableApplicationError("1 of 10 rows cannot be imported.", "bad_file", nil)),
		},
	}
}

// waitsATurn is a run that has another one before it, once.
func waitsATurn() any {
	asked := false
	return func(context.Context, activities.RunRef) (activities.TurnResult, error) {
		first := !asked
		asked = true
		return activities.TurnResult{Wait: first}, nil
	}
}

var importing = workflows.ImportInput{ImportRef: activities.ImportRef{RunRef: ref, File: imports.RunInput{Resource: "accounts"}}}

// imported answers as an import does whose merge ends with err.
func imported(err error) map[string]any {
	counted := answer[activities.SyncRef](activities.CountResult{Counts: map[string]int64{"accounts_scored": 3}})
	return map[string]any{
		"StageImport": answer[activities.ImportRef](activities.StageImportResult{Rows: 10}),
		"MergeImport": func(context.Context, activities.ImportRef) (activities.MergeImportResult, error) {
			return activities.MergeImportResult{Counts: counts, Scores: true}, err
		},
		"CloseImport": ok[activities.ImportRef], "MatchOrg": counted, "ScoreOrg": counted, "FinishRun": ok[activities.FinishInput],
	}
}

// waitsOnce is a provider that first asks to wait.
func waitsOnce() any {
	asked := false
	return func(context.Context, activities.ObjectInput) (activities.BatchResult, error) {
		if !asked {
			asked = true
			return activities.BatchResult{Pages: 1, Counts: counts, ResumeAt: time.Now().Add(time.Second), Reason: "throttled"}, nil
		}
		return activities.BatchResult{Pages: 1, Counts: counts, Done: true}, nil
	}
}

// blocks is a batch that ends only when it is cancelled.
func blocks(ctx context.Context, _ activities.ObjectInput) (activities.BatchResult, error) {
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return activities.BatchResult{}, ctx.Err()
		case <-tick.C:
			activity.RecordHeartbeat(ctx)
		}
	}
}

func cancelBlocked(t *testing.T, c client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
		return err == nil && len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetActivityType().GetName() == "PullPages" &&
			d.GetPendingActivities()[0].GetState() == enums.PENDING_ACTIVITY_STATE_STARTED
	}, 20*time.Second, 50*time.Millisecond)
	require.NoError(t, c.CancelWorkflow(t.Context(), id, ""))
}

// TestRecord runs every workflow on a real server and replays the history it made. With -record the histories are kept;
// one that is there already stays, since it stands for a release.
func TestRecord(t *testing.T) {
	t.Parallel()
	c, err := client.Dial(client.Options{HostPort: testkit.TemporalAddress(t), Logger: quiet{}, Identity: "recorder"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	for _, r := range recordings() {
		t.Run(r.workflow+" "+r.name+" replays what it did", func(t *testing.T) {
			t.Parallel()
			h := r.run(t, c)
			require.NoError(t, replayer().ReplayWorkflowHistory(quiet{}, h))
			if *record {
				keep(t, filepath.Join(historyDir, r.workflow, *release+"_"+r.name+".json"), h)
			}
		})
	}
}

func (r recording) run(t *testing.T, c client.Client) *history.History {
	t.Helper()
	prefix := "r" + strings.ToLower(rand.Text()[:8]) + "-"
	for _, q := range workers.Queues(workers.Activities{}) {
		w := worker.New(c, prefix+q.Name, worker.Options{MaxHeartbeatThrottleInterval: 100 * time.Millisecond})
		for name, fn := range q.Workflows {
			w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
		}
		for name, fn := range r.fakes {
			w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
		}
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	var args []any
	if r.input != nil {
		args = append(args, r.input)
	}
	id := prefix + r.workflow
	started, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: prefix + queueOf(t, r.workflow)}, r.workflow, args...)
	require.NoError(t, err)
	if r.drive != nil {
		r.drive(t, c, id)
	}
	if err := started.Get(t.Context(), nil); r.fails {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
	}
	h := &history.History{}
	for events := c.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	return h
}

func queueOf(t *testing.T, name string) string {
	t.Helper()
	for _, q := range workers.Queues(workers.Activities{}) {
		if _, ok := q.Workflows[name]; ok {
			return q.Name
		}
	}
	require.Fail(t, "no queue runs "+name)
	return ""
}

// keep writes a history without the name of the machine that made it.
func keep(t *testing.T, path string, h *history.History) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	raw, err := protojson.MarshalOptions{Indent: " "}.Marshal(h)
	require.NoError(t, err)
	host, err := os.Hostname() // it names the sticky queue
	require.NoError(t, err)
	raw = bytes.ReplaceAll(raw, []byte(host), []byte("recorder"))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, append(raw, '\n'), 0o600))
}

// quiet keeps the SDK from writing to the test's output.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
