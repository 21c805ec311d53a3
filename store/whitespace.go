package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// WhitespaceFilter selects owning accounts; zero fields select all.
type WhitespaceFilter struct {
	Segment, Territory string
	Without            *uuid.UUID // only accounts that do not own this product
	Today              time.Time
	GraceDays          int
}

// where narrows accounts a; its arguments follow those of owning.
func (f WhitespaceFilter) where(tx *Tx) (string, []any) {
	cond, args := "a.org_id = $1 AND a.deleted_at IS NULL", []any{tx.orgArg(), f.Today, f.GraceDays}
	add := func(c string, v any) {
		args = append(args, v)
		cond += fmt.Sprintf(" AND "+c, len(args))
	}
	if f.Segment != "" {
		add("a.segment = $%d", f.Segment)
	}
	if f.Territory != "" {
		add("lower(a.territory) = lower($%d)", f.Territory)
	}
	if f.Without != nil {
		add("NOT EXISTS (SELECT 1 FROM account_products p WHERE p.org_id = $1 AND p.account_id = a.id AND p.product_id = $%d AND "+ownedLine+")", [16]byte(*f.Without))
	}
	return cond, args
}

// CountOwners counts the selected owning accounts, and how many of them own each product.
func (tx *Tx) CountOwners(ctx context.Context, f WhitespaceFilter) (accounts int64, owners map[uuid.UUID]int64, err error) {
	cond, args := f.where(tx)
	owners = map[uuid.UUID]int64{}
	err = tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `WITH owning AS MATERIALIZED (`+fmt.Sprintf(owning, "")+`),
			chosen AS MATERIALIZED (SELECT a.id FROM accounts a JOIN owning o ON o.account_id = a.id WHERE `+cond+`)
			SELECT NULL::uuid, count(*) FROM chosen UNION ALL
			SELECT p.product_id, count(DISTINCT p.account_id) FROM chosen x JOIN account_products p ON p.org_id = $1 AND p.account_id = x.id AND `+ownedLine+`
			GROUP BY p.product_id`, args...)
		if err != nil {
			return fmt.Errorf("count owners: %w", err)
		}
		var id *[16]byte
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
			if id == nil {
				accounts = n
			} else {
				owners[*id] = n
			}
			return nil
		})
		return maybe(err, "count owners")
	})
	return accounts, owners, err
}

// WhitespaceRow is an owning account, the products it owns and its signals that are pending or pitched.
type WhitespaceRow struct {
	ID           uuid.UUID
	Name         string
	Normalized   string
	Segment      *string
	Owned        []uuid.UUID // in order of id, retired ones included
	Live         int64
	LiveARRCents int64
}

// WhitespacePosition is a place in the list of owning accounts: by normalized name, then id.
type WhitespacePosition struct {
	Name string    `json:"n"`
	ID   uuid.UUID `json:"i"`
}

// Whitespace lists up to limit owning accounts after a position, nil for the beginning.
func (tx *Tx) Whitespace(ctx context.Context, f WhitespaceFilter, after *WhitespacePosition, limit int) ([]WhitespaceRow, error) {
	cond, args := f.where(tx)
	if after != nil {
		args = append(args, after.Name, [16]byte(after.ID))
		cond += fmt.Sprintf(" AND a.normalized_name >= $%[1]d AND (a.normalized_name, a.id) > ($%[1]d, $%[2]d)", len(args)-1, len(args))
	}
	var out []WhitespaceRow
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT a.id, a.name, a.normalized_name, a.segment,
			ARRAY(SELECT DISTINCT p.product_id FROM account_products p WHERE p.org_id = $1 AND p.account_id = a.id AND `+ownedLine+` ORDER BY 1),
			(SELECT count(*) FROM expansion_signals s WHERE s.org_id = $1 AND s.account_id = a.id AND s.status IN ('pending', 'pitched')),
			(SELECT coalesce(sum(s.estimated_arr_cents), 0)::bigint FROM expansion_signals s WHERE s.org_id = $1 AND s.account_id = a.id AND s.status IN ('pending', 'pitched'))
			FROM accounts a WHERE `+cond+` AND EXISTS (`+fmt.Sprintf(owning, " AND l.account_id = a.id")+`)
			ORDER BY a.normalized_name, a.id LIMIT `+fmt.Sprint(limit), args...)
		if err != nil {
			return fmt.Errorf("list whitespace: %w", err)
		}
		var r WhitespaceRow
		var id [16]byte
		var owned [][16]byte
		_, err = pgx.ForEachRow(rows, []any{&id, &r.Name, &r.Normalized, &r.Segment, &owned, &r.Live, &r.LiveARRCents}, func() error {
			row := r
			row.ID, row.Owned = id, make([]uuid.UUID, len(owned))
			for i, o := range owned {
				row.Owned[i] = o
			}
			out = append(out, row)
			return nil
		})
		return maybe(err, "list whitespace")
	})
	return out, err
}
