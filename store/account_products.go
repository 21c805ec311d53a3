package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// AccountProductRow is one line of what an account bought.
type AccountProductRow struct {
	ProductID          uuid.UUID
	SKU                *string
	Name               string
	ARRCents           *int64
	Quantity           *float64
	StartDate, EndDate *time.Time
	Owned              bool // it has begun and is not over on the day that was asked for
}

// AccountProducts lists what an account bought, what it owns on a day first.
func (tx *Tx) AccountProducts(ctx context.Context, account uuid.UUID, day time.Time, graceDays, limit int) ([]AccountProductRow, error) {
	var out []AccountProductRow
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT p.product_id, x.sku, x.name, p.arr_cents, p.quantity, p.start_date, p.end_date, coalesce(`+ownedLine+`, false) AS owned
			FROM account_products p JOIN products x ON x.org_id = p.org_id AND x.id = p.product_id
			WHERE p.org_id = $1 AND p.account_id = $4 AND p.deleted_at IS NULL
			ORDER BY owned DESC, x.name, p.start_date DESC NULLS LAST, p.id LIMIT $5`,
			[16]byte(tx.org), day, graceDays, [16]byte(account), limit)
		if err != nil {
			return err
		}
		var r AccountProductRow
		var id [16]byte
		_, err = pgx.ForEachRow(rows, []any{&id, &r.SKU, &r.Name, &r.ARRCents, &r.Quantity, &r.StartDate, &r.EndDate, &r.Owned}, func() error {
			row := r
			row.ProductID = id
			out = append(out, row)
			return nil
		})
		return err
	})
	return out, maybe(err, "list what an account bought")
}
