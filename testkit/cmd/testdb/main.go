// Command testdb runs a command, most often go test, beside a PostgreSQL cluster and a Temporal server that live only as
// long as the command and lose everything. It exits as the command does.
//
//	go run ./testkit/cmd/testdb [-temporal=false] -- go test ./...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"revarch/devstack"
	"revarch/testkit"
)

const (
	dirPattern  = "revarch-testdb-*"
	sharedMem   = "/dev/shm"
	enoughSpace = 2 << 30 // bytes
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (code int, err error) {
	flags := flag.NewFlagSet("testdb", flag.ContinueOnError)
	tool := flags.String("temporal-path", filepath.Join("bin", "temporal"), "Temporal's command line tool")
	_, statErr := os.Stat(*tool)
	withTemporal := flags.Bool("temporal", statErr == nil, "start a Temporal server, too; the default is whether bin/temporal exists")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	if flags.NArg() == 0 {
		return 2, errors.New("no command: testdb [flags] -- go test PACKAGES")
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	sweep(ctx, log)
	dir, err := os.MkdirTemp(scratch(), dirPattern)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sup, err := devstack.Open(ctx, devstack.Options{Data: dir, Logger: log})
	if err != nil {
		return 1, err
	}
	defer func() {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, sup.Stop(stopCtx))
	}()
	env, err := start(ctx, sup, *withTemporal, *tool)
	if err != nil {
		return 1, err
	}
	return execute(ctx, flags.Args(), env)
}

func start(ctx context.Context, sup *devstack.Supervisor, withTemporal bool, tool string) ([]string, error) {
	cluster, err := devstack.Postgres{Settings: map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300",
		"wal_level": "minimal", "max_wal_senders": "0", "max_wal_size": "512MB", "min_wal_size": "80MB",
	}}.Start(ctx, sup)
	if err != nil {
		return nil, err
	}
	env := []string{testkit.DatabaseVariable + "=" + cluster.URLs.Superuser}
	if withTemporal {
		srv, err := devstack.Temporal{Path: tool, Namespace: "default", InMemory: true}.Start(ctx, sup)
		if err != nil {
			return nil, err
		}
		env = append(env, testkit.TemporalVariable+"="+srv.Address)
	}
	return env, nil
}

// execute runs the command in its own process group, so that all of it can be ended: go test leaves test binaries behind
// when it alone is signalled.
func execute(ctx context.Context, args, env []string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // running what it is given is its purpose
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often nobody is left
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := exit.ExitCode(); code > 0 {
			return code, nil
		}
		return 1, err
	}
	return 0, err
}

// scratch prefers memory, where a database that is never synced costs no disk writes; "" means the usual place.
func scratch() string {
	var fs syscall.Statfs_t
	if syscall.Statfs(sharedMem, &fs) == nil && fs.Bavail*uint64(fs.Bsize) > enoughSpace {
		if syscall.Access(sharedMem, 0o7) == nil {
			return sharedMem
		}
	}
	return ""
}

// sweep removes what runs that were killed left, servers included. A folder in use is locked, and one that is very new
// may be about to be.
func sweep(ctx context.Context, log *slog.Logger) {
	for _, base := range []string{sharedMem, os.TempDir()} {
		left, err := filepath.Glob(filepath.Join(base, dirPattern))
		if err != nil {
			continue
		}
		for _, dir := range left {
			info, err := os.Stat(dir)
			if err != nil || time.Since(info.ModTime()) < time.Minute {
				continue
			}
			sup, err := devstack.Open(ctx, devstack.Options{Data: dir, Logger: log})
			if err != nil {
				continue
			}
			if err := errors.Join(os.RemoveAll(dir), sup.Stop(ctx)); err != nil {
				log.WarnContext(ctx, "leftover of an earlier run stays", "folder", dir, "error", err)
			}
		}
	}
}
