package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/models"
)

// ActiveProducts lists the products that are sold, by id.
func (tx *Tx) ActiveProducts() ([]models.Product, error) {
	var out []models.Product
	err := tx.db.Where("org_id = ? AND active AND deleted_at IS NULL", tx.org).Order("id").Find(&out).Error
	return out, maybe(err, "load active products")
}

// ProductsByID returns products by id, retired and deleted ones too.
func (tx *Tx) ProductsByID(ids []uuid.UUID) (map[uuid.UUID]models.Product, error) {
	var rows []models.Product
	if len(ids) > 0 {
		if err := tx.db.Where("org_id = ? AND id IN ?", tx.org, ids).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("load products: %w", err)
		}
	}
	out := make(map[uuid.UUID]models.Product, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}

// AffinityMatrix returns what the stored matrix was computed from; ok is false when none was ever computed.
func (tx *Tx) AffinityMatrix() (m models.AffinityMatrix, ok bool, err error) {
	res := tx.db.Where("org_id = ?", tx.org).Limit(1).Find(&m)
	return m, res.RowsAffected == 1, maybe(res.Error, "load affinity matrix")
}

var affinityColumns = []string{
	"scope", "product_a", "product_b", "n", "n_a", "n_b", "n_ab", "first_a", "first_b", "same_day", "bundled",
	"method", "significant_ab", "significant_ba", "p", "q", "cross_ab", "cross_ba",
}

// ReplaceAffinity puts a matrix and its entries in the place of the organization's former ones. Two computations at a
// time follow each other.
func (tx *Tx) ReplaceAffinity(ctx context.Context, m models.AffinityMatrix, entries int, entry func(i int) models.AffinityEntry) error {
	if err := tx.lockExpansion(ctx); err != nil {
		return err
	}
	_, err := tx.CopyStaged(ctx, "stage_affinity", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_affinity (scope int2, product_a uuid, product_b uuid,
		n int8, n_a int8, n_b int8, n_ab int8, first_a int8, first_b int8, same_day int8, bundled int8, method int2, significant_ab boolean,
		significant_ba boolean, p float8, q float8, cross_ab float8, cross_ba float8) ON COMMIT DELETE ROWS`, affinityColumns, &affinitySource{n: entries, entry: entry})
	if err != nil {
		return err
	}
	b, org := &pgx.Batch{}, tx.orgArg()
	b.Queue("DELETE FROM affinity_entries WHERE org_id = $1", org)
	b.Queue(`INSERT INTO affinity_matrices (org_id, run_id, computed_at, as_of, products, accounts, records) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org_id) DO UPDATE SET run_id = excluded.run_id, computed_at = excluded.computed_at, as_of = excluded.as_of,
		products = excluded.products, accounts = excluded.accounts, records = excluded.records`,
		org, [16]byte(m.RunID), m.ComputedAt, m.AsOf, m.Products, m.Accounts, m.Records)
	b.Queue(`INSERT INTO affinity_entries (org_id, scope, product_a, product_b, n, n_a, n_b, n_ab, first_a, first_b, same_day, bundled,
		method, significant_ab, significant_ba, p, q, cross_ab, cross_ba) SELECT $1, s.* FROM stage_affinity s`, org)
	return tx.run(ctx, "replace affinity matrix", b)
}

// lockExpansion makes the transaction the only one of the organization that replaces affinity entries or signals.
func (tx *Tx) lockExpansion(ctx context.Context) error {
	return tx.pgx(func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "expansion/"+tx.org.String())
		return err
	})
}

// affinitySource feeds COPY without a copy of all entries.
type affinitySource struct {
	n, next int
	entry   func(int) models.AffinityEntry
	buf     []any
}

// Next moves to the next entry.
func (s *affinitySource) Next() bool { s.next++; return s.next <= s.n }

// Err is nil: entries come from memory.
func (s *affinitySource) Err() error { return nil }

// Values returns the entry in the order of affinityColumns.
func (s *affinitySource) Values() ([]any, error) {
	e := s.entry(s.next - 1)
	s.buf = append(s.buf[:0], e.Scope, [16]byte(e.ProductA), [16]byte(e.ProductB), e.N, e.NA, e.NB, e.NAB, e.FirstA, e.FirstB, e.SameDay, e.Bundled,
		e.Method, e.SignificantAB, e.SignificantBA, e.P, e.Q, e.CrossAB, e.CrossBA)
	return s.buf, nil
}

// AffinityFilter selects entries; zero fields select everything.
type AffinityFilter struct {
	Scope       *int16
	ProductID   *uuid.UUID
	MinLift     float64
	Significant *bool // in either direction
	IncludeZero bool  // pairs that nobody owns together, too
}

// EachAffinityEntry calls fn with every selected entry, by scope and products. The entry belongs to the call.
func (tx *Tx) EachAffinityEntry(ctx context.Context, f AffinityFilter, fn func(*models.AffinityEntry) error) error {
	where, args := "org_id = $1", []any{tx.orgArg()}
	add := func(cond string, v any) {
		args = append(args, v)
		where += fmt.Sprintf(" AND "+cond, len(args))
	}
	if f.Scope != nil {
		add("scope = $%d", *f.Scope)
	}
	if f.ProductID != nil {
		add("$%[1]d IN (product_a, product_b)", [16]byte(*f.ProductID))
	}
	if f.MinLift > 0 {
		add("n_a > 0 AND n_b > 0 AND n::float8 * n_ab::float8 / (n_a::float8 * n_b::float8) >= $%d", f.MinLift)
	}
	if f.Significant != nil {
		if *f.Significant {
			where += " AND (significant_ab OR significant_ba)"
		} else {
			where += " AND NOT (significant_ab AND significant_ba)"
		}
	}
	if !f.IncludeZero {
		where += " AND n_ab > 0"
	}
	return tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT scope, product_a, product_b, n, n_a, n_b, n_ab, first_a, first_b, same_day, bundled, method,
			significant_ab, significant_ba, p, q, cross_ab, cross_ba FROM affinity_entries WHERE `+where+" ORDER BY scope, product_a, product_b", args...)
		if err != nil {
			return fmt.Errorf("load affinity entries: %w", err)
		}
		defer rows.Close()
		var e models.AffinityEntry
		for rows.Next() {
			err := rows.Scan(&e.Scope, (*[16]byte)(&e.ProductA), (*[16]byte)(&e.ProductB), &e.N, &e.NA, &e.NB, &e.NAB, &e.FirstA, &e.FirstB, &e.SameDay, &e.Bundled,
				&e.Method, &e.SignificantAB, &e.SignificantBA, &e.P, &e.Q, &e.CrossAB, &e.CrossBA)
			if err == nil {
				err = fn(&e)
			}
			if err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
