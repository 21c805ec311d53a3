package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"revarch/activities"
	"revarch/fault"
	"revarch/models"
	"revarch/workflows"
)

// world is a test environment whose activities are mocked by name.
type world struct {
	*testsuite.TestWorkflowEnvironment
	finished []activities.FinishInput
}

func newWorld(t *testing.T) *world {
	t.Helper()
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(quiet{})
	w := &world{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	for _, a := range []any{&activities.Sync{}, &activities.Remap{}, &activities.Runs{}, &activities.Connections{}, &activities.Compute{}, &activities.Ingest{}} {
		w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
	}
	w.RegisterWorkflowWithOptions(workflows.ConnectorSync, workflow.RegisterOptions{Name: workflows.ConnectorSyncName})
	w.RegisterWorkflowWithOptions(workflows.IngestDataset, workflow.RegisterOptions{Name: workflows.IngestDatasetName})
	w.RegisterWorkflowWithOptions(workflows.RemapRecords, workflow.RegisterOptions{Name: workflows.RemapRecordsName})
	w.OnActivity("FinishRun", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.FinishInput) error {
		w.finished = append(w.finished, in)
		return nil
	})
	return w
}

func (w *world) plan(objects ...activities.PlannedObject) {
	w.OnActivity("PlanSync", mock.Anything, mock.Anything).Return(activities.Plan{Objects: objects}, nil)
}

func (w *world) end() {
	none := activities.CountResult{}
	w.OnActivity("ResolveLinks", mock.Anything, mock.Anything).Return(activities.CountResult{Counts: map[string]int64{"orphans": 1}}, nil)
	w.OnActivity("MatchOrg", mock.Anything, mock.Anything).Return(none, nil)
	w.OnActivity("ScoreOrg", mock.Anything, mock.Anything).Return(none, nil)
}

// sync runs the workflow and returns its progress and its error.
func (w *world) sync(t *testing.T, in workflows.SyncInput) (workflows.SyncProgress, error) {
	t.Helper()
	in.OrgID, in.RunID, in.Provider = org, run, models.CRMA
	w.ExecuteWorkflow(workflows.ConnectorSyncName, in)
	require.True(t, w.IsWorkflowCompleted())
	value, err := w.QueryWorkflow(workflows.ProgressQuery)
	require.NoError(t, err)
	var s workflows.SyncProgress
	require.NoError(t, value.Get(&s))
	return s, w.GetWorkflowError()
}

func done(full bool) activities.BatchResult {
	return activities.BatchResult{Pages: 1, Done: true, Full: full, Counts: map[string]int64{"read": 2, "updated": 2}}
}

