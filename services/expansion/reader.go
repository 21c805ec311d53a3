package expansion

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/analytics/expansion"
	"revarch/store"
)

// reader turns stored owners into accounts of the engine.
type reader struct {
	engine    *expansion.Engine
	prices    *expansion.Prices
	plan      *expansion.Plan
	collector *expansion.Collector

	index  map[uuid.UUID]uint16
	past   map[uuid.UUID][]expansion.Past
	closed []uuid.UUID // signals that are not pending
	deals  map[uuid.UUID][]uint16
	owners scopeCounts // owning accounts
	done   int64
	seen   func(done int64)

	holdings []expansion.Holding
	owned    []bool
	counts   []scopeCounts // owners by product
	ids      []uuid.UUID

	offers  []offer            // by product
	refused map[buyer][]uint16 // products that a kind of account is not offered, as far as it came up
}

// offer is whom a product is sold to; nil lists do not narrow it.
type offer struct{ to, in []string }

// buyer is what of an account decides about offers; "" is unknown, and refuses nothing.
type buyer struct{ kind, state string }

func (o offer) refuses(b buyer) bool {
	return b.kind != "" && o.to != nil && !slices.Contains(o.to, b.kind) || b.state != "" && o.in != nil && !slices.Contains(o.in, b.state)
}

func list(s *string) []string {
	if s == nil || *s == "" {
		return nil
	}
	return strings.Split(*s, ",")
}

// notOffered lists the products that an account is not offered where it is or for what it is.
func (r *reader) notOffered(b buyer) []uint16 {
	out, known := r.refused[b]
	if !known {
		for at, o := range r.offers {
			if o.refuses(b) {
				out = append(out, uint16(at))
			}
		}
		r.refused[b] = out
	}
	return out
}

func newReader(tx *store.Tx, matrices *affinity.Result, today time.Time, zone *time.Location) (*reader, error) {
	rows, err := tx.ActiveProducts()
	if err != nil {
		return nil, err
	}
	r := &reader{
		index: map[uuid.UUID]uint16{}, past: map[uuid.UUID][]expansion.Past{}, deals: map[uuid.UUID][]uint16{},
		refused: map[buyer][]uint16{},
	}
	products := make([]expansion.Product, 0, len(rows))
	for _, p := range rows {
		products = append(products, expansion.Product{ID: p.ID, ListPriceCents: p.ListPriceCents})
	}
	if r.engine, err = expansion.New(products, matrices); err != nil {
		return nil, err
	}
	r.owned, r.counts, r.ids = make([]bool, len(rows)), make([]scopeCounts, len(rows)), make([]uuid.UUID, len(rows))
	r.offers = make([]offer, len(rows))
	for _, p := range rows {
		at, _ := r.engine.Index(p.ID)
		r.index[p.ID], r.ids[at] = at, p.ID
		r.offers[at] = offer{list(p.OfferedTo), list(p.OfferedIn)}
	}
	r.prices = r.engine.Prices()
	past, err := tx.PastSignals()
	if err != nil {
		return nil, err
	}
	for _, p := range past {
		r.closed = append(r.closed, p.ID)
		at, active := r.index[p.ProductID]
		if !active {
			continue
		}
		probability := p.Probability
		x := expansion.Past{Product: at, Status: expansion.Status(p.Status), Probability: &probability}
		if p.StatusChangedAt != nil {
			y, m, d := p.StatusChangedAt.In(zone).Date()
			x.DaysAgo = today.Sub(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)).Hours() / 24
		}
		r.past[p.AccountID] = append(r.past[p.AccountID], x)
	}
	deals, err := tx.OpenDealProducts()
	for _, d := range deals {
		if at, active := r.index[d.ProductID]; active {
			r.deals[d.AccountID] = append(r.deals[d.AccountID], at)
		}
	}
	return r, err
}

// hold lists what an owner has of active products, and how much of it is known.
func (r *reader) hold(o *store.Owner) []expansion.Holding {
	r.holdings = r.holdings[:0]
	for _, l := range o.Lines {
		if at, active := r.index[l.ProductID]; active {
			r.holdings = append(r.holdings, expansion.Holding{Product: at, ARRCents: l.ARRCents, Quantity: l.Quantity})
		}
	}
	return r.holdings
}

// price is the first pass: what owners pay, and how many there are.
func (r *reader) price(o *store.Owner) error {
	r.owners.add(o.Segment)
	owned := r.hold(o)
	for _, h := range owned {
		if !r.owned[h.Product] {
			r.owned[h.Product] = true
			r.counts[h.Product].add(o.Segment)
		}
	}
	for _, h := range owned {
		r.owned[h.Product] = false
	}
	return r.prices.Add(affinity.Segment(o.Segment), sizeOf(o), owned)
}

// whitespace is what the first pass counted.
func (r *reader) whitespace() whitespace {
	w := whitespace{r.owners, make(map[uuid.UUID]scopeCounts, len(r.ids))}
	for at, id := range r.ids {
		w.Owners[id] = r.counts[at]
	}
	return w
}

// collect is the second pass: what each owner could buy.
func (r *reader) collect(o *store.Owner) error {
	r.done++
	r.seen(r.done)
	a := expansion.Account{
		ID: o.ID, Segment: affinity.Segment(o.Segment), Size: sizeOf(o), Owned: r.hold(o), Expansion: o.Expansion, Health: o.Health, Risk: o.Risk,
		DaysToRenewal: o.DaysToRenewal, AgeDays: o.AgeDays, OnboardingPct: o.OnboardingPct, P1Open: number(o.P1Open), OverdueDays: number(o.OverdueDays),
		OpenOpportunities: r.deals[o.ID], Past: r.past[o.ID],
		OptedOut: o.OptedOut, NotOffered: r.notOffered(buyer{o.BuyerType, o.State}),
	}
	if o.Active28d != nil && o.Seats != nil && *o.Seats > 0 {
		ratio := float64(*o.Active28d) / float64(*o.Seats)
		a.UseRatio = &ratio
	}
	return r.collector.Add(&a)
}

// sizeOf is how large an owner is: its students, and its seats.
func sizeOf(o *store.Owner) expansion.Size {
	return expansion.Size{Students: number(o.Enrollment), Licenses: number(o.Seats)}
}

func number(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}
