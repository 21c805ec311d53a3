// Package store is PostgreSQL: tenancy, migrations, and one file of queries per aggregate. Nothing else imports gorm.
// Only *Tx has query methods and only InOrg makes one, so a query outside an organization does not compile; the few
// look-ups that find an organization before it is known are in lookup.go.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"revarch/fault"
)

// Store is a pool of connections in one of the service's roles.
type Store struct {
	sql *sql.DB
	db  *gorm.DB
}

// Options size the pool.
type Options struct {
	MaxConns int // 0: 16
}

// Open connects to a database URL. It does not migrate.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the database URL cannot be parsed") // the cause holds the password
	}
	pool := stdlib.OpenDB(*cfg)
	if o.MaxConns == 0 {
		o.MaxConns = 16
	}
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close()
		return nil, fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}), &gorm.Config{
		SkipDefaultTransaction: true,
		TranslateError:         false,
		Logger: logger.NewSlogLogger(slog.Default(), logger.Config{
			SlowThreshold: 2 * time.Second, LogLevel: logger.Warn, ParameterizedQueries: true, IgnoreRecordNotFoundError: true,
		}),
	})
	if err != nil {
		_ = pool.Close()
		return nil, fmt.Errorf("open gorm: %w", err)
	}
	return &Store{sql: pool, db: db}, nil
}

// Close ends the pool.
func (s *Store) Close() error { return s.sql.Close() }

// Ping checks that the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.sql.PingContext(ctx) }

// Stats tells the state of the pool, for metrics.
func (s *Store) Stats() sql.DBStats { return s.sql.Stats() }

// Tx is a transaction that sees one organization's rows.
type Tx struct {
	db   *gorm.DB
	conn *sql.Conn
	org  uuid.UUID
}

// Org is the organization the transaction belongs to.
func (tx *Tx) Org() uuid.UUID { return tx.org }

// InOrg runs fn in a transaction that can see one organization's rows. The setting dies with the transaction, so a
// pooled connection cannot carry it on. Make no network call inside. A plan that a migration made invalid is retried once.
func (s *Store) InOrg(ctx context.Context, org uuid.UUID, fn func(*Tx) error) error {
	return s.inOrg(ctx, org, uuid.Nil, fn)
}

// AsUser is InOrg for a person acting on their own user row.
func (s *Store) AsUser(ctx context.Context, org, user uuid.UUID, fn func(*Tx) error) error {
	return s.inOrg(ctx, org, user, fn)
}

func (s *Store) inOrg(ctx context.Context, org, user uuid.UUID, fn func(*Tx) error) error {
	if org == uuid.Nil {
		return fault.New(fault.Internal, "InOrg without an organization")
	}
	err := s.tryInOrg(ctx, org, user, fn)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "0A000" {
		err = s.tryInOrg(ctx, org, user, fn)
	}
	return unstorable(err)
}

// unstorable says what is wrong with a text that PostgreSQL cannot hold: a NUL, or bytes that are not UTF-8.
func unstorable(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "22021" || pg.Code == "22P05") {
		return fault.Wrap(err, fault.Invalid, "a text holds a character that cannot be stored: a NUL, or bytes that are not UTF-8")
	}
	return err
}

func (s *Store) tryInOrg(ctx context.Context, org, user uuid.UUID, fn func(*Tx) error) error {
	conn, err := s.sql.Conn(ctx)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	defer func() { _ = conn.Close() }()
	session := s.db.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = conn
	return session.Transaction(func(db *gorm.DB) error {
		userSetting := ""
		if user != uuid.Nil {
			userSetting = user.String()
		}
		if err := db.Exec("SELECT set_config('app.org_id', ?, true), set_config('app.user_id', ?, true)", org.String(), userSetting).Error; err != nil {
			return fmt.Errorf("scope transaction: %w", err)
		}
		return fn(&Tx{db: db, conn: conn, org: org})
	})
}

// CopyStaged streams rows into a temporary table by COPY inside the transaction; ddl makes the table when the
// connection does not have it yet and must say ON COMMIT DELETE ROWS. Row-level security forbids COPY into tenant
// tables, so callers merge set-based from here.
func (tx *Tx) CopyStaged(ctx context.Context, table, ddl string, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := tx.db.Exec(ddl).Error; err != nil {
		return 0, fmt.Errorf("create staging table %s: %w", table, err)
	}
	var n int64
	err := tx.conn.Raw(func(dc any) error {
		c, ok := dc.(*stdlib.Conn)
		if !ok {
			return fault.New(fault.Internal, "COPY needs pgx")
		}
		var err error
		n, err = c.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, rows)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("copy into %s: %w", table, err)
	}
	return n, nil
}

// notFound turns gorm's missing row into a NotFound fault with the given text.
func notFound(err error, format string, args ...any) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return fault.New(fault.NotFound, format, args...)
	}
	return err
}

// isUnique reports whether err is a violation of a unique constraint.
func isUnique(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505"
}
