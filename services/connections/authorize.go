package connections

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"revarch/auth"
	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// stateLife is how long a person may take at the provider's consent page.
const stateLife = 10 * time.Minute

// BeginAuth starts an authorization and returns the provider's consent page. The state it carries is random, serves
// once and lives ten minutes; the PKCE verifier stays here, sealed. Faults: Denied, NotFound, NotConfigured.
func (s *Service) BeginAuth(ctx context.Context, p auth.Principal, provider models.Provider, redirectURI string) (string, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return "", err
	}
	impl, err := s.provider(provider)
	if err != nil {
		return "", err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	state, verifier := base64.RawURLEncoding.EncodeToString(raw), oauth2.GenerateVerifier()
	sealed, err := s.vault.Seal([]byte(verifier), verifierAD(p.OrgID.String(), provider))
	if err != nil {
		return "", err
	}
	now := s.now()
	hash := sha256.Sum256([]byte(state))
	err = s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		return tx.PutOAuthState(models.OAuthState{
			Hash: hash[:], UserID: p.ID, SessionHash: p.Session, Provider: provider,
			RedirectURI: redirectURI, Verifier: sealed, CreatedAt: now, ExpiresAt: now.Add(stateLife),
		})
	})
	if err != nil {
		return "", err
	}
	return impl.Authorize(state, oauth2.S256ChallengeFromVerifier(verifier), redirectURI), nil
}

// Callback is what came back from the consent page, with the caller as the browser's session identifies it; Principal
// is zero without a session.
type Callback struct {
	Provider    models.Provider // of the path
	State, Code string
	Error       string // the provider's error parameter, "" when it agreed
	RedirectURI string // the address this callback was reached under, as configured
	Principal   auth.Principal
}

// CompleteAuth ends an authorization: it takes the state before anything else, so that a callback serves once; checks
// provider, session, redirect address and age; exchanges the code; refuses another remote account than before; and
// stores the grant, the schema and, the first time, suggested mappings. Whatever fails before the grant is stored
// leaves the old connection untouched. Faults: Invalid, Denied, Conflict, NotConfigured, ClientMisconfig, ScopeMissing, Unavailable.
func (s *Service) CompleteAuth(ctx context.Context, cb Callback) (Status, error) {
	impl, err := s.provider(cb.Provider)
	if err != nil {
		return Status{}, err
	}
	st, err := s.takeState(ctx, cb)
	if err != nil {
		return Status{}, err
	}
	if cb.Error != "" {
		return Status{}, consentRefused(cb.Error)
	}
	if cb.Code == "" {
		return Status{}, fault.New(fault.Invalid, "The provider sent no authorization code. Start connecting again.")
	}
	verifier, err := s.vault.Unseal(st.Verifier, verifierAD(st.OrgID.String(), st.Provider))
	if err != nil {
		return Status{}, fault.New(fault.Invalid, "This authorization cannot be completed any more. Start connecting again.")
	}
	grant, err := impl.Exchange(ctx, cb.Code, string(verifier), st.RedirectURI)
	if err != nil {
		return Status{}, fmt.Errorf("exchange code: %w", err)
	}
	if grant, err = s.identify(ctx, impl, grant); err == nil {
		err = s.storeConnected(ctx, st, cb.Principal, grant)
	}
	if err != nil {
		s.discard(ctx, impl, grant)
		return Status{}, err
	}
	s.settleIn(ctx, st, impl)
	return s.status(ctx, st.OrgID, st.Provider)
}

func (s *Service) takeState(ctx context.Context, cb Callback) (models.OAuthState, error) {
	again := fault.New(fault.Invalid, "This authorization is unknown, was used already, or took longer than ten minutes. Start connecting again.")
	if cb.State == "" {
		return models.OAuthState{}, again
	}
	hash := sha256.Sum256([]byte(cb.State))
	st, ok, err := s.store.TakeOAuthState(ctx, hash[:])
	switch {
	case err != nil:
		return st, err
	case !ok || s.now().After(st.ExpiresAt) || st.Provider != cb.Provider:
		return st, again
	case cb.Principal.OrgID != uuid.Nil && cb.Principal.OrgID != st.OrgID: // nobody learns that it is another organization's
		return st, again
	case st.RedirectURI != cb.RedirectURI:
		return st, fault.New(fault.Invalid, "The authorization came back to another address than it was started for. Start connecting again.")
	case len(st.SessionHash) > 0 && subtle.ConstantTimeCompare(st.SessionHash, cb.Principal.Session) != 1:
		return st, fault.New(fault.Denied, "This authorization was started in another browser session. Sign in and start connecting again.")
	}
	return st, nil
}

