package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"revarch/models"
	"revarch/services/runs"
)

// benchSync syncs at a tenth and at the whole size and compares the whole with COPY of the same rows.
func benchSync(ctx context.Context, binary string, accounts int) ([]row, error) {
	small, err := syncOnce(ctx, binary, accounts/10)
	if err != nil {
		return nil, err
	}
	large, err := syncOnce(ctx, binary, accounts)
	if err != nil {
		return nil, err
	}
	r := row{
		Work:  fmt.Sprintf("sync of %d accounts + contacts (%d records) from the loopback sandbox", accounts, large.records),
		Floor: "COPY of the same raw and canonical rows into the same tables and indexes", Took: large.took, FloorTook: large.copied, Limit: 4,
		Rows: large.records, Exponent: math.Log10(large.took.Seconds()/small.took.Seconds()) / math.Log10(float64(large.records)/float64(small.records)),
	}
	r.Ratio = large.took.Seconds() / large.copied.Seconds()
	r.Notes = []string{
		fmt.Sprintf("a tenth of it (%d records): %s, so cost grows with rows to the power of %.2f", small.records, small.took.Round(time.Millisecond), r.Exponent),
		fmt.Sprintf("largest resident memory of the worker: %d MiB at a tenth, %d MiB at the whole", small.workerMiB, large.workerMiB),
		fmt.Sprintf("the run as a person sees it, with discovery, links and scoring: %s", large.run.Round(time.Millisecond)),
		fmt.Sprintf("%.0f records per second", float64(large.records)/large.took.Seconds()),
	}
	return []row{r}, nil
}

type syncResult struct {
	records           int64
	took, run, copied time.Duration
	workerMiB         int64
}

func syncOnce(ctx context.Context, binary string, accounts int) (syncResult, error) {
	var res syncResult
	s, err := startStack(ctx, binary, accounts)
	if err != nil {
		return res, err
	}
	defer s.stop()
	if err := s.connect(ctx); err != nil {
		return res, err
	}
	if err := s.keepObjects(ctx, "Account", "Contact"); err != nil {
		return res, err
	}
	var started struct {
		Run runs.View `json:"run"`
	}
	if err := s.call(ctx, http.MethodPost, "/api/connectors/crm_a/sync", map[string]string{}, &started); err != nil {
		return res, err
	}
	run, begun := started.Run, time.Now()
	err = until(ctx, 20*time.Minute, func() bool {
		res.workerMiB = max(res.workerMiB, s.workerMiB())
		if e := s.call(ctx, http.MethodGet, "/api/runs/"+run.ID.String(), nil, &run); e != nil {
			return false
		}
		if res.took == 0 && (run.Phase == "scoring" || run.Phase == "matching" || !run.Status.Live()) {
			res.took = time.Since(begun) // the records are in; what follows is another row's work
		}
		return !run.Status.Live()
	})
	if err != nil || run.Status != "succeeded" {
		return res, fmt.Errorf("sync ended %s: %w", run.Status, err)
	}
	res.run, res.records = time.Since(begun), run.Counts["read"]
	url, err := s.superuser()
	if err != nil {
		return res, err
	}
	res.copied, err = copyFloor(ctx, url, "raw_records", "accounts", "contacts")
	return res, err
}

// keepObjects leaves the mapping of some objects only: what nothing maps is not synced.
func (s *stack) keepObjects(ctx context.Context, objects ...string) error {
	var set struct {
		Version  int64                 `json:"version"`
		Mappings []models.FieldMapping `json:"mappings"`
	}
	if err := s.call(ctx, http.MethodGet, "/api/connectors/crm_a/mappings", nil, &set); err != nil {
		return err
	}
	set.Mappings = slices.DeleteFunc(set.Mappings, func(m models.FieldMapping) bool { return !slices.Contains(objects, m.Object) })
	s.ifMatch = fmt.Sprintf("%q", strconv.FormatInt(set.Version, 10))
	defer func() { s.ifMatch = "" }()
	return s.call(ctx, http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": set.Mappings}, nil)
}

// workerMiB is the resident memory of the stack's worker.
func (s *stack) workerMiB() int64 {
	raw, err := os.ReadFile(filepath.Join(s.dir, "data", "run", "worker.pid"))
	if err != nil {
		return 0
	}
	pid := strings.FieldsFunc(string(raw), func(r rune) bool { return r < '0' || r > '9' })
	if len(pid) == 0 {
		return 0
	}
	status, err := os.ReadFile(filepath.Join("/proc", pid[0], "status")) //nolint:gosec // G703: digits only
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			return kb / 1024
		}
	}
	return 0
}

// copyFloor copies the rows of tables out and times COPY of them into empty twins with the same indexes and keys.
func copyFloor(ctx context.Context, url string, tables ...string) (time.Duration, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
	if err := exec("CREATE SCHEMA floor"); err != nil {
		return 0, err
	}
	var took time.Duration
	for _, t := range tables {
		var data bytes.Buffer
		if _, err := conn.PgConn().CopyTo(ctx, &data, "COPY public."+t+" TO STDOUT (FORMAT binary)"); err != nil {
			return 0, err
		}
		if err := exec(fmt.Sprintf("CREATE TABLE floor.%s (LIKE public.%s INCLUDING ALL)", t, t)); err != nil {
			return 0, err
		}
		if err := copyKeys(ctx, conn, t); err != nil {
			return 0, err
		}
		begun := time.Now()
		var tag pgconn.CommandTag
		if tag, err = conn.PgConn().CopyFrom(ctx, &data, "COPY floor."+t+" FROM STDIN (FORMAT binary)"); err != nil {
			return 0, err
		}
		took += time.Since(begun)
		if tag.RowsAffected() == 0 {
			return 0, fmt.Errorf("%s is empty: there is nothing to compare with", t)
		}
	}
	return took, exec("DROP SCHEMA floor CASCADE")
}

// copyKeys gives a twin the foreign keys of its table.
func copyKeys(ctx context.Context, conn *pgx.Conn, table string) error {
	rows, err := conn.Query(ctx, `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = ('public.' || $1)::regclass`, table)
	if err != nil {
		return err
	}
	defs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, d := range defs {
		if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE floor.%s ADD %s", table, d)); err != nil {
			return err
		}
	}
	return nil
}
