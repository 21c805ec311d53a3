package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"revarch/fault"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// MigrationStatus is one migration and whether it is applied.
type MigrationStatus struct {
	Version int64
	Name    string
	Applied bool
}

// MigrateUp applies what is missing, as the owner; a session lock serializes several callers. It returns how many ran.
func MigrateUp(ctx context.Context, ownerURL string) (int, error) {
	var n int
	err := withGoose(ctx, ownerURL, func(p *goose.Provider) error {
		done, err := p.Up(ctx)
		n = len(done)
		return err
	})
	return n, err
}

// MigrateDown takes back the newest migration and returns its version, 0 if there was none.
func MigrateDown(ctx context.Context, ownerURL string) (int64, error) {
	var version int64
	err := withGoose(ctx, ownerURL, func(p *goose.Provider) error {
		current, err := p.GetDBVersion(ctx)
		if err != nil || current == 0 {
			return err
		}
		done, err := p.Down(ctx)
		if err == nil {
			version = done.Source.Version
		}
		return err
	})
	return version, err
}

// MigrationsStatus lists all migrations in order.
func MigrationsStatus(ctx context.Context, ownerURL string) ([]MigrationStatus, error) {
	var out []MigrationStatus
	err := withGoose(ctx, ownerURL, func(p *goose.Provider) error {
		all, err := p.Status(ctx)
		for _, m := range all {
			out = append(out, MigrationStatus{Version: m.Source.Version, Name: m.Source.Path, Applied: m.State == goose.StateApplied})
		}
		return err
	})
	return out, err
}

// CheckSchema refuses a schema that is older or newer than the program's.
func (s *Store) CheckSchema(ctx context.Context) error {
	want, err := newestMigration()
	if err != nil {
		return err
	}
	var have int64
	err = s.sql.QueryRowContext(ctx, "SELECT lookup.schema_version()").Scan(&have)
	switch {
	case err != nil:
		return fault.Wrap(err, fault.Conflict, "the database has no RevArch schema; run: revarch migrate up")
	case have < want:
		return fault.New(fault.Conflict, "the database schema is at version %d and this program needs %d; run: revarch migrate up", have, want)
	case have > want:
		return fault.New(fault.Conflict, "the database schema is at version %d, newer than this program's %d; deploy the newer program", have, want)
	}
	return nil
}

func newestMigration() (int64, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("list migrations: %w", err)
	}
	return goose.NumericComponent(names[len(names)-1])
}

func withGoose(ctx context.Context, ownerURL string, fn func(*goose.Provider) error) error {
	cfg, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return fault.New(fault.Invalid, "the owner's database URL cannot be parsed")
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET ROLE revarch_owner") // an administrator migrates in the owner's name
		return err
	}))
	defer func() { _ = db.Close() }()
	p, err := gooseProvider(db)
	if err != nil {
		return err
	}
	if err := fn(p); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

func gooseProvider(db *sql.DB) (*goose.Provider, error) {
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("make migration lock: %w", err)
	}
	return goose.NewProvider(goose.DialectPostgres, db, sub, goose.WithSessionLocker(locker))
}
