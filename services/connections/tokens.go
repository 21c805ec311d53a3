package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/vault"
	"revarch/store"
)

const (
	refreshTimeout = 30 * time.Second
	renewTimeout   = 75 * time.Second // waiting for another process included
	refreshAhead   = time.Minute      // refresh this long before the end of an access token
)

func grantAD(org string, p models.Provider) []byte    { return vault.AD(org, string(p), "grant") }
func verifierAD(org string, p models.Provider) []byte { return vault.AD(org, string(p), "verifier") }

// tokens is the connectors.TokenSource of one connection.
type tokens struct {
	s        *Service
	org      uuid.UUID
	provider models.Provider
}

// Grant loads and unseals the grant in force; one that is about to end is renewed first.
func (t *tokens) Grant(ctx context.Context) (connectors.Grant, error) {
	var g connectors.Grant
	var unreadable bool
	err := t.s.store.InOrg(ctx, t.org, func(tx *store.Tx) error {
		c, ok, err := tx.Connection(t.provider)
		if err != nil {
			return err
		}
		if !ok {
			return notConnected(t.provider)
		}
		if err := refuseUnusable(c); err != nil {
			return err
		}
		row, ok, err := tx.Grant(c.ID)
		if err != nil {
			return err
		}
		if !ok {
			return notConnected(t.provider)
		}
		if g, err = t.s.unseal(row, t.provider); fault.Is(err, fault.ReauthRequired) {
			g.Version, unreadable, err = row.Version, true, nil
		}
		return err
	})
	if err != nil {
		return connectors.Grant{}, err
	}
	if unreadable { // renewing finds the same, under the lock, and says so on the connection
		return t.Renew(ctx, g)
	}
	if !g.ExpiresAt.IsZero() && t.s.now().After(g.ExpiresAt.Add(-refreshAhead)) {
		return t.Renew(ctx, g)
	}
	return g, nil
}

// Renew returns a grant newer than the refused one. However many ask, in however many processes, the provider is asked
// once. A caller that gives up does not stop a refresh half way.
func (t *tokens) Renew(ctx context.Context, refused connectors.Grant) (connectors.Grant, error) {
	key := fmt.Sprintf("%s/%s/%d", t.org, t.provider, refused.Version)
	done := t.s.renewals.DoChan(key, func() (any, error) {
		working, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTimeout)
		defer cancel()
		return t.s.renew(working, t.org, t.provider, refused.Version)
	})
	select {
	case <-ctx.Done():
		return connectors.Grant{}, ctx.Err()
	case r := <-done:
		if r.Err != nil {
			return connectors.Grant{}, r.Err
		}
		return r.Val.(connectors.Grant), nil
	}
}

// renewal is one attempt to replace a refused grant.
type renewal struct {
	s        *Service
	impl     connectors.Provider
	org      uuid.UUID
	refused  int64
	conn     uuid.UUID
	result   connectors.Grant
	rotated  bool  // result came from the provider and is the only valid one
	dead     error // the grant is at its end; noted in the transaction
	replaced int64 // version that result replaces
}

// renew replaces a refused grant. The row lock makes it the only one among all processes; whoever waited for the lock
// finds a newer grant and uses that.
func (s *Service) renew(ctx context.Context, org uuid.UUID, p models.Provider, refused int64) (connectors.Grant, error) {
	impl, err := s.provider(p)
	if err != nil {
		return connectors.Grant{}, err
	}
	r := &renewal{s: s, impl: impl, org: org, refused: refused}
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error { return r.inTx(ctx, tx) })
	if err != nil && r.rotated {
		err = r.save(ctx, err)
	}
	if err != nil {
		return connectors.Grant{}, err
	}
	if r.dead != nil {
		s.grantDied(ctx, org, p)
		return connectors.Grant{}, r.dead
	}
	return r.result, nil
}

func (r *renewal) inTx(ctx context.Context, tx *store.Tx) error {
	p := r.impl.Code()
	c, ok, err := tx.Connection(p)
	if err != nil || !ok {
		return errors.Join(err, notConnected(p))
	}
	row, ok, err := tx.LockGrant(c.ID)
	if err != nil {
		return err
	}
	if !ok {
		return notConnected(p)
	}
	if c, _, err = tx.Connection(p); err != nil { // as it is now that we hold the lock
		return err
	}
	if err := refuseUnusable(c); err != nil {
		return err
	}
	r.conn = c.ID
	if r.rotated { // the transaction is being repeated; the provider must not be asked twice
		return r.s.putGrant(tx, p, r.conn, r.result, r.s.now())
	}
	g, err := r.s.unseal(row, p)
	if err == nil && g.Version > r.refused {
		r.result = g
		return nil
	}
	if err == nil {
		calling, cancel := context.WithTimeout(ctx, refreshTimeout)
		defer cancel()
		r.result, err = r.impl.Refresh(calling, g)
	}
	if fault.Is(err, fault.ReauthRequired) {
		r.dead = err
		return tx.SetConnectionStatus(p, models.ConnReauthorize, string(fault.ReauthRequired), fault.Public(err), r.s.now())
	}
	if err != nil {
		return fmt.Errorf("refresh grant: %w", err)
	}
	r.rotated, r.replaced = true, g.Version
	r.result = keep(r.result, g)
	return r.s.putGrant(tx, p, r.conn, r.result, r.s.now())
}

