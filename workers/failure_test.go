package workers_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"revarch/fault"
	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/connections"
	"revarch/services/jobs"
	"revarch/services/runs"
	"revarch/testkit"
)

func TestDeathAndCancellation(t *testing.T) {
	t.Parallel()

	t.Run("a worker that is killed loses and doubles nothing", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 4500, ContactsPerAccount: 2, OpportunitiesPerAccount: 0.2, TasksPerAccount: 0.5})
		kill := s.spawn()
		s.connect()
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Latency, Path: "/query", DelayMS: 400})
		require.NoError(t, err)
		run := s.sync(false)
		s.until("some pages are stored", func() bool {
			got, err := s.runs.Get(t.Context(), s.org(), run.ID)
			return err == nil && got.Counts["created"] >= 4000
		})
		kill()
		before, err := s.runs.Get(t.Context(), s.org(), run.ID)
		require.NoError(t, err)
		require.Equal(t, models.RunRunning, before.Status)
		require.NoError(t, s.box.Lift(t.Context(), ""))
		s.work(s.process)
		got := s.succeeded(run)
		s.sameRecords()
		total := s.held()
		require.EqualValues(t, total, got.Counts["created"])
		require.EqualValues(t, total, got.Counts["read"], "no page was read into the counts twice")
	})

	t.Run("a worker that is stopped hands over what it is at", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 3000, ContactsPerAccount: 1, OpportunitiesPerAccount: -1, TasksPerAccount: -1})
		stop := s.work(s.process)
		s.connect()
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Hang, Path: "/query/", DelayMS: 60_000})
		require.NoError(t, err)
		run := s.sync(false)
		s.until("the sync is stuck half way", func() bool {
			got, err := s.runs.Get(t.Context(), s.org(), run.ID)
			return err == nil && got.Counts["created"] >= 4000
		})
		stop()
		now, err := s.temporal.DescribeWorkflowExecution(t.Context(), s.prefix+jobs.SyncID(s.org(), models.CRMA), "")
		require.NoError(t, err)
		require.NotEmpty(t, now.PendingActivities)
		for _, a := range now.PendingActivities {
			require.Equal(t, "The worker was stopped.", a.LastFailure.GetMessage(), "%s is still with the worker that stopped", a.ActivityType.GetName())
		}
		require.NoError(t, s.box.Lift(t.Context(), ""))
		s.work(s.newProcess())
		got := s.succeeded(run)
		s.sameRecords()
		require.EqualValues(t, s.held(), got.Counts["created"])
	})

	t.Run("cancelling stops a sync within seconds and the next one goes on from there", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 3000, ContactsPerAccount: 1, OpportunitiesPerAccount: -1, TasksPerAccount: -1})
		s.work(s.process)
		s.connect()
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Hang, Path: "/query/", DelayMS: 60_000})
		require.NoError(t, err)
		run := s.sync(false)
		s.until("the sync is stuck half way", func() bool {
			got, err := s.runs.Get(t.Context(), s.org(), run.ID)
			return err == nil && got.Counts["created"] >= 4000
		})
		asked := time.Now()
		_, err = s.runs.Cancel(t.Context(), s.admin, run.ID)
		require.NoError(t, err)
		got := s.ended(run)
		require.Equal(t, models.RunCancelled, got.Status)
		require.Less(t, time.Since(asked), 8*time.Second)
		require.Nil(t, got.ErrorCode)
		_, err = s.runs.Cancel(t.Context(), s.admin, run.ID)
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
		require.NoError(t, s.box.Lift(t.Context(), ""))
		again := s.succeeded(s.sync(false))
		s.sameRecords()
		require.EqualValues(t, s.held(), got.Counts["created"]+again.Counts["created"], "nothing was read twice")
	})

	t.Run("the reconciler closes the run of a terminated workflow", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.connect()
		run := s.sync(false) // no worker: it stays where it is
		require.NoError(t, s.temporal.TerminateWorkflow(t.Context(), s.prefix+run.WorkflowID, "", "an operator's decision"))
		sum, err := s.later().Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, runs.Reconciled{Looked: 1, Closed: 1}, sum)
		got := s.ended(run)
		require.Equal(t, models.RunFailed, got.Status)
		require.Equal(t, string(fault.Canceled), *got.ErrorCode)
		s.work(s.process)
		s.succeeded(s.sync(false))
	})

	t.Run("the reconciler starts a run whose workflow was never started", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		silent := runs.New(testkit.OpenStore(t, s.db.App, 2), nil, nil, nil)
		run, already, err := silent.Start(t.Context(), s.admin, runs.StartInput{
			Kind: models.KindConnectorSync, Subject: "crm_a",
			WorkflowID: jobs.SyncID(s.org(), models.CRMA), Input: connections.SyncOptions{},
		})
		require.NoError(t, err)
		require.False(t, already)
		sum, err := s.later().Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, runs.Reconciled{Looked: 1, Started: 1}, sum)
		s.succeeded(run)
	})

	t.Run("a record that cannot be taken is noted and the rest goes on", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		rec, err := s.box.Create(t.Context(), "Account", control.Fields{"Name": nil})
		require.NoError(t, err)
		got := s.succeeded(s.sync(false))
		require.EqualValues(t, 1, got.Counts["failed"])
		rows, more, err := s.runs.Failures(t.Context(), s.org(), got.ID, "", "", 10)
		require.NoError(t, err)
		require.False(t, more)
		require.Len(t, rows, 1)
		require.Equal(t, rec.ID, rows[0].ExternalID)
	})
}

