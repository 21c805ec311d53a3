package runs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/runs"
	"revarch/store"
	"revarch/testkit"
)

// engine is a workflow engine that remembers what it was asked and answers as told.
type engine struct {
	mu        sync.Mutex
	started   []uuid.UUID
	cancelled []uuid.UUID
	down      error
	state     jobs.State
	code      string
	message   string
}

func (e *engine) Start(_ context.Context, run models.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started = append(e.started, run.ID)
	return e.down
}

func (e *engine) Cancel(_ context.Context, run models.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancelled = append(e.cancelled, run.ID)
	return e.down
}

func (e *engine) State(context.Context, models.Run) (jobs.State, string, string, error) {
	return e.state, e.code, e.message, e.down
}

type system struct {
	*runs.Service
	tb     testing.TB
	db     testkit.DB
	store  *store.Store
	hub    *runs.Hub
	engine *engine
	who    auth.Principal
	now    *time.Time
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := &system{tb: tb, db: db, store: testkit.OpenStore(tb, db.App, 6), hub: runs.NewHub(db.App), engine: &engine{}, now: &now}
	ctx, cancel := context.WithCancel(tb.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.hub.Run(ctx)
	}()
	tb.Cleanup(func() {
		cancel()
		<-stopped
	})
	select {
	case <-s.hub.Ready():
	case <-time.After(20 * time.Second):
		require.Fail(tb, "the hub does not listen")
	}
	s.who = auth.Principal{OrgID: db.NewOrg(tb, "Org"), Kind: "user", ID: models.NewID(), Label: "ada@example.com", Role: auth.Admin}
	s.Service = runs.New(s.store, s.engine, s.hub, func() time.Time { return *s.now })
	return s
}

func (s *system) start(kind string) models.Run {
	s.tb.Helper()
	run, already, err := s.Start(s.tb.Context(), s.who, runs.StartInput{Kind: kind, Subject: "crm_a", WorkflowID: "w/" + kind, Input: map[string]bool{"full": true}})
	require.NoError(s.tb, err)
	require.False(s.tb, already)
	return run
}

func (s *system) get(id uuid.UUID) models.Run {
	s.tb.Helper()
	run, err := s.Get(s.tb.Context(), s.who.OrgID, id)
	require.NoError(s.tb, err)
	return run
}

