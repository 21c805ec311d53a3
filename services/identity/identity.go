// Package identity is who may come in: organizations, users, memberships, sign-in, sessions, API keys and invitations.
package identity

import (
	"context"
	"crypto/sha256"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/store"
)

// SessionLife is how long an unused browser session lasts.
const SessionLife = 14 * 24 * time.Hour

// Service answers who is asking and manages those who may.
type Service struct {
	Store *store.Store
	Log   *governance.Service
	Clock func() time.Time

	once  sync.Once
	slots chan struct{} // see prove
}

// hashers is how many passwords are checked at once in a process: each takes 64 MiB.
const hashers = 4

// SignedIn is a session that was just made.
type SignedIn struct {
	Token     string // for the cookie; only its hash is stored
	ExpiresAt time.Time
	Me        Me
}

// Member is a user in an organization.
type Member = store.Member

// Me describes the caller and where they may go.
type Me struct {
	UserID        uuid.UUID
	Email, Name   string
	OrgID         uuid.UUID
	OrgName       string
	Role          auth.Role
	Organizations []store.OrgMembership
}

// backoff is how long sign-in is refused after n failures in a row: nothing for the first four, then 1 s doubling to at
// most 5 minutes. It slows guessing down and never locks anyone out for good.
func backoff(n int) time.Duration {
	if n < 5 {
		return 0
	}
	return min(time.Second<<min(n-5, 10), 5*time.Minute)
}

// SignIn checks a password and makes a session in the organization the user joined last. Failures in a
// row slow down by account and by client address.
func (s *Service) SignIn(ctx context.Context, email, password, client string) (SignedIn, error) {
	u, found, err := s.Store.UserByEmail(ctx, FoldEmail(email))
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.prove(ctx, u, found, password, client); err != nil {
		return SignedIn{}, err
	}
	orgs, err := s.Store.MembershipsOf(ctx, u.ID)
	if err != nil {
		return SignedIn{}, err
	}
	if len(orgs) == 0 {
		return SignedIn{}, fault.New(fault.Denied, "you belong to no organization any more; ask an admin for an invitation")
	}
	return s.session(ctx, u.ID, home(orgs))
}

// prove checks that a password is the user's; one who is not found costs the same time. Few are checked at once, since
// each needs much memory, and whoever waits is counted against before being let in, so that guessing in parallel is no
// faster. Faults: Throttled, Unauthenticated.
func (s *Service) prove(ctx context.Context, u models.User, found bool, password, client string) error {
	s.once.Do(func() { s.slots = make(chan struct{}, hashers) })
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := s.Clock()
	keys := [][]byte{throttleKey("account", u.Email), throttleKey("client", client)}
	for _, k := range keys {
		n, last, err := s.Store.LoginFailures(ctx, k)
		if err != nil {
			return err
		}
		if wait := last.Add(backoff(n)).Sub(now); wait > 0 {
			return fault.New(fault.Throttled, "too many failed sign-ins; try again in a moment").After(wait)
		}
	}
	if auth.CheckPassword(u.PasswordHash, password) && found && u.DisabledAt == nil {
		return s.Store.ClearLoginFailures(ctx, keys[0], now)
	}
	for _, k := range keys {
		if err := s.Store.CountLoginFailure(ctx, k, now); err != nil {
			return err
		}
	}
	return fault.New(fault.Unauthenticated, "e-mail or password is wrong")
}

// home is the organization a sign-in leads to: the one joined last, and the system's only when there is no other.
func home(orgs []store.OrgMembership) uuid.UUID {
	best := orgs[0]
	for _, o := range orgs[1:] {
		system, bestSystem := o.Role == string(auth.Operator), best.Role == string(auth.Operator)
		if bestSystem && !system || bestSystem == system && o.JoinedAt.After(best.JoinedAt) {
			best = o
		}
	}
	return best.OrgID
}

// Switch ends the session and makes one in another organization of the same user.
func (s *Service) Switch(ctx context.Context, p auth.Principal, org uuid.UUID) (SignedIn, error) {
	if p.Kind != "user" || p.Session == nil {
		return SignedIn{}, fault.New(fault.Denied, "only a browser session can switch organizations")
	}
	orgs, err := s.Store.MembershipsOf(ctx, p.ID)
	if err != nil {
		return SignedIn{}, err
	}
	for _, m := range orgs {
		if m.OrgID == org {
			if err := s.SignOut(ctx, p); err != nil {
				return SignedIn{}, err
			}
			return s.session(ctx, p.ID, org)
		}
	}
	return SignedIn{}, fault.New(fault.NotFound, "organization not found")
}

func (s *Service) session(ctx context.Context, user, org uuid.UUID) (SignedIn, error) {
	token, now := auth.NewToken(), s.Clock()
	out := SignedIn{Token: token, ExpiresAt: now.Add(SessionLife)}
	sess := &models.Session{Hash: auth.HashSecret(token), OrgID: org, UserID: user, CreatedAt: now, LastSeenAt: now, ExpiresAt: out.ExpiresAt}
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) error { return tx.CreateSession(sess) })
	if err != nil {
		return SignedIn{}, err
	}
	out.Me, err = s.Me(ctx, auth.Principal{OrgID: org, Kind: "user", ID: user})
	return out, err
}

// SignOut ends the caller's session.
func (s *Service) SignOut(ctx context.Context, p auth.Principal) error {
	return s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error { return tx.DeleteSession(p.Session, s.Clock()) })
}

