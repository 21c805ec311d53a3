package testkit

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/devstack"
	"revarch/models"
	"revarch/store"
)

// Product is the schema of the product: its roles and all its migrations.
func Product(tb testing.TB) Schema {
	tb.Helper()
	key, err := store.SchemaKey()
	if err != nil {
		tb.Fatalf("key of the schema: %v", err)
	}
	return Schema{Key: "product-" + key, Apply: func(ctx context.Context, urls devstack.URLs) error {
		pw := Passwords()
		if err := store.EnsureRoles(ctx, urls.Superuser, store.RolePasswords{Owner: pw.Owner, App: pw.App, Worker: pw.Worker}); err != nil {
			return err
		}
		_, err := store.MigrateUp(ctx, urls.Owner)
		return err
	}}
}

// OpenStore opens a store on a database URL and closes it when the test ends.
func OpenStore(tb testing.TB, url string, conns int) *store.Store {
	tb.Helper()
	st, err := store.Open(tb.Context(), url, store.Options{MaxConns: conns})
	if err != nil {
		tb.Fatalf("open store: %v", err)
	}
	tb.Cleanup(func() { _ = st.Close() })
	return st
}

// NewOrg makes an organization in a database of the product.
func (db DB) NewOrg(tb testing.TB, name string) uuid.UUID {
	tb.Helper()
	org := models.NewID()
	db.Exec(tb, "INSERT INTO orgs (id, name) VALUES ($1, $2)", org, name)
	return org
}

// Exec runs a statement as the superuser, past every policy.
func (db DB) Exec(tb testing.TB, sql string, args ...any) {
	tb.Helper()
	db.admin(tb, func(conn *pgx.Conn) error {
		_, err := conn.Exec(tb.Context(), sql, args...)
		return err
	})
}

// Count returns the number that a query answers, past every policy.
func (db DB) Count(tb testing.TB, sql string, args ...any) (n int64) {
	tb.Helper()
	db.admin(tb, func(conn *pgx.Conn) error { return conn.QueryRow(tb.Context(), sql, args...).Scan(&n) })
	return n
}

func (db DB) admin(tb testing.TB, fn func(*pgx.Conn) error) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), db.Superuser)
	if err != nil {
		tb.Fatalf("connect to test database: %v", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(tb.Context())) }()
	if err := fn(conn); err != nil {
		tb.Fatalf("test database: %v", err)
	}
}
