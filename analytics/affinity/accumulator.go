package affinity

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/google/uuid"

	"revarch/fault"
)

// MaxProducts is the largest number of products a matrix can have: pairs grow with its square, and at this size the
// matrices of all scopes still fit in about 300 MB.
const MaxProducts = 1000

// NoDate is the start of an order line whose date is unknown.
const NoDate int32 = math.MinInt32

// Owned is one product an account owns.
type Owned struct {
	Product uint16 // position, from Accumulator.Index
	Start   int32  // day of the order line, in days since 1970-01-01, or NoDate
	Bundle  uint64 // key of the bundle it was sold in, equal within an account for the same bundle; 0 for none
}

// Row is one owning account. Owned may come in any order and name a product several times (one per line): the product
// counts once, with its first order line. An account that owns none of the products still counts in the scope.
type Row struct {
	Segment Segment
	Owned   []Owned
}

// Accumulator counts owners and co-owners. It is for one goroutine; Fork and Merge spread the work.
type Accumulator struct {
	ids     []uuid.UUID
	offsets []int // of the pairs of each product in cells
	segs    [numSegments]counts
	scratch []Owned
}

// counts are those of the accounts of one segment.
type counts struct {
	n      uint32
	owners []uint32
	cells  []cell // one per unordered pair, ordered by (a, b)
}

// cell counts the co-owners of one pair; those whose dates are not both known are only in both.
type cell struct{ both, firstA, firstB, sameDay, bundled uint32 }

// New makes an accumulator for a set of active products. The order they come in does not matter: positions follow the
// ids. Naming one twice, or more than MaxProducts, is an error.
func New(products []uuid.UUID) (*Accumulator, error) {
	if len(products) > MaxProducts {
		return nil, fault.New(fault.TooLarge, "%d products are more than the %d a matrix can have", len(products), MaxProducts)
	}
	ids := slices.Clone(products)
	slices.SortFunc(ids, compareIDs)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			return nil, fault.New(fault.Internal, "product %s is named twice", ids[i])
		}
	}
	return build(ids), nil
}

func build(ids []uuid.UUID) *Accumulator {
	p := len(ids)
	acc := &Accumulator{ids: ids, offsets: make([]int, p), scratch: make([]Owned, 0, p)}
	for a := range p {
		acc.offsets[a] = a*(2*p-a-1)/2 - a - 1
	}
	for s := range acc.segs {
		acc.segs[s] = counts{owners: make([]uint32, p), cells: make([]cell, p*(p-1)/2)}
	}
	return acc
}

// Products returns the products by position. The caller must not change them.
func (acc *Accumulator) Products() []uuid.UUID { return acc.ids }

// Index returns the position of a product, false when it is not one of the matrix (retired since, for example).
func (acc *Accumulator) Index(id uuid.UUID) (uint16, bool) {
	i, ok := slices.BinarySearchFunc(acc.ids, id, compareIDs)
	return uint16(i), ok
}

// Add counts one owning account. It keeps nothing of the row.
func (acc *Accumulator) Add(row Row) error {
	if row.Segment >= numSegments {
		return fault.New(fault.Internal, "segment %d does not exist", row.Segment)
	}
	owned, err := acc.distinct(row.Owned)
	if err != nil {
		return err
	}
	c := &acc.segs[row.Segment]
	c.n++
	for i := range owned {
		a := &owned[i]
		c.owners[a.Product]++
		offset, rest := acc.offsets[a.Product], owned[i+1:]
		for j := range rest {
			c.cells[offset+int(rest[j].Product)].add(a, &rest[j])
		}
	}
	return nil
}

// add counts one co-owner without branches: purchase dates are too irregular for the processor to predict.
func (c *cell) add(a, b *Owned) {
	dated := bit(a.Start != NoDate) & bit(b.Start != NoDate)
	same := dated & bit(a.Start == b.Start)
	c.both++
	c.firstA += dated & bit(a.Start < b.Start)
	c.firstB += dated & bit(a.Start > b.Start)
	c.sameDay += same
	c.bundled += same & bit(a.Bundle == b.Bundle) & bit(a.Bundle != 0)
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// distinct returns the products in order of position, each with its first order line. Rows that already are so, the
// usual case, cost one pass and no copy.
func (acc *Accumulator) distinct(owned []Owned) ([]Owned, error) {
	ordered := true
	for i, o := range owned {
		if int(o.Product) >= len(acc.ids) {
			return nil, fault.New(fault.Internal, "product position %d of %d", o.Product, len(acc.ids))
		}
		ordered = ordered && (i == 0 || owned[i-1].Product < o.Product)
	}
	if ordered {
		return owned, nil
	}
	acc.scratch = append(acc.scratch[:0], owned...)
	slices.SortFunc(acc.scratch, compareOwned)
	return slices.CompactFunc(acc.scratch, func(a, b Owned) bool { return a.Product == b.Product }), nil
}

// compareOwned orders by product, then the first order line first: known dates before unknown ones, and on one day a
// line in a bundle before one in none.
func compareOwned(a, b Owned) int {
	return cmp.Or(cmp.Compare(a.Product, b.Product),
		cmp.Compare(bit(a.Start == NoDate), bit(b.Start == NoDate)), cmp.Compare(a.Start, b.Start),
		cmp.Compare(bit(a.Bundle == 0), bit(b.Bundle == 0)), cmp.Compare(a.Bundle, b.Bundle))
}

// Fork returns an empty accumulator over the same products, for another goroutine.
func (acc *Accumulator) Fork() *Accumulator { return build(acc.ids) }

// Merge adds what another accumulator over the same products has counted.
func (acc *Accumulator) Merge(other *Accumulator) error {
	if !slices.Equal(acc.ids, other.ids) {
		return fault.New(fault.Internal, "accumulators over different products cannot be merged")
	}
	for s := range acc.segs {
		acc.segs[s].merge(&other.segs[s])
	}
	return nil
}

func (c *counts) merge(o *counts) {
	c.n += o.n
	for i, v := range o.owners {
		c.owners[i] += v
	}
	for i := range o.cells {
		x, y := &c.cells[i], &o.cells[i]
		x.both += y.both
		x.firstA += y.firstA
		x.firstB += y.firstB
		x.sameDay += y.sameDay
		x.bundled += y.bundled
	}
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
