package expansion

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/fault"
)

// KPI sums up all signals of an organization. Suppressed is that of the last run.
type KPI struct {
	TotalPending     int64        `json:"total_pending"`
	PipelineARRCents int64        `json:"pipeline_arr_cents"` // sum of P x ARR of the pending ones
	Unpriced         int64        `json:"unpriced"`           // pending ones without an estimate: not in the pipeline
	ByStatus         ByStatus     `json:"by_status"`
	ByProduct        []ProductKPI `json:"by_product"` // the largest pipeline first, then by id
	WonARRCents      int64        `json:"won_arr_cents"`
	Conversion       *float64     `json:"conversion"` // won/(won+dismissed)
	ConversionReason *string      `json:"conversion_reason,omitempty"`
	Suppressed       Suppressed   `json:"suppressed"`
}

// ByStatus counts signals by status.
type ByStatus struct {
	Pending   int64 `json:"pending"`
	Pitched   int64 `json:"pitched"`
	Won       int64 `json:"won"`
	Dismissed int64 `json:"dismissed"`
}

// ProductKPI sums up the signals for one product.
type ProductKPI struct {
	ProductID        uuid.UUID `json:"product_id" format:"uuid"`
	PipelineARRCents int64     `json:"pipeline_arr_cents"`
	ByStatus
}

// Group is a number of signals of one product and status. Amounts are those of the priced ones.
type Group struct {
	ProductID         uuid.UUID
	Status            Status
	Count, Unpriced   int64
	EstimatedARRCents int64
	ExpectedARRCents  int64
}

// Summarize computes the figures from groups in any order; the same product and status may come several times.
func Summarize(groups []Group, suppressed Suppressed) (KPI, error) {
	k := KPI{ByProduct: []ProductKPI{}, Suppressed: suppressed}
	products := make(map[uuid.UUID]*ProductKPI)
	for _, g := range groups {
		p := products[g.ProductID]
		if p == nil {
			p = &ProductKPI{ProductID: g.ProductID}
			products[g.ProductID] = p
		}
		switch g.Status {
		case Pending:
			k.Unpriced += g.Unpriced
			k.PipelineARRCents += g.ExpectedARRCents
			p.PipelineARRCents += g.ExpectedARRCents
		case Won:
			k.WonARRCents += g.EstimatedARRCents
		case Pitched, Dismissed:
		default:
			return KPI{}, fault.New(fault.Internal, "status %q does not exist", g.Status)
		}
		*k.ByStatus.of(g.Status) += g.Count
		*p.of(g.Status) += g.Count
	}
	k.TotalPending = k.ByStatus.Pending
	if closed := k.ByStatus.Won + k.ByStatus.Dismissed; closed > 0 {
		k.Conversion = new(float64(k.ByStatus.Won) / float64(closed))
	} else {
		k.ConversionReason = new(affinity.ReasonZeroDenominator)
	}
	for _, p := range products {
		k.ByProduct = append(k.ByProduct, *p)
	}
	slices.SortFunc(k.ByProduct, func(a, b ProductKPI) int {
		return cmp.Or(cmp.Compare(b.PipelineARRCents, a.PipelineARRCents), bytes.Compare(a.ProductID[:], b.ProductID[:]))
	})
	return k, nil
}

func (s *ByStatus) of(status Status) *int64 {
	switch status {
	case Pitched:
		return &s.Pitched
	case Won:
		return &s.Won
	case Dismissed:
		return &s.Dismissed
	case Pending:
	}
	return &s.Pending
}

// Groups sums up the signals of a run, in order of product: what its pending signals add to the figures.
func (r *Run) Groups() []Group {
	groups := make([]Group, len(r.engine.products))
	for i := range groups {
		groups[i] = Group{ProductID: r.engine.products[i].ID, Status: Pending}
	}
	for i := range r.from.drafts.len {
		d := r.from.drafts.at(i)
		g := &groups[d.product]
		g.Count++
		g.EstimatedARRCents += d.arr
		g.ExpectedARRCents += d.expected()
		if d.price == Unpriced {
			g.Unpriced++
		}
	}
	return slices.DeleteFunc(groups, func(g Group) bool { return g.Count == 0 })
}
