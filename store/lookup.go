package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// The look-ups below find an organization before it is known. They call SECURITY DEFINER functions that read only the
// pre-tenant tables and answer for one exact hash, e-mail or id.

// OrgOfKey returns the organization and id of the API key with the hash; ok is false when there is none.
func (s *Store) OrgOfKey(ctx context.Context, hash []byte) (org, key uuid.UUID, ok bool, err error) {
	err = s.sql.QueryRowContext(ctx, "SELECT org_id, key_id FROM lookup.org_of_key($1)", hash).Scan(&org, &key)
	return org, key, err == nil, maybe(err, "look up API key")
}

// SessionByHash returns the session with the hash; ok is false when there is none.
func (s *Store) SessionByHash(ctx context.Context, hash []byte) (sess models.Session, ok bool, err error) {
	sess.Hash = hash
	err = s.sql.QueryRowContext(ctx, "SELECT org_id, user_id, expires_at FROM lookup.session($1)", hash).
		Scan(&sess.OrgID, &sess.UserID, &sess.ExpiresAt)
	return sess, err == nil, maybe(err, "look up session")
}

// UserByEmail returns id, name, password hash and state of a user; ok is false when there is none.
func (s *Store) UserByEmail(ctx context.Context, email string) (u models.User, ok bool, err error) {
	u.Email = email
	err = s.sql.QueryRowContext(ctx, "SELECT user_id, name, password_hash, disabled_at FROM lookup.user_by_email($1)", email).
		Scan(&u.ID, &u.Name, &u.PasswordHash, &u.DisabledAt)
	return u, err == nil, maybe(err, "look up user")
}

// OrgMembership is one of a user's organizations.
type OrgMembership struct {
	OrgID    uuid.UUID
	OrgName  string
	Role     string
	JoinedAt time.Time
}

// MembershipsOf lists a user's organizations by name.
func (s *Store) MembershipsOf(ctx context.Context, user uuid.UUID) ([]OrgMembership, error) {
	var out []OrgMembership
	err := s.db.WithContext(ctx).Raw("SELECT org_id, org_name, role, joined_at FROM lookup.memberships_of(?)", user).Scan(&out).Error
	return out, maybe(err, "look up memberships")
}

// InvitationByHash returns the organization and id of an invitation; ok is false when there is none.
func (s *Store) InvitationByHash(ctx context.Context, hash []byte) (org, id uuid.UUID, ok bool, err error) {
	err = s.sql.QueryRowContext(ctx, "SELECT org_id, invitation_id FROM lookup.invitation($1)", hash).Scan(&org, &id)
	return org, id, err == nil, maybe(err, "look up invitation")
}

// TakeOAuthState removes and returns an authorization in progress, so that it serves once; ok is false when there is none.
func (s *Store) TakeOAuthState(ctx context.Context, hash []byte) (st models.OAuthState, ok bool, err error) {
	st.Hash = hash
	err = s.sql.QueryRowContext(ctx,
		"SELECT org_id, user_id, session_hash, provider, redirect_uri, verifier, expires_at FROM lookup.oauth_state_take($1)", hash).
		Scan(&st.OrgID, &st.UserID, &st.SessionHash, &st.Provider, &st.RedirectURI, &st.Verifier, &st.ExpiresAt)
	return st, err == nil, maybe(err, "take authorization state")
}

// OrgRef is an organization's id and whether it is the system's.
type OrgRef struct {
	OrgID    uuid.UUID
	IsSystem bool
}

// Orgs lists every organization, for work that enters each in turn.
func (s *Store) Orgs(ctx context.Context) ([]OrgRef, error) {
	var out []OrgRef
	err := s.db.WithContext(ctx).Raw("SELECT org_id, is_system FROM lookup.org_ids()").Scan(&out).Error
	return out, maybe(err, "list organizations")
}

// LoginFailures returns how many sign-ins in a row failed for a key and when the last did.
func (s *Store) LoginFailures(ctx context.Context, key []byte) (n int, last time.Time, err error) {
	err = s.sql.QueryRowContext(ctx, "SELECT failures, last_failed_at FROM login_failures WHERE key = $1", key).Scan(&n, &last)
	return n, last, maybe(err, "read failed sign-ins")
}

// CountLoginFailure adds one failed sign-in for a key; after a quarter of an hour without one the row starts anew.
func (s *Store) CountLoginFailure(ctx context.Context, key []byte, at time.Time) error {
	_, err := s.sql.ExecContext(ctx, `INSERT INTO login_failures (key, failures, last_failed_at) VALUES ($1, 1, $2)
		ON CONFLICT (key) DO UPDATE SET last_failed_at = excluded.last_failed_at,
			failures = CASE WHEN login_failures.last_failed_at < excluded.last_failed_at - interval '15 minutes' THEN 1 ELSE login_failures.failures + 1 END`, key, at)
	return maybe(err, "count failed sign-in")
}

// ClearLoginFailures forgets the failed sign-ins of a key, and those older than a day of every key.
func (s *Store) ClearLoginFailures(ctx context.Context, key []byte, now time.Time) error {
	_, err := s.sql.ExecContext(ctx, "DELETE FROM login_failures WHERE key = $1 OR last_failed_at < $2", key, now.Add(-24*time.Hour))
	return maybe(err, "clear failed sign-ins")
}

// maybe names what was being done; a missing row is no error here.
func maybe(err error, doing string) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return unstorable(fmt.Errorf("%s: %w", doing, err))
}
