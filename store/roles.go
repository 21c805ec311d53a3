package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"revarch/fault"
)

// RolePasswords are the passwords of the roles that log in; an empty one leaves the role's password as it is.
type RolePasswords struct{ Owner, App, Worker string }

// EnsureRoles creates the four roles when they are missing and makes the database the owner's. Roles belong to the
// whole cluster, so this is no migration; an advisory lock serializes it. adminURL needs CREATEROLE.
func EnsureRoles(ctx context.Context, adminURL string, pw RolePasswords) error {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connect as database administrator: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('revarch.roles'))"); err != nil {
		return fmt.Errorf("lock roles: %w", err)
	}
	for _, r := range []struct{ name, login, password string }{
		{"revarch_owner", "LOGIN", pw.Owner},
		{"revarch_app", "LOGIN", pw.App},
		{"revarch_worker", "LOGIN", pw.Worker},
		{"revarch_lookup", "NOLOGIN", ""},
	} {
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)", r.name).Scan(&exists); err != nil {
			return fmt.Errorf("look for role %s: %w", r.name, err)
		}
		if !exists {
			if _, err := tx.Exec(ctx, fmt.Sprintf("CREATE ROLE %s %s NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE", r.name, r.login)); err != nil {
				return fmt.Errorf("create role %s: %w", r.name, err)
			}
		}
		if r.password != "" {
			if _, err := tx.Exec(ctx, fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", r.name, strings.ReplaceAll(r.password, "'", "''"))); err != nil {
				return fmt.Errorf("set the password of role %s", r.name) // the cause quotes the statement
			}
		}
	}
	var db string
	if err := tx.QueryRow(ctx, "SELECT current_database()").Scan(&db); err != nil {
		return fmt.Errorf("read database name: %w", err)
	}
	for _, stmt := range []string{
		"GRANT revarch_lookup TO revarch_owner",
		"GRANT revarch_owner TO CURRENT_USER",
		"ALTER DATABASE " + pgx.Identifier{db}.Sanitize() + " OWNER TO revarch_owner",
		"GRANT CONNECT ON DATABASE " + pgx.Identifier{db}.Sanitize() + " TO revarch_app, revarch_worker",
		"GRANT TEMPORARY ON DATABASE " + pgx.Identifier{db}.Sanitize() + " TO revarch_app, revarch_worker",
		"ALTER SCHEMA public OWNER TO revarch_owner",
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC",
	} {
		if _, err := tx.Exec(ctx, stmt); err != nil {
			return fmt.Errorf("prepare roles: %w", err)
		}
	}
	return tx.Commit(ctx)
}

// EnsureRolesIfAllowed is EnsureRoles without passwords when the role of the URL may create roles; otherwise it only
// checks that the roles are there.
func EnsureRolesIfAllowed(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	var may bool
	var have int
	err = conn.QueryRow(ctx, `SELECT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user),
		(SELECT count(*) FROM pg_roles WHERE rolname IN ('revarch_owner', 'revarch_app', 'revarch_worker', 'revarch_lookup'))`).Scan(&may, &have)
	_ = conn.Close(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("look at roles: %w", err)
	case may:
		return EnsureRoles(ctx, url, RolePasswords{})
	case have < 4:
		return fault.New(fault.Conflict, "the database roles are missing; run revarch migrate up once with a role that may create roles")
	}
	return nil
}
