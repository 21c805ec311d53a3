package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/sandbox/data"
)

const everything = "SELECT Id, Name, IsDeleted, MasterRecordId, NCES_ID__c, Enrollment__c, ARR__c, SystemModstamp FROM Account ORDER BY SystemModstamp, Id"

func TestRestart(t *testing.T) {
	t.Parallel()
	keep := func(dir string) func(*sandbox.Config) {
		return func(c *sandbox.Config) { c.StateDir = dir }
	}
	t.Run("grants, changes and the roster survive without a clean stop", func(t *testing.T) {
		t.Parallel()
		dir, ctx := t.TempDir(), t.Context()
		s := setup(t, keep(dir))
		list, err := s.admin.IDs(ctx, "Account")
		require.NoError(t, err)
		_, err = s.admin.Burst(ctx, 50, 3)
		require.NoError(t, err)
		s.clock.advance(time.Minute)
		roster, err := s.admin.SetRoster(ctx, []data.RosterEntry{{Kind: data.K12, ID: "0600001", Name: "Real Unified", City: "Real", State: "CA", Enrollment: 4321}})
		require.NoError(t, err)
		require.Positive(t, roster.Changed)
		require.NoError(t, s.admin.Merge(ctx, "Account", list[0], list[1]))
		require.NoError(t, s.admin.Purge(ctx, "Account", list[2]))
		_, err = s.admin.Create(ctx, "Account", control.Fields{"Name": "Made by a test"})
		require.NoError(t, err)
		made, err := s.admin.Create(ctx, "Account", control.Fields{"Name": "Made and gone"})
		require.NoError(t, err)
		require.NoError(t, s.admin.Purge(ctx, "Account", made.ID))
		rotated, _ := s.refresh(s.tokens.Refresh)
		want := s.get(queryPath("queryAll", everything)).body

		again := start(t, keep(dir)) // the first one is still running: what counts is what is in the file
		again.tokens = rotated
		require.True(t, bytes.Equal(want, again.get(queryPath("queryAll", everything)).body), "accounts differ")
		next, err := again.admin.Create(ctx, "Account", control.Fields{"Name": "After"})
		require.NoError(t, err)
		require.NotEqual(t, made.ID, next.ID)
		fresh, status := again.refresh(rotated.Refresh)
		require.Equal(t, http.StatusOK, status)
		require.NotEmpty(t, fresh.Refresh)
		_, status = again.refresh(s.tokens.Refresh)
		require.Equal(t, http.StatusBadRequest, status)
		require.Equal(t, http.StatusUnauthorized, again.get(rest+"/limits").status)
	})
	t.Run("a locator dies and never opens another query", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		many := func(c *sandbox.Config) { c.Accounts = 400 }
		s := setup(t, keep(dir), many)
		small := []string{"Sforce-Query-Options", "batchSize=200"}
		var old page
		require.NoError(t, json.Unmarshal(s.get(queryPath("query", "SELECT Id FROM Contact"), small...).body, &old))
		require.NotEmpty(t, old.NextRecordsURL)

		again := start(t, keep(dir), many)
		again.tokens = s.tokens
		for range 3 {
			require.Equal(t, http.StatusOK, again.get(queryPath("query", "SELECT Id FROM Task"), small...).status)
			res := again.get(old.NextRecordsURL)
			require.Equal(t, http.StatusBadRequest, res.status)
			require.Contains(t, string(res.body), "INVALID_QUERY_LOCATOR")
		}
	})
	t.Run("a torn last line is dropped, a damaged file is refused", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := setup(t, keep(dir))
		path := filepath.Join(dir, "journal.jsonl")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(content, `{"k":"crm_a/row/Acc`...), 0o600))
		again := start(t, keep(dir))
		again.tokens = s.tokens
		require.Equal(t, http.StatusOK, again.get(rest+"/limits").status)
		require.NoError(t, os.WriteFile(path, append([]byte("damage\n"), content...), 0o600))
		_, err = sandbox.New(sandbox.Config{StateDir: dir, Accounts: 60, Anchor: anchor})
		require.ErrorContains(t, err, "line 1 is damaged")
	})
	t.Run("changes from before an object had more fields fit", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := setup(t, keep(dir))
		list, err := s.admin.IDs(t.Context(), "Account")
		require.NoError(t, err)
		_, err = s.admin.Update(t.Context(), "Account", list[0], control.Fields{"Name": "Kept", "Expansion_Opt_Out__c": true})
		require.NoError(t, err)
		path := filepath.Join(dir, "journal.jsonl")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(content, []byte(",true]}")), "%s", content)
		require.NoError(t, os.WriteFile(path, bytes.Replace(content, []byte(",true]}"), []byte("]}"), 1), 0o600))
		again := start(t, keep(dir))
		again.tokens = s.tokens
		rows := again.query("query", "SELECT Name, Expansion_Opt_Out__c FROM Account WHERE Id = '"+list[0]+"'")
		require.Equal(t, "Kept", rows[0]["Name"])
		require.Equal(t, false, rows[0]["Expansion_Opt_Out__c"])
	})
	t.Run("changes of other data are refused", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		start(t, keep(dir))
		_, err := sandbox.New(sandbox.Config{StateDir: dir, Accounts: 61, Anchor: anchor})
		require.ErrorContains(t, err, "60 accounts")
	})
	t.Run("a roster that came after the first start renames accounts with a new stamp", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		start(t, keep(dir))
		s := setup(t, keep(dir), func(c *sandbox.Config) {
			c.Roster = []data.RosterEntry{{Kind: data.Higher, ID: "100654", Name: "Real University", City: "Normal", State: "AL", Enrollment: 6000}}
		})
		rows := s.query("query", "SELECT Id FROM Account WHERE Name = 'real university' AND SystemModstamp = "+s.clock.Now().Format(time.RFC3339))
		require.Len(t, rows, 1)
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, err := sandbox.New(sandbox.Config{Accounts: -1, DailyLimit: -1, PublicURL: "::"})
	require.ErrorContains(t, err, "accounts")
	require.ErrorContains(t, err, "daily limit")
	require.ErrorContains(t, err, "public URL")
}
