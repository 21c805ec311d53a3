package expansion

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"sync"

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

// Run is the outcome of a regeneration: all new pending signals.
type Run struct {
	Counts Counts

	engine *Engine
	from   *Collector
	drafts []ranked // in order of draft
	sort   sync.Once
	order  []ranked // by rank, once asked for
}

// ranked is the priority of a draft, negative when nothing is known.
type ranked struct {
	priority float64
	draft    int
	basis    Basis
	unpriced bool
}

// Finish computes the priorities of what the collectors of this plan hold; they must not be used any more.
func (p *Plan) Finish(collectors ...*Collector) *Run {
	from := p.Collector()
	if len(collectors) > 0 {
		from = collectors[0]
		for _, c := range collectors[1:] {
			from.absorb(c)
		}
	}
	return &Run{Counts: from.counts, engine: p.engine, from: from, drafts: from.prioritize()}
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
			order[i].unpriced = true
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
	if x.unpriced != y.unpriced {
		if x.unpriced {
			return 1
		}
		return -1
	}
	if x.priority != y.priority {
		return cmp.Compare(y.priority, x.priority)
	}
	a, b := &c.drafts[x.draft], &c.drafts[y.draft]
	if o := cmp.Or(cmp.Compare(b.expected, a.expected), cmp.Compare(b.probability, a.probability)); o != 0 {
		return o
	}
	p, q := &c.accounts[a.account], &c.accounts[b.account]
	return cmp.Or(cmp.Compare(p.renewal, q.renewal), bytes.Compare(p.id[:], q.id[:]), cmp.Compare(a.product, b.product))
}

// Len returns the number of signals.
func (r *Run) Len() int { return len(r.drafts) }

// Signals goes through the signals in order of rank. It may be called again and by several goroutines.
func (r *Run) Signals() iter.Seq[Signal] {
	return func(yield func(Signal) bool) {
		r.sort.Do(func() {
			r.order = slices.Clone(r.drafts)
			slices.SortFunc(r.order, r.from.compare)
		})
		var p page
		for _, o := range r.order {
			if !yield(p.render(r, o)) {
				return
			}
		}
	}
}

// ByAccount goes through the signals by account id, then product id: the order that is cheapest to store. It needs no
// sorting when the accounts were collected in order of id. It may be called again and by several goroutines.
func (r *Run) ByAccount() iter.Seq[Signal] {
	return func(yield func(Signal) bool) {
		accounts := r.from.accounts
		byID := func(i, j int) int { return bytes.Compare(accounts[i].id[:], accounts[j].id[:]) }
		order := make([]int, len(accounts))
		for i := range order {
			order[i] = i
		}
		if !slices.IsSortedFunc(order, byID) {
			slices.SortFunc(order, byID)
		}
		var p page
		for _, i := range order {
			for d := accounts[i].first; d < len(r.drafts) && r.from.drafts[d].account == i; d++ {
				if !yield(p.render(r, r.drafts[d])) {
					return
				}
			}
		}
	}
}

// page is room for one signal's antecedents, used again for the next.
type page struct {
	terms       []term
	antecedents []Antecedent
}

func (p *page) render(r *Run, o ranked) Signal {
	d, scopes := &r.from.drafts[o.draft], affinity.Scopes()
	a := &r.from.accounts[d.account]
	s := Signal{
		AccountID: a.id, ProductID: r.engine.products[d.product].ID, Scope: scopes[d.scope], Probability: d.probability,
		PriceBasis: d.price, PriceScope: scopes[d.priceScope], Basis: o.basis, Gate: a.gate,
	}
	if d.price != Unpriced {
		s.EstimatedARRCents, s.ExpectedARRCents = new(d.arr), new(d.expected)
	}
	if o.priority >= 0 {
		s.Priority = new(o.priority)
	}
	e := r.engine.evidence[d.scope]
	_, p.terms = e.combine(int(d.product), r.from.owned[a.owned:a.owned+e.words], p.terms)
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
