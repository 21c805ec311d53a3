package governance_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
	"revarch/store"
)

// check reads the newest entries and asks whether the chain checks, as the log's readers do.
func (s *system) check(limit int) bool {
	s.tb.Helper()
	rows, err := s.log.List(s.tb.Context(), s.p, governance.Filter{Limit: limit})
	require.NoError(s.tb, err)
	ok, err := s.log.Check(s.tb.Context(), s.org, rows)
	require.NoError(s.tb, err)
	return ok
}

func (s *system) write() {
	s.tb.Helper()
	require.NoError(s.tb, s.log.Store.InOrg(s.tb.Context(), s.org, func(tx *store.Tx) error {
		_, err := s.log.Record(tx, s.p, governance.Entry{Tool: "create_task", Args: map[string]any{"title": "x"}})
		return err
	}))
}

func TestReadersAreToldOfTampering(t *testing.T) {
	t.Parallel()
	const old, newest = 7, 1200
	for _, c := range []struct {
		name, tamper string
		seq          int64
		late         bool // found by the walk of the hour
	}{
		{"what is shown was changed", "UPDATE governance_log SET outcome = 'denied' WHERE org_id = $1 AND seq = $2", newest - 3, false},
		{"the newest was changed", "UPDATE governance_log SET tool = 'x' WHERE org_id = $1 AND seq = $2", newest, false},
		{"the newest was removed", "DELETE FROM governance_log WHERE org_id = $1 AND seq = $2", newest, false},
		{"one that is shown was removed", "DELETE FROM governance_log WHERE org_id = $1 AND seq = $2", newest - 2, true},
		{"one of long ago was changed", "UPDATE governance_log SET reason = 'x' WHERE org_id = $1 AND seq = $2", old, true},
		{"one of long ago was removed", "DELETE FROM governance_log WHERE org_id = $1 AND seq = $2", old, true},
		{"the head was moved on", "UPDATE governance_heads SET seq = $2 + 1 WHERE org_id = $1", newest, false},
		{"the end was cut off and the head set back", `WITH gone AS (DELETE FROM governance_log WHERE org_id = $1 AND seq > $2)
			UPDATE governance_heads h SET seq = $2, hash = l.hash FROM governance_log l WHERE h.org_id = $1 AND l.org_id = $1 AND l.seq = $2`, newest - 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := setup(t, newest)
			require.True(t, s.check(10))
			s.db.Exec(t, c.tamper, s.org, c.seq)
			require.Equal(t, c.late, s.check(10))
			s.ahead.Add(int64(time.Hour))
			require.False(t, s.check(10))
			require.False(t, s.check(10), "and stays so")
			s.ahead.Add(int64(time.Minute))
			require.False(t, s.check(10))
		})
	}
}

func TestACutLogThatHangsTogetherIsTold(t *testing.T) {
	t.Parallel()
	s := setup(t, 20)
	require.True(t, s.check(5))
	s.db.Exec(t, `WITH gone AS (DELETE FROM governance_log WHERE org_id = $1 AND seq > 15)
		UPDATE governance_heads h SET seq = 15, hash = l.hash FROM governance_log l WHERE h.org_id = $1 AND l.org_id = $1 AND l.seq = 15`, s.org)
	for range 8 {
		s.write() // as many as were cut off, and more
	}
	v, err := s.log.Verify(t.Context(), s.org)
	require.NoError(t, err)
	require.True(t, v.OK, "nobody who saw nothing before can tell")
	require.False(t, s.check(5))
	s.ahead.Add(int64(time.Hour))
	require.False(t, s.check(5), "nor does it pass when the whole is walked")
}

func TestReadersSeeWhatIsMended(t *testing.T) {
	t.Parallel()
	s := setup(t, 20)
	require.True(t, s.check(5))
	s.db.Exec(t, "UPDATE governance_heads SET seq = 21 WHERE org_id = $1", s.org)
	require.False(t, s.check(5))
	s.db.Exec(t, "UPDATE governance_heads SET seq = 20 WHERE org_id = $1", s.org)
	require.False(t, s.check(5), "a chain that was broken is not walked for each reader")
	s.ahead.Add(int64(time.Minute))
	require.True(t, s.check(5))
	s.write()
	require.True(t, s.check(5))
}

func TestReadersAndWritersTogether(t *testing.T) {
	t.Parallel()
	s := setup(t, 0)
	require.True(t, s.check(5), "an empty log")
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 20 {
				s.write()
			}
		})
	}
	for range 30 {
		require.True(t, s.check(50))
	}
	wg.Wait()
	require.True(t, s.check(50))
	other := &governance.Service{Store: s.log.Store, Clock: time.Now}
	rows, err := other.List(t.Context(), s.p, governance.Filter{Tool: "create_task", Limit: 100})
	require.NoError(t, err)
	require.Len(t, rows, 60)
	ok, err := other.Check(t.Context(), s.org, rows)
	require.NoError(t, err)
	require.True(t, ok, "another process")
	ok, err = other.Check(t.Context(), auth.Engine(models.NewID()).OrgID, nil)
	require.NoError(t, err)
	require.True(t, ok, "an organization that has none")
}
