package expansion

import (
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
	"revarch/models"
	affinitysvc "revarch/services/affinity"
	"revarch/store"
)

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Statuses are where a signal may stand.
var Statuses = []string{"pending", "pitched", "won", "dismissed"}

// Segments are the segments of accounts.
var Segments = []string{"Enterprise", "Mid-Market", "SMB"}

// Signal is an expansion signal as every surface shows it.
type Signal struct {
	ID                uuid.UUID              `json:"id" format:"uuid"`
	Account           Account                `json:"account"`
	Product           affinity.ProductRef    `json:"product"`
	Status            string                 `json:"status" enum:"pending,pitched,won,dismissed"`
	Reason            *string                `json:"reason" doc:"What was said when it was moved"`
	Probability       float64                `json:"probability" doc:"That the account buys the product, 0.01 to 0.95"`
	EstimatedARRCents *int64                 `json:"estimated_arr_cents" doc:"Null when there is no price to go by: unpriced"`
	ExpectedARRCents  *int64                 `json:"expected_arr_cents" doc:"probability x estimated_arr_cents"`
	Unpriced          bool                   `json:"unpriced"`
	PriceBasis        string                 `json:"price_basis" enum:"unpriced,per_student,per_license,list_price"`
	PriceSegment      string                 `json:"price_segment" enum:"all,Enterprise,Mid-Market,SMB" doc:"Whose owners the price is from"`
	PriorityScore     *float64               `json:"priority_score" doc:"0 to 100; null when no part of it is known"`
	PriorityBasis     []string               `json:"priority_basis" doc:"The parts that are known: expected_arr, expansion, readiness, window, icp_fit"`
	Readiness         string                 `json:"readiness" enum:"ready,not_ready"`
	ReadinessReasons  []expansion.GateReason `json:"readiness_reasons"`
	Antecedents       []Antecedent           `json:"antecedents"`
	EvidenceSegment   string                 `json:"evidence_segment" enum:"all,Enterprise,Mid-Market,SMB" doc:"Whose matrix the antecedents are from"`
	DaysToRenewal     *int32                 `json:"days_to_renewal" doc:"When it was computed"`
	Version           int64                  `json:"version" doc:"Counts up with each change"`
	StatusChangedBy   *string                `json:"status_changed_by"`
	StatusChangedAt   *time.Time             `json:"status_changed_at"`
	CreatedAt         time.Time              `json:"created_at" doc:"Since when it stands; regenerations that find it again keep it"`
	UpdatedAt         time.Time              `json:"updated_at"`
}

// Account is the account of a signal.
type Account struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	Segment   *string   `json:"segment"`
	State     *string   `json:"state"`
	Territory *string   `json:"territory"`
}

// Antecedent is an owned product that speaks for the proposed one.
type Antecedent struct {
	Product     affinity.ProductRef `json:"product"`
	Probability float64             `json:"probability" doc:"Cross-sell probability of the proposed product given this one"`
	Lift        float64             `json:"lift"`
	Weight      float64             `json:"weight" doc:"What is left of it after what the others say too, at most 1"`
	Share       float64             `json:"share" doc:"Of the gain in log-odds; the shares of a signal sum to 1"`
}

// KPI sums up all signals of the organization, whatever the list is narrowed to.
type KPI struct {
	expansion.KPI
	Currency    string     `json:"currency"`
	GeneratedAt *time.Time `json:"generated_at" doc:"When signals were last regenerated; null: never"`
	RunID       *uuid.UUID `json:"run_id" format:"uuid"`
}

// Filter selects signals; zero fields select everything.
type Filter struct {
	Status      string     `json:"s,omitempty"`
	Segment     string     `json:"g,omitempty"`
	ProductID   *uuid.UUID `json:"p,omitempty"`
	AccountID   *uuid.UUID `json:"a,omitempty"`
	MinPriority float64    `json:"m,omitempty"`
}

// ListInput asks for a page of signals.
type ListInput struct {
	Filter
	Cursor string
	Limit  int // 0 is DefaultLimit
}

// Page is a page of signals: priced before unpriced, then priority, expected ARR and probability falling, days to
// renewal rising, account, product. NextCursor is nil at the end.
type Page struct {
	KPI        KPI      `json:"kpi"`
	Signals    []Signal `json:"signals"`
	NextCursor *string  `json:"next_cursor"`
}

// List returns a page of signals with the figures over all of them. Faults: Denied, Invalid.
func (s *Service) List(ctx context.Context, p auth.Principal, in ListInput) (Page, error) {
	out := Page{Signals: []Signal{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	if err := in.check(); err != nil {
		return out, err
	}
	var after *store.SignalPosition
	if in.Cursor != "" {
		after = &store.SignalPosition{}
		if err := s.Cursors.Decode(in.Cursor, p.OrgID, "expansion", in.Filter, after); err != nil {
			return out, err
		}
	}
	limit := in.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	err := s.Store.Snapshot(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		if out.KPI, err = kpi(tx); err != nil {
			return err
		}
		rows, err := tx.ExpansionSignals(in.store(), after, limit+1)
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			next, err := s.Cursors.Encode(p.OrgID, "expansion", in.Filter, rows[limit-1].Position())
			if err != nil {
				return err
			}
			out.NextCursor = &next
		}
		out.Signals, err = views(tx, rows)
		return err
	})
	return out, err
}

