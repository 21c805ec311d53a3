package devstack_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/devstack"
	"revarch/fault"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	var conn *pgx.Conn
	require.Eventually(t, func() bool {
		var err error
		conn, err = pgx.Connect(t.Context(), url)
		return err == nil
	}, patience, tick)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) }) // it may have died with its server
	return conn
}

func query(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	var got string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&got))
	return got
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	data := newData(t)
	sup, rec := open(t, data)
	c, err := devstack.Postgres{}.Start(t.Context(), sup)
	require.NoError(t, err)

	t.Run("it listens on loopback only, wants a password and loses nothing", func(t *testing.T) {
		conn := connect(t, c.URLs.Superuser)
		for setting, want := range map[string]string{
			"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "on",
			"synchronous_commit": "on", "password_encryption": "scram-sha-256", "data_checksums": "on", "server_encoding": "UTF8",
		} {
			require.Equal(t, want, query(t, conn, "SHOW "+setting), setting)
		}
		require.Equal(t, devstack.DatabaseName, query(t, conn, "SELECT current_database()::text"))
		u, err := url.Parse(c.URLs.Superuser)
		require.NoError(t, err)
		u.User = url.UserPassword(devstack.SuperuserRole, "guess")
		_, err = pgx.Connect(t.Context(), u.String())
		require.ErrorContains(t, err, "28P01")
	})

	t.Run("nobody else can read the passwords", func(t *testing.T) {
		info, err := os.Stat(filepath.Join(data, "db-passwords.json"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		require.NotEqual(t, c.Passwords.App, c.Passwords.Worker)
		require.Contains(t, c.URLs.App, devstack.AppRole+":"+c.Passwords.App+"@")
	})

	t.Run("it comes back with its rows after kill -9 although a back end is busy", func(t *testing.T) {
		conn := connect(t, c.URLs.Superuser)
		_, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS answer")
		require.NoError(t, err)
		busy := connect(t, c.URLs.Superuser)
		pid := query(t, busy, "SELECT pg_backend_pid()::text")
		go func() { // dies with its server
			_, _ = busy.Exec(context.WithoutCancel(t.Context()), "SELECT count(*) FROM generate_series(1, 1000) a, generate_series(1, 10000000) b")
		}()
		require.Eventually(t, func() bool {
			return query(t, conn, "SELECT state FROM pg_stat_activity WHERE pid = "+pid) == "active"
		}, patience, tick)
		killAndWait(t, sup, rec, "postgres")
		require.Equal(t, "42", query(t, connect(t, c.URLs.Superuser), "SELECT answer::text FROM kept"))
	})

	t.Run("a later start finds the same cluster at the same address", func(t *testing.T) {
		require.NoError(t, sup.Stop(t.Context()))
		sup, _ := open(t, data)
		again, err := devstack.Postgres{}.Start(t.Context(), sup)
		require.NoError(t, err)
		require.Equal(t, c, again)
		require.Equal(t, "42", query(t, connect(t, again.URLs.Superuser), "SELECT answer::text FROM kept"))
		require.NoError(t, sup.Stop(t.Context()))
	})

	t.Run("a postmaster.pid with the number of another program does not stop it", func(t *testing.T) {
		other := exec.CommandContext(t.Context(), "sleep", "1000")
		if owner, ok := ownerOf(t, filepath.Join(data, "pg")); ok { // PostgreSQL minds only programs of its own user
			other.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
		}
		require.NoError(t, other.Start())
		defer func() { require.Error(t, other.Wait()) }()
		defer func() { require.NoError(t, other.Process.Kill()) }()
		stale := fmt.Sprintf("%d\n%s\n", other.Process.Pid, filepath.Join(data, "pg"))
		require.NoError(t, os.WriteFile(filepath.Join(data, "pg", "postmaster.pid"), []byte(stale), 0o600))
		sup, rec := open(t, data)
		_, err := devstack.Postgres{}.Start(t.Context(), sup)
		require.NoError(t, err)
		require.Empty(t, rec.of(devstack.Exited))
		require.NoError(t, sup.Stop(t.Context()))
	})

	t.Run("a cluster without its passwords is refused", func(t *testing.T) {
		file := filepath.Join(data, "db-passwords.json")
		require.NoError(t, os.Rename(file, file+".away"))
		sup, _ := open(t, data)
		_, err := devstack.Postgres{}.Start(t.Context(), sup)
		require.True(t, fault.Is(err, fault.Conflict))
		require.NoError(t, sup.Stop(t.Context()))
		require.NoError(t, os.Rename(file+".away", file))
	})

	t.Run("a cluster of another major version is refused", func(t *testing.T) {
		require.NoError(t, os.WriteFile(filepath.Join(data, "pg", "PG_VERSION"), []byte("14\n"), 0o600))
		sup, _ := open(t, data)
		_, err := devstack.Postgres{}.Start(t.Context(), sup)
		require.True(t, fault.Is(err, fault.Conflict))
		require.ErrorContains(t, err, "was made by PostgreSQL 14")
		require.NoError(t, sup.Stop(t.Context()))
	})
}

// ownerOf is the credential of a folder's owner, if that is not us.
func ownerOf(t *testing.T, dir string) (*syscall.Credential, bool) {
	t.Helper()
	info, err := os.Stat(dir)
	require.NoError(t, err)
	st, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	return &syscall.Credential{Uid: st.Uid, Gid: st.Gid}, int(st.Uid) != os.Geteuid()
}
