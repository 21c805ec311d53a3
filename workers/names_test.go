package workers_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/workers"
)

var update = flag.Bool("update", false, "rewrite the golden list")

// TestRegisteredNames shows every rename as a diff: the names outlive Go's, since running workflows carry them.
func TestRegisteredNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "registered.txt")
	got := strings.Join(workers.Names(workers.Queues(workers.Activities{})), "\n") + "\n"
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), got)
}

func TestActivityNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, q := range workers.Queues(workers.Activities{}) {
		seen := map[string]bool{}
		for _, line := range workers.Names([]workers.Queue{q}) {
			require.False(t, seen[line], line)
			seen[line] = true
		}
	}
}
