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

// Collector turns accounts into signals yet to be ranked, kept in about 60 bytes each. It is for one goroutine.
type Collector struct {
	plan     *Plan
	lines    []holding
	terms    []term
	owned    []uint64 // sets of owned products, one after the other
	accounts []collected
	drafts   []draft
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
	owned   int // where its set starts
	first   int // of its drafts, which lie together in order of product
	merit   merit
	gate    Gate
	renewal float64 // days, +Inf when unknown
}

// draft is a signal without its priority.
type draft struct {
	account       int
	product       uint16
	scope         affinity.Segment // of the evidence
	priceScope    affinity.Segment
	price         PriceBasis
	probability   float64
	arr, expected int64 // cents; 0 when unpriced
}

// Collector starts a second pass.
func (p *Plan) Collector() *Collector { return &Collector{plan: p} }

// Add takes an owning account; each must come once. It keeps nothing of a.
func (c *Collector) Add(a *Account) error {
	e := c.plan.engine
	var err error
	if c.lines, err = e.fold(a.Segment, a.Owned, c.lines); err != nil {
		return err
	}
	start := len(c.owned)
	for range (len(e.products) + 63) / 64 {
		c.owned = append(c.owned, 0)
	}
	owned := c.owned[start:]
	for _, h := range c.lines {
		owned[h.product/64] |= 1 << (h.product % 64)
	}
	c.counts.Accounts++
	c.counts.Suppressed.Owned += int64(len(c.lines))
	before := len(c.drafts)
	for b := range e.products {
		if owned[b/64]&(1<<(b%64)) == 0 {
			c.propose(a, b, owned)
		}
	}
	if len(c.drafts) == before {
		c.owned = c.owned[:start]
		return nil
	}
	renewal := math.Inf(1)
	if a.DaysToRenewal != nil {
		renewal = *a.DaysToRenewal
	}
	c.accounts = append(c.accounts, collected{id: a.ID, owned: start, first: before, merit: meritOf(a), gate: gate(a), renewal: renewal})
	return nil
}

// propose makes a draft for a product the account does not own, unless nothing speaks for it or something against.
func (c *Collector) propose(a *Account, b int, owned []uint64) {
	e := c.plan.engine
	c.counts.Considered++
	d := draft{account: len(c.accounts), product: uint16(b), scope: a.Segment}
	d.probability, c.terms = e.evidence[d.scope].combine(b, owned, c.terms)
	if len(c.terms) == 0 && d.scope != affinity.NoSegment {
		d.scope = affinity.NoSegment
		d.probability, c.terms = e.evidence[d.scope].combine(b, owned, c.terms)
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
	d.expected = int64(math.RoundToEven(d.probability * float64(d.arr)))
	c.counts.Signals++
	if d.price == Unpriced {
		c.counts.Unpriced++
	}
	c.drafts = append(c.drafts, d)
}

// absorb moves what another collector holds into this one.
func (c *Collector) absorb(o *Collector) {
	accounts, owned, drafts := len(c.accounts), len(c.owned), len(c.drafts)
	c.owned = append(c.owned, o.owned...)
	for _, a := range o.accounts {
		a.owned += owned
		a.first += drafts
		c.accounts = append(c.accounts, a)
	}
	for _, d := range o.drafts {
		d.account += accounts
		c.drafts = append(c.drafts, d)
	}
	c.counts.Accounts += o.counts.Accounts
	c.counts.Considered += o.counts.Considered
	c.counts.NoEvidence += o.counts.NoEvidence
	c.counts.Signals += o.counts.Signals
	c.counts.Unpriced += o.counts.Unpriced
	c.counts.Suppressed.merge(&o.counts.Suppressed)
}