// Me describes the caller.
func (s *Service) Me(ctx context.Context, p auth.Principal) (Me, error) {
	me := Me{UserID: p.ID, OrgID: p.OrgID, Role: p.Role, Name: p.Label}
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		o, err := tx.Organization()
		if err != nil || p.Kind != "user" {
			me.OrgName = o.Name
			return err
		}
		m, err := tx.MemberByID(p.ID)
		me.OrgName, me.Email, me.Name, me.Role = o.Name, m.Email, m.Name, auth.Role(m.Role)
		return err
	})
	if err != nil || p.Kind != "user" {
		return me, err
	}
	me.Organizations, err = s.Store.MembershipsOf(ctx, p.ID)
	return me, err
}

// Operates reports whether p is an operator of the platform: whoever acts in the system organization, or a person who is
// a member of it and works in another one just now.
func (s *Service) Operates(ctx context.Context, p auth.Principal) bool {
	if p.Can(auth.PermPlatform) {
		return true
	}
	if p.Kind != "user" {
		return false
	}
	orgs, err := s.Store.MembershipsOf(ctx, p.ID)
	return err == nil && slices.ContainsFunc(orgs, func(o store.OrgMembership) bool { return o.Role == string(auth.Operator) })
}

// BySession returns the principal of a session token. It checks the membership anew each time, so a removed member or
// a changed role counts at once.
func (s *Service) BySession(ctx context.Context, token string) (auth.Principal, error) {
	unauthenticated := fault.New(fault.Unauthenticated, "your session has ended; sign in again")
	sess, ok, err := s.Store.SessionByHash(ctx, auth.HashSecret(token))
	if err != nil {
		return auth.Principal{}, err
	}
	now := s.Clock()
	if !ok || now.After(sess.ExpiresAt) {
		return auth.Principal{}, unauthenticated
	}
	p := auth.Principal{OrgID: sess.OrgID, Kind: "user", ID: sess.UserID, Session: sess.Hash, Surface: "rest"}
	err = s.Store.InOrg(ctx, sess.OrgID, func(tx *store.Tx) error {
		m, err := tx.MemberByID(sess.UserID)
		if fault.Is(err, fault.NotFound) || err == nil && m.DisabledAt != nil {
			return unauthenticated
		}
		if err != nil {
			return err
		}
		o, err := tx.Organization()
		if err != nil {
			return err
		}
		p.Label, p.Role, p.System = m.Email, auth.Role(m.Role), o.IsSystem
		return tx.TouchSession(sess.Hash, now, now.Add(SessionLife))
	})
	return p, err
}

// ByKey returns the principal of an API key; revoked and expired keys are refused at once.
func (s *Service) ByKey(ctx context.Context, secret string) (auth.Principal, error) {
	refused := fault.New(fault.Unauthenticated, "the API key is not valid; create one in Settings > Integrations")
	if !strings.HasPrefix(secret, auth.KeyPrefix) || len(secret) > 100 {
		return auth.Principal{}, refused
	}
	org, id, ok, err := s.Store.OrgOfKey(ctx, auth.HashSecret(secret))
	if err != nil {
		return auth.Principal{}, err
	}
	if !ok {
		return auth.Principal{}, refused
	}
	now := s.Clock()
	var p auth.Principal
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		k, err := tx.APIKeyByID(id)
		if err != nil {
			return refused
		}
		if k.RevokedAt != nil || k.ExpiresAt != nil && now.After(*k.ExpiresAt) {
			return refused
		}
		o, err := tx.Organization()
		if err != nil {
			return err
		}
		p = auth.Principal{OrgID: org, Kind: "key", ID: id, Label: k.Name, KeyPrefix: k.Prefix, System: o.IsSystem, Surface: "rest"}
		for _, sc := range k.Scopes {
			p.Scopes = append(p.Scopes, auth.Scope(sc))
		}
		if k.LastUsedAt != nil && now.Sub(*k.LastUsedAt) < time.Minute {
			return nil
		}
		return tx.TouchAPIKey(id, now)
	})
	return p, err
}

// FoldEmail is how an e-mail is stored and compared.
func FoldEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func checkEmail(email string) error {
	a, err := mail.ParseAddress(email)
	if err != nil || a.Address != email || len(email) > 320 {
		return fault.WithFields("the e-mail address is not valid", fault.FieldError{Field: "email", Message: "write it as name@example.org"})
	}
	return nil
}

func checkPassword(password string) error {
	if n := utf8.RuneCountInString(password); n < 12 || len(password) > 1024 {
		return fault.WithFields("the password is not acceptable", fault.FieldError{Field: "password", Message: "use at least 12 characters"})
	}
	return nil
}

func throttleKey(kind, value string) []byte {
	h := sha256.Sum256([]byte(kind + "\x00" + value))
	return h[:]
}

// StillValid re-checks the principal of a long-lived request: the session has not ended, the key was not revoked, the
// person is still a member.
func (s *Service) StillValid(ctx context.Context, p auth.Principal) error {
	gone := fault.New(fault.Unauthenticated, "your session has ended; sign in again")
	now := s.Clock()
	if p.Kind == "user" {
		sess, ok, err := s.Store.SessionByHash(ctx, p.Session)
		if err != nil {
			return err
		}
		if !ok || now.After(sess.ExpiresAt) || sess.OrgID != p.OrgID {
			return gone
		}
		return s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
			m, err := tx.MemberByID(p.ID)
			if err == nil && m.DisabledAt != nil {
				return gone
			}
			return err
		})
	}
	return s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		k, err := tx.APIKeyByID(p.ID)
		if err != nil {
			return err
		}
		if k.RevokedAt != nil || k.ExpiresAt != nil && now.After(*k.ExpiresAt) {
			return gone
		}
		return nil
	})
}
