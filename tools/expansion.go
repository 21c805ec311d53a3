package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/affinity"
	"revarch/services/expansion"
)

var getExpansionAffinity = define(Spec{
	Name: "get_expansion_affinity", Title: "Product affinity", Category: "expansion", Effect: Read,
	Description: "Which products are owned together, per ordered pair with every measure, the highest lift first; all accounts unless a segment is given. For what to sell to whom use get_expansion_signals.",
}, func(ctx context.Context, d Deps, in affinityIn) (affinityOut, error) {
	ask := affinity.ListInput{Filter: affinity.Filter{
		Segment: "all", ProductID: optional(in.ProductID), MinLift: in.MinLift, Significant: in.Significant, IncludeZero: in.IncludeZero,
	}, Limit: maxPairs}
	if in.Segment != "" {
		ask.Segment = in.Segment
	}
	out := affinityOut{Matrix: []affinityEntry{}}
	m, err := d.Affinity.List(ctx, auth.From(ctx), ask)
	if err != nil {
		return out, err
	}
	for e := range m.Entries() {
		out.Matrix = append(out.Matrix, toAffinityEntry(e))
	}
	var cut bool
	out.Matrix, cut = fit(out.Matrix)
	out.Truncated = cut || m.NextCursor != nil
	if out.Reason = m.Reason; m.Info != nil {
		out.ComputedAt, out.Accounts = &m.Info.ComputedAt, m.Info.Accounts
	}
	if m.Reason != nil {
		out.Note = emptyNotes[*m.Reason]
	} else if out.Truncated {
		out.Note = "the rest is left out; narrow it with product_id, segment, significant or min_lift"
	}
	return out, nil
})

// emptyNotes say what to do about an empty matrix.
var emptyNotes = map[string]string{
	affinity.ReasonNotComputed: "no matrix was computed yet; a manager starts it with POST /api/expansion/affinity",
	affinity.ReasonFewProducts: "it takes two active products; a manager imports products or maps them from the CRM, then recomputes",
	affinity.ReasonNoOwners:    "no account has ARR above 0; a manager imports what accounts own or maps it from the CRM, then recomputes",
	affinity.ReasonNoMatch:     "no pair matches; leave out a filter, or set include_zero for pairs that nobody owns together",
}

// maxPairs is more than fits into an answer.
const maxPairs = 200

type affinityIn struct {
	Segment     string    `json:"segment,omitempty" enum:"Enterprise,Mid-Market,SMB"`
	ProductID   uuid.UUID `json:"product_id,omitzero" doc:"on either side of the pair" format:"uuid"`
	MinLift     float64   `json:"min_lift,omitempty" minimum:"0"`
	Significant *bool     `json:"significant,omitempty" doc:"only significant pairs, or only others"`
	IncludeZero bool      `json:"include_zero,omitempty" doc:"pairs that nobody owns together, too"`
}

type affinityEntry struct {
	ProductA    productRef `json:"product_a"`
	ProductB    productRef `json:"product_b"`
	Segment     string     `json:"segment"`
	NA          int64      `json:"n_a"`
	NB          int64      `json:"n_b"`
	NAB         int64      `json:"n_ab"`
	Support     *float64   `json:"support"`
	Confidence  *float64   `json:"confidence"`
	Lift        *float64   `json:"lift"`
	Conviction  *float64   `json:"conviction"`
	Leverage    *float64   `json:"leverage"`
	Jaccard     *float64   `json:"jaccard"`
	Phi         *float64   `json:"phi"`
	PValue      *float64   `json:"p_value"`
	QValue      *float64   `json:"q_value"`
	Significant bool       `json:"significant"`
	Reason      *string    `json:"reason"`
	CrossSell   *float64   `json:"cross_sell_probability"`
}

type productRef struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	SKU  string    `json:"sku"`
	Name string    `json:"name"`
}

func toAffinityEntry(e affinity.Entry) affinityEntry {
	return affinityEntry{
		productRef(e.ProductA), productRef(e.ProductB), string(e.Segment), e.NA, e.NB, e.NAB, e.Support, e.Confidence, e.Lift, e.Conviction,
		e.Leverage, e.Jaccard, e.Phi, e.PValue, e.QValue, e.Significant, e.Reason, e.CrossSell,
	}
}