func TestGrants(t *testing.T) {
	t.Parallel()

	t.Run("processes that are refused at once refresh once", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10, RefreshTime: 300 * time.Millisecond})
		s.connect()
		others := []process{s.newProcess(), s.newProcess(), s.process}
		before := s.tokenRequests()
		require.NoError(t, s.box.ExpireSessions(t.Context()))
		var wg sync.WaitGroup
		results := make(chan error, 12)
		for _, p := range others {
			for range 4 {
				wg.Go(func() {
					session, err := p.connections.Open(t.Context(), s.org(), models.CRMA)
					if err == nil {
						_, err = session.Validate(t.Context())
					}
					results <- err
				})
			}
		}
		wg.Wait()
		close(results)
		for err := range results {
			require.NoError(t, err)
		}
		require.Equal(t, 1, s.tokenRequests()-before)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM connection_grants WHERE org_id = $1", s.org()))
	})

	t.Run("a revoked grant stops everything until somebody connects again", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		require.NoError(t, s.box.RevokeGrants(t.Context()))
		got := s.ended(s.sync(false))
		require.Equal(t, models.RunFailed, got.Status)
		require.Equal(t, string(fault.ReauthRequired), *got.ErrorCode)
		st, err := s.connections.Status(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, models.ConnReauthorize, st.Status)
		require.NotNil(t, st.Error)
		require.Nil(t, st.NextSyncAt)
		before := s.tokenRequests()
		_, _, err = s.connections.Sync(t.Context(), s.admin, models.CRMA, connections.SyncOptions{})
		require.Equal(t, fault.ReauthRequired, fault.CodeOf(err))
		_, started, err := s.connections.ScheduledSync(t.Context(), s.org(), models.CRMA)
		require.NoError(t, err)
		require.False(t, started)
		v, err := s.connections.Validate(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.False(t, v.OK)
		_, _, err = s.connections.KeepAlive(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, s.tokenRequests(), "no token call after the grant died")
		s.connect()
		again := s.succeeded(s.sync(false))
		require.Zero(t, again.Counts["created"], "mappings, cursors and data were kept")
	})

	t.Run("trouble at the token endpoint is not a dead grant", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		for _, f := range []control.Failure{{Kind: control.Status, Path: "/oauth2/token", Status: 503, Times: 2}, {Kind: control.TokenBusy, Times: 1}} {
			_, err := s.box.Fail(t.Context(), f)
			require.NoError(t, err)
		}
		require.NoError(t, s.box.ExpireSessions(t.Context()))
		run := s.succeeded(s.sync(false))
		s.sameRecords()
		require.True(t, slices.ContainsFunc(run.Warnings, func(w models.RunWarning) bool { return w.Code == "retried" && w.Count > 0 }), "watchers see why it took its time: %v", run.Warnings)
	})

	t.Run("a schedule starts syncs as runs", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		handle := s.temporal.ScheduleClient().GetHandle(t.Context(), s.prefix+"schedule/sync/"+s.org().String()+"/crm_a")
		desc, err := handle.Describe(t.Context())
		require.NoError(t, err)
		require.False(t, desc.Schedule.State.Paused)
		require.NotEmpty(t, desc.Info.NextActionTimes)
		require.WithinDuration(t, jobs.NextSync(s.org(), models.CRMA, time.Now()), desc.Info.NextActionTimes[0], 0, "the shown time is the true one")
		require.NoError(t, handle.Trigger(t.Context(), client.ScheduleTriggerOptions{}))
		var page runs.Page
		s.until("the scheduled run is there", func() bool {
			page, err = s.connections.SyncLog(t.Context(), s.admin, models.CRMA, runs.ListInput{})
			return err == nil && len(page.Runs) == 1
		})
		require.Equal(t, "schedule", page.Runs[0].Trigger)
		s.succeeded(page.Runs[0])
		_, err = s.connections.Disconnect(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		desc, err = handle.Describe(t.Context())
		require.NoError(t, err)
		require.True(t, desc.Schedule.State.Paused)
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM connection_grants WHERE org_id = $1", s.org()))
		status, err := s.box.Status(t.Context())
		require.NoError(t, err)
		require.Zero(t, status.Grants, "revoked at the provider")
		s.connect()
		desc, err = handle.Describe(t.Context())
		require.NoError(t, err)
		require.False(t, desc.Schedule.State.Paused)
	})
}

func (s *system) tokenRequests() int {
	s.tb.Helper()
	st, err := s.box.Status(s.tb.Context())
	require.NoError(s.tb, err)
	return st.TokenRequests
}
