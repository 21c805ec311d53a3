package connections

import (
	"context"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/store"
)

// Status is how a connection stands, as api and tools show it.
type Status struct {
	Provider     models.Provider         `json:"provider"`
	Kind         models.ProviderKind     `json:"kind"`
	DisplayName  string                  `json:"display_name"`
	Configured   bool                    `json:"configured" doc:"whether this installation can connect it"`
	Status       models.ConnectionStatus `json:"status" enum:"disconnected,connected,syncing,error,reauthorization_required"`
	AccountLabel string                  `json:"account_label"`
	ConnectedBy  string                  `json:"connected_by"`
	ConnectedAt  *time.Time              `json:"connected_at"`
	LastSyncAt   *time.Time              `json:"last_sync_at"`
	NextSyncAt   *time.Time              `json:"next_sync_at"`
	Error        *StatusError            `json:"error"`
	RunningRunID *uuid.UUID              `json:"running_run_id"`
}

// StatusError is what last went wrong with a connection.
type StatusError struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// Status returns how one connection stands. Faults: Denied, NotFound.
func (s *Service) Status(ctx context.Context, p auth.Principal, provider models.Provider) (Status, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return Status{}, err
	}
	return s.status(ctx, p.OrgID, provider)
}

func (s *Service) status(ctx context.Context, org uuid.UUID, provider models.Provider) (Status, error) {
	c, err := s.load(ctx, org, provider)
	if err != nil {
		return Status{}, err
	}
	run, live, err := s.runs.Live(ctx, org, models.KindConnectorSync, string(provider))
	if err != nil {
		return Status{}, err
	}
	var running *uuid.UUID
	if live {
		running = &run.ID
	}
	return s.toStatus(c, running), nil
}

// StatusAll returns how every provider stands, in the order of the interface. Faults: Denied.
func (s *Service) StatusAll(ctx context.Context, p auth.Principal) ([]Status, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, err
	}
	stored, running := map[models.Provider]models.Connection{}, map[models.Provider]*uuid.UUID{}
	err := s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		conns, err := tx.Connections()
		if err != nil {
			return err
		}
		for _, c := range conns {
			stored[c.Provider] = c
		}
		live, err := tx.LiveRuns(s.now().Add(time.Hour)) // all of them, whatever the clocks say
		for _, r := range live {
			if r.Kind == models.KindConnectorSync {
				running[models.Provider(r.Subject)] = &r.ID
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Status, 0, len(models.Providers))
	for _, info := range models.Providers {
		c, ok := stored[info.Code]
		if !ok {
			c = models.Connection{OrgID: p.OrgID, Provider: info.Code, Status: models.ConnDisconnected}
		}
		out = append(out, s.toStatus(c, running[info.Code]))
	}
	return out, nil
}

func (s *Service) toStatus(c models.Connection, running *uuid.UUID) Status {
	info, _ := c.Provider.Info()
	st := Status{
		Provider: c.Provider, Kind: info.Kind, DisplayName: info.DisplayName, Configured: s.providers[c.Provider] != nil,
		Status: c.Status, AccountLabel: c.AccountLabel, ConnectedBy: c.ConnectedBy, ConnectedAt: utc(c.ConnectedAt),
		LastSyncAt: utc(c.LastSyncAt), RunningRunID: running,
	}
	if c.ErrorCode != nil {
		st.Error = &StatusError{Code: *c.ErrorCode}
		if c.ErrorMessage != nil {
			st.Error.Message = *c.ErrorMessage
		}
		if c.ErrorAt != nil {
			st.Error.At = c.ErrorAt.UTC()
		}
	}
	if c.Status == models.ConnConnected || c.Status == models.ConnError {
		if running != nil {
			st.Status = models.ConnSyncing
		}
		if s.schedules != nil {
			next := jobs.NextSync(c.OrgID, c.Provider, s.now())
			st.NextSyncAt = &next
		}
	}
	return st
}

// Health says in one word whether a connection does its work.
type Health string

// The healths of a connection.
const (
	Healthy      Health = "healthy"       // synced within the last three intervals
	Degraded     Health = "degraded"      // never synced yet, late, or the last sync failed
	Down         Health = "down"          // must be authorized again
	NotConnected Health = "not_connected" // nobody connected it, or somebody disconnected it
)

// Summary is a connection as list_connectors shows it; LagMinutes is nil when it never synced.
type Summary struct {
	Provider   models.Provider         `json:"provider"`
	Kind       models.ProviderKind     `json:"kind"`
	Status     models.ConnectionStatus `json:"status"`
	LastSyncAt *time.Time              `json:"last_sync_at"`
	Health     Health                  `json:"health"`
	LagMinutes *int64                  `json:"lag_minutes"`
	Error      *StatusError            `json:"error"`
}

// List summarizes every provider, or those of one kind. Faults: Denied.
func (s *Service) List(ctx context.Context, p auth.Principal, kind models.ProviderKind) ([]Summary, error) {
	all, err := s.StatusAll(ctx, p)
	if err != nil {
		return nil, err
	}
	out := make([]Summary, 0, len(all))
	for _, st := range all {
		if kind == "" || st.Kind == kind {
			out = append(out, summarize(st, s.now()))
		}
	}
	return out, nil
}

func summarize(st Status, now time.Time) Summary {
	sum := Summary{Provider: st.Provider, Kind: st.Kind, Status: st.Status, LastSyncAt: st.LastSyncAt, Error: st.Error, Health: Degraded}
	if st.LastSyncAt != nil {
		lag := max(int64(now.Sub(*st.LastSyncAt)/time.Minute), 0)
		sum.LagMinutes = &lag
	}
	switch {
	case st.Status == models.ConnDisconnected:
		sum.Health = NotConnected
	case st.Status == models.ConnReauthorize:
		sum.Health = Down
	case st.Error == nil && sum.LagMinutes != nil && time.Duration(*sum.LagMinutes)*time.Minute <= 3*jobs.SyncEvery:
		sum.Health = Healthy
	}
	return sum
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
