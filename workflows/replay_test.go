package workflows_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"revarch/workers"
)

var historyDir = filepath.Join("testdata", "replay")

func replayer() worker.WorkflowReplayer {
	r := worker.NewWorkflowReplayer()
	for _, q := range workers.Queues(workers.Activities{}) {
		for name, fn := range q.Workflows {
			r.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
		}
	}
	return r
}

// TestReplay replays the recorded histories of all releases: a workflow that would now decide otherwise than it did
// would break the ones that are running.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, q := range workers.Queues(workers.Activities{}) {
		for name := range q.Workflows {
			t.Run("every recorded history of "+name+" replays", func(t *testing.T) {
				t.Parallel()
				files, err := filepath.Glob(filepath.Join(historyDir, name, "*.json"))
				require.NoError(t, err)
				require.NotEmpty(t, files, "%s has no recorded history: run make record-replay", name)
				for _, file := range files {
					require.NoError(t, replayer().ReplayWorkflowHistoryFromJSONFile(quiet{}, file), file)
				}
			})
		}
	}
	t.Run("every recorded history is of a workflow that is registered", func(t *testing.T) {
		t.Parallel()
		dirs, err := os.ReadDir(historyDir)
		require.NoError(t, err)
		for _, d := range dirs {
			_ = queueOf(t, d.Name())
		}
	})
}