// keep fills what a refresh answer leaves out.
func keep(fresh, old connectors.Grant) connectors.Grant {
	fresh.Version = old.Version + 1
	if fresh.RefreshToken == "" {
		fresh.RefreshToken = old.RefreshToken
	}
	if fresh.InstanceURL == "" {
		fresh.InstanceURL = old.InstanceURL
	}
	if fresh.AccountID == "" {
		fresh.AccountID = old.AccountID
	}
	if fresh.AccountLabel == "" {
		fresh.AccountLabel = old.AccountLabel
	}
	if len(fresh.Scopes) == 0 {
		fresh.Scopes = old.Scopes
	}
	return fresh
}

// save stores a rotated grant whose transaction failed: it is the only valid one, so it is not given up lightly.
func (r *renewal) save(ctx context.Context, cause error) error {
	for wait := 100 * time.Millisecond; wait < 10*time.Second; wait *= 2 {
		slog.WarnContext(ctx, "rotated grant not stored yet", "org_id", r.org, "provider", r.impl.Code(), "error", cause)
		select {
		case <-ctx.Done():
			return cause
		case <-time.After(wait):
		}
		err := r.s.store.InOrg(ctx, r.org, func(tx *store.Tx) error {
			row, ok, err := tx.LockGrant(r.conn)
			if err != nil {
				return err
			}
			if !ok {
				return notConnected(r.impl.Code())
			}
			if row.Version != r.replaced { // the failed commit had succeeded, or somebody connected anew
				return nil
			}
			return r.s.putGrant(tx, r.impl.Code(), r.conn, r.result, r.s.now())
		})
		if err == nil {
			return nil
		}
		cause = err
	}
	return cause
}

// grantDied stops the work of a connection whose grant is at its end. The run in progress learns it by itself.
func (s *Service) grantDied(ctx context.Context, org uuid.UUID, p models.Provider) {
	slog.WarnContext(ctx, "connection must be authorized again", "org_id", org, "provider", p)
	s.pause(ctx, org, p, "the provider no longer accepts this connection")
}

func (s *Service) unseal(row models.ConnectionGrant, p models.Provider) (connectors.Grant, error) {
	raw, err := s.vault.Unseal(row.Sealed, grantAD(row.OrgID.String(), p))
	if err != nil {
		return connectors.Grant{}, err
	}
	var g connectors.Grant
	if err := json.Unmarshal(raw, &g); err != nil {
		return connectors.Grant{}, fault.New(fault.Internal, "the stored grant cannot be decoded") // the cause may quote it
	}
	g.Version = row.Version
	return g, nil
}

func (s *Service) putGrant(tx *store.Tx, p models.Provider, conn uuid.UUID, g connectors.Grant, now time.Time) error {
	raw, err := json.Marshal(g)
	if err != nil {
		return fault.New(fault.Internal, "the grant cannot be encoded")
	}
	sealed, err := s.vault.Seal(raw, grantAD(tx.Org().String(), p))
	if err != nil {
		return err
	}
	return tx.PutGrant(models.ConnectionGrant{ConnectionID: conn, Sealed: sealed, Version: g.Version, UpdatedAt: now})
}

// KeepAlive refreshes grants that nobody used for most of a day, in every organization: providers let idle ones die.
// It returns how many it refreshed and how many turned out to be dead.
func (s *Service) KeepAlive(ctx context.Context) (refreshed, dead int, err error) {
	err = s.eachGrant(ctx, func(org uuid.UUID, c models.Connection, row models.ConnectionGrant) error {
		if refuseUnusable(c) != nil || s.now().Sub(row.UpdatedAt) < 20*time.Hour {
			return nil
		}
		switch _, err := s.renew(ctx, org, c.Provider, row.Version); {
		case err == nil:
			refreshed++
		case fault.Is(err, fault.ReauthRequired):
			dead++
		default:
			slog.WarnContext(ctx, "grant not kept alive", "org_id", org, "provider", c.Provider, "error", err)
		}
		return ctx.Err()
	})
	return refreshed, dead, err
}

// Reseal seals every stored grant with the newest key, after the keyset was rotated, and returns how many.
func (s *Service) Reseal(ctx context.Context) (int, error) {
	n := 0
	err := s.eachGrant(ctx, func(org uuid.UUID, c models.Connection, _ models.ConnectionGrant) error {
		return s.store.InOrg(ctx, org, func(tx *store.Tx) error {
			row, ok, err := tx.LockGrant(c.ID)
			if err != nil || !ok {
				return err
			}
			g, err := s.unseal(row, c.Provider)
			if err != nil {
				return err
			}
			n++
			return s.putGrant(tx, c.Provider, c.ID, g, row.UpdatedAt)
		})
	})
	return n, err
}

func (s *Service) eachGrant(ctx context.Context, fn func(org uuid.UUID, c models.Connection, row models.ConnectionGrant) error) error {
	orgs, err := s.store.Orgs(ctx)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		found := map[uuid.UUID]models.ConnectionGrant{}
		var conns []models.Connection
		err := s.store.InOrg(ctx, org.OrgID, func(tx *store.Tx) error {
			conns, err = tx.Connections()
			for _, c := range conns {
				row, ok, err := tx.Grant(c.ID)
				if err != nil {
					return err
				}
				if ok {
					found[c.ID] = row
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range conns {
			if row, ok := found[c.ID]; ok {
				if err := fn(org.OrgID, c, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// engine is the principal of what the service does by itself.
func engine(org uuid.UUID) auth.Principal { return auth.Engine(org) }
