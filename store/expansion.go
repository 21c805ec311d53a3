package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"revarch/fault"
	"revarch/models"
)

// computed are the columns of a signal that a regeneration sets.
const computed = "place, priority, priority_basis, probability, estimated_arr_cents, expected_arr_cents, price_basis, price_scope, evidence_scope, gate_failed, gate_unknown, days_to_renewal, antecedents"

var stageSignalColumns = []string{
	"id", "account_id", "product_id", "place", "priority", "priority_basis", "probability", "estimated_arr_cents",
	"expected_arr_cents", "price_basis", "price_scope", "evidence_scope", "gate_failed", "gate_unknown", "days_to_renewal", "antecedents",
}

// Replaced counts what a replacement of pending signals did.
type Replaced struct {
	Inserted, Changed, Removed int64
	Withheld                   map[string]int64 // by status: found, but moved by somebody since they were read
}

// ReplacePending puts computed signals in the place of the organization's pending ones. One that stood before keeps its
// id and created_at, and its version unless something about it changed. Signals that people moved while the new ones
// were computed stay as they are and are not made again; closed are those that were not pending before, dismissedSince
// is when a dismissal still counts, rise by how much P must have risen to overrule it. next returns nil at the end.
func (tx *Tx) ReplacePending(ctx context.Context, now, dismissedSince time.Time, rise float64, closed []uuid.UUID,
	next func() *models.ExpansionSignal,
) (out Replaced, err error) {
	if err := tx.lockExpansion(ctx); err != nil {
		return out, err
	}
	buf := make([]any, 0, len(stageSignalColumns))
	_, err = tx.CopyStaged(ctx, "stage_signals", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_signals (id uuid, account_id uuid, product_id uuid,
		place float8, priority float8, priority_basis int2, probability float8, estimated_arr_cents int8, expected_arr_cents int8, price_basis int2,
		price_scope int2, evidence_scope int2, gate_failed int2, gate_unknown int2, days_to_renewal int4, antecedents bytea) ON COMMIT DELETE ROWS`,
		stageSignalColumns, pgx.CopyFromFunc(func() ([]any, error) {
			s := next()
			if s == nil {
				return nil, nil
			}
			buf = append(buf[:0], [16]byte(s.ID), [16]byte(s.AccountID), [16]byte(s.ProductID), s.Place, s.Priority, s.PriorityBasis, s.Probability,
				s.EstimatedARRCents, s.ExpectedARRCents, s.PriceBasis, s.PriceScope, s.EvidenceScope, s.GateFailed, s.GateUnknown, s.DaysToRenewal, s.Antecedents)
			return buf, nil
		}))
	if err != nil {
		return out, err
	}
	if err := tx.mergePending(now, dismissedSince, rise, closed, &out); err != nil {
		return out, err
	}
	if err := tx.countWithheld(&out); err != nil {
		return out, err
	}
	return out, tx.replaceTotals()
}

// countWithheld counts what was found and is not pending now, because somebody moved it meanwhile.
func (tx *Tx) countWithheld(out *Replaced) error {
	var rows []struct {
		Status string
		N      int64
	}
	err := tx.db.Raw(`SELECT status, count(*) AS n FROM (SELECT min(k.status) AS status FROM expansion_signals k
		JOIN stage_signals s ON s.account_id = k.account_id AND s.product_id = k.product_id
		WHERE k.org_id = ? AND k.status IN ('pitched', 'won', 'dismissed') AND (SELECT count(*) FROM expansion_signals x
			WHERE x.org_id = k.org_id AND x.account_id = k.account_id AND x.product_id = k.product_id AND x.status = 'pending') = 0
		GROUP BY k.account_id, k.product_id) g GROUP BY 1`, tx.org).Scan(&rows).Error
	out.Withheld = map[string]int64{}
	for _, r := range rows {
		out.Withheld[r.Status] = r.N
	}
	return maybe(err, "count withheld signals")
}

// mergePending makes pending what is staged. The insertion looks itself for what people moved: a signal that they move
// later is pending to it, so that it is not made a second time. A closed one that is pending now was moved back
// meanwhile: that it was not computed says nothing.
func (tx *Tx) mergePending(now, dismissedSince time.Time, rise float64, closed []uuid.UUID, out *Replaced) error {
	// Where nothing is known of the organization yet, few signals are expected of it, and loops would go on for hours.
	if err := tx.db.Exec("SELECT set_config('work_mem', '96MB', true), set_config('jit', 'off', true), set_config('enable_nestloop', 'off', true)").Error; err != nil {
		return fmt.Errorf("prepare merge: %w", err)
	}
	if err := tx.db.Exec("ANALYZE stage_signals").Error; err != nil {
		return fmt.Errorf("analyze stage: %w", err)
	}
	for _, step := range []struct {
		doing, sql string
		args       []any
		n          *int64
	}{
		{"remove signals", `DELETE FROM expansion_signals x WHERE x.org_id = ? AND x.status = 'pending'
			AND NOT EXISTS (SELECT 1 FROM stage_signals s WHERE s.account_id = x.account_id AND s.product_id = x.product_id)
			AND (x.status_changed_at IS NULL OR x.id <> ALL (?::uuid[]))`, []any{tx.org, "{" + strings.Join(uuid.UUIDs(closed).Strings(), ",") + "}"}, &out.Removed},
		{"change signals", `UPDATE expansion_signals x SET (` + computed + `) = (` + staged("s") + `), version = x.version + 1, updated_at = ?
			FROM stage_signals s WHERE x.org_id = ? AND x.status = 'pending' AND x.account_id = s.account_id AND x.product_id = s.product_id
			AND (` + staged("x") + `) IS DISTINCT FROM (` + staged("s") + `)`, []any{now, tx.org}, &out.Changed},
		{
			"insert signals", `INSERT INTO expansion_signals (org_id, id, account_id, product_id, ` + computed + `, status, version, created_at, updated_at)
			SELECT ?::uuid, s.id, s.account_id, s.product_id, ` + staged("s") + `, 'pending', 1, ?::timestamptz, ?::timestamptz FROM stage_signals s
			WHERE NOT EXISTS (SELECT 1 FROM expansion_signals x WHERE x.org_id = ?::uuid AND x.account_id = s.account_id AND x.product_id = s.product_id
				AND (x.status IN ('pending', 'pitched', 'won') OR x.status_changed_at >= ? AND s.probability - x.probability < ?))`,
			[]any{tx.org, now, now, tx.org, dismissedSince, rise},
			&out.Inserted,
		},
	} {
		res := tx.db.Exec(step.sql, step.args...)
		if res.Error != nil {
			return fmt.Errorf("%s: %w", step.doing, res.Error)
		}
		*step.n = res.RowsAffected
	}
	return nil
}

// staged lists the computed columns of a table by its alias.
func staged(alias string) string {
	var b bytes.Buffer
	for i, c := range stageSignalColumns[3:] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(alias + "." + c)
	}
	return b.String()
}

// SaveExpansionRun keeps what a regeneration counted.
func (tx *Tx) SaveExpansionRun(r models.ExpansionRun) error {
	r.OrgID = tx.org
	err := tx.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&r).Error
	return maybe(err, "save expansion run")
}

// LatestExpansionRun returns what the last regeneration counted; ok is false when there was none.
func (tx *Tx) LatestExpansionRun() (r models.ExpansionRun, ok bool, err error) {
	res := tx.db.Where("org_id = ?", tx.org).Order("computed_at DESC, run_id DESC").Limit(1).Find(&r)
	return r, res.RowsAffected == 1, maybe(res.Error, "load expansion run")
}

// SignalRow is an expansion signal with what lists show of its account and product.
type SignalRow struct {
	models.ExpansionSignal `gorm:"embedded"`
	AccountName            string
	Segment, State         *string
	Territory              *string
	ProductName            string
	SKU                    *string `gorm:"column:sku"`
}

// SignalFilter selects expansion signals; zero fields select everything.
type SignalFilter struct {
	Status, Segment, Territory string
	ProductID, AccountID       *uuid.UUID
	MinPriority                float64
}

// SignalPosition is a place in the order of signals.
type SignalPosition struct {
	Place       float64   `json:"p"`
	Expected    int64     `json:"e"` // -1: unpriced
	Probability float64   `json:"b"`
	Renewal     int32     `json:"r"` // the largest: unknown
	Account     uuid.UUID `json:"a"`
	Product     uuid.UUID `json:"o"`
	ID          uuid.UUID `json:"i"`
}

// Position returns where the signal stands.
func (r *SignalRow) Position() SignalPosition {
	p := SignalPosition{r.Place, -1, r.Probability, math.MaxInt32, r.AccountID, r.ProductID, r.ID}
	if r.ExpectedARRCents != nil {
		p.Expected = *r.ExpectedARRCents
	}
	if r.DaysToRenewal != nil {
		p.Renewal = *r.DaysToRenewal
	}
	return p
}

// compare is the order of signals: place, expected ARR and probability falling, days to renewal rising, then ids.
func (p SignalPosition) compare(q SignalPosition) int {
	return cmp.Or(cmp.Compare(q.Place, p.Place), cmp.Compare(q.Expected, p.Expected), cmp.Compare(q.Probability, p.Probability),
		cmp.Compare(p.Renewal, q.Renewal), bytes.Compare(p.Account[:], q.Account[:]), bytes.Compare(p.Product[:], q.Product[:]), bytes.Compare(p.ID[:], q.ID[:]))
}

const signalTies = "(-coalesce(s.expected_arr_cents, -1), -s.probability, coalesce(s.days_to_renewal, 2147483647), s.account_id, s.product_id, s.id)"

const signalOrder = "s.place DESC, -coalesce(s.expected_arr_cents, -1), -s.probability, coalesce(s.days_to_renewal, 2147483647), s.account_id, s.product_id, s.id"

const signalFrom = `SELECT s.*, a.name AS account_name, a.segment, a.state, a.territory, p.name AS product_name, p.sku FROM expansion_signals s
	JOIN accounts a ON a.org_id = s.org_id AND a.id = s.account_id JOIN products p ON p.org_id = s.org_id AND p.id = s.product_id`

// ExpansionSignals lists up to limit signals after a position, nil for the beginning. Each status is walked along its
// index, so that a page costs what it shows.
func (tx *Tx) ExpansionSignals(f SignalFilter, after *SignalPosition, limit int) ([]SignalRow, error) {
	where, args := "", []any{}
	add := func(cond string, v ...any) { where, args = where+" AND "+cond, append(args, v...) }
	if f.ProductID != nil {
		add("s.product_id = ?", *f.ProductID)
	}
	if f.AccountID != nil {
		add("s.account_id = ?", *f.AccountID)
	}
	if f.MinPriority > 0 {
		add("s.priority >= ?", f.MinPriority)
	}
	if f.Segment != "" {
		add("a.segment = ?", f.Segment)
	}
	if f.Territory != "" {
		add("lower(a.territory) = lower(?)", f.Territory)
	}
	if after != nil {
		add("s.place <= ?::float8 AND (s.place < ?::float8 OR "+signalTies+" > (?::int8, ?::float8, ?::int4, ?::uuid, ?::uuid, ?::uuid))",
			after.Place, after.Place, -after.Expected, -after.Probability, after.Renewal, after.Account, after.Product, after.ID)
	}
	statuses := []string{"pending", "pitched", "won", "dismissed"}
	if f.Status != "" {
		statuses = []string{f.Status}
	}
	var out []SignalRow
	err := tx.walking(f.AccountID == nil, func() error {
		for _, status := range statuses {
			var rows []SignalRow
			err := tx.db.Raw(signalFrom+" WHERE s.org_id = ? AND s.status = ?"+where+" ORDER BY "+signalOrder+" LIMIT ?",
				append(append([]any{tx.org, status}, args...), limit)...).Scan(&rows).Error
			if err != nil {
				return fmt.Errorf("list expansion signals: %w", err)
			}
			out = append(out, rows...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b SignalRow) int { return a.Position().compare(b.Position()) })
	return out[:min(limit, len(out))], nil
}

// walking runs queries that go along an index and stop early, whatever is known of the organization: where that is little,
// reading and sorting all its signals looks cheaper. ordered says that the order is that of the index, too.
func (tx *Tx) walking(ordered bool, fn func() error) error {
	settings := []string{"enable_hashjoin", "enable_mergejoin", "enable_seqscan", "enable_bitmapscan", "enable_material"}
	if ordered {
		settings = append(settings, "enable_sort")
	}
	set := func(v string) error {
		return maybe(tx.db.Exec("SELECT set_config(n, ?, true) FROM unnest(?::text[]) n", v, "{"+strings.Join(settings, ",")+"}").Error, "pin plans")
	}
	if err := set("off"); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	return set("on")
}

// ExpansionSignal loads a signal with its account and product. Faults: NotFound.
func (tx *Tx) ExpansionSignal(id uuid.UUID) (SignalRow, error) {
	var rows []SignalRow
	if err := tx.db.Raw(signalFrom+" WHERE s.org_id = ? AND s.id = ?", tx.org, id).Scan(&rows).Error; err != nil {
		return SignalRow{}, fmt.Errorf("load expansion signal: %w", err)
	}
	if len(rows) == 0 {
		return SignalRow{}, fault.New(fault.NotFound, "no expansion signal %s", id)
	}
	return rows[0], nil
}

// LockExpansionSignal loads a signal and locks it until the transaction ends. Faults: NotFound.
func (tx *Tx) LockExpansionSignal(id uuid.UUID) (models.ExpansionSignal, error) {
	var s models.ExpansionSignal
	err := tx.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("org_id = ? AND id = ?", tx.org, id).Take(&s).Error
	return s, notFound(err, "no expansion signal %s", id)
}

// SaveSignalStatus writes where a locked signal that stood elsewhere stands now. Faults: Conflict when its account and
// product have another live signal.
func (tx *Tx) SaveSignalStatus(from string, s *models.ExpansionSignal) error {
	taken := fault.New(fault.Conflict, "the account has another signal for this product that is pending or pitched; move that one instead")
	if s.Status == "pending" || s.Status == "pitched" {
		var others int64
		err := tx.db.Model(&models.ExpansionSignal{}).Where("org_id = ? AND account_id = ? AND product_id = ? AND id <> ? AND status IN ('pending', 'pitched')",
			tx.org, s.AccountID, s.ProductID, s.ID).Count(&others).Error
		if err != nil || others > 0 {
			return cmp.Or(maybe(err, "look for another signal"), error(taken))
		}
	}
	err := tx.db.Model(&models.ExpansionSignal{}).Where("org_id = ? AND id = ?", tx.org, s.ID).
		Select("status", "reason", "version", "status_changed_by", "status_changed_at", "updated_at").Updates(s).Error
	if isUnique(err) { // one that was made since we looked
		return taken
	}
	if err != nil {
		return fmt.Errorf("save expansion signal: %w", err)
	}
	return tx.moveTotals(from, s)
}
