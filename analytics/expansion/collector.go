package expansion

import (
	"math"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
)

// Plan is an engine with its price list. It does not change and serves any number of collectors.
type Plan struct {
	engine *Engine
	prices *priceList
}

// Plan ends the pass that gathers prices.
func (p *Prices) Plan() *Plan { return &Plan{engine: p.engine, prices: p.list()} }

// Collector turns accounts into signals yet to be ranked, kept in 32 bytes each, and about 90 for each account that has
// any. It is for one goroutine.
type Collector struct {
	plan     *Plan
	lines    []holding
	terms    []term
	set      []uint64     // the products that the account at hand owns
	owned    list[uint64] // the sets of all accounts, one after the other
	accounts list[collected]
	drafts   list[draft]
	counts   Counts
}

// Counts says what became of the pairs of an account and an active product.
type Counts struct {
	Accounts   int64      `json:"accounts"`
	Considered int64      `json:"considered"`  // products an account does not own
	NoEvidence int64      `json:"no_evidence"` // of those: nothing it owns speaks for them
	Signals    int64      `json:"signals"`
	Unpriced   int64      `json:"unpriced"` // of the signals
	Suppressed Suppressed `json:"suppressed"`
}

// collected is what is kept of an account that has signals.
type collected struct {
	id      uuid.UUID
	merit   merit
	renewal float64 // days, +Inf when unknown
	first   int     // of its drafts, which lie together in order of product
	gate    Gate
}

// draft is a signal without its priority.
type draft struct {
	probability float64
	arr         int64  // cents; 0 when unpriced
	account     uint32 // position in accounts
	rank        uint32 // percentile rank of the expected ARR, in halves of a draft
	product     uint16
	scope       affinity.Segment // of the evidence
	priceScope  affinity.Segment
	price       PriceBasis
}

// expected is P x ARR in cents, 0 when unpriced.
func (d *draft) expected() int64 { return int64(math.RoundToEven(d.probability * float64(d.arr))) }

// Collector starts a second pass.
func (p *Plan) Collector() *Collector { return &Collector{plan: p} }

// Add takes an owning account; each must come once. It keeps nothing of a.
func (c *Collector) Add(a *Account) error {
	e := c.plan.engine
	var err error
	if c.lines, err = e.fold(a.Segment, a.Owned, c.lines); err != nil {
		return err
	}
	c.set = append(c.set[:0], make([]uint64, (len(e.products)+63)/64)...)
	for _, h := range c.lines {
		c.set[h.product/64] |= 1 << (h.product % 64)
	}
	c.counts.Accounts++
	c.counts.Suppressed.Owned += int64(len(c.lines))
	before := c.drafts.len
	for b := range e.products {
		if c.set[b/64]&(1<<(b%64)) == 0 {
			c.propose(a, b)
		}
	}
	if c.drafts.len == before {
		return nil
	}
	renewal := math.Inf(1)
	if a.DaysToRenewal != nil {
		renewal = *a.DaysToRenewal
	}
	for _, w := range c.set {
		c.owned.add(w)
	}
	c.accounts.add(collected{id: a.ID, first: before, merit: meritOf(a), gate: gate(a), renewal: renewal})
	return nil
}

// propose makes a draft for a product the account does not own, unless nothing speaks for it or something against.
func (c *Collector) propose(a *Account, b int) {
	e := c.plan.engine
	c.counts.Considered++
	d := draft{account: uint32(c.accounts.len), product: uint16(b), scope: a.Segment}
	d.probability, c.terms = e.evidence[d.scope].combine(b, c.set, c.terms)
	if len(c.terms) == 0 && d.scope != affinity.NoSegment {
		d.scope = affinity.NoSegment
		d.probability, c.terms = e.evidence[d.scope].combine(b, c.set, c.terms)
	}
	if len(c.terms) == 0 {
		c.counts.NoEvidence++
		return
	}
	if n := c.counts.Suppressed.reason(a, d.product, d.probability); n != nil {
		*n++
		return
	}
	d.arr, d.price, d.priceScope = c.plan.prices.quote(b, a.Segment, a.Size, e.products[b].ListPriceCents)
	c.counts.Signals++
	if d.price == Unpriced {
		c.counts.Unpriced++
	}
	c.drafts.add(d)
}

// absorb moves what another collector holds into this one.
func (c *Collector) absorb(o *Collector) {
	accounts, drafts := c.accounts.len, c.drafts.len
	for i := range o.owned.len {
		c.owned.add(*o.owned.at(i))
	}
	for i := range o.accounts.len {
		a := *o.accounts.at(i)
		a.first += drafts
		c.accounts.add(a)
	}
	for i := range o.drafts.len {
		d := *o.drafts.at(i)
		d.account += uint32(accounts)
		c.drafts.add(d)
	}
	c.counts.Accounts += o.counts.Accounts
	c.counts.Considered += o.counts.Considered
	c.counts.NoEvidence += o.counts.NoEvidence
	c.counts.Signals += o.counts.Signals
	c.counts.Unpriced += o.counts.Unpriced
	c.counts.Suppressed.merge(&o.counts.Suppressed)
}
