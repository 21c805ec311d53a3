package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"revarch/models"
)

// ImportRow is a row of an imported file whose values have been checked.
type ImportRow struct {
	Line       int64
	ID         uuid.UUID // of the record, should it be new
	Key        string    // external id of the record
	AccountKey string    // external id of the account it refers to, "" for none
	ProductKey string    // sku of the product it refers to, "" for none
	Refused    bool      // something is wrong with it already; its keys are what can be read of them
	Cells      []*string // as PostgreSQL reads them; nil is NULL
}

// ImportState returns how far the file of a run is read; ok is false when nothing is.
func (tx *Tx) ImportState(run uuid.UUID) (st models.Import, ok bool, err error) {
	err = tx.db.Where("org_id = ? AND run_id = ?", tx.org, run).Take(&st).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Import{OrgID: tx.org, RunID: run}, false, nil
	}
	return st, err == nil, maybe(err, "read import")
}

// SaveImport writes how far the file of a run is read.
func (tx *Tx) SaveImport(st models.Import) error {
	st.OrgID = tx.org
	return maybe(tx.db.Save(&st).Error, "save import")
}

var importColumns = []string{"line", "id", "key", "account_key", "product_key", "refused", "cells"}

// StageImport keeps rows of a run's file until they are merged.
func (tx *Tx) StageImport(ctx context.Context, run uuid.UUID, rows []ImportRow) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.CopyStaged(ctx, "stage_import_rows", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_import_rows (line bigint, id uuid, key text,
		account_key text, product_key text, refused boolean, cells text[]) ON COMMIT DELETE ROWS`, importColumns,
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := &rows[i]
			return []any{r.Line, [16]byte(r.ID), r.Key, textOrNil(r.AccountKey), textOrNil(r.ProductKey), r.Refused, r.Cells}, nil
		}))
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	list := strings.Join(importColumns, ", ")
	b.Queue("INSERT INTO import_rows (org_id, run_id, "+list+") SELECT $1, $2, "+list+" FROM stage_import_rows", tx.orgArg(), [16]byte(run))
	b.Queue("TRUNCATE stage_import_rows") // a dry run stages many times in one transaction
	return tx.run(ctx, "stage import", b)
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ImportProblem is a row that does not fit the others or what is stored.
type ImportProblem struct {
	Line int64
	Code string // one of the codes below
}

// The codes of import problems.
const (
	ImportDuplicate        = "duplicate"
	ImportUnknownAccount   = "unknown_account"
	ImportAmbiguousAccount = "ambiguous_account"
	ImportUnknownProduct   = "unknown_product"
	ImportAmbiguousProduct = "ambiguous_product"
	ImportForeignProduct   = "foreign_product"
)

// importTargets resolves what the rows of a run refer to, over all providers; deleted records are not there.
const importTargets = `targets AS MATERIALIZED (
	SELECT l.external_id AS key, (min(l.record_id::text))::uuid AS id, count(DISTINCT l.record_id) AS n FROM record_links l
	JOIN accounts a ON a.org_id = l.org_id AND a.id = l.record_id AND a.deleted_at IS NULL
	WHERE l.org_id = $1 AND l.record_type = 'account'
	AND l.external_id IN (SELECT i.account_key FROM import_rows i WHERE i.org_id = $1 AND i.run_id = $2) GROUP BY 1
), offers AS MATERIALIZED (
	SELECT p.sku AS key, (min(p.id::text))::uuid AS id, count(*) AS n FROM products p WHERE p.org_id = $1 AND p.deleted_at IS NULL
	AND p.sku IN (SELECT i.product_key FROM import_rows i WHERE i.org_id = $1 AND i.run_id = $2) GROUP BY 1
)`

const importProblems = `WITH ` + importTargets + `, found AS (
	SELECT x.line, x.refused, '` + ImportDuplicate + `' AS code FROM (SELECT line, refused, min(line) OVER (PARTITION BY key) AS first FROM import_rows
		WHERE org_id = $1 AND run_id = $2 AND key <> '') x WHERE x.line <> x.first
	UNION ALL
	SELECT i.line, i.refused, CASE WHEN t.n IS NULL THEN '` + ImportUnknownAccount + `' ELSE '` + ImportAmbiguousAccount + `' END
	FROM import_rows i LEFT JOIN targets t ON t.key = i.account_key
	WHERE i.org_id = $1 AND i.run_id = $2 AND i.account_key IS NOT NULL AND t.n IS DISTINCT FROM 1
	UNION ALL
	SELECT i.line, i.refused, CASE WHEN o.n IS NULL THEN '` + ImportUnknownProduct + `' ELSE '` + ImportAmbiguousProduct + `' END
	FROM import_rows i LEFT JOIN offers o ON o.key = i.product_key
	WHERE i.org_id = $1 AND i.run_id = $2 AND i.product_key IS NOT NULL AND o.n IS DISTINCT FROM 1
	UNION ALL
	SELECT DISTINCT i.line, i.refused, '` + ImportForeignProduct + `' FROM import_rows i JOIN products p ON p.org_id = $1 AND p.sku = i.key
	WHERE i.org_id = $1 AND i.run_id = $2 AND $3 AND p.provider <> $4 AND p.deleted_at IS NULL
) SELECT line, code, (SELECT count(DISTINCT line) FROM found WHERE NOT refused) FROM found ORDER BY line, code LIMIT $5`

// ImportProblems lists up to limit rows of a run that cannot be merged, by line, and counts all that were not refused
// before. products tells that the rows are products themselves.
func (tx *Tx) ImportProblems(ctx context.Context, run uuid.UUID, provider models.Provider, products bool, limit int) (out []ImportProblem, bad int64, err error) {
	err = tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, importProblems, tx.orgArg(), [16]byte(run), products, string(provider), limit)
		if err != nil {
			return err
		}
		var p ImportProblem
		_, err = pgx.ForEachRow(rows, []any{&p.Line, &p.Code, &bad}, func() error {
			out = append(out, p)
			return nil
		})
		return err
	})
	return out, bad, maybe(err, "check import")
}

// manyRows is from how many on the rows of an import are joined with whole tables.
const manyRows = 2000

// PlanImport lets the transaction's statements suit the number of rows of an import: staged rows have no statistics.
func (tx *Tx) PlanImport(rows int64) error {
	sql := `SELECT set_config('enable_nestloop', 'off', true), set_config('jit', 'off', true)`
	if rows < manyRows {
		sql = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
			set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true), set_config('jit', 'off', true)`
	}
	return maybe(tx.db.Exec(sql).Error, "plan import")
}

