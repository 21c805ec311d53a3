package workers_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"revarch/services/runs"
	"revarch/store"
	"revarch/testkit"
	"revarch/workers"
)

var serveFlag = flag.String("serve", "", "run as a worker process with these settings, until killed")

// childSettings are what a worker process of a test needs to know.
type childSettings struct {
	Database, Temporal, Prefix, Keyset, Sandbox string
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *serveFlag == "" {
		os.Exit(m.Run())
	}
	if err := serve(*serveFlag); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is the worker process: it says "ready" and works until it is killed.
func serve(raw string) error {
	var in childSettings
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		return err
	}
	st, err := store.Open(context.Background(), in.Database, store.Options{MaxConns: 12})
	if err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: in.Temporal, Logger: quiet{}})
	if err != nil {
		return err
	}
	p, err := build(st, c, in.Prefix, in.Keyset, in.Sandbox)
	if err != nil {
		return err
	}
	if _, err := workers.Start(c, in.Prefix, workers.Queues(p.activities), func(error) { os.Exit(1) }); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// spawn starts a worker process and returns what kills it, as kill -9 does.
func (s *system) spawn() (kill func()) {
	s.tb.Helper()
	raw, err := json.Marshal(childSettings{Database: s.db.Worker, Temporal: s.address, Prefix: s.prefix, Keyset: s.keyset, Sandbox: s.sandboxURL})
	require.NoError(s.tb, err)
	exe, err := os.Executable()
	require.NoError(s.tb, err)
	cmd := exec.Command(exe, "-serve", string(raw))
	out, err := cmd.StdoutPipe()
	require.NoError(s.tb, err)
	require.NoError(s.tb, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	s.tb.Cleanup(kill)
	line := make([]byte, 6)
	_, err = out.Read(line)
	require.NoError(s.tb, err)
	require.Equal(s.tb, "ready\n", string(line))
	return kill
}

// later is a runs service whose clock is ahead, so that what was written just now counts as old.
func (s *system) later() *runs.Service {
	return runs.New(testkit.OpenStore(s.tb, s.db.Worker, 4), s.starter, nil, func() time.Time { return time.Now().Add(time.Minute) })
}
