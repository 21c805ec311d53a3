package backup_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/services/backup"
	"revarch/services/vault"
	"revarch/testkit"
)

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	in := setup(t)

	t.Run("a file that exists, which stays as it is", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "there")
		require.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
		_, err := backup.Write(t.Context(), path, in.source())
		require.True(t, fault.Is(err, fault.Conflict), err)
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "precious", string(body))
	})

	t.Run("a missing keyset, unless none is asked for", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "backup.tar")
		src := in.source()
		src.Keyset = filepath.Join(t.TempDir(), "none")
		_, err := backup.Write(t.Context(), path, src)
		require.True(t, fault.Is(err, fault.NotFound), err)
		require.NoFileExists(t, path)
		src.Keyset = ""
		m, err := backup.Write(t.Context(), path, src)
		require.NoError(t, err)
		require.Len(t, m.Files, 1)
	})

	t.Run("a database without our schema", func(t *testing.T) {
		t.Parallel()
		empty := testkit.Database(t, testkit.Schema{})
		_, err := backup.Write(t.Context(), filepath.Join(t.TempDir(), "b"), backup.Source{OwnerURL: empty.Owner, Clock: time.Now})
		require.True(t, fault.Is(err, fault.Conflict), err)
	})

	t.Run("a table whose policies hide rows from the owner", func(t *testing.T) {
		t.Parallel()
		hiding := testkit.Database(t, testkit.Product(t))
		hiding.Exec(t, "DROP POLICY owner ON accounts")
		path := filepath.Join(t.TempDir(), "b")
		_, err := backup.Write(t.Context(), path, backup.Source{OwnerURL: hiding.Owner, Clock: time.Now})
		require.ErrorContains(t, err, "accounts")
		require.NoFileExists(t, path)
	})

	t.Run("a role that is not the owner", func(t *testing.T) {
		t.Parallel()
		_, err := backup.Write(t.Context(), filepath.Join(t.TempDir(), "b"), backup.Source{OwnerURL: in.db.App, Clock: time.Now})
		require.True(t, fault.Is(err, fault.Denied), err)
	})
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	in := setup(t)
	path := in.write(t)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	target := testkit.Database(t, testkit.Schema{})
	restore := func(t *testing.T, body []byte, keyset string) error {
		t.Helper()
		file := filepath.Join(t.TempDir(), "backup.tar")
		require.NoError(t, os.WriteFile(file, body, 0o600))
		_, err := backup.Restore(t.Context(), file, backup.Target{OwnerURL: target.Owner, AdminURL: target.Superuser, Keyset: keyset, Force: true})
		require.Empty(t, query(t, target.Superuser, tables), "nothing was restored")
		return err
	}

	t.Run("a file that was cut short", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{0, 100, 512, len(whole) / 2, len(whole) - 3000} {
			require.True(t, fault.Is(restore(t, whole[:n], ""), fault.BadFile), "at %d of %d", n, len(whole))
		}
	})

	t.Run("a file with one byte changed", func(t *testing.T) {
		t.Parallel()
		damaged := bytes.Clone(whole)
		damaged[len(damaged)/2] ^= 1
		require.True(t, fault.Is(restore(t, damaged, ""), fault.BadFile))
	})

	t.Run("a file that is none of ours", func(t *testing.T) {
		t.Parallel()
		require.True(t, fault.Is(restore(t, []byte("PK\x03\x04 a zip file"), ""), fault.BadFile))
	})

	t.Run("a backup of a newer program", func(t *testing.T) {
		t.Parallel()
		newer := testkit.Database(t, testkit.Product(t))
		newer.Exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
		file := filepath.Join(t.TempDir(), "b")
		_, err := backup.Write(t.Context(), file, backup.Source{OwnerURL: newer.Owner, Clock: time.Now})
		require.NoError(t, err)
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, fault.Is(restore(t, body, ""), fault.Conflict))
	})

	t.Run("to replace another keyset", func(t *testing.T) {
		t.Parallel()
		other := filepath.Join(t.TempDir(), "keys")
		_, err := vault.Open(other)
		require.NoError(t, err)
		before, err := os.ReadFile(other)
		require.NoError(t, err)
		require.True(t, fault.Is(restore(t, whole, other), fault.Conflict))
		after, err := os.ReadFile(other)
		require.NoError(t, err)
		require.Equal(t, before, after)
	})

	t.Run("to drop what is not ours", func(t *testing.T) {
		t.Parallel()
		shared := testkit.Database(t, testkit.Product(t))
		shared.Exec(t, "CREATE TABLE public.somebody_elses (n int)")
		_, err := backup.Restore(t.Context(), path, backup.Target{OwnerURL: shared.Owner, AdminURL: shared.Superuser, Force: true})
		require.ErrorContains(t, err, "somebody_elses")
		require.EqualValues(t, 1, shared.Count(t, "SELECT count(*) FROM pg_class WHERE relname = 'somebody_elses'"))
	})
}

func TestArchiveIsAPlainTar(t *testing.T) {
	t.Parallel()
	in := setup(t)
	path, dir := in.write(t), t.TempDir()
	out, err := exec.CommandContext(t.Context(), "tar", "-xf", path, "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	keyset, err := os.ReadFile(filepath.Join(dir, "keyset.json"))
	require.NoError(t, err)
	want, err := os.ReadFile(in.keyset)
	require.NoError(t, err)
	require.Equal(t, want, keyset)
	restore, err := backup.ChooseTool("pg_restore", backup.Tools(t.Context(), "pg_restore"), 15)
	require.NoError(t, err)
	list, err := exec.CommandContext(t.Context(), restore.Path, "--list", filepath.Join(dir, "database.dump")).Output()
	require.NoError(t, err)
	require.Contains(t, string(list), "TABLE DATA public raw_records")
}

func TestChooseTool(t *testing.T) {
	t.Parallel()
	found := []backup.Tool{{Path: "a", Major: 17}, {Path: "b", Major: 15}, {Path: "c", Major: 16}, {Path: "d", Major: 16}}

	t.Run("the oldest that is new enough, the first of equals", func(t *testing.T) {
		t.Parallel()
		got, err := backup.ChooseTool("pg_dump", found, 16)
		require.NoError(t, err)
		require.Equal(t, "c", got.Path)
	})

	t.Run("older ones alone are refused by their version", func(t *testing.T) {
		t.Parallel()
		_, err := backup.ChooseTool("pg_dump", found, 18)
		require.True(t, fault.Is(err, fault.Unavailable))
		require.ErrorContains(t, err, "17")
		require.ErrorContains(t, err, "postgresql-client-18")
	})

	t.Run("none at all is said to be missing", func(t *testing.T) {
		t.Parallel()
		_, err := backup.ChooseTool("pg_dump", nil, 16)
		require.ErrorContains(t, err, "was not found")
	})
}
