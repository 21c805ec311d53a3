package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
)

// ExpansionRead is the one query that expansion reads, twice: AffinityRead's accounts and lines with what prices,
// priority and the readiness gate need. $1 org, $2 the day, $3 grace days. Exported so that the benchmark can COPY it.
var ExpansionRead = `WITH owning AS NOT MATERIALIZED (` + fmt.Sprintf(owning, "") + `)
	SELECT o.account_id, CASE a.segment WHEN 'Enterprise' THEN 1 WHEN 'Mid-Market' THEN 2 WHEN 'SMB' THEN 3 ELSE 0 END::int2 AS segment,
		a.enrollment, a.seats, a.active_28d, a.p1_open, a.overdue_days, a.onboarding_pct, a.renewal_date, o.since,
		h.composite AS health, r.composite AS risk, e.composite AS expansion, p.product_id, p.arr_cents, p.quantity,
		a.state, a.buyer_type, coalesce(a.expansion_opt_out, false) AS opted_out
	FROM owning o JOIN accounts a ON a.org_id = $1 AND a.id = o.account_id AND a.deleted_at IS NULL
	LEFT JOIN scores h ON h.org_id = $1 AND h.account_id = o.account_id AND h.model = 'health'
	LEFT JOIN scores r ON r.org_id = $1 AND r.account_id = o.account_id AND r.model = 'risk'
	LEFT JOIN scores e ON e.org_id = $1 AND e.account_id = o.account_id AND e.model = 'expansion'
	LEFT JOIN account_products p ON p.org_id = $1 AND p.account_id = o.account_id AND ` + ownedLine + `
	ORDER BY o.account_id`

// Owner is an owning account with the lines it owns. What nobody told is nil.
type Owner struct {
	ID                                                uuid.UUID
	Segment                                           uint8 // 0 none, 1 Enterprise, 2 Mid-Market, 3 SMB
	Enrollment, Seats, Active28d, P1Open, OverdueDays *int64
	OnboardingPct                                     *float64
	DaysToRenewal                                     *float64 // negative when it is past
	AgeDays                                           *float64 // since its first line began
	Health, Risk, Expansion                           *float64
	State, BuyerType                                  string // "" when unknown
	OptedOut                                          bool
	Lines                                             []OwnerLine
}

// OwnerLine is one line of an owned product.
type OwnerLine struct {
	ProductID uuid.UUID
	ARRCents  int64 // 0 when unknown
	Quantity  *float64
}

// EachOwner calls fn with every owning account on a day, by id, in one streamed read. The owner belongs to the call.
func (tx *Tx) EachOwner(ctx context.Context, today time.Time, graceDays int, fn func(*Owner) error) error {
	day := int32(today.Unix() / 86400)
	o, open := Owner{}, false
	err := tx.stream(ctx, ExpansionRead, []any{tx.orgArg(), today, graceDays}, func(raw [][]byte) error {
		if !open || uuid.UUID(raw[0]) != o.ID {
			if open {
				if err := fn(&o); err != nil {
					return err
				}
			}
			open = true
			o = readOwner(raw, day, o.Lines[:0])
		}
		if raw[13] == nil {
			return nil
		}
		l := OwnerLine{ProductID: uuid.UUID(raw[13]), Quantity: rawFloat(raw[15])}
		if cents := rawInt(raw[14]); cents != nil {
			l.ARRCents = *cents
		}
		o.Lines = append(o.Lines, l)
		return nil
	})
	if err != nil || !open {
		return err
	}
	return fn(&o)
}

func readOwner(raw [][]byte, day int32, lines []OwnerLine) Owner {
	o := Owner{
		ID: uuid.UUID(raw[0]), Segment: uint8(binary.BigEndian.Uint16(raw[1])),
		Enrollment: rawInt(raw[2]), Seats: rawInt(raw[3]), Active28d: rawInt(raw[4]), P1Open: rawInt(raw[5]), OverdueDays: rawInt(raw[6]),
		OnboardingPct: rawFloat(raw[7]), Health: rawReal(raw[10]), Risk: rawReal(raw[11]), Expansion: rawReal(raw[12]), Lines: lines,
		State: string(raw[16]), BuyerType: string(raw[17]), OptedOut: raw[18][0] != 0,
	}
	if d, ok := rawDay(raw[8]); ok {
		v := float64(d - day)
		o.DaysToRenewal = &v
	}
	if d, ok := rawDay(raw[9]); ok {
		v := float64(day - d)
		o.AgeDays = &v
	}
	return o
}

func rawReal(b []byte) *float64 {
	if b == nil {
		return nil
	}
	v := float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	return &v
}

// AccountProductPair is an account and a product.
type AccountProductPair struct {
	AccountID, ProductID uuid.UUID
}

// OpenDealProducts lists the products that accounts have an open deal about.
func (tx *Tx) OpenDealProducts() ([]AccountProductPair, error) {
	var out []AccountProductPair
	err := tx.db.Raw(`SELECT DISTINCT o.account_id, l.product_id FROM order_lines l
		JOIN opportunities o ON o.org_id = l.org_id AND o.id = l.opportunity_id
		WHERE l.org_id = ? AND l.deleted_at IS NULL AND l.product_id IS NOT NULL AND NOT o.is_closed AND o.deleted_at IS NULL
		AND o.account_id IS NOT NULL ORDER BY 1, 2`, tx.org).Scan(&out).Error
	return out, maybe(err, "load products of open deals")
}

// PastSignal is a signal that is no longer pending.
type PastSignal struct {
	ID                   uuid.UUID
	AccountID, ProductID uuid.UUID
	Status               string
	StatusChangedAt      *time.Time
	Probability          float64
}

// PastSignals lists the signals that are no longer pending.
func (tx *Tx) PastSignals() ([]PastSignal, error) {
	var out []PastSignal
	const columns = "SELECT account_id, product_id, id, status, status_changed_at, probability FROM expansion_signals WHERE org_id = ? AND "
	err := tx.db.Raw(columns+"status IN ('won', 'dismissed') UNION ALL "+columns+"status = 'pitched' ORDER BY account_id, product_id, id", tx.org, tx.org).Scan(&out).Error
	return out, maybe(err, "load signals that are not pending")
}
