package affinitytest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/testkit"
)

// CopyTo takes the time of the service role's binary COPY of a query that takes organization, day and grace days.
func CopyTo(tb testing.TB, db testkit.DB, org uuid.UUID, query, day string) time.Duration {
	tb.Helper()
	query = strings.NewReplacer("$1", "'"+org.String()+"'::uuid", "$2", "'"+day+"'", "$3", "90").Replace(query)
	return InOrg(tb, db.Worker, org, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Conn().PgConn().CopyTo(ctx, io.Discard, "COPY ("+query+") TO STDOUT (FORMAT binary)")
		return err
	})
}

// InOrg takes the time of fn in a transaction of an organization, with the settings that streaming has.
func InOrg(tb testing.TB, url string, org uuid.UUID, fn func(context.Context, pgx.Tx) error) time.Duration {
	tb.Helper()
	ctx := tb.Context()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var took time.Duration
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('app.org_id', $1, true), set_config('work_mem', '96MB', true), set_config('jit', 'off', true)", org.String()); err != nil {
			return err
		}
		start := time.Now()
		err := fn(ctx, tx)
		took = time.Since(start)
		return err
	})
	if err != nil {
		tb.Fatalf("measure: %v", err)
	}
	return took
}

// CopyRows takes the time of the owner's COPY of what a table holds into that table once it is empty; the rows are then
// in it once, as before.
func CopyRows(tb testing.TB, db testkit.DB, table string) time.Duration {
	tb.Helper()
	ctx := tb.Context()
	owner, err := pgx.Connect(ctx, db.Owner)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	defer func() { _ = owner.Close(context.WithoutCancel(ctx)) }()
	file, err := os.Create(filepath.Join(tb.TempDir(), table)) // in memory, gigabytes would be in the way of what is measured next
	if err != nil {
		tb.Fatalf("spool: %v", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := owner.PgConn().CopyTo(ctx, file, "COPY "+table+" TO STDOUT (FORMAT binary)"); err != nil {
		tb.Fatalf("copy out: %v", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		tb.Fatalf("spool: %v", err)
	}
	Empty(tb, db, table)
	db.Exec(tb, "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY") // nobody may COPY past a forced policy
	defer db.Exec(tb, "ALTER TABLE "+table+" FORCE ROW LEVEL SECURITY")
	start := time.Now()
	if _, err := owner.PgConn().CopyFrom(ctx, file, "COPY "+table+" FROM STDIN (FORMAT binary)"); err != nil {
		tb.Fatalf("copy in: %v", err)
	}
	return time.Since(start)
}

// Empty leaves nothing in a table, and no writing of former rows to do while something is measured.
func Empty(tb testing.TB, db testkit.DB, table string) {
	tb.Helper()
	db.Exec(tb, "TRUNCATE "+table)
	db.Exec(tb, "CHECKPOINT")
}

// PeakRSS returns the most memory that the process held while fn ran, in MiB: what the system saw, the Go runtime's own
// and this program's baseline included. It needs Linux.
func PeakRSS(tb testing.TB, fn func()) float64 {
	tb.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // starts the high-water mark anew
		tb.Fatalf("reset peak memory: %v", err)
	}
	fn()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatalf("read peak memory: %v", err)
	}
	for l := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(v)[0], 64)
			if err != nil {
				tb.Fatalf("read peak memory: %v", err)
			}
			return kib / 1024
		}
	}
	tb.Fatal("the system does not tell peak memory")
	return 0
}