// ImportCell says which canonical column a cell fills, and what stands for an empty one ("" for NULL).
type ImportCell struct {
	Column  string
	Present bool   // the file has it; else records keep what they have
	Default string // an SQL literal
}

// MergeImport makes records of the staged rows of a run, all of them, with what is derived from them as for records of a
// provider. m.Object is the object of their links. The rows have no problems.
func (tx *Tx) MergeImport(ctx context.Context, m Merge, run uuid.UUID, cells []ImportCell) (created, updated, unchanged int64, err error) {
	t, org := tableOf(m.Record), tx.orgArg()
	lock := "records/" + tx.org.String() + "/" + string(m.Provider) + "/" + m.Object
	if err := tx.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", lock).Error; err != nil {
		return 0, 0, 0, fmt.Errorf("lock import: %w", err)
	}
	if err := tx.db.Exec(t.ddl).Error; err != nil { // alone: a batch is prepared as a whole, before the stage is there
		return 0, 0, 0, fmt.Errorf("create staging table: %w", err)
	}
	b := &pgx.Batch{}
	b.Queue(t.importSQL(cells), org, [16]byte(run), string(m.Provider), m.Object)
	b.Queue("ANALYZE " + t.stage)
	if err := tx.run(ctx, "stage import for merging", b); err != nil {
		return 0, 0, 0, err
	}
	var total int64
	if err := tx.db.Raw("SELECT count(*) FROM " + t.stage).Scan(&total).Error; err != nil {
		return 0, 0, 0, fmt.Errorf("count import: %w", err)
	}
	if err := tx.db.Raw("SELECT count(*) FROM " + t.stage + " WHERE record_new").Scan(&created).Error; err != nil {
		return 0, 0, 0, fmt.Errorf("count new records of import: %w", err)
	}
	b = &pgx.Batch{}
	queueCanonical(b, t, m, org, created > 0, total > created, &updated)
	err = tx.run(ctx, "merge import", b)
	return created, updated, total - created - updated, err
}