type affinityOut struct {
	Matrix     []affinityEntry `json:"matrix"`
	ComputedAt *time.Time      `json:"computed_at"`
	Accounts   int64           `json:"accounts" doc:"owning accounts of all segments"`
	Reason     *string         `json:"reason" doc:"why the matrix is empty"`
	Truncated  bool            `json:"truncated"`
	Note       string          `json:"note,omitempty"`
}

// Summary names the best pair.
func (o affinityOut) Summary() string {
	if len(o.Matrix) == 0 {
		return "No pair of products: " + unknown(o.Reason) + "."
	}
	e := o.Matrix[0]
	lift := "unknown"
	if e.Lift != nil {
		lift = fmt.Sprintf("%.2f", *e.Lift)
	}
	return fmt.Sprintf("%d ordered pairs; the highest lift is %s, of %s and %s.", len(o.Matrix), lift, e.ProductA.Name, e.ProductB.Name)
}

var getExpansionSummary = define(Spec{
	Name: "get_expansion_summary", Title: "Expansion summary", Category: "expansion", Effect: Read,
	Description: "Total addressable expansion ARR, the best candidates, whitespace per product and how many signals were suppressed and why. For single signals use get_expansion_signals.",
}, func(ctx context.Context, d Deps, in expansionSummaryIn) (expansionSummaryOut, error) {
	out, err := d.Expansion.Summary(ctx, auth.From(ctx), expansion.SummaryInput{AsOf: in.AsOf, Segment: in.Segment, Territory: in.Territory})
	res := expansionSummaryOut{Overview: out}
	res.WhitespaceByProduct, res.Truncated = fit(out.WhitespaceByProduct)
	if out.Reason != nil && *out.Reason == expansion.ReasonNotGenerated {
		res.Note = "signals were never generated; a manager starts it with POST /api/expansion/signals"
	}
	return res, err
})

type expansionSummaryIn struct {
	AsOf      string `json:"as_of,omitempty" doc:"YYYY-MM-DD; today when left out, nothing is recorded of days before" format:"date"`
	Segment   string `json:"segment,omitempty" enum:"Enterprise,Mid-Market,SMB"`
	Territory string `json:"territory,omitempty" doc:"whole name" maxLength:"200"`
}

type expansionSummaryOut struct {
	expansion.Overview
	Truncated bool   `json:"truncated"`
	Note      string `json:"note,omitempty"`
}

// Summary gives the total.
func (o expansionSummaryOut) Summary() string {
	return fmt.Sprintf("Addressable expansion ARR %s, weighted %s, with %d products and %d top candidates.", money(o.TotalAddressableCents, o.Currency, o.Reason),
		money(o.PipelineARRCents, o.Currency, o.Reason), len(o.WhitespaceByProduct), len(o.TopCandidates))
}

var getExpansionSignals = define(Spec{
	Name: "get_expansion_signals", Title: "Expansion signals", Category: "expansion", Effect: Read,
	Description: "Products that accounts are likely to buy next, best first, with probability, estimated ARR and the owned products that speak for them. For totals use get_expansion_summary.",
}, func(ctx context.Context, d Deps, in expansionSignalsIn) (expansionSignalsOut, error) {
	p := auth.From(ctx)
	ask := expansion.ListInput{Filter: expansion.Filter{AccountID: optional(in.AccountID), Status: in.Status}, Cursor: in.Cursor}
	out := expansionSignalsOut{}
	var err error
	out.Signals, out.NextCursor, out.Truncated, err = capped(in.Limit, func(limit int) ([]expansionSignal, *string, error) {
		ask.Limit = limit
		page, err := d.Expansion.List(ctx, p, ask)
		out.KPI = toExpansionKPI(page.KPI)
		rows := make([]expansionSignal, 0, len(page.Signals))
		for _, s := range page.Signals {
			rows = append(rows, toExpansionSignal(s))
		}
		return rows, page.NextCursor, err
	})
	switch {
	case len(out.Signals) > 0:
	case out.KPI.GeneratedAt == nil:
		out.Note = "signals were never generated; a manager starts it with POST /api/expansion/signals"
	default:
		out.Note = "no signal matches; leave out status or account_id, or see get_expansion_summary what was suppressed and why"
	}
	return out, err
})

