package expansion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/analytics/expansion"
	"revarch/auth"
	"revarch/fault"
	affinitysvc "revarch/services/affinity"
	"revarch/store"
)

// Why a figure is null.
const (
	ReasonNotRecorded  = "not_recorded"  // signals are kept as they are now only
	ReasonNotGenerated = "not_generated" // signals were never regenerated
)

// topCandidates is how many signals a summary shows.
const topCandidates = 10

// SummaryInput narrows a summary.
type SummaryInput struct {
	AsOf      string // YYYY-MM-DD, today at the latest; of a past day nothing is known
	Segment   string
	Territory string // whole name
}

// Overview is what an organization could sell to the accounts it has.
type Overview struct {
	AsOf                  string               `json:"as_of" format:"date"`
	Currency              string               `json:"currency"`
	TotalAddressableCents *int64               `json:"total_addressable_expansion_cents" doc:"Estimated ARR of all signals that are pending or pitched"`
	PipelineARRCents      *int64               `json:"pipeline_arr_cents" doc:"The pending ones times their probability"`
	Reason                *string              `json:"reason" doc:"Why the figures are null"`
	TopCandidates         []Candidate          `json:"top_candidates"`
	WhitespaceByProduct   []ProductWhitespace  `json:"whitespace_by_product"`
	SuppressedCounts      expansion.Suppressed `json:"suppressed_counts" doc:"Of the last regeneration, whole organization"`
	GeneratedAt           *time.Time           `json:"generated_at"`
}

// Candidate is one of the best pending signals.
type Candidate struct {
	ExpansionSignalID uuid.UUID `json:"expansion_signal_id" format:"uuid"`
	AccountID         uuid.UUID `json:"account_id" format:"uuid"`
	AccountName       string    `json:"account_name"`
	ProductID         uuid.UUID `json:"product_id" format:"uuid"`
	ProductName       string    `json:"product_name"`
	Probability       float64   `json:"probability"`
	EstimatedARRCents *int64    `json:"estimated_arr_cents"`
	PriorityScore     *float64  `json:"priority_score"`
	Readiness         string    `json:"readiness"`
}

// ProductWhitespace is a product and the owning accounts that do not own it.
type ProductWhitespace struct {
	ProductID uuid.UUID `json:"product_id" format:"uuid"`
	SKU       string    `json:"sku"`
	Name      string    `json:"name"`
	Owners    int64     `json:"owners"`
	Accounts  int64     `json:"accounts" doc:"Owning accounts without the product"`
	Signals   int64     `json:"signals" doc:"Of those: with a signal that is pending or pitched"`
	ARRCents  int64     `json:"arr_cents" doc:"Estimated ARR of these signals"`
}

