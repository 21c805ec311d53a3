package devstack_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/devstack"
	"revarch/fault"
)

func TestSupervisor(t *testing.T) {
	t.Parallel()

	t.Run("a child that is killed is reported and restarted", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, rec := open(t, data)
		require.NoError(t, sup.Start(t.Context(), sleeper("worker", data)))
		killed := pidOf(t, sup, "worker")
		killAndWait(t, sup, rec, "worker")
		exits := rec.of(devstack.Exited)
		require.Len(t, exits, 1)
		require.Equal(t, killed, exits[0].PID)
		require.ErrorContains(t, exits[0].Err, "killed")
		require.Equal(t, 1, sup.Status()[0].Restarts)
	})

	t.Run("children are stopped in reverse order and leave no pid file", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, rec := open(t, data)
		for _, name := range []string{"first", "second", "third"} {
			require.NoError(t, sup.Start(t.Context(), sleeper(name, data)))
		}
		require.NoError(t, sup.Stop(t.Context()))
		require.NoError(t, sup.Wait())
		body, err := os.ReadFile(filepath.Join(data, "stopped"))
		require.NoError(t, err)
		require.Equal(t, []string{"third", "second", "first"}, strings.Fields(string(body)))
		require.Empty(t, rec.of(devstack.Exited))
		left, err := filepath.Glob(filepath.Join(data, "run", "*.pid"))
		require.NoError(t, err)
		require.Empty(t, left)
		require.True(t, fault.Is(sup.Start(t.Context(), sleeper("late", data)), fault.Conflict))
	})

	t.Run("a child that ignores its signal is killed with its whole group", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, _ := open(t, data)
		grandchild := filepath.Join(data, "grandchild")
		require.NoError(t, sup.Start(t.Context(), devstack.Process{
			Name: "deaf", Path: "/bin/sh",
			Args:        []string{"-c", `trap '' TERM; sleep 1000 & echo $! > ` + grandchild + `.tmp; mv ` + grandchild + `.tmp ` + grandchild + `; while :; do wait; done`},
			StopTimeout: 100 * time.Millisecond,
			Ready:       func(context.Context) error { _, err := os.Stat(grandchild); return err },
		}))
		body, err := os.ReadFile(grandchild)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(body)))
		require.NoError(t, err)
		require.True(t, running(pid))
		require.NoError(t, sup.Stop(t.Context()))
		require.Eventually(t, func() bool { return !running(pid) }, patience, tick)
	})

	t.Run("a child that never becomes ready is stopped and its log is the cause", func(t *testing.T) {
		t.Parallel()
		sup, rec := open(t, newData(t))
		err := sup.Start(t.Context(), devstack.Process{
			Name: "broken", Path: "/bin/sh", GiveUpAfter: 2,
			Args: []string{"-c", "echo the disk is on fire; exit 3"}, Ready: devstack.ReadyTCP("127.0.0.1:1"),
		})
		require.True(t, fault.Is(err, fault.Unavailable))
		require.ErrorContains(t, err, "the disk is on fire")
		require.Len(t, rec.of(devstack.Exited), 2)
		require.Empty(t, sup.Status())
	})

	t.Run("a bad name or a second process of the same name is refused", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, _ := open(t, data)
		require.True(t, fault.Is(sup.Start(t.Context(), devstack.Process{Name: "../x", Path: "/bin/true"}), fault.Invalid))
		require.NoError(t, sup.Start(t.Context(), sleeper("worker", data)))
		require.True(t, fault.Is(sup.Start(t.Context(), sleeper("worker", data)), fault.Conflict))
	})
}

func TestDataFolder(t *testing.T) {
	t.Parallel()

	t.Run("two supervisors never share it", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		open(t, data)
		_, err := devstack.Open(t.Context(), devstack.Options{Data: data})
		require.True(t, fault.Is(err, fault.Conflict))
		require.ErrorContains(t, err, "in use by process "+strconv.Itoa(os.Getpid()))
	})

	t.Run("what a killed supervisor left is stopped and the data goes on", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		killed := exec.Command(os.Args[0], "supervise", data) //nolint:noctx // killed below
		killed.Stderr = os.Stderr
		out, err := killed.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, killed.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
		left := map[string]int{"postgres": pidFromFile(t, data, "postgres"), "worker": pidFromFile(t, data, "worker")}
		require.NoError(t, killed.Process.Kill())
		require.Error(t, killed.Wait())
		for name, pid := range left {
			require.True(t, running(pid), name)
		}

		sup, _ := open(t, data)
		for name, pid := range left {
			require.False(t, running(pid), name)
		}
		body, err := os.ReadFile(filepath.Join(data, "stopped"))
		require.NoError(t, err)
		require.Equal(t, "api\nworker\n", string(body), "the last one started is the first to go")
		_, err = os.Stat(filepath.Join(data, "pg", "postmaster.pid"))
		require.ErrorIs(t, err, os.ErrNotExist, "PostgreSQL was shut down in good order")
		_, err = (devstack.Postgres{}).Start(t.Context(), sup)
		require.NoError(t, err)
	})

	t.Run("a supervisor killed while it makes the cluster leaves nothing in the way", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		killed := exec.Command(os.Args[0], "supervise", data) //nolint:noctx // killed below
		require.NoError(t, killed.Start())
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(data, "run", "initdb.pid"))
			return err == nil
		}, patience, time.Millisecond)
		left := pidFromFile(t, data, "initdb")
		require.NoError(t, killed.Process.Kill())
		require.Error(t, killed.Wait())

		sup, _ := open(t, data)
		require.False(t, running(left))
		_, err := (devstack.Postgres{}).Start(t.Context(), sup)
		require.NoError(t, err)
		unfinished, err := filepath.Glob(filepath.Join(data, "pg-init-*"))
		require.NoError(t, err)
		require.Empty(t, unfinished)
	})

	t.Run("a process that only inherited a recorded pid is left alone", func(t *testing.T) {
		t.Parallel()
		data := newData(t)
		sup, _ := open(t, data)
		require.NoError(t, sup.Stop(t.Context()))
		innocent := exec.CommandContext(t.Context(), "sleep", "1000")
		require.NoError(t, innocent.Start())
		boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		require.NoError(t, err)
		body, err := json.Marshal(map[string]any{
			"name": "worker", "pid": innocent.Process.Pid, "start_ticks": 1,
			"boot_id": strings.TrimSpace(string(boot)), "stop_signal": syscall.SIGTERM,
		})
		require.NoError(t, err)
		file := filepath.Join(data, "run", "worker.pid")
		require.NoError(t, os.WriteFile(file, body, 0o600))
		open(t, data)
		require.NoFileExists(t, file)
		require.True(t, running(innocent.Process.Pid))
		require.NoError(t, innocent.Process.Kill())
		require.Error(t, innocent.Wait())
	})
}

func pidFromFile(t *testing.T, data, name string) int {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(data, "run", name+".pid"))
	require.NoError(t, err)
	var r struct{ PID int }
	require.NoError(t, json.Unmarshal(body, &r))
	return r.PID
}
