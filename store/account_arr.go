package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"revarch/models"
)

// ReplaceAccountARR writes the ARR of a batch of accounts, replacing older figures.
func (tx *Tx) ReplaceAccountARR(ctx context.Context, rows []models.AccountARR) error {
	_, err := tx.CopyStaged(ctx, "stage_account_arr", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_account_arr (account_id uuid, arr_cents bigint,
		as_of date) ON COMMIT DELETE ROWS`, []string{"account_id", "arr_cents", "as_of"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			return []any{[16]byte(rows[i].AccountID), rows[i].ARRCents, rows[i].AsOf}, nil
		}))
	if err != nil {
		return err
	}
	err = tx.db.Exec(`INSERT INTO account_arr (org_id, account_id, arr_cents, as_of)
		SELECT ?::uuid, s.account_id, s.arr_cents, s.as_of FROM stage_account_arr s
		ON CONFLICT (org_id, account_id) DO UPDATE SET arr_cents = excluded.arr_cents, as_of = excluded.as_of
		WHERE (account_arr.arr_cents, account_arr.as_of) IS DISTINCT FROM (excluded.arr_cents, excluded.as_of)`, tx.org).Error
	if err != nil {
		return fmt.Errorf("replace account ARR: %w", err)
	}
	return nil
}

// DropAccountARR removes the figures of deleted accounts.
func (tx *Tx) DropAccountARR() error {
	err := tx.db.Exec(`DELETE FROM account_arr r USING accounts a WHERE r.org_id = ? AND a.org_id = r.org_id AND a.id = r.account_id
		AND a.deleted_at IS NOT NULL`, tx.org).Error
	if err != nil {
		return fmt.Errorf("drop ARR of deleted accounts: %w", err)
	}
	return nil
}

// TotalARR is the sum of the accounts' ARR at the last computation.
type TotalARR struct {
	Cents    *int64     // nil: no live account has a figure
	Accounts int64      // live accounts with a figure
	AsOf     *time.Time // the oldest day among them
}

// TotalARR sums the ARR of live accounts; territory "" is all of them.
func (tx *Tx) TotalARR(territory string) (TotalARR, error) {
	var out TotalARR
	q := tx.db.Table("account_arr r").Joins("JOIN accounts a ON a.org_id = r.org_id AND a.id = r.account_id").
		Where("r.org_id = ? AND a.deleted_at IS NULL AND r.arr_cents IS NOT NULL", tx.org)
	if territory != "" {
		q = q.Where("lower(a.territory) = lower(?)", territory)
	}
	err := q.Select("sum(r.arr_cents)::bigint AS cents, count(*) AS accounts, min(r.as_of) AS as_of").Scan(&out).Error
	return out, maybe(err, "sum ARR")
}
