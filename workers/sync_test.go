package workers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/connections"
)

func TestSync(t *testing.T) {
	t.Parallel()

	t.Run("a first sync brings every record and an incremental one only what changed", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 120})
		s.work(s.process)
		s.connect()
		first := s.succeeded(s.sync(false))
		s.sameRecords()
		require.Zero(t, first.Counts["failed"])
		require.Equal(t, first.Counts["read"], first.Counts["created"])
		require.NotNil(t, first.ProgressTotal)
		require.Equal(t, *first.ProgressTotal, first.ProgressDone)
		require.EqualValues(t, 120, first.Counts["accounts_scored"])
		require.Zero(t, first.Counts["orphans"])
		require.EqualValues(t, 120, s.db.Count(t, `SELECT count(*) FROM accounts a JOIN crm_users u
			ON u.org_id = a.org_id AND u.provider = a.provider AND u.external_id = a.owner_external_id WHERE a.org_id = $1`, s.org()), "every owner is known")

		ids, err := s.box.IDs(t.Context(), "Account")
		require.NoError(t, err)
		_, err = s.box.Update(t.Context(), "Account", ids[0], control.Fields{"Name": "Renamed District"})
		require.NoError(t, err)
		_, err = s.box.Create(t.Context(), "Account", control.Fields{"Name": "New District"})
		require.NoError(t, err)
		contacts, err := s.box.IDs(t.Context(), "Contact")
		require.NoError(t, err)
		require.NoError(t, s.box.Delete(t.Context(), "Contact", contacts[0]))
		second := s.succeeded(s.sync(false))
		s.sameRecords()
		require.EqualValues(t, 1, second.Counts["created"])
		require.EqualValues(t, 1, second.Counts["updated"])
		require.EqualValues(t, 1, second.Counts["deleted"])
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM accounts WHERE org_id = $1 AND name = 'Renamed District'", s.org()))

		st, err := s.connections.Status(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, models.ConnConnected, st.Status)
		require.NotNil(t, st.LastSyncAt)
		require.NotNil(t, st.NextSyncAt)
		require.Nil(t, st.RunningRunID)
	})

	t.Run("a full sync finds what was deleted without a trace", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 40})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		ids, err := s.box.IDs(t.Context(), "Task")
		require.NoError(t, err)
		for _, id := range ids[:3] {
			require.NoError(t, s.box.Purge(t.Context(), "Task", id))
		}
		again := s.succeeded(s.sync(true))
		s.sameRecords()
		require.EqualValues(t, 3, again.Counts["deleted"])
		require.Zero(t, again.Counts["created"])
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM sync_seen WHERE org_id = $1", s.org()))
	})

	t.Run("a full sync deletes most of what is stored only when a person has confirmed it", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 40})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		ids, err := s.box.IDs(t.Context(), "Task")
		require.NoError(t, err)
		gone := len(ids)*3/4 + 1
		for _, id := range ids[:gone] {
			require.NoError(t, s.box.Purge(t.Context(), "Task", id))
		}
		refused := s.succeeded(s.sync(true))
		require.Zero(t, refused.Counts["deleted"])
		require.Len(t, refused.Warnings, 1)
		require.Equal(t, "deletions_refused", refused.Warnings[0].Code)
		require.EqualValues(t, gone, refused.Warnings[0].Count)

		_, _, err = s.connections.Sync(t.Context(), s.admin, models.CRMA, connections.SyncOptions{ConfirmDeletions: true})
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "only a full sync finds them")
		contacts, err := s.box.IDs(t.Context(), "Contact")
		require.NoError(t, err)
		for _, id := range contacts[:len(contacts)*3/4] { // what the provider itself says was deleted needs nobody's word
			require.NoError(t, s.box.Delete(t.Context(), "Contact", id))
		}
		told := s.succeeded(s.sync(true))
		require.EqualValues(t, len(contacts)*3/4, told.Counts["deleted"])
		require.Len(t, told.Warnings, 1, "of tasks alone: %v", told.Warnings)
		run, _, err := s.connections.Sync(t.Context(), s.admin, models.CRMA, connections.SyncOptions{Full: true, ConfirmDeletions: true})
		require.NoError(t, err)
		confirmed := s.succeeded(run)
		require.EqualValues(t, gone, confirmed.Counts["deleted"])
		require.Empty(t, confirmed.Warnings)
		s.sameRecords()
	})
}
