package workers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/sandbox"
	"revarch/services/datasets"
	"revarch/services/datasets/datasetstest"
	"revarch/workflows"
)

// operator makes the platform's organization and returns one of its operators.
func (s *system) operator() auth.Principal {
	s.tb.Helper()
	org := models.NewID()
	s.db.Exec(s.tb, "INSERT INTO orgs (id, name, is_system) VALUES ($1, 'Platform', true)", org)
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "op@example.com", Role: auth.Operator, System: true, Surface: "rest"}
}

func (s *system) ingest(p auth.Principal, name string, data []byte, partial bool) models.Run {
	s.tb.Helper()
	run, already, err := s.datasets.Ingest(s.tb.Context(), p, datasets.IngestInput{Dataset: datasets.Auto, Name: name, Partial: partial, Body: bytes.NewReader(data)})
	require.NoError(s.tb, err)
	require.False(s.tb, already)
	return run
}

// finished waits for the end of a run that syncs nothing.
func (s *system) finished(run models.Run) models.Run {
	s.tb.Helper()
	got, err := s.runs.Wait(s.tb.Context(), run.OrgID, run.ID, 2*time.Minute)
	require.NoError(s.tb, err)
	require.False(s.tb, got.Status.Live(), "the run has not ended: %+v", got)
	return got
}

func (s *system) loadedRows() int64 {
	s.tb.Helper()
	return s.db.Count(s.tb, "SELECT count(*) FROM edu.districts")
}

// halfway waits until some rows of a run are read.
func (s *system) halfway(run models.Run) {
	s.tb.Helper()
	s.until("some rows are read", func() bool {
		got, err := s.runs.Get(s.tb.Context(), run.OrgID, run.ID)
		require.True(s.tb, got.Status.Live(), "it has ended: %+v", got)
		return err == nil && got.ProgressDone > 0
	})
}

func TestIngestion(t *testing.T) {
	t.Parallel()

	t.Run("a file is loaded, published and matched, and its workflow can be found", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		s.work(s.process)
		op := s.operator()
		account := models.NewID()
		s.db.Exec(t, `INSERT INTO accounts (org_id, id, provider, external_id, name, normalized_name, state, mapping_id)
			VALUES ($1, $2, 'crm_a', 'x', 'Verde', 'university mesa verde', 'NM', 0)`, s.org(), account)
		data, err := os.ReadFile(filepath.Join("..", "datasets", "testdata", "hd2023.csv"))
		require.NoError(t, err)
		run := s.ingest(op, "hd2023.csv", data, true)
		require.Equal(t, "ingest/ipeds_hd/HD2023", run.WorkflowID)
		got := s.finished(run)
		require.Equal(t, models.RunSucceeded, got.Status)
		require.Equal(t, map[string]int64{"read": 4, "loaded": 4, "failed": 0}, got.Counts)
		require.EqualValues(t, 4, *got.ProgressTotal)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM account_matches WHERE org_id = $1 AND account_id = $2 AND official_id = '900101'", s.org(), account))

		d, err := s.temporal.DescribeWorkflow(t.Context(), s.prefix+run.WorkflowID, "")
		require.NoError(t, err)
		dataset, ok := d.TypedSearchAttributes.GetKeyword(workflows.DatasetAttribute)
		require.True(t, ok)
		require.Equal(t, "ipeds_hd", dataset)
		var p workflows.IngestProgress
		require.NoError(t, s.query(run, &p))
		require.Equal(t, "done", p.Phase)
		require.True(t, p.Current)

		again := s.finished(s.ingest(op, "hd2023.csv", data, true))
		require.Equal(t, models.RunSucceeded, again.Status)
		require.Equal(t, "already_loaded", again.Warnings[0].Code)
		require.EqualValues(t, 4, s.db.Count(t, "SELECT count(*) FROM edu.institutions"))
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM uploads"))

		match, _, err := s.matching.Start(t.Context(), s.admin)
		require.NoError(t, err)
		require.EqualValues(t, 1, s.finished(match).Counts["matched_by_name"])
	})

	t.Run("a file that is no whole fails with a sentence that says what to do", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		s.work(s.process)
		_, data := datasetstest.Directory(2023, 300)
		got := s.finished(s.ingest(s.operator(), "ccd_lea_029_2223_w_1a_083023.csv", data, false))
		require.Equal(t, models.RunFailed, got.Status)
		require.Equal(t, "bad_file", *got.ErrorCode)
		require.Contains(t, *got.ErrorMessage, "300 rows, at least 10000 expected")
		require.Regexp(t, "load the right one.$", *got.ErrorMessage)
		require.Zero(t, s.loadedRows()+s.db.Count(t, "SELECT count(*) FROM uploads"))
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM edu.releases WHERE status = 'failed'"))
	})

	t.Run("cancelling stops a load within seconds, keeps what was there, and another one is exact", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		s.work(s.process)
		op := s.operator()
		name, old := datasetstest.Directory(2022, 10_000)
		require.Equal(t, models.RunSucceeded, s.finished(s.ingest(op, name, old, false)).Status)
		name, data := datasetstest.Directory(2023, 150_000)
		run := s.ingest(op, name, data, false)
		s.halfway(run)
		began := time.Now()
		_, err := s.runs.Cancel(t.Context(), op, run.ID)
		require.NoError(t, err)
		require.Equal(t, models.RunCancelled, s.finished(run).Status)
		require.Less(t, time.Since(began), 10*time.Second)
		require.EqualValues(t, 10_000, s.loadedRows())
		require.EqualValues(t, 10_000, s.db.Count(t, "SELECT count(*) FROM edu.current_districts"))
		require.Equal(t, models.RunSucceeded, s.finished(s.ingest(op, name, data, false)).Status)
		require.EqualValues(t, 150_000, s.db.Count(t, "SELECT count(*) FROM edu.current_districts"))
	})

	t.Run("a worker that is killed in the middle of a load leaves exactly the rows", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		kill := s.spawn()
		name, data := datasetstest.Directory(2023, 150_000)
		run := s.ingest(s.operator(), name, data, false)
		s.halfway(run)
		kill()
		s.work(s.process)
		got := s.finished(run)
		require.Equal(t, models.RunSucceeded, got.Status)
		require.EqualValues(t, 150_000, got.Counts["loaded"])
		require.EqualValues(t, 150_000, s.loadedRows())
		require.EqualValues(t, 150_000, s.db.Count(t, "SELECT count(*) FROM edu.current_districts"))
	})
}

func (s *system) query(run models.Run, into any) error {
	s.tb.Helper()
	v, err := s.temporal.QueryWorkflow(s.tb.Context(), s.prefix+run.WorkflowID, "", workflows.ProgressQuery)
	if err != nil {
		return err
	}
	return v.Get(into)
}
