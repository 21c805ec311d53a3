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
	tel, err := newTelemetry(ctx, "worker", cfg.OTLPEndpoint)
	if err != nil {
		return err
	}
	defer tel.shutdown(context.WithoutCancel(ctx))
	a, err := newApp(ctx, cfg, cfg.DatabaseWorkerURL, tel)
	if err != nil {
		return err
	}
	defer a.close()
	tel.watchPool(a.store.Stats)
	if err := tel.serve(ctx, cfg.MetricsAddr); err != nil {
		return err
	}
	go a.hub.Run(ctx)
	slog.InfoContext(ctx, "worker ready")
	return a.work(ctx, tel)
}
