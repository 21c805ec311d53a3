package devstack_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/devstack"
)

const patience, tick = 60 * time.Second, 20 * time.Millisecond

// TestMain also makes the test binary a supervisor that can be killed: devstack.test supervise DIR.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "supervise" {
		if err := superviseForEver(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func superviseForEver(dir string) error {
	ctx := context.Background()
	sup, err := devstack.Open(ctx, devstack.Options{Data: dir})
	if err != nil {
		return err
	}
	if _, err := (devstack.Postgres{}).Start(ctx, sup); err != nil {
		return err
	}
	for _, name := range []string{"worker", "api"} {
		if err := sup.Start(ctx, sleeper(name, dir)); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	return sup.Wait()
}

// sleeper writes its pid to <dir>/<name>.alive, and its name to <dir>/stopped when it is asked to stop.
func sleeper(name, dir string) devstack.Process {
	alive := filepath.Join(dir, name+".alive")
	script := fmt.Sprintf(`trap 'rm -f %[1]s; echo %[2]s >> %[3]s; exit 0' TERM; echo $$ > %[1]s; while :; do sleep 0.02; done`,
		alive, name, filepath.Join(dir, "stopped"))
	return devstack.Process{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, Ready: func(context.Context) error {
		_, err := os.Stat(alive)
		return err
	}}
}

// newData is a data folder that the user postgres may enter: t.TempDir is closed to others.
func newData(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "revarch-devstack-*") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// recorder collects events.
type recorder struct {
	mu     sync.Mutex
	events []devstack.Event
}

func (r *recorder) add(e devstack.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) of(kind devstack.EventKind) []devstack.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []devstack.Event
	for _, e := range r.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func open(t *testing.T, data string) (*devstack.Supervisor, *recorder) {
	t.Helper()
	rec := &recorder{}
	sup, err := devstack.Open(t.Context(), devstack.Options{
		Data: data, OnEvent: rec.add,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, sup.Stop(context.WithoutCancel(t.Context())))
	})
	return sup, rec
}

func pidOf(t *testing.T, sup *devstack.Supervisor, name string) int {
	t.Helper()
	for _, s := range sup.Status() {
		if s.Name == name {
			return s.PID
		}
	}
	require.Fail(t, "no such process", name)
	return 0
}

// killAndWait kills a child with SIGKILL and waits until its successor is ready.
func killAndWait(t *testing.T, sup *devstack.Supervisor, rec *recorder, name string) {
	t.Helper()
	pid := pidOf(t, sup, name)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		for _, e := range rec.of(devstack.Ready) {
			if e.Name == name && e.PID != pid && e.PID == pidOf(t, sup, name) {
				return true
			}
		}
		return false
	}, patience, tick)
}

func running(pid int) bool {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(body), ") Z ")
}
