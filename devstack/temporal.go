package devstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"revarch/fault"
)

// TemporalNamespace is where our workflows run, Retention how long their histories are kept once they have ended.
const (
	TemporalNamespace = "revarch"
	Retention         = 30 * 24 * time.Hour
)

// searchAttributes are what operators find workflows by.
var searchAttributes = []string{"OrgId", "Provider", "Dataset"}

// Temporal is the development server of Temporal's command line tool. The zero value is the embedded default.
type Temporal struct {
	Path      string // the tool; "" means FindTemporal
	Namespace string // "" means TemporalNamespace
	InMemory  bool   // nothing survives a restart, for tests
}

// TemporalServer is a running server.
type TemporalServer struct {
	Address   string // host:port of the gRPC front end
	UIURL     string
	Namespace string
}

// FindTemporal looks for Temporal's command line tool on PATH, beside the running executable and in ./bin.
func FindTemporal() (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return filepath.Abs(path)
	}
	places := []string{filepath.Join("bin", "temporal")}
	if exe, err := os.Executable(); err == nil {
		dir := filepath.Dir(exe)
		places = append([]string{filepath.Join(dir, "temporal"), filepath.Join(dir, "bin", "temporal")}, places...)
	}
	for _, path := range places {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.Abs(path)
		}
	}
	return "", fault.New(fault.Unavailable, "Temporal's command line tool is not on PATH nor at bin/temporal: make build makes it")
}

// Start starts the server under sup and sees to the namespace's retention.
func (t Temporal) Start(ctx context.Context, sup *Supervisor) (TemporalServer, error) {
	if t.Namespace == "" {
		t.Namespace = TemporalNamespace
	}
	var err error
	if t.Path == "" {
		t.Path, err = FindTemporal()
	} else {
		t.Path, err = filepath.Abs(t.Path)
	}
	if err != nil {
		return TemporalServer{}, err
	}
	dir := sup.data.join("temporal")
	if err := t.prepareFolder(dir); err != nil {
		return TemporalServer{}, err
	}
	srv := TemporalServer{Namespace: t.Namespace}
	names := []string{"temporal", "temporal-ui", "temporal-http", "temporal-metrics"}
	err = sup.startOnPorts(names, func(ports map[string]int) error {
		srv.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports["temporal"]))
		srv.UIURL = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(ports["temporal-ui"]))
		return sup.Start(ctx, Process{
			Name: "temporal", Path: t.Path, Args: t.args(dir, ports), Dir: dir, Env: serverEnv(dir),
			Ready:       func(ctx context.Context) error { return t.answers(ctx, srv.Address) },
			BeforeStart: func(context.Context) error { return needFree(ports) },
			GiveUpAfter: 4, StopSignal: syscall.SIGINT, StopTimeout: 15 * time.Second,
		})
	})
	if err != nil {
		return TemporalServer{}, err
	}
	if err := t.setRetention(ctx, srv.Address); err != nil {
		return TemporalServer{}, err
	}
	return srv, os.WriteFile(filepath.Join(dir, wasReadyFile), nil, 0o600)
}

// wasReadyFile lies beside a database that a server was ready with.
const wasReadyFile = "complete"

// prepareFolder removes a database that no server was ever ready with: the server makes the tables only when there is no
// file, so one that was killed in the middle of that could never start again.
func (t Temporal) prepareFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder for Temporal: %w", err)
	}
	_, err := os.Stat(filepath.Join(dir, wasReadyFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished, err := filepath.Glob(filepath.Join(dir, "temporal.db*"))
	if err != nil {
		return err
	}
	for _, file := range unfinished {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("clear unfinished Temporal database: %w", err)
		}
	}
	return nil
}

func (t Temporal) args(dir string, ports map[string]int) []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--ui-ip", "127.0.0.1",
		"--port", strconv.Itoa(ports["temporal"]), "--ui-port", strconv.Itoa(ports["temporal-ui"]),
		"--http-port", strconv.Itoa(ports["temporal-http"]), "--metrics-port", strconv.Itoa(ports["temporal-metrics"]),
		"--namespace", t.Namespace, "--log-level", "warn", "--disable-config-file", "--disable-config-env",
	}
	for _, name := range searchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	if !t.InMemory {
		args = append(args, "--db-filename", filepath.Join(dir, "temporal.db"))
	}
	return args
}

func (t Temporal) answers(ctx context.Context, address string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Describe(ctx, t.Namespace)
	return err
}

func (t Temporal) setRetention(ctx context.Context, address string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return fmt.Errorf("connect to Temporal: %w", err)
	}
	defer c.Close()
	now, err := c.Describe(ctx, t.Namespace)
	if err != nil {
		return fmt.Errorf("describe Temporal namespace: %w", err)
	}
	if now.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == Retention {
		return nil
	}
	err = c.Update(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: t.Namespace,
		Config:    &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(Retention)},
	})
	if err != nil {
		return fmt.Errorf("set retention of Temporal namespace: %w", err)
	}
	return nil
}
