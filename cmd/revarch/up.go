package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"revarch/config"
	"revarch/devstack"
	"revarch/fault"
	"revarch/store"
)

// upOptions are the flags of revarch up.
type upOptions struct {
	data, readyFile string
	port, accounts  int
	seed            uint64
	demo            bool
}

func upCommand() *cobra.Command {
	var o upOptions
	c := &cobra.Command{
		Use: "up", Short: "Run everything on this machine: PostgreSQL, Temporal, sandbox, worker, API and web app", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logTo("info")
			return up(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.data, "data", "", "data folder (default /var/lib/revarch for root, else ~/.local/share/revarch)")
	f.IntVar(&o.port, "port", 8080, "port of the web app; 0 picks a free one")
	f.StringVar(&o.readyFile, "ready-file", "", "file that receives addresses and credentials as JSON once everything is ready")
	f.BoolVar(&o.demo, "demo", false, "add a demo organization whose CRM is the sandbox, connected and synced")
	f.IntVar(&o.accounts, "sandbox-accounts", 400, "accounts of the sandbox")
	f.Uint64Var(&o.seed, "sandbox-seed", 1, "seed of the sandbox's data")
	return c
}

// stack is the embedded default while it runs.
type stack struct {
	o     upOptions
	sup   *devstack.Supervisor
	cfg   config.Config // what the children are told
	self  string        // our own binary
	cred  credentials
	adhoc struct{ sandbox string } // address of the sandbox
}

// stopTime is how long everything may take to stop; PostgreSQL alone may take half of it.
const stopTime = 60 * time.Second

func up(ctx context.Context, o upOptions) (err error) {
	signal.Ignore(syscall.SIGPIPE) // whoever read our output may be gone; the children must be stopped all the same
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own binary: %w", err)
	}
	if o.readyFile != "" {
		if err := os.Remove(o.readyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the old ready file: %w", err)
		}
	}
	sup, err := devstack.Open(ctx, devstack.Options{Data: o.data, OnEvent: report})
	if err != nil {
		return err
	}
	s := &stack{o: o, sup: sup, self: self}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if stopErr := sup.Stop(stop); err == nil {
			err = stopErr
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // Ctrl-C is how this ends
		}
	}()
	if err := s.start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	fmt.Fprintln(os.Stderr, "stopping…")
	return nil
}

// report tells of children that die and come back.
func report(e devstack.Event) {
	switch e.Kind {
	case devstack.Exited:
		slog.Warn("child died and is restarted", "child", e.Name, "pid", e.PID, "error", e.Err, "retry_in", e.RetryIn.String())
	case devstack.Ready:
		slog.Info("child ready", "child", e.Name, "pid", e.PID)
	}
}

