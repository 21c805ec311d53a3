package affinity

import "github.com/google/uuid"

// Why a measure is null or a pair is not significant.
const (
	ReasonNoData          = "no_data"           // a product has no owner in the scope, or no date is known
	ReasonZeroDenominator = "zero_denominator"  // all accounts of the scope own a product, or none does
	ReasonAlways          = "always"            // every owner of a owns b: conviction is unbounded
	ReasonFewAccounts     = "insufficient_n"    // fewer than MinAccounts
	ReasonFewOwners       = "insufficient_n_a"  // fewer than MinOwners own a
	ReasonFewCoOwners     = "insufficient_n_ab" // fewer than MinCoOwners own both
	ReasonNotSignificant  = "not_significant"   // q is above MaxQ
)

// ProductRef names a product to a reader.
type ProductRef struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	SKU  string    `json:"sku"`
	Name string    `json:"name"`
}

// Entry is one direction of a pair, a -> b, as it is served. A measure without a value is nil, and NullReasons says
// why under its name. Reason says why the entry is not significant, or, when it is, why a measure is nil.
type Entry struct {
	ProductA    ProductRef        `json:"product_a"`
	ProductB    ProductRef        `json:"product_b"`
	Segment     Scope             `json:"segment" enum:"all,Enterprise,Mid-Market,SMB"`
	N           int64             `json:"n"`
	NA          int64             `json:"n_a"`
	NB          int64             `json:"n_b"`
	NAB         int64             `json:"n_ab"`
	Support     *float64          `json:"support"`
	Confidence  *float64          `json:"confidence"`
	Lift        *float64          `json:"lift"`
	Leverage    *float64          `json:"leverage"`
	Conviction  *float64          `json:"conviction"`
	Jaccard     *float64          `json:"jaccard"`
	Phi         *float64          `json:"phi"`
	ChiSquare   *float64          `json:"chi_square"`
	PValue      *float64          `json:"p_value"`
	PMethod     *string           `json:"p_method"`
	QValue      *float64          `json:"q_value"`
	Significant bool              `json:"significant"`
	Reason      *string           `json:"reason"`
	NullReasons map[string]string `json:"null_reasons,omitempty"`
	Bundle      bool              `json:"bundle"`
	LeadShare   *float64          `json:"lead_share"`
	CrossSell   *float64          `json:"cross_sell_probability"`
}

// Render works out the two directions of a stored pair, without naming the products: ProductA and ProductB are for
// the caller to fill, the other way round in the second.
func (p *Pair) Render(scope Scope) (aToB, bToA Entry) {
	mirror := *p
	mirror.NA, mirror.NB = p.NB, p.NA
	mirror.FirstA, mirror.FirstB = p.FirstB, p.FirstA
	mirror.SignificantAB, mirror.CrossAB = p.SignificantBA, p.CrossBA
	return p.entry(scope), mirror.entry(scope)
}

// entry renders a -> b.
func (p *Pair) entry(scope Scope) Entry {
	e := Entry{
		Segment: scope, N: int64(p.N), NA: int64(p.NA), NB: int64(p.NB), NAB: int64(p.NAB),
		Significant: p.SignificantAB, Bundle: p.Bundle(),
	}
	r := renderer{e: &e, slab: make([]float64, 0, 12)}
	n, a, b, both := float64(p.N), float64(p.NA), float64(p.NB), float64(p.NAB)
	r.ratio(&e.Support, "support", both, n)
	r.ratio(&e.Confidence, "confidence", both, a)
	lift, ok := p.Lift()
	r.value(&e.Lift, "lift", lift, ok, r.noOwner(p.N))
	r.ratio(&e.Leverage, "leverage", float64(int64(p.N)*int64(p.NAB)-int64(p.NA)*int64(p.NB)), n*n)
	if p.NA > 0 && p.NA == p.NAB {
		r.value(&e.Conviction, "conviction", 0, false, ReasonAlways)
	} else {
		r.ratio(&e.Conviction, "conviction", (n-b)*a, n*(a-both)) // (1 - p_b) / (1 - conf)
	}
	r.ratio(&e.Jaccard, "jaccard", both, a+b-both)
	phi, ok := p.Phi()
	r.value(&e.Phi, "phi", phi, ok, r.noOwner(p.N))
	r.value(&e.ChiSquare, "chi_square", n*phi*phi, ok, r.noOwner(p.N))
	tested := p.Method != NotTested
	r.value(&e.PValue, "p_value", p.P, tested, ReasonNoData)
	r.value(&e.QValue, "q_value", p.Q, tested, ReasonNoData)
	if tested {
		e.PMethod = new(p.Method.String())
	}
	r.ratioOr(&e.LeadShare, "lead_share", float64(p.FirstA), float64(p.FirstA)+float64(p.FirstB)+float64(p.SameDay), ReasonNoData)
	r.value(&e.CrossSell, "cross_sell_probability", p.CrossAB, p.CrossAB != Unknown, ReasonNoData)
	e.Reason = p.reason(&e)
	return e
}

// reason is the one that stands for the whole entry.
func (p *Pair) reason(e *Entry) *string {
	why := ""
	switch {
	case !p.SignificantAB:
		why = significance(p, p.NA)
	case e.Conviction == nil:
		why = ReasonAlways
	}
	if why == "" {
		return nil
	}
	return &why
}

// renderer puts values and reasons into an entry. The values of one entry share one allocation.
type renderer struct {
	e    *Entry
	slab []float64
}

func (r *renderer) value(dst **float64, name string, v float64, ok bool, why string) {
	if ok {
		r.slab = append(r.slab, v)
		*dst = &r.slab[len(r.slab)-1]
		return
	}
	if r.e.NullReasons == nil {
		r.e.NullReasons = make(map[string]string)
	}
	r.e.NullReasons[name] = why
}

func (r *renderer) ratio(dst **float64, name string, top, bottom float64) {
	r.ratioOr(dst, name, top, bottom, r.noOwner(uint32(r.e.N)))
}

func (r *renderer) ratioOr(dst **float64, name string, top, bottom float64, why string) {
	if bottom == 0 {
		r.value(dst, name, 0, false, why)
		return
	}
	r.value(dst, name, top/bottom, true, "")
}

// noOwner tells an empty scope from one in which everybody or nobody owns a product.
func (r *renderer) noOwner(n uint32) string {
	if n == 0 {
		return ReasonNoData
	}
	return ReasonZeroDenominator
}
