package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	tlog "go.temporal.io/sdk/log"

	"revarch/auth"
	"revarch/config"
	"revarch/connectors"
	"revarch/connectors/crma"
	"revarch/models"
	"revarch/services/connections"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/paging"
	"revarch/services/records"
	"revarch/services/runs"
	"revarch/services/scoring"
	"revarch/services/vault"
	"revarch/store"
	"revarch/workers"
	"revarch/workflows"
)

// app is the services of one process, over one pool in one role.
type app struct {
	cfg         config.Config
	store       *store.Store
	temporal    client.Client
	hub         *runs.Hub
	log         *governance.Service
	identity    *identity.Service
	runs        *runs.Service
	vault       *vault.Vault
	connections *connections.Service
	records     *records.Service
	scoring     *scoring.Service
	cursors     paging.Codec
	clock       func() time.Time
	queues      string // put before the names of task queues and the ids of schedules
}

// run wires an app as a named process, with its metrics and traces, and does its work until ctx ends.
func run(ctx context.Context, cfg config.Config, process, databaseURL string, work func(*app, context.Context, *telemetry) error) error {
	tel, err := newTelemetry(ctx, process, cfg.OTLPEndpoint)
	if err != nil {
		return err
	}
	defer tel.shutdown(context.WithoutCancel(ctx))
	a, err := newApp(ctx, cfg, databaseURL, tel)
	if err != nil {
		return err
	}
	defer a.close()
	tel.watchPool(a.store.Stats)
	if err := tel.serve(ctx, cfg.MetricsAddr); err != nil {
		return err
	}
	go a.hub.Run(ctx)
	return work(a, ctx, tel)
}

// newApp connects and wires. The database URL decides the role.
func newApp(ctx context.Context, cfg config.Config, databaseURL string, tel *telemetry) (*app, error) {
	return (&app{cfg: cfg, clock: time.Now}).wire(ctx, databaseURL, tel)
}

// wire fills in the services of an app that knows its configuration, its clock and its task queues.
func (a *app) wire(ctx context.Context, databaseURL string, tel *telemetry) (*app, error) {
	cfg := a.cfg
	st, err := store.Open(ctx, databaseURL, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := st.CheckSchema(ctx); err != nil {
		return nil, err
	}
	opts := client.Options{HostPort: cfg.TemporalAddress, Namespace: cfg.TemporalNamespace, Logger: tlog.NewStructuredLogger(slog.Default())}
	if tel != nil {
		opts.MetricsHandler = tel.temporalMetrics()
		if tracing, err := tel.temporalTracing(); err != nil {
			return nil, err
		} else if tracing != nil {
			opts.Interceptors = []interceptor.ClientInterceptor{tracing}
		}
	}
	tc, err := client.NewLazyClient(opts)
	if err != nil {
		return nil, fmt.Errorf("configure Temporal client: %w", err)
	}
	v, err := vault.Open(cfg.KeysetPath)
	if err != nil {
		return nil, err
	}
	secret, err := cursorSecret(cfg.KeysetPath)
	if err != nil {
		return nil, err
	}
	a.store, a.temporal, a.vault, a.hub, a.cursors = st, tc, v, runs.NewHub(databaseURL), paging.New(secret)
	a.log = &governance.Service{Store: st, Clock: a.clock}
	a.identity = &identity.Service{Store: st, Log: a.log, Clock: a.clock}
	a.runs = runs.New(st, workflows.NewStarter(tc, a.queues), a.hub, a.clock)
	a.runs.Audit = a.auditRun
	a.records = &records.Service{Store: st, Clock: a.clock}
	a.scoring = &scoring.Service{Store: st, Clock: a.clock}
	providers, err := buildProviders(cfg)
	if err != nil {
		return nil, err
	}
	a.connections, err = connections.New(connections.Config{
		Store: st, Providers: providers, Vault: v, Runs: a.runs,
		Schedules: workers.NewSchedules(tc, a.queues), Audit: a.audit, Clock: a.clock,
	})
	return a, err
}

func (a *app) close() {
	a.temporal.Close()
	_ = a.store.Close()
}

// cursorSecret derives the key of list cursors from the keyset file, which all API processes share.
func cursorSecret(keyset string) ([]byte, error) {
	raw, err := os.ReadFile(keyset)
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	sum := sha256.Sum256(append([]byte("cursor secret\x00"), raw...))
	return sum[:], nil
}

// audit writes the governance entry of a change to a connection.
func (a *app) audit(tx *store.Tx, p auth.Principal, e connections.AuditEntry) error {
	_, err := a.log.Record(tx, p, governance.Entry{Tool: e.Action, SubjectType: "connector", SubjectID: string(e.Provider), Before: e.Before, After: e.After})
	return err
}

// auditRun writes the governance entry of a run that somebody started or stopped.
func (a *app) auditRun(tx *store.Tx, p auth.Principal, action string, run models.Run) error {
	e := governance.Entry{
		Tool: action, SubjectType: "run", SubjectID: run.ID.String(), Args: map[string]any{"kind": run.Kind, "subject": run.Subject},
		After: map[string]any{"status": run.Status, "kind": run.Kind, "subject": run.Subject, "input": run.Input},
	}
	if action == "cancel_run" {
		e.Before, e.After = map[string]any{"status": run.Status, "cancelling": false}, map[string]any{"status": run.Status, "cancelling": true}
	}
	_, err := a.log.Record(tx, p, e)
	return err
}

// buildProviders is the registry of connectors: those that are built and configured.
func buildProviders(cfg config.Config) (map[models.Provider]connectors.Provider, error) {
	out := map[models.Provider]connectors.Provider{}
	for code, make := range map[models.Provider]func(connectors.Settings) (connectors.Provider, error){
		models.CRMA: func(s connectors.Settings) (connectors.Provider, error) { return crma.New(s, crma.Options{}) },
	} {
		p := cfg.Providers[string(code)]
		if !p.Configured() {
			continue
		}
		built, err := make(connectors.Settings{
			AuthorizeURL: p.AuthorizeURL, TokenURL: p.TokenURL, RevokeURL: p.RevokeURL, APIURL: p.APIURL,
			ClientID: p.ClientID, ClientSecret: p.ClientSecret, Scopes: p.Scopes,
		})
		if err != nil {
			return nil, fmt.Errorf("configure %s: %w", code, err)
		}
		out[code] = built
	}
	return out, nil
}

// stillValid re-checks the principal of a long-lived request.
func (a *app) stillValid(ctx context.Context, p auth.Principal) error {
	return a.identity.StillValid(ctx, p)
}

// orgNamed returns the first organization for which keep is true.
func (a *app) orgNamed(ctx context.Context, keep func(models.Org) bool) (models.Org, bool, error) {
	refs, err := a.store.Orgs(ctx)
	if err != nil {
		return models.Org{}, false, err
	}
	for _, ref := range refs {
		o, err := a.identity.Organization(ctx, auth.Engine(ref.OrgID))
		if err != nil {
			return models.Org{}, false, err
		}
		if keep(o) {
			return o, true, nil
		}
	}
	return models.Org{}, false, nil
}

// newKey makes an API key with every scope for an organization, in the engine's name.
func (a *app) newKey(ctx context.Context, org uuid.UUID, name string) (string, error) {
	_, secret, err := a.identity.CreateKey(ctx, auth.Engine(org), identity.NewKeyInput{Name: name, Scopes: auth.Scopes})
	return secret, err
}