// start brings everything up in order.
func (s *stack) start(ctx context.Context) error {
	cfg, err := config.Load(config.Need{})
	if err != nil {
		return err
	}
	s.cfg = cfg
	if s.cfg.KeysetPath == "" {
		s.cfg.KeysetPath = filepath.Join(s.sup.Data(), "keys")
	}
	for _, step := range []func(context.Context) error{
		s.database, s.engine, s.firstStart, s.startSandbox, s.startWorker, s.startAPI, s.setUpDemo, s.announce,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// database starts PostgreSQL unless the environment names one, and migrates.
func (s *stack) database(ctx context.Context) error {
	if s.cfg.DatabaseURL != "" {
		if s.cfg.DatabaseOwnerURL == "" || s.cfg.DatabaseWorkerURL == "" {
			return fault.New(fault.Invalid, "REVARCH_DATABASE_URL is set: set REVARCH_DATABASE_OWNER_URL and REVARCH_DATABASE_WORKER_URL, too")
		}
		if err := store.EnsureRolesIfAllowed(ctx, s.cfg.DatabaseOwnerURL); err != nil {
			return err
		}
	} else {
		cluster, err := devstack.Postgres{}.Start(ctx, s.sup)
		if err != nil {
			return err
		}
		u, pw := cluster.URLs, cluster.Passwords
		s.cfg.DatabaseURL, s.cfg.DatabaseOwnerURL, s.cfg.DatabaseWorkerURL = u.App, u.Owner, u.Worker
		if err := store.EnsureRoles(ctx, u.Superuser, store.RolePasswords{Owner: pw.Owner, App: pw.App, Worker: pw.Worker}); err != nil {
			return err
		}
	}
	n, err := store.MigrateUp(ctx, s.cfg.DatabaseOwnerURL)
	if n > 0 {
		slog.InfoContext(ctx, "schema migrated", "migrations", n)
	}
	return err
}

// engine starts Temporal unless the environment names one.
func (s *stack) engine(ctx context.Context) error {
	if s.cfg.TemporalAddress != "" {
		return nil
	}
	t, err := devstack.Temporal{}.Start(ctx, s.sup)
	if err != nil {
		return err
	}
	s.cfg.TemporalAddress, s.cfg.TemporalNamespace, s.cfg.TemporalUIURL = t.Address, t.Namespace, t.UIURL
	return nil
}

// startSandbox starts the sandbox and points every provider that is not configured at it.
func (s *stack) startSandbox(ctx context.Context) error {
	port, err := s.sup.Port("sandbox")
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	s.adhoc.sandbox = "http://" + address
	state := filepath.Join(s.sup.Data(), "sandbox")
	args := []string{"sandbox", "--listen", address, "--state", state, "--seed", strconv.FormatUint(s.o.seed, 10), "--accounts", strconv.Itoa(s.o.accounts)}
	for code, p := range sandboxProviders(s.adhoc.sandbox) {
		if !s.cfg.Providers[code].Configured() {
			s.cfg.Providers[code] = p
		}
	}
	err = s.sup.Start(ctx, devstack.Process{Name: "sandbox", Path: s.self, Args: args, Ready: devstack.ReadyHTTP(s.adhoc.sandbox + "/healthz"), GiveUpAfter: 3})
	if err != nil {
		return err
	}
	a, err := newApp(ctx, s.cfg, s.cfg.DatabaseURL, nil)
	if err != nil {
		return err
	}
	if err := s.renameInstitutions(ctx, a); err != nil { // before the first sync
		a.close()
		return err
	}
	go func() {
		defer a.close()
		s.followDatasets(ctx, a)
	}()
	return nil
}

func (s *stack) startWorker(ctx context.Context) error {
	return s.child(ctx, "worker", "", nil)
}

func (s *stack) startAPI(ctx context.Context) error {
	port := s.o.port
	if port == 0 {
		var err error
		if port, err = s.sup.Port("api"); err != nil {
			return err
		}
	}
	s.cfg.Listen = "127.0.0.1:" + strconv.Itoa(port)
	if s.cfg.PublicURL == "" {
		s.cfg.PublicURL = "http://" + s.cfg.Listen
	}
	return s.child(ctx, "serve", "api", devstack.ReadyHTTP("http://"+s.cfg.Listen+"/readyz"))
}

// child starts a subcommand of our own binary with the configuration as its environment.
func (s *stack) child(ctx context.Context, subcommand, name string, ready func(context.Context) error) error {
	if name == "" {
		name = subcommand
	}
	port, err := s.sup.Port("metrics-" + name)
	if err != nil {
		return err
	}
	cfg := s.cfg
	cfg.MetricsAddr = "127.0.0.1:" + strconv.Itoa(port)
	if ready == nil {
		ready = devstack.ReadyTCP(cfg.MetricsAddr)
	}
	env := append(inherited(), cfg.Env()...)
	return s.sup.Start(ctx, devstack.Process{Name: name, Path: s.self, Args: []string{subcommand}, Env: env, Ready: ready, GiveUpAfter: 3})
}

// inherited is our environment without the variables that the configuration sets anew.
func inherited() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "REVARCH_") {
			out = append(out, kv)
		}
	}
	return out
}

// announce writes the ready file and tells people where to go.
func (s *stack) announce(context.Context) error {
	c := s.cred
	ready := readyFile{
		AppURL: s.cfg.PublicURL, MCPURL: s.cfg.PublicURL + "/api/mcp", TemporalUIURL: s.cfg.TemporalUIURL, TemporalAddress: s.cfg.TemporalAddress,
		DatabaseURL: s.cfg.DatabaseURL, SandboxURL: s.adhoc.sandbox, AdminEmail: c.AdminEmail, AdminPassword: c.AdminPassword, APIKey: c.APIKey,
		OperatorAPIKey: c.OperatorAPIKey,
	}
	if s.o.demo {
		ready.APIKey = c.DemoAPIKey
	}
	c.AppURL = s.cfg.PublicURL
	if err := writeSecret(filepath.Join(s.sup.Data(), "credentials.json"), c); err != nil {
		return err
	}
	password := "(set before; it is not kept here)"
	if c.AdminPassword != nil {
		password = *c.AdminPassword
	}
	fmt.Printf(`
RevArch is ready.

  Web app       %s
  Sign in       %s
  Password      %s
  API key       %s
  MCP server    %s
  Temporal UI   %s
  Sandbox CRM   %s
  Data          %s

Ctrl-C stops everything; the next start goes on with the same data.
`, ready.AppURL, c.AdminEmail, password, ready.APIKey, ready.MCPURL, ready.TemporalUIURL, ready.SandboxURL, s.sup.Data())
	if s.o.readyFile != "" {
		return writeSecret(s.o.readyFile, ready)
	}
	return nil
}

// readyFile is what --ready-file receives.
type readyFile struct {
	AppURL          string  `json:"app_url"`
	MCPURL          string  `json:"mcp_url"`
	TemporalUIURL   string  `json:"temporal_ui_url"`
	TemporalAddress string  `json:"temporal_address"`
	DatabaseURL     string  `json:"database_url"`
	SandboxURL      string  `json:"sandbox_url"`
	AdminEmail      string  `json:"admin_email"`
	AdminPassword   *string `json:"admin_password"`
	APIKey          string  `json:"api_key"`
	OperatorAPIKey  string  `json:"operator_api_key"`
}

// writeSecret writes JSON to a file that only we may read, whole or not at all.
func writeSecret(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = tmp.Write(append(raw, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// newPassword is a password that a person can type.
func newPassword() string { return strings.ToLower(rand.Text()[:20]) }
