package connections

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/runs"
	"revarch/store"
)

// SyncOptions is the input of a sync run, as it is stored in the run.
type SyncOptions struct {
	Full bool `json:"full,omitempty"` // enumerate everything again and find what was deleted unseen
	// ConfirmDeletions lets a full sync delete also when most of what is stored was not found at the provider.
	ConfirmDeletions bool `json:"confirm_deletions,omitempty"`
}

// Sync starts a sync of one connection and returns its run; already tells that one was running, which is returned
// instead. Faults: Denied, NotFound, Invalid, Conflict when not connected or when a confirmation came while a sync runs
// that does not know of it, ReauthRequired, NotConfigured.
func (s *Service) Sync(ctx context.Context, p auth.Principal, provider models.Provider, o SyncOptions) (run models.Run, already bool, err error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Run{}, false, err
	}
	if o.ConfirmDeletions && !o.Full {
		return models.Run{}, false, fault.WithFields("Only a full sync finds what is gone at the provider.",
			fault.FieldError{Field: "confirm_deletions", Message: "send it together with mode full"})
	}
	run, already, err = s.startSync(ctx, p, provider, o, "manual")
	if err == nil && already && o.ConfirmDeletions {
		return models.Run{}, false, fault.New(fault.Conflict, "a sync is running; confirm the deletions when it has ended")
	}
	return run, already, err
}

// ScheduledSync is Sync as the schedule asks for it. started is false when there is nothing to do: the connection
// cannot be used, or a sync is running.
func (s *Service) ScheduledSync(ctx context.Context, org uuid.UUID, provider models.Provider) (run models.Run, started bool, err error) {
	run, already, err := s.startSync(ctx, engine(org), provider, SyncOptions{}, "schedule")
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.ReauthRequired) {
		return models.Run{}, false, nil
	}
	return run, err == nil && !already, err
}

func (s *Service) startSync(ctx context.Context, p auth.Principal, provider models.Provider, o SyncOptions, trigger string) (models.Run, bool, error) {
	if _, err := s.provider(provider); err != nil {
		return models.Run{}, false, err
	}
	if _, err := s.usable(ctx, p.OrgID, provider); err != nil {
		return models.Run{}, false, err
	}
	return s.runs.Start(ctx, p, runs.StartInput{
		Kind: models.KindConnectorSync, Subject: string(provider),
		WorkflowID: jobs.SyncID(p.OrgID, provider), Input: o, Trigger: trigger,
	})
}

// SyncLog lists the sync runs of one provider, or of all with "", newest first. Faults: Denied, NotFound, Invalid.
func (s *Service) SyncLog(ctx context.Context, p auth.Principal, provider models.Provider, in runs.ListInput) (runs.Page, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return runs.Page{}, err
	}
	if _, ok := provider.Info(); !ok && provider != "" {
		return runs.Page{}, fault.New(fault.NotFound, "there is no provider of this name")
	}
	in.Kind, in.Subject = models.KindConnectorSync, string(provider)
	return s.runs.List(ctx, p.OrgID, in)
}

// SyncEnded notes on the connection how its sync ended. A cancelled one changes nothing; a dead grant has been noted
// where it was found.
func (s *Service) SyncEnded(ctx context.Context, org uuid.UUID, provider models.Provider, end runs.End) error {
	return s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		switch end.Status {
		case models.RunSucceeded:
			return tx.SetLastSync(provider, s.now())
		case models.RunFailed:
			c, ok, err := tx.LockConnection(provider)
			if err != nil || !ok || refuseUnusable(c) != nil {
				return err
			}
			return tx.SetConnectionStatus(provider, models.ConnError, end.Code, end.Message, s.now())
		}
		return nil
	})
}

// Disconnect stops the connection's work, erases its grant in any case and revokes it at the provider as well as it
// can. Mappings, cursors and data stay, so that connecting the same account again goes on where it was. Disconnecting
// twice is no error. Faults: Denied, NotFound.
func (s *Service) Disconnect(ctx context.Context, p auth.Principal, provider models.Provider) (Status, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return Status{}, err
	}
	c, err := s.load(ctx, p.OrgID, provider)
	if err != nil {
		return Status{}, err
	}
	if c.Status == models.ConnDisconnected {
		return s.toStatus(c, nil), nil
	}
	s.pause(ctx, p.OrgID, provider, "disconnected")
	s.stopSync(ctx, p, provider)
	var sealed models.ConnectionGrant
	var had bool
	err = s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		if sealed, had, err = tx.LockGrant(c.ID); err != nil {
			return err
		}
		if err := tx.DeleteGrant(c.ID); err != nil {
			return err
		}
		if err := tx.SetConnectionStatus(provider, models.ConnDisconnected, "", "", s.now()); err != nil {
			return err
		}
		return s.audit(tx, p, AuditEntry{
			Action: "disconnect_provider", Provider: provider,
			Before: map[string]any{"status": c.Status, "account": c.AccountLabel}, After: map[string]any{"status": models.ConnDisconnected},
		})
	})
	if err != nil {
		return Status{}, fmt.Errorf("disconnect: %w", err)
	}
	if had {
		s.revoke(ctx, sealed, provider)
	}
	return s.status(ctx, p.OrgID, provider)
}

// EnsureSchedules makes the schedules of all connections that should have one, in every organization: the engine may
// have lost them.
func (s *Service) EnsureSchedules(ctx context.Context) error {
	if s.schedules == nil {
		return nil
	}
	orgs, err := s.store.Orgs(ctx)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		var conns []models.Connection
		err := s.store.InOrg(ctx, org.OrgID, func(tx *store.Tx) error {
			conns, err = tx.Connections()
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range conns {
			if refuseUnusable(c) != nil || s.providers[c.Provider] == nil {
				continue
			}
			if err := s.schedules.EnsureSync(ctx, org.OrgID, c.Provider); err != nil {
				return fmt.Errorf("ensure schedule: %w", err)
			}
		}
	}
	return nil
}

// stopSync cancels the sync in progress; without a grant it ends by itself soon after.
func (s *Service) stopSync(ctx context.Context, p auth.Principal, provider models.Provider) {
	run, live, err := s.runs.Live(ctx, p.OrgID, models.KindConnectorSync, string(provider))
	if err == nil && live {
		_, err = s.runs.Cancel(ctx, p, run.ID)
	}
	if err != nil && !fault.Is(err, fault.Conflict) {
		slog.WarnContext(ctx, "sync not cancelled on disconnecting", "org_id", p.OrgID, "provider", provider, "error", err)
	}
}

// revoke ends an erased grant at the provider, within bounded time.
func (s *Service) revoke(ctx context.Context, sealed models.ConnectionGrant, provider models.Provider) {
	impl, err := s.provider(provider)
	if err != nil {
		return
	}
	g, err := s.unseal(sealed, provider)
	if err == nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = impl.Revoke(ending, g)
	}
	if err != nil {
		slog.WarnContext(ctx, "grant erased but not revoked at the provider", "org_id", sealed.OrgID, "provider", provider, "error", err)
	}
}