type expansionSignalsIn struct {
	AccountID uuid.UUID `json:"account_id,omitzero" format:"uuid"`
	Status    string    `json:"status,omitempty" enum:"pending,pitched,won,dismissed"`
	Cursor    string    `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"2000"`
	Limit     int       `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type expansionSignal struct {
	ExpansionSignalID uuid.UUID             `json:"expansion_signal_id" format:"uuid"`
	AccountID         uuid.UUID             `json:"account_id" format:"uuid"`
	AccountName       string                `json:"account_name"`
	ProductID         uuid.UUID             `json:"product_id" format:"uuid"`
	ProductName       string                `json:"product_name"`
	Probability       float64               `json:"probability"`
	EstimatedARRCents *int64                `json:"estimated_arr_cents" doc:"null: unpriced"`
	PriorityScore     *float64              `json:"priority_score" doc:"0 to 100"`
	PriorityBasis     []string              `json:"priority_basis"`
	Antecedents       []expansionAntecedent `json:"antecedents" doc:"owned products that speak for it"`
	Status            string                `json:"status"`
	Readiness         string                `json:"readiness"`
	ReadinessReasons  []string              `json:"readiness_reasons"`
	Version           int64                 `json:"version"`
}

type expansionAntecedent struct {
	ProductID   uuid.UUID `json:"product_id" format:"uuid"`
	Name        string    `json:"name"`
	Probability float64   `json:"probability"`
	Share       float64   `json:"share" doc:"of the gain in log-odds"`
}

func toExpansionSignal(s expansion.Signal) expansionSignal {
	out := expansionSignal{
		ExpansionSignalID: s.ID, AccountID: s.Account.ID, AccountName: s.Account.Name, ProductID: s.Product.ID, ProductName: s.Product.Name,
		Probability: s.Probability, EstimatedARRCents: s.EstimatedARRCents, PriorityScore: s.PriorityScore, PriorityBasis: s.PriorityBasis,
		Antecedents: make([]expansionAntecedent, 0, len(s.Antecedents)), Status: s.Status, Readiness: s.Readiness, ReadinessReasons: []string{}, Version: s.Version,
	}
	for _, a := range s.Antecedents {
		out.Antecedents = append(out.Antecedents, expansionAntecedent{a.Product.ID, a.Product.Name, a.Probability, a.Share})
	}
	for _, r := range s.ReadinessReasons {
		out.ReadinessReasons = append(out.ReadinessReasons, r.Check+": "+r.Reason)
	}
	return out
}

// expansionKPI leaves the figures by product to get_expansion_summary.
type expansionKPI struct {
	TotalPending     int64      `json:"total_pending"`
	PipelineARRCents int64      `json:"pipeline_arr_cents" doc:"probability x ARR of the pending ones"`
	Pending          int64      `json:"pending"`
	Pitched          int64      `json:"pitched"`
	Won              int64      `json:"won"`
	Dismissed        int64      `json:"dismissed"`
	WonARRCents      int64      `json:"won_arr_cents"`
	Conversion       *float64   `json:"conversion" doc:"won of won and dismissed"`
	Currency         string     `json:"currency"`
	GeneratedAt      *time.Time `json:"generated_at"`
}

func toExpansionKPI(k expansion.KPI) expansionKPI {
	return expansionKPI{
		k.TotalPending, k.PipelineARRCents, k.ByStatus.Pending, k.ByStatus.Pitched, k.ByStatus.Won, k.ByStatus.Dismissed, k.WonARRCents, k.Conversion,
		k.Currency, k.GeneratedAt,
	}
}

type expansionSignalsOut struct {
	Signals    []expansionSignal `json:"signals"`
	KPI        expansionKPI      `json:"kpi"`
	Truncated  bool              `json:"truncated"`
	NextCursor *string           `json:"next_cursor"`
	Note       string            `json:"note,omitempty"`
}

// Summary counts the signals.
func (o expansionSignalsOut) Summary() string {
	return fmt.Sprintf("%d expansion signals on this page; %d pending in all, worth %s weighted.", len(o.Signals), o.KPI.TotalPending,
		money(&o.KPI.PipelineARRCents, o.KPI.Currency, nil))
}