func consentRefused(code string) error {
	if code == "access_denied" {
		return fault.New(fault.Denied, "Access was declined at the provider. Nothing was changed.")
	}
	return fault.New(fault.Invalid, "The provider refused the authorization. Nothing was changed; start connecting again.")
}

// identify makes sure that the grant names its remote account.
func (s *Service) identify(ctx context.Context, impl connectors.Provider, g connectors.Grant) (connectors.Grant, error) {
	if g.AccountID != "" {
		return g, nil
	}
	account, err := impl.Open(fixedGrant{g}).Validate(ctx)
	if err != nil {
		return g, fmt.Errorf("identify account: %w", err)
	}
	if account.ID == "" {
		return g, fault.New(fault.Unavailable, "The provider does not say which account was connected.")
	}
	g.AccountID, g.AccountLabel = account.ID, account.Label
	return g, nil
}

func (s *Service) storeConnected(ctx context.Context, st models.OAuthState, by auth.Principal, g connectors.Grant) error {
	if by.OrgID != st.OrgID || by.ID != st.UserID {
		by = auth.Principal{OrgID: st.OrgID, Kind: "key", ID: st.UserID, Label: "API key", Surface: "rest"}
	}
	now := s.now()
	return s.store.InOrg(ctx, st.OrgID, func(tx *store.Tx) error {
		before, ok, err := tx.Connection(st.Provider)
		if err != nil {
			return err
		}
		if ok { // a renewal locks the grant first, too
			if _, _, err := tx.LockGrant(before.ID); err != nil {
				return err
			}
		}
		c, err := tx.EnsureConnection(st.Provider, now)
		if err != nil {
			return err
		}
		if c.AccountID != "" && c.AccountID != g.AccountID {
			return fault.New(fault.Conflict, "This connection holds the data of %s, but you signed in to %s. Sign in to the first one to connect it again. Nothing was changed.",
				c.AccountLabel, g.AccountLabel)
		}
		row, _, err := tx.Grant(c.ID)
		if err != nil {
			return err
		}
		g.Version = max(row.Version+1, now.UnixMilli()) // ascending, even over a disconnection
		if err := s.putGrant(tx, st.Provider, c.ID, g, now); err != nil {
			return err
		}
		c.AccountID, c.AccountLabel, c.Scopes, c.ConnectedBy, c.ConnectedAt = g.AccountID, g.AccountLabel, g.Scopes, by.Label, &now
		if err := tx.SaveConnected(c, now); err != nil {
			return err
		}
		return s.audit(tx, by, AuditEntry{
			Action: "connect_provider", Provider: st.Provider,
			Before: map[string]any{"status": before.Status}, After: map[string]any{"status": models.ConnConnected, "account": g.AccountLabel},
		})
	})
}

// discard ends a grant that will not be used.
func (s *Service) discard(ctx context.Context, impl connectors.Provider, g connectors.Grant) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := impl.Revoke(ending, g); err != nil {
		slog.WarnContext(ctx, "unused grant not revoked", "provider", impl.Code(), "error", err)
	}
}

// settleIn does what a new connection needs but does not depend on: what fails here is done again by the next sync.
func (s *Service) settleIn(ctx context.Context, st models.OAuthState, impl connectors.Provider) {
	if _, _, err := s.discover(ctx, st.OrgID, impl); err != nil {
		slog.WarnContext(ctx, "schema not discovered after connecting", "org_id", st.OrgID, "provider", st.Provider, "error", err)
	}
	if s.schedules == nil {
		return
	}
	if err := s.schedules.EnsureSync(ctx, st.OrgID, st.Provider); err != nil {
		slog.WarnContext(ctx, "sync schedule not made after connecting", "org_id", st.OrgID, "provider", st.Provider, "error", err)
	}
}

// fixedGrant serves one grant that nobody keeps yet.
type fixedGrant struct{ g connectors.Grant }

func (f fixedGrant) Grant(context.Context) (connectors.Grant, error) { return f.g, nil }

func (f fixedGrant) Renew(context.Context, connectors.Grant) (connectors.Grant, error) {
	return connectors.Grant{}, fault.New(fault.Unavailable, "The provider refuses an access token that it has just issued.")
}