func TestRuns(t *testing.T) {
	t.Parallel()

	t.Run("starting what is running returns the one run, however many ask at once", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		var wg sync.WaitGroup
		type got struct {
			id      uuid.UUID
			already bool
			err     error
		}
		all := make(chan got, 8)
		for range 8 {
			wg.Go(func() {
				run, already, err := s.Start(t.Context(), s.who, runs.StartInput{Kind: "k", Subject: "x", WorkflowID: "w"})
				all <- got{run.ID, already, err}
			})
		}
		wg.Wait()
		close(all)
		ids, fresh := map[uuid.UUID]bool{}, 0
		for g := range all {
			require.NoError(t, g.err)
			ids[g.id] = true
			if !g.already {
				fresh++
			}
		}
		require.Len(t, ids, 1)
		require.Equal(t, 1, fresh)
		require.Len(t, s.engine.started, 1)
	})

	t.Run("an engine that is down leaves the run queued and the reconciler starts it", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.engine.down = errors.New("connection refused")
		run := s.start("k")
		require.Equal(t, models.RunQueued, s.get(run.ID).Status)
		_, err := s.Reconcile(t.Context())
		require.NoError(t, err, "too young to look at")
		*s.now = s.now.Add(time.Minute)
		_, err = s.Reconcile(t.Context())
		require.Equal(t, fault.Unavailable, fault.CodeOf(err))
		s.engine.down, s.engine.state = nil, jobs.NotStarted
		sum, err := s.Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, runs.Reconciled{Looked: 1, Started: 1}, sum)
	})

	t.Run("the reconciler closes what has ended, truthfully, and leaves the rest", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name    string
			state   jobs.State
			running bool
			cancel  bool
			want    models.RunStatus
		}{
			{"running", jobs.Running, true, false, models.RunRunning},
			{"completed", jobs.Completed, true, false, models.RunSucceeded},
			{"failed", jobs.Failed, true, false, models.RunFailed},
			{"cancelled", jobs.Canceled, true, false, models.RunCancelled},
			{"gone while running", jobs.NotStarted, true, false, models.RunFailed},
			{"cancelled before it started", jobs.NotStarted, false, true, models.RunCancelled},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s := setup(t)
				run := s.start("k")
				if c.running {
					require.NoError(t, s.Progress(t.Context(), s.who.OrgID, run.ID, runs.Progress{Running: true}))
				}
				if c.cancel {
					_, err := s.Cancel(t.Context(), s.who, run.ID)
					require.NoError(t, err)
				}
				s.engine.state, s.engine.code, s.engine.message = c.state, "unavailable", "It broke."
				*s.now = s.now.Add(time.Minute)
				_, err := s.Reconcile(t.Context())
				require.NoError(t, err)
				got := s.get(run.ID)
				require.Equal(t, c.want, got.Status)
				require.Equal(t, c.want == models.RunFailed, got.ErrorMessage != nil)
				require.Equal(t, !c.want.Live(), got.FinishedAt != nil)
			})
		}
	})

	t.Run("a cancellation that the engine did not hear is repeated", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		s.engine.down = errors.New("connection refused")
		_, err := s.Cancel(t.Context(), s.who, run.ID)
		require.Error(t, err)
		s.engine.down, s.engine.state = nil, jobs.Running
		*s.now = s.now.Add(time.Minute)
		_, err = s.Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{run.ID, run.ID}, s.engine.cancelled)
		require.Equal(t, models.RunQueued, s.get(run.ID).Status, "its workflow closes it")
	})

	t.Run("a run ends once and then nothing changes it", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		require.NoError(t, s.Finish(t.Context(), run.OrgID, run.ID, runs.End{Status: models.RunFailed, Code: "invalid", Message: "No."}))
		require.NoError(t, s.Finish(t.Context(), run.OrgID, run.ID, runs.End{Status: models.RunSucceeded}))
		require.NoError(t, s.Progress(t.Context(), run.OrgID, run.ID, runs.Progress{Phase: "late", Running: true}))
		got := s.get(run.ID)
		require.Equal(t, models.RunFailed, got.Status)
		require.Equal(t, "failed", got.Phase)
		view := runs.ToView(got, "http://127.0.0.1:8233/namespaces/revarch/")
		require.Equal(t, &runs.ViewError{Code: "invalid", Message: "No."}, view.Error)
		require.Equal(t, "http://127.0.0.1:8233/namespaces/revarch/workflows/w%2Fk", *view.TemporalURL)
		require.Nil(t, runs.ToView(got, "").TemporalURL)
		s.start("k") // the place is free again
	})

	t.Run("counts and warnings add up in the transaction of the work", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		for range 3 {
			require.NoError(t, s.store.InOrg(t.Context(), run.OrgID, func(tx *store.Tx) error {
				return tx.AddToRun(run.ID, store.RunAddition{
					Counts: map[string]int64{"read": 2, "created": 2}, Done: 2,
					Warnings: []models.RunWarning{{Code: "bad_value", Message: "A", Count: 5}},
				}, *s.now)
			}))
		}
		require.NoError(t, s.Progress(t.Context(), run.OrgID, run.ID, runs.Progress{
			Counts:   map[string]int64{"orphans": 4},
			Warnings: []models.RunWarning{{Code: "field_lost", Message: "B", Count: 1}},
		}))
		require.NoError(t, s.Progress(t.Context(), run.OrgID, run.ID, runs.Progress{
			Warnings: []models.RunWarning{{Code: "field_lost", Message: "B", Count: 2}},
		}))
		got := s.get(run.ID)
		require.Equal(t, map[string]int64{"read": 6, "created": 6, "orphans": 4}, got.Counts)
		require.ElementsMatch(t, []models.RunWarning{{Code: "bad_value", Message: "A", Count: 15}, {Code: "field_lost", Message: "B", Count: 2}}, got.Warnings)
		require.EqualValues(t, 6, got.ProgressDone)
		require.ErrorIs(t, s.store.InOrg(t.Context(), run.OrgID, func(tx *store.Tx) error {
			if err := tx.AddToRun(run.ID, store.RunAddition{Counts: map[string]int64{"read": 100}}, *s.now); err != nil {
				return err
			}
			return context.Canceled
		}), context.Canceled)
		require.EqualValues(t, 6, s.get(run.ID).Counts["read"], "what was not stored is not counted")
	})

	t.Run("a total counts only in its own unit", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		progress := func(p runs.Progress) models.Run {
			require.NoError(t, s.Progress(t.Context(), run.OrgID, run.ID, p))
			return s.get(run.ID)
		}
		progress(runs.Progress{Unit: "records", Done: new(int64(5)), Total: new(int64(7))})
		require.EqualValues(t, 7, *progress(runs.Progress{Unit: "records", Done: new(int64(6))}).ProgressTotal)
		require.Nil(t, progress(runs.Progress{Unit: "accounts", Done: new(int64)}).ProgressTotal, "7 records say nothing about accounts")
		require.EqualValues(t, 3, *progress(runs.Progress{Unit: "accounts", Total: new(int64(3))}).ProgressTotal)
	})

	t.Run("the list pages in one order and never shows another organization's", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		var want []uuid.UUID
		for i := range 7 {
			run := s.start("k")
			require.NoError(t, s.Finish(t.Context(), run.OrgID, run.ID, runs.End{Status: models.RunSucceeded}))
			want = append([]uuid.UUID{run.ID}, want...)
			if i%3 == 0 {
				*s.now = s.now.Add(time.Second)
			}
		}
		var got []uuid.UUID
		in := runs.ListInput{Kind: "k", Status: []models.RunStatus{models.RunSucceeded}, Limit: 2}
		for {
			page, err := s.List(t.Context(), s.who.OrgID, in)
			require.NoError(t, err)
			for _, r := range page.Runs {
				got = append(got, r.ID)
			}
			if in.After = page.Next; in.After == nil {
				break
			}
		}
		require.Equal(t, want, got)
		other := s.db.NewOrg(t, "Other")
		page, err := s.List(t.Context(), other, runs.ListInput{})
		require.NoError(t, err)
		require.Empty(t, page.Runs)
		_, err = s.Get(t.Context(), other, want[0])
		require.Equal(t, fault.NotFound, fault.CodeOf(err))
		_, err = s.Cancel(t.Context(), auth.Principal{OrgID: other}, want[0])
		require.Equal(t, fault.NotFound, fault.CodeOf(err))
		_, err = s.List(t.Context(), s.who.OrgID, runs.ListInput{Limit: 201})
		require.Equal(t, fault.Invalid, fault.CodeOf(err))
	})
}

