// Package connections keeps an organization's ties to external providers: the OAuth flow, the sealed grants and their
// single-flight renewal, discovery, field mappings, and the runs that sync them. What belongs here: whatever is about a
// connection as such. The records that come through it belong to services/records, the dialects to connectors.
package connections

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"revarch/auth"
	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/runs"
	"revarch/services/vault"
	"revarch/store"
)

// AuditFunc writes the governance entry of a change, as the last statement of its transaction.
type AuditFunc func(tx *store.Tx, p auth.Principal, e AuditEntry) error

// AuditEntry says what changed about a connection; Before and After hold no secrets.
type AuditEntry struct {
	Action        string // connect_provider, disconnect_provider or update_mappings
	Provider      models.Provider
	Before, After any
}

// Config is what a Service needs. Schedules, Audit and Clock may be nil.
type Config struct {
	Store     *store.Store
	Providers map[models.Provider]connectors.Provider
	Vault     *vault.Vault
	Runs      *runs.Service
	Schedules jobs.Schedules
	Audit     AuditFunc
	Clock     func() time.Time
}

// Service is the connections of all organizations.
type Service struct {
	store     *store.Store
	providers map[models.Provider]connectors.Provider
	vault     *vault.Vault
	runs      *runs.Service
	schedules jobs.Schedules
	audit     AuditFunc
	clock     func() time.Time
	renewals  singleflight.Group
}

// New checks the configuration and returns the service.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.Vault == nil || c.Runs == nil {
		return nil, fault.New(fault.Internal, "connections need a store, a vault and runs")
	}
	if c.Audit == nil {
		c.Audit = func(*store.Tx, auth.Principal, AuditEntry) error { return nil }
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Service{
		store: c.Store, providers: c.Providers, vault: c.Vault, runs: c.Runs, schedules: c.Schedules,
		audit: c.Audit, clock: c.Clock,
	}, nil
}

func (s *Service) now() time.Time { return s.clock().UTC() }

// provider returns the implementation of a provider. Faults: NotFound for an unknown code, NotConfigured when this
// installation has none configured.
func (s *Service) provider(p models.Provider) (connectors.Provider, error) {
	info, ok := p.Info()
	if !ok {
		return nil, fault.New(fault.NotFound, "there is no provider of this name")
	}
	impl := s.providers[p]
	if impl == nil {
		return nil, fault.New(fault.NotConfigured, "%s is not configured in this installation: its operator sets REVARCH_%s_CLIENT_ID and the settings beside it", info.DisplayName, strings.ToUpper(string(p)))
	}
	return impl, nil
}

// load returns the connection with a provider; one that never was is disconnected.
func (s *Service) load(ctx context.Context, org uuid.UUID, p models.Provider) (c models.Connection, err error) {
	if _, ok := p.Info(); !ok {
		return c, fault.New(fault.NotFound, "there is no provider of this name")
	}
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		var ok bool
		if c, ok, err = tx.Connection(p); err == nil && !ok {
			c = models.Connection{OrgID: org, Provider: p, Status: models.ConnDisconnected}
		}
		return err
	})
	return c, err
}

// usable returns the connection when it has a grant that is believed to work. Faults: Conflict, ReauthRequired.
func (s *Service) usable(ctx context.Context, org uuid.UUID, p models.Provider) (models.Connection, error) {
	c, err := s.load(ctx, org, p)
	if err != nil {
		return c, err
	}
	return c, refuseUnusable(c)
}

func refuseUnusable(c models.Connection) error {
	switch c.Status {
	case models.ConnDisconnected:
		return notConnected(c.Provider)
	case models.ConnReauthorize:
		return fault.New(fault.ReauthRequired, "The provider no longer accepts this connection. Connect it again.")
	}
	return nil
}

func notConnected(p models.Provider) error {
	info, _ := p.Info()
	return fault.New(fault.Conflict, "%s is not connected. Connect it first.", info.DisplayName)
}

// Open returns a session that takes its credentials from the store at the moment of each request. Faults: Conflict,
// ReauthRequired, NotConfigured.
func (s *Service) Open(ctx context.Context, org uuid.UUID, p models.Provider) (connectors.Session, error) {
	impl, err := s.provider(p)
	if err != nil {
		return nil, err
	}
	if _, err := s.usable(ctx, org, p); err != nil {
		return nil, err
	}
	return impl.Open(&tokens{s: s, org: org, provider: p}), nil
}

// Objects lists what a provider syncs.
func (s *Service) Objects(p models.Provider) ([]connectors.ObjectSpec, error) {
	impl, err := s.provider(p)
	if err != nil {
		return nil, err
	}
	return impl.Objects(), nil
}

func decodeSchema(raw json.RawMessage) (connectors.Schema, error) {
	schema := connectors.Schema{Objects: []connectors.Object{}}
	if len(raw) == 0 {
		return schema, nil
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return schema, fmt.Errorf("decode stored schema: %w", err)
	}
	return schema, nil
}

// pause stops the schedule of a connection; that it could not be is logged, since a scheduled sync of a connection
// that cannot be used starts nothing.
func (s *Service) pause(ctx context.Context, org uuid.UUID, p models.Provider, why string) {
	if s.schedules == nil {
		return
	}
	if err := s.schedules.PauseSync(ctx, org, p, why); err != nil {
		slog.WarnContext(ctx, "schedule not paused", "org_id", org, "provider", p, "error", err)
	}
}
