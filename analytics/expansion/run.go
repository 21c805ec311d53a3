package expansion

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
)

// Signal is one pending signal. Only the probability of an unpriced one is known: its amounts are nil.
type Signal struct {
	AccountID, ProductID uuid.UUID
	Scope                affinity.Scope // whose evidence it is: the account's segment, or all
	Probability          float64        // P, 0.01 to 0.95

	EstimatedARRCents *int64
	ExpectedARRCents  *int64 // P x ARR
	PriceBasis        PriceBasis
	PriceScope        affinity.Scope // whose prices; all for a list price and when unpriced

	Priority    *float64 // 0 to 100, halved when not ready; nil when no part of it is known
	Basis       Basis    // the parts of Priority
	Gate        Gate
	Antecedents []Antecedent // in order of product id; belongs to the iteration, so clone it to keep it

	DaysToRenewal *float64
}

// Antecedent is an owned product that speaks for the proposed one.
type Antecedent struct {
	ProductID   uuid.UUID `json:"product_id" format:"uuid"`
	Probability float64   `json:"probability"` // p(b|a), shrunk
	Lift        float64   `json:"lift"`
	Weight      float64   `json:"weight"` // what is left of it after what the other antecedents say too, at most 1
	Share       float64   `json:"share"`  // of the log-odds gain; the shares of a signal sum to 1
}

// Run is the outcome of a regeneration: all new pending signals.
type Run struct {
	Counts Counts

	engine *Engine
	from   *Collector
	priced int // drafts that have a rank
}

// Finish computes the percentile ranks of what the collectors of this plan hold; they must not be used any more.
func (p *Plan) Finish(collectors ...*Collector) *Run {
	from := p.Collector()
	if len(collectors) > 0 {
		from = collectors[0]
		for _, c := range collectors[1:] {
			from.absorb(c)
		}
	}
	return &Run{Counts: from.counts, engine: p.engine, from: from, priced: from.rank()}
}

// rank sets the rank of every priced draft among them and returns how many there are. Twice below + half of equal is a
// whole number.
func (c *Collector) rank() int {
	order := make([]uint32, 0, c.drafts.len-int(c.counts.Unpriced))
	for i := range c.drafts.len {
		if c.drafts.at(i).price != Unpriced {
			order = append(order, uint32(i))
		}
	}
	expected := func(i uint32) int64 { return c.drafts.at(int(i)).expected() }
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(expected(a), expected(b)) })
	for below := 0; below < len(order); {
		end, amount := below+1, expected(order[below])
		for end < len(order) && expected(order[end]) == amount {
			end++
		}
		for _, i := range order[below:end] {
			c.drafts.at(int(i)).rank = uint32(below + end)
		}
		below = end
	}
	return len(order)
}

// priority returns the priority of a draft, negative when nothing is known, and the parts it is made of.
func (r *Run) priority(d *draft) (float64, Basis) {
	a := r.from.accounts.at(int(d.account))
	var rank *float64
	if d.price != Unpriced {
		rank = new(float64(d.rank) / 2 / float64(r.priced))
	}
	if p, basis, ok := a.merit.priority(rank, a.gate); ok {
		return p, basis
	}
	return -1, 0
}

// ranked is a draft and its priority.
type ranked struct {
	priority float64
	draft    *draft
}

// compare is the order of signals: priced before unpriced, then priority, expected ARR and probability falling, days
// to renewal rising, account, product.
func (r *Run) compare(x, y ranked) int {
	a, b := x.draft, y.draft
	if (a.price == Unpriced) != (b.price == Unpriced) {
		if a.price == Unpriced {
			return 1
		}
		return -1
	}
	if o := cmp.Or(cmp.Compare(y.priority, x.priority), cmp.Compare(b.expected(), a.expected()), cmp.Compare(b.probability, a.probability)); o != 0 {
		return o
	}
	p, q := r.from.accounts.at(int(a.account)), r.from.accounts.at(int(b.account))
	return cmp.Or(cmp.Compare(p.renewal, q.renewal), bytes.Compare(p.id[:], q.id[:]), cmp.Compare(a.product, b.product))
}

// Len returns the number of signals.
func (r *Run) Len() int { return r.from.drafts.len }

// Signals goes through the signals in order of rank, which it has to sort. It may be called again and by several
// goroutines.
func (r *Run) Signals() iter.Seq[Signal] {
	return func(yield func(Signal) bool) {
		order := make([]ranked, r.Len())
		for i := range order {
			d := r.from.drafts.at(i)
			order[i].draft = d
			order[i].priority, _ = r.priority(d)
		}
		slices.SortFunc(order, r.compare)
		var p page
		for _, o := range order {
			if !yield(p.render(r, o.draft)) {
				return
			}
		}
	}
}

// ByAccount goes through the signals by account id, then product id: the order that is cheapest to store. It needs no
// sorting when the accounts were collected in order of id. It may be called again and by several goroutines.
func (r *Run) ByAccount() iter.Seq[Signal] {
	return func(yield func(Signal) bool) {
		accounts := &r.from.accounts
		byID := func(i, j uint32) int {
			return bytes.Compare(accounts.at(int(i)).id[:], accounts.at(int(j)).id[:])
		}
		order := make([]uint32, accounts.len)
		for i := range order {
			order[i] = uint32(i)
		}
		if !slices.IsSortedFunc(order, byID) {
			slices.SortFunc(order, byID)
		}
		var p page
		for _, i := range order {
			for at := accounts.at(int(i)).first; at < r.Len(); at++ {
				d := r.from.drafts.at(at)
				if d.account != i {
					break
				}
				if !yield(p.render(r, d)) {
					return
				}
			}
		}
	}
}

// page is room for one signal's antecedents, used again for the next.
type page struct {
	owned       []uint64
	terms       []term
	antecedents []Antecedent
}

func (p *page) render(r *Run, d *draft) Signal {
	scopes, a := affinity.Scopes(), r.from.accounts.at(int(d.account))
	s := Signal{
		AccountID: a.id, ProductID: r.engine.products[d.product].ID, Scope: scopes[d.scope], Probability: d.probability,
		PriceBasis: d.price, PriceScope: scopes[d.priceScope], Gate: a.gate,
	}
	if d.price != Unpriced {
		s.EstimatedARRCents, s.ExpectedARRCents = new(d.arr), new(d.expected())
	}
	if priority, basis := r.priority(d); priority >= 0 {
		s.Priority, s.Basis = new(priority), basis
	}
	if !math.IsInf(a.renewal, 1) {
		s.DaysToRenewal = new(a.renewal)
	}
	e := r.engine.evidence[d.scope]
	p.owned = p.owned[:0]
	for w := range e.words {
		p.owned = append(p.owned, *r.from.owned.at(int(d.account)*e.words + w))
	}
	_, p.terms = e.combine(int(d.product), p.owned, p.terms)
	total := 0.0
	for i := range p.terms {
		total += p.terms[i].gain
	}
	p.antecedents = p.antecedents[:0]
	for _, t := range p.terms {
		at := int(d.product)*e.products + int(t.product)
		p.antecedents = append(p.antecedents, Antecedent{
			ProductID: r.engine.products[t.product].ID, Probability: e.given[at], Lift: e.lift[at],
			Weight: t.weight, Share: t.gain / total,
		})
	}
	s.Antecedents = p.antecedents
	return s
}
