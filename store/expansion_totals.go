package store

import (
	"fmt"

	"github.com/google/uuid"

	"revarch/models"
)

// SignalGroup sums up the signals of a product and status.
type SignalGroup struct {
	ProductID         uuid.UUID
	Status            string
	Count, Unpriced   int64
	EstimatedARRCents int64 `gorm:"column:estimated_arr_cents"`
	ExpectedARRCents  int64 `gorm:"column:expected_arr_cents"`
}

const signalSums = `count(*) AS count, count(*) FILTER (WHERE s.estimated_arr_cents IS NULL) AS unpriced,
	coalesce(sum(s.estimated_arr_cents), 0)::bigint AS estimated_arr_cents, coalesce(sum(s.expected_arr_cents), 0)::bigint AS expected_arr_cents`

// SignalGroups sums up the selected signals; of the filter, status and min_priority do not count. Without a segment, a
// territory and an account that is a look at the kept sums.
func (tx *Tx) SignalGroups(f SignalFilter) ([]SignalGroup, error) {
	q := tx.db.Table("expansion_totals s").Where("s.org_id = ? AND s.count <> 0", tx.org).
		Select("s.product_id, s.status, s.count, s.unpriced, s.estimated_arr_cents, s.expected_arr_cents")
	if f.Segment != "" || f.Territory != "" || f.AccountID != nil {
		q = tx.db.Table("expansion_signals s").Where("s.org_id = ?", tx.org).Select("s.product_id, s.status, " + signalSums).Group("s.product_id, s.status")
	}
	if f.Segment != "" || f.Territory != "" {
		q = q.Joins("JOIN accounts a ON a.org_id = s.org_id AND a.id = s.account_id")
	}
	if f.Segment != "" {
		q = q.Where("a.segment = ?", f.Segment)
	}
	if f.Territory != "" {
		q = q.Where("lower(a.territory) = lower(?)", f.Territory)
	}
	if f.AccountID != nil {
		q = q.Where("s.account_id = ?", *f.AccountID)
	}
	if f.ProductID != nil {
		q = q.Where("s.product_id = ?", *f.ProductID)
	}
	var out []SignalGroup
	err := q.Order("s.product_id, s.status").Scan(&out).Error
	return out, maybe(err, "sum up expansion signals")
}

// lockTotals is the last lock that a writer of signals takes, after all rows it changes: moves beside each other, a
// regeneration alone. It then sees the moves that were before it, and those after it see what it summed up.
func (tx *Tx) lockTotals(alone bool) error {
	lock := "pg_advisory_xact_lock_shared"
	if alone {
		lock = "pg_advisory_xact_lock"
	}
	return maybe(tx.db.Exec("SELECT "+lock+"(hashtextextended(?, 0))", "expansion totals/"+tx.org.String()).Error, "lock totals of signals")
}

// replaceTotals sums up the organization's signals anew.
func (tx *Tx) replaceTotals() error {
	if err := tx.lockTotals(true); err != nil {
		return err
	}
	if err := tx.db.Exec("DELETE FROM expansion_totals WHERE org_id = ?", tx.org).Error; err != nil {
		return fmt.Errorf("remove totals of signals: %w", err)
	}
	err := tx.db.Exec(`INSERT INTO expansion_totals (org_id, product_id, status, count, unpriced, estimated_arr_cents, expected_arr_cents)
		SELECT s.org_id, s.product_id, s.status, `+signalSums+` FROM expansion_signals s WHERE s.org_id = ? GROUP BY s.org_id, s.product_id, s.status`, tx.org).Error
	return maybe(err, "sum up expansion signals")
}

// moveTotals takes a signal out of the sums of the status it had and into those of the one it has. The rows are taken in
// the order of their names, so that moves there and back do not wait for each other.
func (tx *Tx) moveTotals(from string, s *models.ExpansionSignal) error {
	if from == s.Status {
		return nil
	}
	if err := tx.lockTotals(false); err != nil {
		return err
	}
	err := tx.db.Exec(`INSERT INTO expansion_totals AS t (org_id, product_id, status, count, unpriced, estimated_arr_cents, expected_arr_cents)
		SELECT ?::uuid, ?::uuid, m.status, m.n, CASE WHEN m.arr IS NULL THEN m.n ELSE 0 END, m.n * coalesce(m.arr, 0), m.n * coalesce(m.expected, 0)
		FROM (SELECT v.status, v.n, ?::bigint AS arr, ?::bigint AS expected FROM (VALUES (?::text, -1::bigint), (?::text, 1::bigint)) v (status, n)) m ORDER BY m.status
		ON CONFLICT (org_id, product_id, status) DO UPDATE SET count = t.count + excluded.count, unpriced = t.unpriced + excluded.unpriced,
		estimated_arr_cents = t.estimated_arr_cents + excluded.estimated_arr_cents, expected_arr_cents = t.expected_arr_cents + excluded.expected_arr_cents`,
		tx.org, s.ProductID, s.EstimatedARRCents, s.ExpectedARRCents, from, s.Status).Error
	return maybe(err, "move totals of signals")
}
