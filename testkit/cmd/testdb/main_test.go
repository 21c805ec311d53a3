package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/devstack"
	"revarch/testkit"
)

const patience, tick = 60 * time.Second, 20 * time.Millisecond

func TestRun(t *testing.T) {
	t.Parallel()

	t.Run("the command finds a database and its exit code is ours", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "url")
		code, err := run(t.Context(), []string{"-temporal=false", "--", "sh", "-c", "echo $" + testkit.DatabaseVariable + " > " + out + "; exit 7"})
		require.NoError(t, err)
		require.Equal(t, 7, code)
		body, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Contains(t, string(body), "postgres://")
		_, err = pgx.Connect(t.Context(), strings.TrimSpace(string(body)))
		require.Error(t, err, "the cluster ended with the command")
	})

	t.Run("a signal ends the command with its children, then the servers", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "url")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		go func() {
			code, _ := run(ctx, []string{
				"-temporal=false", "--", "sh", "-c",
				"echo $" + testkit.DatabaseVariable + " > " + out + ".tmp; mv " + out + ".tmp " + out + "; sleep 1000; true",
			})
			ended <- code
		}()
		var url string
		require.Eventually(t, func() bool {
			body, err := os.ReadFile(out)
			url = strings.TrimSpace(string(body))
			return err == nil
		}, patience, tick)
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		cancel()
		require.Equal(t, 1, <-ended)
		_, err = pgx.Connect(t.Context(), url)
		require.Error(t, err)
	})

	t.Run("no command is an error", func(t *testing.T) {
		t.Parallel()
		code, err := run(t.Context(), nil)
		require.ErrorContains(t, err, "no command")
		require.Equal(t, 2, code)
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	folder := func() string {
		dir, err := os.MkdirTemp(scratch(), dirPattern) //nolint:usetesting // where run makes them
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		return dir
	}
	age := func(dir string) {
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(dir, old, old))
	}
	left, inUse, young := folder(), folder(), folder()
	sup, err := devstack.Open(t.Context(), devstack.Options{Data: inUse, Logger: log})
	require.NoError(t, err)
	age(left)
	age(inUse)
	sweep(t.Context(), log)
	require.NoDirExists(t, left)
	require.DirExists(t, inUse)
	require.DirExists(t, young)
	require.NoError(t, sup.Stop(t.Context()))
}