func TestConnectorSync(t *testing.T) {
	t.Parallel()

	t.Run("a full sync reads, asks for deletions, tombstones, links and scores, and ends well", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account", Full: true})
		var order []string
		note := func(name string) func(mock.Arguments) { return func(mock.Arguments) { order = append(order, name) } }
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Run(note("pull")).Return(done(true), nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Run(note("deletions")).Return(done(true), nil).Once()
		w.OnActivity("TombstoneUnseen", mock.Anything, mock.Anything).Run(note("tombstone")).Return(done(true), nil).Once()
		w.end()
		s, err := w.sync(t, workflows.SyncInput{Full: true})
		require.Equal(t, []string{"pull", "deletions", "tombstone"}, order)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"read": 6, "updated": 6, "orphans": 1}, s.Counts)
		require.Equal(t, []activities.FinishInput{{RunRef: ref, Provider: models.CRMA, Synced: true, Status: models.RunSucceeded}}, w.finished)
		w.AssertExpectations(t)
	})

	t.Run("an incremental sync does not tombstone", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(activities.BatchResult{Pages: 50}, nil).Twice()
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(done(false), nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(activities.BatchResult{Pages: 50, Next: "on"}, nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.MatchedBy(func(in activities.ObjectInput) bool { return in.After == "on" })).
			Return(done(false), nil).Once()
		w.end()
		s, err := w.sync(t, workflows.SyncInput{})
		require.NoError(t, err)
		require.Equal(t, 152, s.Objects[0].Pages)
		w.AssertExpectations(t)
	})

	t.Run("an object whose cursor died is enumerated, and then tombstoned", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(activities.BatchResult{Pages: 1, Full: true}, nil).Once()
		w.OnActivity("PullPages", mock.Anything, mock.MatchedBy(func(in activities.ObjectInput) bool { return in.Full })).Return(done(true), nil).Once()
		w.OnActivity("TombstoneUnseen", mock.Anything, mock.Anything).Return(done(true), nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(true), nil).Once()
		w.end()
		_, err := w.sync(t, workflows.SyncInput{})
		require.NoError(t, err)
		w.AssertExpectations(t)
	})

	t.Run("an object waits for those it comes after, others do not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Contact", After: []string{"Account"}}, activities.PlannedObject{Name: "Account"}, activities.PlannedObject{Name: "Task"})
		var order []string
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(func(_ context.Context, in activities.ObjectInput) (activities.BatchResult, error) {
			order = append(order, in.Object)
			return done(false), nil
		})
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(false), nil)
		w.end()
		_, err := w.sync(t, workflows.SyncInput{})
		require.NoError(t, err)
		require.Len(t, order, 3)
		require.Equal(t, "Contact", order[2])
	})

	t.Run("an object that cannot be read is left out and the rest goes on", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"}, activities.PlannedObject{Name: "Contact", After: []string{"Account"}})
		w.OnActivity("PullPages", mock.Anything, mock.MatchedBy(func(in activities.ObjectInput) bool { return in.Object == "Account" })).
			Return(activities.BatchResult{Skipped: string(fault.ScopeMissing)}, nil).Once()
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(done(false), nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(false), nil).Once()
		w.end()
		_, err := w.sync(t, workflows.SyncInput{})
		require.NoError(t, err)
		w.AssertExpectations(t)
	})

	t.Run("a used-up quota is waited for durably and then the sync goes on", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		resume := w.Now().Add(9 * time.Hour)
		w.OnActivity("PullPages", mock.Anything, mock.Anything).
			Return(activities.BatchResult{Pages: 3, ResumeAt: resume, Reason: string(fault.QuotaDay)}, nil).Once()
		w.OnActivity("NoteWait", mock.Anything, mock.Anything).Return(nil).Once()
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(done(false), nil).Once()
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(false), nil)
		w.end()
		var waiting workflows.SyncProgress
		w.RegisterDelayedCallback(func() {
			value, err := w.QueryWorkflow(workflows.ProgressQuery)
			require.NoError(t, err)
			require.NoError(t, value.Get(&waiting))
		}, time.Hour)
		s, err := w.sync(t, workflows.SyncInput{})
		require.NoError(t, err)
		require.Equal(t, string(fault.QuotaDay), waiting.WaitFor)
		require.WithinDuration(t, resume, waiting.WaitUntil, 0)
		require.Empty(t, s.WaitFor)
		require.False(t, w.Now().Before(resume))
		w.AssertExpectations(t)
	})

	t.Run("a failure closes the run with code and advice, keeps its type, and stops the other objects", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"}, activities.PlannedObject{Name: "Contact"})
		w.OnActivity("PullPages", mock.Anything, mock.MatchedBy(func(in activities.ObjectInput) bool { return in.Object == "Account" })).
			Return(activities.BatchResult{}, temporal.NewNonRetryableApplicationError("The provider no longer accepts this connection.", string(fault.ReauthRequired), nil))
		w.OnActivity("PullPages", mock.Anything, mock.Anything).After(time.Minute).Return(activities.BatchResult{Pages: 1}, nil)
		_, err := w.sync(t, workflows.SyncInput{})
		app, ok := errors.AsType[*temporal.ApplicationError](err)
		require.True(t, ok)
		require.Equal(t, string(fault.ReauthRequired), app.Type())
		require.Len(t, w.finished, 1)
		require.Equal(t, models.RunFailed, w.finished[0].Status)
		require.Equal(t, string(fault.ReauthRequired), w.finished[0].Code)
		require.Contains(t, w.finished[0].Message, "kept")
		require.False(t, w.finished[0].Synced)
	})

	t.Run("disturbances are tried again, at most twenty times", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		tries := 0
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(func(context.Context, activities.ObjectInput) (activities.BatchResult, error) {
			tries++
			return activities.BatchResult{}, temporal.NewApplicationError("The provider is not available at the moment.", string(fault.Unavailable))
		})
		_, err := w.sync(t, workflows.SyncInput{})
		require.Error(t, err)
		require.Equal(t, 20, tries)
		require.Equal(t, string(fault.Unavailable), w.finished[0].Code)
	})

	t.Run("a failed scoring leaves the sync itself complete", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(done(false), nil)
		w.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(false), nil)
		w.OnActivity("ScoreOrg", mock.Anything, mock.Anything).Return(activities.CountResult{}, errors.New("a defect with details"))
		w.end()
		_, err := w.sync(t, workflows.SyncInput{})
		require.Error(t, err)
		require.True(t, w.finished[0].Synced)
		require.Equal(t, string(fault.Internal), w.finished[0].Code)
		require.NotContains(t, w.finished[0].Message, "details")
		require.Contains(t, w.finished[0].Message, "start scoring again")
	})

	t.Run("cancelling closes the run as cancelled", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account"})
		w.OnActivity("PullPages", mock.Anything, mock.Anything).After(time.Minute).Return(activities.BatchResult{Pages: 1}, nil)
		w.RegisterDelayedCallback(w.CancelWorkflow, 10*time.Second)
		_, err := w.sync(t, workflows.SyncInput{})
		require.True(t, temporal.IsCanceledError(err))
		require.Equal(t, []activities.FinishInput{{RunRef: ref, Provider: models.CRMA, Status: models.RunCancelled}}, w.finished)
	})

	t.Run("a long sync goes on in a new execution with its state and does not close its run", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.plan(activities.PlannedObject{Name: "Account", Full: true}, activities.PlannedObject{Name: "Contact", After: []string{"Account"}})
		w.OnActivity("PullPages", mock.Anything, mock.Anything).Return(activities.BatchResult{Pages: 50, Full: true, Counts: map[string]int64{"read": 1, "created": 1}}, nil)
		s, err := w.sync(t, workflows.SyncInput{})
		require.True(t, workflow.IsContinueAsNewError(err))
		require.Empty(t, w.finished)
		require.Equal(t, 200, s.Batches)
		require.EqualValues(t, 200, s.Objects[0].Read)

		next := newWorld(t)
		next.OnActivity("PullPages", mock.Anything, mock.Anything).Return(done(false), nil)
		next.OnActivity("TombstoneUnseen", mock.Anything, mock.Anything).Return(done(true), nil).Once()
		next.OnActivity("PullDeletions", mock.Anything, mock.Anything).Return(done(false), nil)
		next.end()
		s, err = next.sync(t, workflows.SyncInput{State: s})
		require.NoError(t, err)
		require.EqualValues(t, 206, s.Objects[0].Read)
		require.Len(t, next.finished, 1)
		next.AssertExpectations(t)
	})
}