func TestEvents(t *testing.T) {
	t.Parallel()

	t.Run("waiting returns as soon as another process closes the run", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		other := runs.New(testkit.OpenStore(t, s.db.Worker, 2), nil, nil, nil)
		result := make(chan models.Run, 1)
		go func() {
			got, _ := s.Wait(t.Context(), run.OrgID, run.ID, 30*time.Second)
			result <- got
		}()
		require.Eventually(t, func() bool { return s.hub.Watchers() == 1 }, 10*time.Second, 5*time.Millisecond)
		require.NoError(t, other.Finish(t.Context(), run.OrgID, run.ID, runs.End{Status: models.RunSucceeded}))
		select {
		case got := <-result:
			require.Equal(t, models.RunSucceeded, got.Status)
		case <-time.After(10 * time.Second):
			require.Fail(t, "still waiting")
		}
		require.Eventually(t, func() bool { return s.hub.Watchers() == 0 }, 10*time.Second, 5*time.Millisecond)
	})

	t.Run("waiting for a run that goes on ends after the limit", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		got, err := s.Wait(t.Context(), run.OrgID, run.ID, 50*time.Millisecond)
		require.NoError(t, err)
		require.Equal(t, models.RunQueued, got.Status)
	})

	t.Run("a hundred changes are few notifications, and the last one is heard", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes := s.Subscribe(ctx, run.OrgID, run.ID)
		strange := s.Subscribe(ctx, models.NewID(), run.ID)
		began, heard := time.Now(), 0
		for i := range int64(100) {
			require.NoError(t, s.Progress(ctx, run.OrgID, run.ID, runs.Progress{Done: &i}))
		}
		for s.tb.Context().Err() == nil {
			<-changes
			heard++
			if s.get(run.ID).ProgressDone == 99 {
				break
			}
		}
		require.LessOrEqual(t, heard, 3+int(4*time.Since(began).Seconds()))
		require.Empty(t, strange)
	})

	t.Run("after a lost connection watchers are woken and hear again", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run := s.start("k")
		changes := s.Subscribe(t.Context(), run.OrgID, run.ID)
		s.db.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'")
		for range 2 { // woken by the new connection, then by a change
			select {
			case <-changes:
			case <-time.After(20 * time.Second):
				require.Fail(t, "not woken")
			}
			s.Changed(run.OrgID, run.ID)
		}
	})
}