func (f Filter) store() store.SignalFilter {
	return store.SignalFilter{Status: f.Status, Segment: f.Segment, ProductID: f.ProductID, AccountID: f.AccountID, MinPriority: f.MinPriority}
}

func (in ListInput) check() error {
	var bad []fault.FieldError
	if in.Limit < 0 || in.Limit > MaxLimit {
		bad = append(bad, fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	if in.MinPriority < 0 || in.MinPriority > 100 || in.MinPriority != in.MinPriority {
		bad = append(bad, fault.FieldError{Field: "min_priority", Message: "must be 0 to 100"})
	}
	bad = append(bad, oneOf("status", in.Status, Statuses)...)
	bad = append(bad, oneOf("segment", in.Segment, Segments)...)
	if len(bad) > 0 {
		return fault.WithFields("the filter is not valid: "+bad[0].Field+" "+bad[0].Message, bad...)
	}
	return nil
}

func oneOf(field, v string, allowed []string) []fault.FieldError {
	if v == "" {
		return nil
	}
	if slices.Contains(allowed, v) {
		return nil
	}
	return []fault.FieldError{{Field: field, Message: fmt.Sprintf("must be one of %v", allowed)}}
}

// kpi sums up an organization's signals.
func kpi(tx *store.Tx) (KPI, error) {
	var out KPI
	o, err := tx.Organization()
	if err != nil {
		return out, err
	}
	groups, err := tx.SignalGroups(store.SignalFilter{})
	if err != nil {
		return out, err
	}
	last, ok, err := tx.LatestExpansionRun()
	if err != nil {
		return out, err
	}
	var counts expansion.Counts
	if ok {
		if err := json.Unmarshal(last.Counts, &counts); err != nil {
			return out, fmt.Errorf("read counts: %w", err)
		}
		at := last.ComputedAt.UTC()
		out.GeneratedAt, out.RunID = &at, &last.RunID
	}
	out.Currency = o.ReportingCurrency
	out.KPI, err = expansion.Summarize(toGroups(groups), counts.Suppressed)
	return out, err
}

func toGroups(rows []store.SignalGroup) []expansion.Group {
	out := make([]expansion.Group, 0, len(rows))
	for _, g := range rows {
		out = append(out, expansion.Group{
			ProductID: g.ProductID, Status: expansion.Status(g.Status), Count: g.Count, Unpriced: g.Unpriced,
			EstimatedARRCents: g.EstimatedARRCents, ExpectedARRCents: g.ExpectedARRCents,
		})
	}
	return out
}

// views shows signals with the products that speak for them.
func views(tx *store.Tx, rows []store.SignalRow) ([]Signal, error) {
	var ids []uuid.UUID
	lists := make([][]expansion.Antecedent, len(rows))
	for i, r := range rows {
		lists[i] = unpack(r.Antecedents)
		for _, a := range lists[i] {
			ids = append(ids, a.ProductID)
		}
	}
	products, err := tx.ProductsByID(ids)
	if err != nil {
		return nil, err
	}
	out := make([]Signal, 0, len(rows))
	for i, r := range rows {
		out = append(out, view(r, lists[i], products))
	}
	return out, nil
}

func view(r store.SignalRow, list []expansion.Antecedent, products map[uuid.UUID]models.Product) Signal {
	scopes := affinity.Scopes()
	gate := expansion.Gate{Failed: expansion.Check(r.GateFailed), Unknown: expansion.Check(r.GateUnknown)}
	v := Signal{
		ID: r.ID, Account: Account{r.AccountID, r.AccountName, r.Segment, r.State, r.Territory},
		Product: affinitysvc.Ref(r.ProductID, models.Product{Name: r.ProductName, SKU: r.SKU}), Status: r.Status, Reason: r.Reason,
		Probability: r.Probability, EstimatedARRCents: r.EstimatedARRCents, ExpectedARRCents: r.ExpectedARRCents, Unpriced: r.EstimatedARRCents == nil,
		PriceBasis: expansion.PriceBasis(r.PriceBasis).String(), PriceSegment: string(scopes[r.PriceScope]), PriorityScore: r.Priority,
		PriorityBasis: expansion.Basis(r.PriorityBasis).Names(), Readiness: gate.Readiness(), ReadinessReasons: gate.Reasons(),
		Antecedents: make([]Antecedent, 0, len(list)), EvidenceSegment: string(scopes[r.EvidenceScope]), DaysToRenewal: r.DaysToRenewal,
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	for _, a := range list {
		v.Antecedents = append(v.Antecedents, Antecedent{affinitysvc.Ref(a.ProductID, products[a.ProductID]), a.Probability, a.Lift, a.Weight, a.Share})
	}
	if r.StatusChangedAt != nil {
		at := r.StatusChangedAt.UTC()
		v.StatusChangedAt, v.StatusChangedBy = &at, &r.StatusChangedBy
	}
	return v
}