func TestRemapRecords(t *testing.T) {
	t.Parallel()
	in := workflows.RemapRecordsInput{OrgID: org, RunID: run, Provider: models.CRMA}

	t.Run("every object is mapped and then the accounts are scored", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.OnActivity("PlanRemap", mock.Anything, mock.Anything).Return(activities.RemapPlan{Version: 2, Objects: []string{"Account", "Contact"}}, nil).Twice()
		w.OnActivity("RemapBatch", mock.Anything, mock.MatchedBy(func(in activities.RemapInput) bool { return in.Object == "Account" && in.After == "" })).
			Return(activities.RemapResult{Version: 2, Next: "5"}, nil).Once()
		w.OnActivity("RemapBatch", mock.Anything, mock.Anything).Return(activities.RemapResult{Version: 2, Done: true}, nil).Twice()
		w.OnActivity("ScoreOrg", mock.Anything, mock.Anything).Return(activities.CountResult{}, nil).Once()
		w.ExecuteWorkflow(workflows.RemapRecordsName, in)
		require.NoError(t, w.GetWorkflowError())
		require.Equal(t, models.RunSucceeded, w.finished[0].Status)
		w.AssertExpectations(t)
	})

	t.Run("a mapping that changes meanwhile makes it begin anew", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		version := int64(2)
		w.OnActivity("PlanRemap", mock.Anything, mock.Anything).Return(func(context.Context, activities.SyncRef) (activities.RemapPlan, error) {
			return activities.RemapPlan{Version: version, Objects: []string{"Account"}}, nil
		})
		batches := 0
		w.OnActivity("RemapBatch", mock.Anything, mock.Anything).Return(func(context.Context, activities.RemapInput) (activities.RemapResult, error) {
			batches++
			got := activities.RemapResult{Version: version, Done: true}
			if batches == 1 {
				version = 3 // changed behind the batch
			}
			return got, nil
		})
		w.OnActivity("ScoreOrg", mock.Anything, mock.Anything).Return(activities.CountResult{}, nil).Once()
		w.ExecuteWorkflow(workflows.RemapRecordsName, in)
		require.NoError(t, w.GetWorkflowError())
		require.Equal(t, 2, batches)
		w.AssertExpectations(t)
	})
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status models.RunStatus
		code   fault.Code
	}{
		"none":            {nil, models.RunSucceeded, ""},
		"cancelled":       {temporal.NewCanceledError(), models.RunCancelled, ""},
		"a fault":         {temporal.NewApplicationError("Nothing is mapped", string(fault.Conflict)), models.RunFailed, fault.Conflict},
		"an unknown type": {temporal.NewApplicationError("panic: secret", "runtime.Error"), models.RunFailed, fault.Internal},
		"a timeout":       {temporal.NewTimeoutError(0, nil), models.RunFailed, fault.Unavailable},
	} {
		t.Run(name+" has its status and code", func(t *testing.T) {
			t.Parallel()
			status, code, message := workflows.Outcome(c.err)
			require.Equal(t, c.status, status)
			require.Equal(t, string(c.code), code)
			require.NotContains(t, message, "secret")
			require.Equal(t, status == models.RunFailed, message != "")
		})
	}
}
