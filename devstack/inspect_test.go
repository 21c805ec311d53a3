package devstack_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/devstack"
)

func TestInspect(t *testing.T) {
	t.Parallel()

	t.Run("a folder that does not exist is reported and not made", func(t *testing.T) {
		t.Parallel()
		parent := t.TempDir()
		for _, folder := range []string{parent, filepath.Dir(parent)} {
			require.NoError(t, os.Chmod(folder, 0o755)) // the server runs as another user when we are root
		}
		dir := filepath.Join(parent, "none")
		at, err := devstack.Inspect(dir)
		require.NoError(t, err)
		require.Equal(t, devstack.Installation{Data: dir}, at)
		require.NoDirExists(t, dir)
		require.NoError(t, devstack.CanServe(dir))
	})

	t.Run("a folder in use names its supervisor, and no longer once it stopped", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		sup, err := devstack.Open(t.Context(), devstack.Options{Data: dir})
		require.NoError(t, err)
		ports, err := sup.Ports("postgres", "temporal")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "db-passwords.json"), []byte(`{"owner":"secret"}`), 0o600))
		at, err := devstack.Inspect(dir)
		require.NoError(t, err)
		require.Equal(t, os.Getpid(), at.Running)
		require.Equal(t, ports, at.Ports)
		require.Equal(t, devstack.NewURLs(ports["postgres"], devstack.DatabaseName, devstack.Passwords{Owner: "secret"}), at.URLs)
		require.NotEmpty(t, at.TemporalAddress)
		require.NoError(t, sup.Stop(t.Context()))
		at, err = devstack.Inspect(dir)
		require.NoError(t, err)
		require.Zero(t, at.Running)
	})

	t.Run("a file is no data folder", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		_, err := devstack.Inspect(file)
		require.ErrorContains(t, err, "no folder")
	})
}
