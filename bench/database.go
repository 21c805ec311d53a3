package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"revarch/devstack"
	"revarch/testkit"
)

// startDatabase starts a cluster as revarch up has it, durable and on disk, and returns the variable that tells Go
// benchmarks of it.
func startDatabase(ctx context.Context) (env string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "revarch-bench-")
	if err != nil {
		return "", nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // G302: PostgreSQL's user passes through
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	sup, err := devstack.Open(ctx, devstack.Options{Data: dir, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(sup.Stop(ctx), os.RemoveAll(dir))
	}
	cluster, err := devstack.Postgres{}.Start(ctx, sup)
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return testkit.DatabaseVariable + "=" + cluster.URLs.Superuser, stop, nil
}