// importSQL fills the stage from import_rows; it takes org, run, provider and object.
func (t *table) importSQL(cells []ImportCell) string {
	into := []string{"external_id", "record_id", "raw_new", "record_new", "mapped"}
	from := []string{"i.key", "COALESCE(l.record_id, i.id)", "false", "l.record_id IS NULL", "true"}
	for _, l := range t.links {
		into = append(into, l.Column)
		from = append(from, map[models.RecordType]string{models.RecordAccount: "t.id", models.RecordProduct: "o.id"}[l.Record])
	}
	for _, c := range t.columns {
		expr := "a." + c.Name
		at := slices.IndexFunc(cells, func(x ImportCell) bool { return x.Column == c.Name })
		switch {
		case c.Name == toAccount.External && len(t.links) > 0:
			expr = "i.account_key"
		case c.Name == toProduct.External:
			expr = "i.product_key"
		case at >= 0 && cells[at].Present:
			expr = fmt.Sprintf("i.cells[%d]::%s", at+1, c.Type)
		}
		if at >= 0 && cells[at].Default != "" {
			expr = "COALESCE(" + expr + ", " + cells[at].Default + ")"
		}
		into, from = append(into, c.Name), append(from, expr)
	}
	return "WITH " + importTargets + " INSERT INTO " + t.stage + " (" + strings.Join(into, ", ") + ") SELECT " + strings.Join(from, ", ") + `
		FROM import_rows i LEFT JOIN record_links l ON l.org_id = $1 AND l.provider = $3 AND l.object = $4 AND l.external_id = i.key
		LEFT JOIN ` + t.name + ` a ON a.org_id = $1 AND a.id = l.record_id
		LEFT JOIN targets t ON t.key = i.account_key LEFT JOIN offers o ON o.key = i.product_key
		WHERE i.org_id = $1 AND i.run_id = $2`
}

// DropImportRows removes staged rows of a run, those of about n lines at a time; done tells that none is left.
func (tx *Tx) DropImportRows(run uuid.UUID, n int) (done bool, err error) {
	res := tx.db.Exec(`DELETE FROM import_rows WHERE org_id = ? AND run_id = ?
		AND line < (SELECT min(line) FROM import_rows WHERE org_id = ? AND run_id = ?) + ?`, tx.org, run, tx.org, run, n)
	return res.RowsAffected == 0, maybe(res.Error, "drop import rows")
}

// StaleImports lists runs that have ended and whose staged rows are still there.
func (tx *Tx) StaleImports() (out []uuid.UUID, err error) {
	err = tx.db.Raw(`SELECT DISTINCT i.run_id FROM imports i JOIN runs r ON r.org_id = i.org_id AND r.id = i.run_id
		WHERE i.org_id = ? AND r.status NOT IN ('queued', 'running')`, tx.org).Scan(&out).Error
	return out, maybe(err, "list stale imports")
}

// DropImport forgets how far the file of a run was read.
func (tx *Tx) DropImport(run uuid.UUID) error {
	return maybe(tx.db.Exec("DELETE FROM imports WHERE org_id = ? AND run_id = ?", tx.org, run).Error, "drop import")
}
