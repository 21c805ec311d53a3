package expansion

import (
	"math"
	"slices"

	"revarch/analytics/affinity"
)

// minPriced is the number of owners a segment needs for a price of its own.
const minPriced = 5

// PriceBasis says what an estimated ARR rests on.
type PriceBasis uint8

// The bases. Unpriced signals have no estimate.
const (
	Unpriced PriceBasis = iota
	PerStudent
	PerLicense
	ListPrice
)

// String returns the basis's name on the wire.
func (b PriceBasis) String() string {
	return [...]string{"unpriced", "per_student", "per_license", "list_price"}[min(b, ListPrice)]
}

const numSegments = affinity.NumScopes

// Prices gathers what owners pay. It is for one goroutine; Fork and Merge spread the work. Memory is two or three
// numbers per owned product.
type Prices struct {
	engine *Engine
	seen   [numSegments][]paid // by segment of the owner and product
	lines  []holding
}

// paid is what the owners of one product in one segment pay.
type paid struct {
	arr, perStudent, perLicense []float64 // cents a year, not in order
}

// Prices starts the pass that gathers prices.
func (e *Engine) Prices() *Prices {
	p := &Prices{engine: e}
	for s := range p.seen {
		p.seen[s] = make([]paid, len(e.products))
	}
	return p
}

// Fork returns an empty Prices for another goroutine.
func (p *Prices) Fork() *Prices { return p.engine.Prices() }

// Merge adds what another one gathered.
func (p *Prices) Merge(o *Prices) {
	for s := range p.seen {
		for b := range p.seen[s] {
			p.seen[s][b].append(&o.seen[s][b])
		}
	}
}

func (x *paid) append(y *paid) {
	x.arr = append(x.arr, y.arr...)
	x.perStudent = append(x.perStudent, y.perStudent...)
	x.perLicense = append(x.perLicense, y.perLicense...)
}

// Add takes note of what an owning account pays; only lines whose sum is above 0 tell a price.
func (p *Prices) Add(seg affinity.Segment, size Size, owned []Holding) error {
	var err error
	if p.lines, err = p.engine.fold(seg, owned, p.lines); err != nil {
		return err
	}
	students, knowStudents := positive(size.Students)
	seats, _ := positive(size.Licenses)
	for _, h := range p.lines {
		if h.arr <= 0 {
			continue
		}
		x, arr := &p.seen[seg][h.product], float64(h.arr)
		x.arr = append(x.arr, arr)
		if knowStudents {
			x.perStudent = append(x.perStudent, arr/students)
		}
		if licenses := firstPositive(h.licenses, seats); licenses > 0 {
			x.perLicense = append(x.perLicense, arr/licenses)
		}
	}
	return nil
}

func firstPositive(a, b float64) float64 {
	if a > 0 {
		return a
	}
	return b
}

// tariff is what owners of one product in one scope pay, summed up.
type tariff struct {
	perStudent, perLicense median
	low, high              float64 // 10th and 90th percentile of owner ARR
}

type median struct {
	n     int
	value float64
}

// priceList holds a tariff by scope and product.
type priceList [numSegments][]tariff

// list sums the prices up. It leaves the gathered ones as they are but for their order.
func (p *Prices) list() *priceList {
	var list priceList
	for s := range list {
		list[s] = make([]tariff, len(p.engine.products))
	}
	var all paid
	for b := range p.engine.products {
		all.arr, all.perStudent, all.perLicense = all.arr[:0], all.perStudent[:0], all.perLicense[:0]
		for s := range p.seen {
			all.append(&p.seen[s][b])
			if s > 0 {
				list[s][b] = p.seen[s][b].tariff()
			}
		}
		list[0][b] = all.tariff()
	}
	return &list
}

func (x *paid) tariff() tariff {
	slices.Sort(x.arr)
	slices.Sort(x.perStudent)
	slices.Sort(x.perLicense)
	return tariff{
		perStudent: median{len(x.perStudent), percentile(x.perStudent, 0.5)},
		perLicense: median{len(x.perLicense), percentile(x.perLicense, 0.5)},
		low:        percentile(x.arr, 0.1), high: percentile(x.arr, 0.9),
	}
}

// percentile interpolates linearly in a sorted list; 0 when it is empty.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// quote estimates the ARR in cents of product b at an account of that segment and size, what the estimate rests on and
// whose prices it used.
func (l *priceList) quote(b int, seg affinity.Segment, size Size, listPrice *int64) (cents int64, basis PriceBasis, scope affinity.Segment) {
	for _, by := range [...]struct {
		basis PriceBasis
		size  *float64
		of    func(*tariff) median
	}{
		{PerStudent, size.Students, func(t *tariff) median { return t.perStudent }},
		{PerLicense, size.Licenses, func(t *tariff) median { return t.perLicense }},
	} {
		units, ok := positive(by.size)
		if !ok {
			continue
		}
		for _, s := range [...]affinity.Segment{seg, affinity.NoSegment} {
			t := &l[s][b]
			if m := by.of(t); m.n >= minPriced || m.n > 0 && s == affinity.NoSegment {
				return int64(math.RoundToEven(max(t.low, min(t.high, m.value*units)))), by.basis, s
			}
		}
	}
	if listPrice != nil && *listPrice >= 0 {
		return *listPrice, ListPrice, affinity.NoSegment
	}
	return 0, Unpriced, affinity.NoSegment
}
