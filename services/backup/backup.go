package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"revarch/fault"
)

// Source is what a backup copies.
type Source struct {
	OwnerURL string   // of revarch_owner, or of a role that may become it
	Keyset   string   // the keyset file; "" for a backup without one
	BinDirs  []string // where pg_dump is looked for first
	Program  string   // version of this program
	Clock    func() time.Time
}

// Write copies an installation into a new file with mode 0600. Nothing is left of a copy that fails. Faults: Conflict for
// a file that exists, a keyset that was rotated meanwhile, or a table whose rows the owner cannot see; NotFound for a
// missing keyset; Unavailable without a fitting pg_dump or a database.
func Write(ctx context.Context, path string, src Source) (m Manifest, err error) {
	keyset, err := src.readKeyset()
	if err != nil {
		return m, err
	}
	m = Manifest{Format: archiveFormat, Program: src.Program, CreatedAt: src.Clock().UTC()}
	tool, err := src.inspect(ctx, &m)
	if err != nil {
		return m, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return m, fault.New(fault.Conflict, "%s exists already: name another file", path)
	}
	if err != nil {
		return m, fmt.Errorf("make backup file: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(path)
		}
	}()
	dump, err := appendMember(f, dumpName, m.CreatedAt, func(w io.Writer) error {
		// The owner's own policies let it read everything; without the flag pg_dump refuses every table that has any.
		return runTool(ctx, src.OwnerURL, tool, []string{"--format=custom", "--enable-row-security", "--role=revarch_owner", "--lock-wait-timeout=60s"},
			func(cmd *exec.Cmd) { cmd.Stdout = w })
	})
	if err != nil {
		return m, fmt.Errorf("dump database: %w", err)
	}
	m.Files = append(m.Files, dump)
	if keyset != nil {
		if now, err := src.readKeyset(); err != nil || !bytes.Equal(now, keyset) {
			return m, errors.Join(err, fault.New(fault.Conflict, "the keyset was rotated while the backup was made: make it again"))
		}
		file, err := appendMember(f, keysetName, m.CreatedAt, func(w io.Writer) error {
			_, err := w.Write(keyset)
			return err
		})
		if err != nil {
			return m, fmt.Errorf("add keyset: %w", err)
		}
		m.Files = append(m.Files, file)
	}
	if err := finish(f, m); err != nil {
		return m, fmt.Errorf("finish backup: %w", err)
	}
	return m, nil
}

func (src Source) readKeyset() ([]byte, error) {
	if src.Keyset == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(src.Keyset)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no keyset at %s: without it the stored grants of a copy cannot be read", src.Keyset)
	}
	if err != nil {
		return nil, fmt.Errorf("read keyset: %w", err)
	}
	return raw, nil
}

// inspect looks at the database before it is dumped and chooses the tool.
func (src Source) inspect(ctx context.Context, m *Manifest) (Tool, error) {
	conn, err := connect(ctx, src.OwnerURL)
	if err != nil {
		return Tool{}, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if m.PostgreSQL, err = serverMajor(ctx, conn); err != nil {
		return Tool{}, fmt.Errorf("read server version: %w", err)
	}
	if err := conn.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&m.SchemaVersion); err != nil {
		return Tool{}, fault.Wrap(err, fault.Conflict, "the database has no RevArch schema: there is nothing to back up")
	}
	hidden, err := names(ctx, conn, hiddenTables)
	if err != nil {
		return Tool{}, fmt.Errorf("look at policies: %w", err)
	}
	if len(hidden) > 0 {
		return Tool{}, fault.New(fault.Conflict, "a policy keeps rows from the owner in %s: the backup would lack them", few(hidden))
	}
	tool, err := ChooseTool("pg_dump", Tools(ctx, "pg_dump", src.BinDirs...), m.PostgreSQL)
	m.PgDump = tool.Major
	return tool, err
}
