package store

import (
	"fmt"
	"time"

	"gorm.io/gorm"
)

// PipelineFilter selects open deals; zero fields select everything.
type PipelineFilter struct {
	Territory  string     // of the deal's account
	Owner      string     // external id
	CloseFrom  *time.Time // first day
	CloseUntil *time.Time // last day; deals without a close date are left out
}

// PipelineGroup sums up the open deals of one forecast category and stage.
type PipelineGroup struct {
	Category    string // as the CRM names it, "" for none
	Stage       string
	Count       int64
	NoAmount    int64  // deals without an amount
	Unweighted  int64  // deals with an amount and without a probability
	Overdue     int64  // deals whose close date has passed
	AmountCents int64  // of deals with an amount
	Weighted    string // sum of amount x probability in cents, exact
}

func (tx *Tx) openDeals(f PipelineFilter) *gorm.DB {
	q := tx.db.Table("opportunities o").Where("o.org_id = ? AND NOT o.is_closed AND o.deleted_at IS NULL", tx.org)
	if f.Territory != "" {
		q = q.Joins("JOIN accounts a ON a.org_id = o.org_id AND a.id = o.account_id").Where("lower(a.territory) = lower(?)", f.Territory)
	}
	if f.Owner != "" {
		q = q.Where("o.owner_external_id = ?", f.Owner)
	}
	if f.CloseFrom != nil {
		q = q.Where("o.close_date >= ?::date", *f.CloseFrom)
	}
	if f.CloseUntil != nil {
		q = q.Where("o.close_date <= ?::date", *f.CloseUntil)
	}
	return q
}

// Pipeline sums up the selected open deals by category and stage, as of a day.
func (tx *Tx) Pipeline(f PipelineFilter, today time.Time) ([]PipelineGroup, error) {
	var out []PipelineGroup
	err := tx.openDeals(f).Select(`coalesce(o.forecast_category, '') AS category, o.stage, count(*) AS count,
		count(*) FILTER (WHERE o.amount_cents IS NULL) AS no_amount,
		count(*) FILTER (WHERE o.amount_cents IS NOT NULL AND o.probability IS NULL) AS unweighted,
		count(*) FILTER (WHERE o.close_date < ?::date) AS overdue, coalesce(sum(o.amount_cents), 0)::bigint AS amount_cents,
		coalesce(sum(o.amount_cents * o.probability::numeric), 0)::text AS weighted`, today).
		Group("1, 2").Order("1, 2").Scan(&out).Error
	return out, maybe(err, "sum up the pipeline")
}

// KnowsDeals reports whether anything can be said about deals: one was ever stored, or a CRM was synced and has none.
func (tx *Tx) KnowsDeals() (bool, error) {
	var known bool
	err := tx.db.Raw(`SELECT EXISTS (SELECT 1 FROM opportunities WHERE org_id = ?)
		OR EXISTS (SELECT 1 FROM connections WHERE org_id = ? AND last_sync_at IS NOT NULL)`, tx.org, tx.org).Row().Scan(&known)
	return known, maybe(err, "look for deals")
}

// CountAtRisk counts live accounts whose risk is at least a composite, and those that have a risk score at all.
func (tx *Tx) CountAtRisk(territory string, from float64) (atRisk, scored int64, err error) {
	q := tx.db.Table("scores s").Joins("JOIN accounts a ON a.org_id = s.org_id AND a.id = s.account_id").
		Where("s.org_id = ? AND s.model = 'risk' AND s.composite IS NOT NULL AND a.deleted_at IS NULL", tx.org)
	if territory != "" {
		q = q.Where("lower(a.territory) = lower(?)", territory)
	}
	row := q.Select("count(*) FILTER (WHERE s.composite >= ?::real), count(*)", from).Row()
	if err := row.Scan(&atRisk, &scored); err != nil {
		return 0, 0, fmt.Errorf("count accounts at risk: %w", err)
	}
	return atRisk, scored, nil
}

// FirstFact returns when the first fact of a feature was learnt, nil when there is none.
func (tx *Tx) FirstFact(feature string) (*time.Time, error) {
	var at *time.Time
	err := tx.db.Raw("SELECT min(known_at) FROM feature_facts WHERE org_id = ? AND feature = ?", tx.org, feature).Row().Scan(&at)
	return at, maybe(err, "look for facts")
}

// factsBefore are the latest facts of a feature that were known at a moment; it takes the organization, the feature and
// the moment.
const factsBefore = `SELECT DISTINCT ON (f.account_id) f.account_id, f.value FROM feature_facts f
	WHERE f.org_id = ? AND f.feature = ? AND f.known_at <= ? ORDER BY f.account_id, f.known_at DESC`

// ARRKnownAt sums the accounts' ARR in cents as it was known at a moment; nil when nothing was known. Accounts that
// have been deleted since are not in it.
func (tx *Tx) ARRKnownAt(territory string, at time.Time) (*int64, error) {
	sql := `SELECT sum(round(f.value * 100))::bigint FROM (` + factsBefore + `) f JOIN accounts a ON a.org_id = ? AND a.id = f.account_id
		WHERE f.value IS NOT NULL AND a.deleted_at IS NULL`
	args := []any{tx.org, "arr", at, tx.org}
	if territory != "" {
		sql, args = sql+" AND lower(a.territory) = lower(?)", append(args, territory)
	}
	var cents *int64
	err := tx.db.Raw(sql, args...).Row().Scan(&cents)
	return cents, maybe(err, "sum ARR as it was known")
}

// Retention sums, over the accounts that had ARR at a moment, what they had then and what they have now, in cents. A
// merged account counts with the one it became, a deleted one has nothing now.
func (tx *Tx) Retention(territory string, since time.Time) (opening, kept, accounts int64, err error) {
	sql := `SELECT coalesce(sum(x.opening), 0)::bigint, coalesce(sum(x.kept), 0)::bigint, count(*) FROM (
		SELECT a.id, sum(round(f.value * 100))::bigint AS opening, coalesce(max(r.arr_cents), 0) AS kept FROM (` + factsBefore + `) f
		JOIN accounts w ON w.org_id = ? AND w.id = f.account_id
		JOIN accounts a ON a.org_id = w.org_id AND a.id = coalesce(w.merged_into, w.id)
		LEFT JOIN account_arr r ON r.org_id = a.org_id AND r.account_id = a.id AND a.deleted_at IS NULL
		WHERE f.value > 0`
	args := []any{tx.org, "arr", since, tx.org}
	if territory != "" {
		sql, args = sql+" AND lower(a.territory) = lower(?)", append(args, territory)
	}
	err = tx.db.Raw(sql+" GROUP BY a.id) x", args...).Row().Scan(&opening, &kept, &accounts)
	return opening, kept, accounts, maybe(err, "compare ARR with a year ago")
}
