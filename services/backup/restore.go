package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"revarch/fault"
	"revarch/store"
)

// Target is where a backup is restored to.
type Target struct {
	OwnerURL  string              // of revarch_owner, or of a role that may become it
	AdminURL  string              // of a role that may create roles; "" means OwnerURL's
	Passwords store.RolePasswords // given to the roles; empty ones are left alone
	Keyset    string              // where the keyset goes; "" leaves it in the backup
	BinDirs   []string            // where pg_restore is looked for first
	Force     bool                // drop what the database holds of ours
}

// Restore checks the whole file first, then creates the roles and restores the database in one transaction, then puts the
// keyset in place. A refusal changes nothing. Faults: BadFile for a file that is none of ours or damaged; Conflict for a
// database that is not empty, another keyset in place, or a backup newer than this program.
func Restore(ctx context.Context, path string, to Target) (Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("open backup: %w", err)
	}
	defer func() { _ = f.Close() }()
	a, err := verify(f)
	if err != nil {
		return a.manifest, err
	}
	ours, err := store.ProgramSchema()
	if err != nil {
		return a.manifest, err
	}
	if a.manifest.SchemaVersion > ours {
		return a.manifest, fault.New(fault.Conflict, "the backup has schema version %d and this program knows %d: restore with the newer program", a.manifest.SchemaVersion, ours)
	}
	keyset, err := to.planKeyset(a.keyset)
	if err != nil {
		return a.manifest, err
	}
	tool, err := ChooseTool("pg_restore", Tools(ctx, "pg_restore", to.BinDirs...), a.manifest.PgDump)
	if err != nil {
		return a.manifest, err
	}
	if err := to.prepare(ctx); err != nil {
		return a.manifest, err
	}
	if err := to.load(ctx, a, tool); err != nil {
		return a.manifest, fmt.Errorf("restore database: %w", err)
	}
	return a.manifest, keyset()
}

// prepare creates the roles and sees to it that the database is empty.
func (to Target) prepare(ctx context.Context) error {
	if to.AdminURL != "" {
		if err := store.EnsureRoles(ctx, to.AdminURL, to.Passwords); err != nil {
			return err
		}
	} else if err := store.EnsureRolesIfAllowed(ctx, to.OwnerURL); err != nil {
		return err
	}
	conn, err := connect(ctx, to.OwnerURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	have, err := names(ctx, conn, ourObjects)
	if err != nil {
		return fmt.Errorf("look into the database: %w", err)
	}
	switch {
	case len(have) == 0:
		return nil
	case !to.Force:
		return fault.New(fault.Conflict, "the database is not empty (%s): restore into an empty one, or drop what it holds with --force", few(have))
	}
	if err := clearDatabase(ctx, conn); err != nil {
		return fmt.Errorf("empty the database: %w", err)
	}
	return nil
}

// load fills the empty database in one transaction.
func (to Target) load(ctx context.Context, a archive, tool Tool) error {
	err := runTool(ctx, to.OwnerURL, tool, []string{"--role=revarch_owner", "--no-owner", "--exit-on-error", "--single-transaction"},
		func(cmd *exec.Cmd) { cmd.Stdin = a.dump })
	if err != nil {
		return err
	}
	conn, err := connect(ctx, to.OwnerURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, giveFunctions); err != nil {
			return fmt.Errorf("hand over look-up functions: %w", err)
		}
		_, err := tx.Exec(ctx, "ANALYZE")
		return err
	})
}

// planKeyset says what is to be done about the keyset, and refuses to replace another one: what it sealed would be lost.
func (to Target) planKeyset(saved []byte) (func() error, error) {
	nothing := func() error { return nil }
	if to.Keyset == "" || saved == nil {
		return nothing, nil
	}
	there, err := os.ReadFile(to.Keyset)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() error { return placeKeyset(to.Keyset, saved) }, nil
	case err != nil:
		return nil, fmt.Errorf("read keyset: %w", err)
	case !bytes.Equal(there, saved):
		return nil, fault.New(fault.Conflict, "%s holds another keyset than the backup: move it away first, and keep it as long as anything is sealed with it", to.Keyset)
	}
	return nothing, nil
}

func placeKeyset(path string, body []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("place keyset: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("place keyset: %w", err)
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("place keyset: %w", err)
	}
	return nil
}
