package workers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/connections"
)

func TestRemap(t *testing.T) {
	t.Parallel()

	t.Run("a changed mapping maps stored records again without asking the provider", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 30})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		require.EqualValues(t, 30, s.db.Count(t, "SELECT count(city) FROM accounts WHERE org_id = $1", s.org()))
		set, err := s.connections.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		var without []models.FieldMapping
		for _, m := range set.Mappings {
			if m.TargetField != "city" {
				without = append(without, m)
			}
		}
		used, err := s.box.Status(t.Context())
		require.NoError(t, err)
		_, run, err := s.connections.PutMappings(t.Context(), s.admin, models.CRMA, without, set.Version)
		require.NoError(t, err)
		got := s.succeeded(run)
		require.EqualValues(t, 30, got.Counts["updated"])
		require.Zero(t, got.Counts["created"])
		require.Zero(t, s.db.Count(t, "SELECT count(city) FROM accounts WHERE org_id = $1", s.org()))
		after, err := s.box.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, used.APIUsed, after.APIUsed)
	})

	t.Run("a cursor that the provider has forgotten leads to a full enumeration", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 30})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		contacts, err := s.box.IDs(t.Context(), "Contact")
		require.NoError(t, err)
		require.NoError(t, s.box.Purge(t.Context(), "Contact", contacts[0]))
		s.db.Exec(t, "UPDATE sync_cursors SET cursor = 'nonsense' WHERE object = 'Contact'")
		got := s.succeeded(s.sync(false))
		s.sameRecords()
		require.EqualValues(t, 1, got.Counts["deleted"])
	})

	t.Run("a field that may not be read any more is left out with a warning", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.work(s.process)
		s.connect()
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.HideField, Object: "Account", Field: "Segment__c"})
		require.NoError(t, err)
		got := s.succeeded(s.sync(false))
		s.sameRecords()
		require.NotEmpty(t, got.Warnings)
		require.Equal(t, "mapped_field_gone", got.Warnings[0].Code)
	})

	t.Run("a sync that runs is returned in place of a second one", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 10})
		s.connect()
		first := s.sync(false)
		second, already, err := s.connections.Sync(t.Context(), s.admin, models.CRMA, connections.SyncOptions{Full: true})
		require.NoError(t, err)
		require.True(t, already)
		require.Equal(t, first.ID, second.ID)
		s.work(s.process)
		s.succeeded(first)
	})
}
