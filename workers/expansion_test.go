package workers_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"revarch/activities"
	"revarch/auth"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/affinity/affinitytest"
	"revarch/services/expansion"
	"revarch/services/runs"
	"revarch/testkit"
	"revarch/workers"
	"revarch/workflows"
)

// market is an organization with products on a real engine, whose workers wait to be started.
type market struct {
	tb        testing.TB
	db        testkit.DB
	manager   auth.Principal
	runs      *runs.Service
	affinity  *affinity.Service
	expansion *expansion.Service
	work      func()
}

func newMarket(tb testing.TB) *market {
	tb.Helper()
	m := &market{tb: tb, db: testkit.Database(tb, testkit.Product(tb))}
	st := testkit.OpenStore(tb, m.db.Worker, 10)
	c, err := client.Dial(client.Options{HostPort: testkit.TemporalAddress(tb), Logger: quiet{}})
	require.NoError(tb, err)
	tb.Cleanup(c.Close)
	prefix := "x" + strings.ToLower(rand.Text()[:8]) + "-"
	m.runs = runs.New(st, workflows.NewStarter(c, prefix), nil, nil)
	m.affinity = &affinity.Service{Store: st, Runs: m.runs, Clock: time.Now}
	m.expansion = &expansion.Service{Store: st, Runs: m.runs, Clock: time.Now}
	org := m.db.NewOrg(tb, "Market")
	m.manager = auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "m@example.org", Role: auth.Manager, Surface: "rest"}
	affinitytest.Seed(tb, m.db, org, affinitytest.Products(12), affinitytest.Market(5, 500, 12, 4))
	m.work = func() {
		set, err := workers.Start(c, prefix, workers.Queues(workers.Activities{
			Runs:      &activities.Runs{Runs: m.runs},
			Expansion: &activities.Expansion{Affinity: m.affinity, Expansion: m.expansion, Runs: m.runs},
		}), func(error) {})
		require.NoError(tb, err)
		tb.Cleanup(set.Stop)
	}
	return m
}

func (m *market) succeeded(id uuid.UUID) models.Run {
	m.tb.Helper()
	run, err := m.runs.Wait(m.tb.Context(), m.manager.OrgID, id, time.Minute)
	require.NoError(m.tb, err)
	require.Equal(m.tb, models.RunSucceeded, run.Status, "%s: %v", run.Phase, run.ErrorMessage)
	return run
}

func TestExpansionRuns(t *testing.T) {
	t.Parallel()

	t.Run("a regeneration computes the matrix that nobody has computed", func(t *testing.T) {
		t.Parallel()
		m := newMarket(t)
		m.work()
		run, _, err := m.expansion.Start(t.Context(), m.manager)
		require.NoError(t, err)
		got := m.succeeded(run.ID)
		require.EqualValues(t, 500, got.Counts["accounts"])
		require.EqualValues(t, 4*12*11/2, got.Counts["entries"])
		require.Positive(t, got.Counts["signals"])
		require.Equal(t, got.Counts["signals"], m.db.Count(t, "SELECT count(*) FROM expansion_signals WHERE status = 'pending'"))
		require.EqualValues(t, 1, m.db.Count(t, "SELECT count(*) FROM affinity_matrices WHERE run_id = $1", run.ID))
	})

	t.Run("a regeneration that was asked for after a recompute waits for it and uses its result", func(t *testing.T) {
		t.Parallel()
		m := newMarket(t)
		old, err := m.affinity.Compute(t.Context(), m.manager.OrgID, models.NewID(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, old)
		recompute, _, err := m.affinity.Start(t.Context(), m.manager)
		require.NoError(t, err)
		regenerate, _, err := m.expansion.Start(t.Context(), m.manager)
		require.NoError(t, err)
		again, already, err := m.affinity.Start(t.Context(), m.manager)
		require.NoError(t, err)
		require.True(t, already)
		require.Equal(t, recompute.ID, again.ID)
		m.work()
		first, second := m.succeeded(recompute.ID), m.succeeded(regenerate.ID)
		require.True(t, first.FinishedAt.Before(*second.FinishedAt))
		require.EqualValues(t, 1, m.db.Count(t, "SELECT count(*) FROM expansion_runs WHERE run_id = $1 AND matrix_run_id = $2", regenerate.ID, recompute.ID))
	})

	t.Run("a run that waits for another one can be stopped", func(t *testing.T) {
		t.Parallel()
		m := newMarket(t)
		// A recompute that nobody carries out: its row is there and live.
		m.db.Exec(t, `INSERT INTO runs (org_id, id, kind, subject, workflow_id, status, created_at) VALUES ($1, $2, 'recompute_affinity', 'products', 'w', 'running', now() - interval '1 minute')`,
			m.manager.OrgID, models.NewID())
		m.work()
		run, _, err := m.expansion.Start(t.Context(), m.manager)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			got, err := m.runs.Get(t.Context(), m.manager.OrgID, run.ID)
			return err == nil && got.Phase == "waiting for the run before"
		}, 20*time.Second, 50*time.Millisecond)
		_, err = m.runs.Cancel(t.Context(), m.manager, run.ID)
		require.NoError(t, err)
		got, err := m.runs.Wait(t.Context(), m.manager.OrgID, run.ID, time.Minute)
		require.NoError(t, err)
		require.Equal(t, models.RunCancelled, got.Status)
		require.Zero(t, m.db.Count(t, "SELECT count(*) FROM expansion_signals"))
	})
}
