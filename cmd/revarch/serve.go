package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"revarch/api"
	"revarch/config"
	"revarch/tools"
	"revarch/web"
)

func serveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the API, the web app and the tool server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(config.Need{Database: true, Temporal: true, Listen: true, Keyset: true})
			if err != nil {
				return err
			}
			logTo(cfg.LogLevel)
			return serve(cmd.Context(), cfg)
		},
	}
}

func serve(ctx context.Context, cfg config.Config) error {
	return run(ctx, cfg, "api", cfg.DatabaseURL, (*app).serve)
}

// serve answers requests until ctx ends.
func (a *app) serve(ctx context.Context, tel *telemetry) error {
	srv, err := a.server(tel)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	h := &http.Server{
		Handler: srv.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	slog.InfoContext(ctx, "api ready", "address", l.Addr().String())
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := h.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shut down: %w", err)
	}
	return h.Close() // event streams end here
}

// baseURL is what people reach the app under.
func baseURL(cfg config.Config) string {
	if cfg.PublicURL != "" {
		return cfg.PublicURL
	}
	return "http://" + cfg.Listen
}

// server wires the HTTP surface over the services.
func (a *app) server(tel *telemetry) (*api.Server, error) {
	registry, err := tools.New(a.toolDeps())
	if err != nil {
		return nil, err
	}
	rs := &api.Runs{Runs: a.runs, Cursors: a.cursors, TemporalUI: temporalNamespaceUI(a.cfg), Operates: a.identity.Operates, StillValid: a.stillValid}
	files, _ := web.Files() // nil while the app is not built
	opts := api.Options{
		PublicURL: a.cfg.PublicURL, TrustedProxies: a.cfg.TrustedProxies, RatePerSecond: a.cfg.RatePerSecond,
		RateBurst: int(4 * a.cfg.RatePerSecond), Ready: a.ready, MCP: registry.Handler(version), Cursors: a.cursors, Web: files,
	}
	if tel != nil {
		opts.Middleware = tel.middleware()
	}
	return api.New(a.identity, a.log, opts, a.resources(rs, registry)...)
}

func (a *app) ready(ctx context.Context) error {
	if err := a.store.Ping(ctx); err != nil {
		return err
	}
	return a.store.CheckSchema(ctx)
}

func temporalNamespaceUI(cfg config.Config) string {
	if cfg.TemporalUIURL == "" {
		return ""
	}
	return cfg.TemporalUIURL + "/namespaces/" + cfg.TemporalNamespace
}

func openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi FILE", Short: "Write the OpenAPI document of this build", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			srv, err := (&app{}).server(nil)
			if err != nil {
				return err
			}
			doc, err := json.MarshalIndent(srv.OpenAPI(), "", "  ")
			if err != nil {
				return fmt.Errorf("encode document: %w", err)
			}
			return os.WriteFile(args[0], append(doc, '\n'), 0o644) //nolint:gosec // G306: a public document
		},
	}
}
