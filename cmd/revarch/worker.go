package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"revarch/config"
)

func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "worker", Short: "Run the Temporal workers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(config.Need{Worker: true, Temporal: true, Keyset: true})
			if err != nil {
				return err
			}
			logTo(cfg.LogLevel)
			return runWorker(cmd.Context(), cfg)
		},
	}
}

func runWorker(ctx context.Context, cfg config.Config) error {
	return run(ctx, cfg, "worker", cfg.DatabaseWorkerURL, func(a *app, ctx context.Context, tel *telemetry) error {
		slog.InfoContext(ctx, "worker ready")
		return a.work(ctx, tel)
	})
}