// Summary sums up what could be sold. Faults: Denied, Invalid.
func (s *Service) Summary(ctx context.Context, p auth.Principal, in SummaryInput) (Overview, error) {
	out := Overview{TopCandidates: []Candidate{}, WhitespaceByProduct: []ProductWhitespace{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	if bad := oneOf("segment", in.Segment, Segments); bad != nil {
		return out, fault.WithFields("the segment is unknown", bad...)
	}
	err := s.Store.Snapshot(ctx, p.OrgID, func(tx *store.Tx) error {
		o, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		out.Currency, out.AsOf = o.ReportingCurrency, today.Format(time.DateOnly)
		if in.AsOf != "" && in.AsOf != out.AsOf {
			day, err := time.Parse(time.DateOnly, in.AsOf)
			if err != nil || day.After(today) || day.Year() < 1990 {
				return fault.WithFields("as_of must be a day that is not in the future", fault.FieldError{Field: "as_of", Message: "use a date such as 2026-03-01, today at the latest"})
			}
			out.AsOf, out.Reason = in.AsOf, new(ReasonNotRecorded)
			return nil
		}
		filter := store.SignalFilter{Segment: in.Segment, Territory: in.Territory}
		groups, err := tx.SignalGroups(filter)
		if err != nil {
			return err
		}
		if err := out.last(tx); err != nil {
			return err
		}
		if out.GeneratedAt != nil {
			out.total(groups)
		}
		if err := out.top(tx, filter); err != nil {
			return err
		}
		out.WhitespaceByProduct, err = whitespaceByProduct(ctx, tx, store.WhitespaceFilter{
			Segment: in.Segment, Territory: in.Territory, Today: today, GraceDays: o.RenewalGraceDays,
		}, groups)
		return err
	})
	return out, err
}

// last takes over what the last regeneration counted.
func (out *Overview) last(tx *store.Tx) error {
	run, ok, err := tx.LatestExpansionRun()
	if err != nil {
		return err
	}
	if !ok {
		out.Reason = new(ReasonNotGenerated)
		return nil
	}
	var counts expansion.Counts
	if err := json.Unmarshal(run.Counts, &counts); err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	at := run.ComputedAt.UTC()
	out.GeneratedAt, out.SuppressedCounts = &at, counts.Suppressed
	return nil
}

func (out *Overview) total(groups []store.SignalGroup) {
	var estimated, expected int64
	for _, g := range groups {
		switch expansion.Status(g.Status) {
		case expansion.Pending:
			estimated, expected = estimated+g.EstimatedARRCents, expected+g.ExpectedARRCents
		case expansion.Pitched:
			estimated += g.EstimatedARRCents
		case expansion.Won, expansion.Dismissed:
		}
	}
	out.TotalAddressableCents, out.PipelineARRCents = &estimated, &expected
}

func (out *Overview) top(tx *store.Tx, f store.SignalFilter) error {
	f.Status = string(expansion.Pending)
	rows, err := tx.ExpansionSignals(f, nil, topCandidates)
	for _, r := range rows {
		v := view(r, nil, nil)
		out.TopCandidates = append(out.TopCandidates, Candidate{
			v.ID, v.Account.ID, v.Account.Name, v.Product.ID, v.Product.Name, v.Probability, v.EstimatedARRCents, v.PriorityScore, v.Readiness,
		})
	}
	return err
}

// whitespaceByProduct counts, per active product, the selected owning accounts that do not own it; the largest ARR
// first. A territory is counted as of now, the rest as the last regeneration did.
func whitespaceByProduct(ctx context.Context, tx *store.Tx, f store.WhitespaceFilter, groups []store.SignalGroup) ([]ProductWhitespace, error) {
	products, err := tx.ActiveProducts()
	if err != nil {
		return nil, err
	}
	accounts, owners, err := countOwners(ctx, tx, f)
	if err != nil {
		return nil, err
	}
	out := make([]ProductWhitespace, 0, len(products))
	at := map[uuid.UUID]int{}
	for _, p := range products {
		ref := affinitysvc.Ref(p.ID, p)
		at[p.ID] = len(out)
		out = append(out, ProductWhitespace{ProductID: p.ID, SKU: ref.SKU, Name: ref.Name, Owners: owners[p.ID], Accounts: accounts - owners[p.ID]})
	}
	for _, g := range groups {
		if i, ok := at[g.ProductID]; ok && (g.Status == string(expansion.Pending) || g.Status == string(expansion.Pitched)) {
			out[i].Signals += g.Count
			out[i].ARRCents += g.EstimatedARRCents
		}
	}
	slices.SortFunc(out, func(a, b ProductWhitespace) int {
		return cmp.Or(cmp.Compare(b.ARRCents, a.ARRCents), cmp.Compare(b.Accounts, a.Accounts), bytes.Compare(a.ProductID[:], b.ProductID[:]))
	})
	return out, nil
}

func countOwners(ctx context.Context, tx *store.Tx, f store.WhitespaceFilter) (int64, map[uuid.UUID]int64, error) {
	run, ok, err := tx.LatestExpansionRun()
	if err != nil || !ok || f.Territory != "" {
		if err != nil {
			return 0, nil, err
		}
		return tx.CountOwners(ctx, f)
	}
	var w whitespace
	if err := json.Unmarshal(run.Whitespace, &w); err != nil {
		return 0, nil, fmt.Errorf("read whitespace: %w", err)
	}
	scopes := affinity.Scopes()
	scope := max(0, slices.Index(scopes[:], affinity.Scope(f.Segment)))
	owners := make(map[uuid.UUID]int64, len(w.Owners))
	for id, n := range w.Owners {
		owners[id] = n[scope]
	}
	return w.Accounts[scope], owners, nil
}

// WhitespaceInput asks for a page of owning accounts, by name.
type WhitespaceInput struct {
	Segment   string     `json:"s,omitempty"`
	Territory string     `json:"t,omitempty"`
	ProductID *uuid.UUID `json:"p,omitempty"` // only accounts that do not own it
	Cursor    string     `json:"-"`
	Limit     int        `json:"-"` // 0 is DefaultLimit
}

// Whitespace is what accounts do not own: by product, and account by account.
type Whitespace struct {
	Currency   string              `json:"currency"`
	Products   []ProductWhitespace `json:"products" doc:"The same on every page"`
	Accounts   []AccountWhitespace `json:"accounts" doc:"By name"`
	NextCursor *string             `json:"next_cursor"`
}

// AccountWhitespace is an owning account and the products it does not own.
type AccountWhitespace struct {
	AccountID uuid.UUID             `json:"account_id" format:"uuid"`
	Name      string                `json:"name"`
	Segment   *string               `json:"segment"`
	Owned     int64                 `json:"owned" doc:"Active products it owns"`
	Unowned   []affinity.ProductRef `json:"unowned" doc:"By id"`
	Signals   int64                 `json:"signals" doc:"Pending or pitched"`
	ARRCents  int64                 `json:"arr_cents" doc:"Estimated ARR of these signals"`
}

// Whitespace returns a page. Faults: Denied, Invalid.
func (s *Service) Whitespace(ctx context.Context, p auth.Principal, in WhitespaceInput) (Whitespace, error) {
	out := Whitespace{Products: []ProductWhitespace{}, Accounts: []AccountWhitespace{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	bad := oneOf("segment", in.Segment, Segments)
	if in.Limit < 0 || in.Limit > MaxLimit {
		bad = append(bad, fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	if bad != nil {
		return out, fault.WithFields("the filter is not valid: "+bad[0].Field+" "+bad[0].Message, bad...)
	}
	var after *store.WhitespacePosition
	if in.Cursor != "" {
		after = &store.WhitespacePosition{}
		if err := s.Cursors.Decode(in.Cursor, p.OrgID, "whitespace", in, after); err != nil {
			return out, err
		}
	}
	limit := cmp.Or(in.Limit, DefaultLimit)
	err := s.Store.Snapshot(ctx, p.OrgID, func(tx *store.Tx) error {
		o, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		out.Currency = o.ReportingCurrency
		f := store.WhitespaceFilter{Segment: in.Segment, Territory: in.Territory, Today: today, GraceDays: o.RenewalGraceDays}
		groups, err := tx.SignalGroups(store.SignalFilter{Segment: in.Segment, Territory: in.Territory})
		if err != nil {
			return err
		}
		if out.Products, err = whitespaceByProduct(ctx, tx, f, groups); err != nil {
			return err
		}
		f.Without = in.ProductID
		rows, err := tx.Whitespace(ctx, f, after, limit+1)
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			next, err := s.Cursors.Encode(p.OrgID, "whitespace", in, store.WhitespacePosition{Name: rows[limit-1].Normalized, ID: rows[limit-1].ID})
			if err != nil {
				return err
			}
			out.NextCursor = &next
		}
		return out.accounts(tx, rows)
	})
	return out, err
}

func (out *Whitespace) accounts(tx *store.Tx, rows []store.WhitespaceRow) error {
	products, err := tx.ActiveProducts()
	if err != nil {
		return err
	}
	for _, r := range rows {
		a := AccountWhitespace{AccountID: r.ID, Name: r.Name, Segment: r.Segment, Unowned: []affinity.ProductRef{}, Signals: r.Live, ARRCents: r.LiveARRCents}
		for _, p := range products {
			if slices.Contains(r.Owned, p.ID) {
				a.Owned++
			} else {
				a.Unowned = append(a.Unowned, affinitysvc.Ref(p.ID, p))
			}
		}
		out.Accounts = append(out.Accounts, a)
	}
	return nil
}
