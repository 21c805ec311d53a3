package expansion

import (
	"bytes"
	"cmp"
	"iter"
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
}

// Antecedent is an owned product that speaks for the proposed one.
type Antecedent struct {
	ProductID   uuid.UUID `json:"product_id" format:"uuid"`
	Probability float64   `json:"probability"` // p(b|a), shrunk
	Lift        float64   `json:"lift"`
	Weight      float64   `json:"weight"` // what is left of it after what the other antecedents say too, at most 1
	Share       float64   `json:"share"`  // of the log-odds gain; the shares of a signal sum to 1
}

// Run is the outcome of a regeneration: all new pending signals in order of rank.
type Run struct {
	Counts Counts

	engine *Engine
	from   *Collector
	order  []ranked
}

// ranked is a draft's place in the order. Priority is negative when nothing is known.
type ranked struct {
	priority float64
	draft    int
	basis    Basis
}

// Finish ranks what the collectors of this plan hold; they must not be used any more.
func (p *Plan) Finish(collectors ...*Collector) *Run {
	from := p.Collector()
	if len(collectors) > 0 {
		from = collectors[0]
		for _, c := range collectors[1:] {
			from.absorb(c)
		}
	}
	r := &Run{Counts: from.counts, engine: p.engine, from: from}
	r.order = from.prioritize()
	slices.SortFunc(r.order, from.compare)
	return r
}

// prioritize computes the priority of every draft, the percentile ranks among the priced ones first.
func (c *Collector) prioritize() []ranked {
	type amount struct {
		expected int64
		draft    int
	}
	amounts := make([]amount, 0, len(c.drafts))
	order := make([]ranked, len(c.drafts))
	for i := range c.drafts {
		order[i].draft = i
		if c.drafts[i].price == Unpriced {
			c.rank(&order[i], nil)
		} else {
			amounts = append(amounts, amount{c.drafts[i].expected, i})
		}
	}
	slices.SortFunc(amounts, func(a, b amount) int { return cmp.Compare(a.expected, b.expected) })
	for below := 0; below < len(amounts); {
		end := below + 1
		for end < len(amounts) && amounts[end].expected == amounts[below].expected {
			end++
		}
		rank := (float64(below) + 0.5*float64(end-below)) / float64(len(amounts))
		for ; below < end; below++ {
			c.rank(&order[amounts[below].draft], &rank)
		}
	}
	return order
}

func (c *Collector) rank(r *ranked, rank *float64) {
	a := &c.accounts[c.drafts[r.draft].account]
	var ok bool
	if r.priority, r.basis, ok = a.merit.priority(rank, a.gate); !ok {
		r.priority = -1
	}
}

// compare is the order of signals: priced before unpriced, then priority, expected ARR and probability falling, days
// to renewal rising, account, product.
func (c *Collector) compare(x, y ranked) int {
	a, b := &c.drafts[x.draft], &c.drafts[y.draft]
	if u, v := a.price == Unpriced, b.price == Unpriced; u != v {
		if u {
			return 1
		}
		return -1
	}
	if x.priority != y.priority {
		return cmp.Compare(y.priority, x.priority)
	}
	if o := cmp.Or(cmp.Compare(b.expected, a.expected), cmp.Compare(b.probability, a.probability)); o != 0 {
		return o
	}
	p, q := &c.accounts[a.account], &c.accounts[b.account]
	return cmp.Or(cmp.Compare(p.renewal, q.renewal), bytes.Compare(p.id[:], q.id[:]), cmp.Compare(a.product, b.product))
}

// Len returns the number of signals.
func (r *Run) Len() int { return len(r.order) }

// Signals goes through the signals in order of rank. It may be called again and by several goroutines.
func (r *Run) Signals() iter.Seq[Signal] {
	return func(yield func(Signal) bool) {
		var terms []term
		var antecedents []Antecedent
		for _, o := range r.order {
			var s Signal
			s, terms = r.render(o, terms, antecedents[:0])
			antecedents = s.Antecedents
			if !yield(s) {
				return
			}
		}
	}
}

func (r *Run) render(o ranked, terms []term, antecedents []Antecedent) (Signal, []term) {
	d, scopes := &r.from.drafts[o.draft], affinity.Scopes()
	a := &r.from.accounts[d.account]
	s := Signal{
		AccountID: a.id, ProductID: r.engine.products[d.product].ID, Scope: scopes[d.scope], Probability: d.probability,
		PriceBasis: d.price, PriceScope: scopes[d.priceScope], Basis: o.basis, Gate: a.gate,
	}
	if d.price != Unpriced {
		arr, expected := d.arr, d.expected
		s.EstimatedARRCents, s.ExpectedARRCents = &arr, &expected
	}
	if o.priority >= 0 {
		priority := o.priority
		s.Priority = &priority
	}
	e := r.engine.evidence[d.scope]
	_, terms = e.combine(int(d.product), r.from.owned[a.owned:a.owned+e.words], terms)
	total := 0.0
	for i := range terms {
		total += terms[i].gain
	}
	for _, t := range terms {
		at := int(d.product)*e.products + int(t.product)
		antecedents = append(antecedents, Antecedent{
			ProductID: r.engine.products[t.product].ID, Probability: e.given[at], Lift: e.lift[at],
			Weight: t.weight, Share: t.gain / total,
		})
	}
	s.Antecedents = antecedents
	return s, terms
}
