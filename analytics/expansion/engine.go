package expansion

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/fault"
)

// Engine holds the products that may be proposed and what owning one says about another. It does not change once made
// and serves any number of goroutines.
type Engine struct {
	products []Product // in order of id
	evidence [numSegments]*evidence
}

// New makes an engine from the active products, in any order, and a computed or stored affinity result. Products that
// the result does not know are never proposed; what it says about others (retired since) is ignored.
func New(products []Product, matrices *affinity.Result) (*Engine, error) {
	if len(products) > affinity.MaxProducts {
		return nil, fault.New(fault.TooLarge, "%d products are more than the %d a run can have", len(products), affinity.MaxProducts)
	}
	e := &Engine{products: slices.Clone(products)}
	slices.SortFunc(e.products, func(a, b Product) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for i := 1; i < len(e.products); i++ {
		if e.products[i].ID == e.products[i-1].ID {
			return nil, fault.New(fault.Internal, "product %s is named twice", e.products[i].ID)
		}
	}
	position := make([]int, len(matrices.Products))
	for i, id := range matrices.Products {
		position[i] = -1
		if at, ok := e.Index(id); ok {
			position[i] = int(at)
		}
	}
	for s := range e.evidence {
		var err error
		if e.evidence[s], err = newEvidence(&matrices.Matrices[s], position, len(e.products)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Index returns the position of a product, false when it is not active.
func (e *Engine) Index(id uuid.UUID) (uint16, bool) {
	i, ok := slices.BinarySearchFunc(e.products, id, func(p Product, id uuid.UUID) int { return bytes.Compare(p.ID[:], id[:]) })
	return uint16(i), ok
}

// fold adds up the lines of each product, in order of product, into buf.
func (e *Engine) fold(seg affinity.Segment, owned []Holding, buf []holding) ([]holding, error) {
	if int(seg) >= numSegments {
		return nil, fault.New(fault.Internal, "segment %d does not exist", seg)
	}
	buf = buf[:0]
	for _, h := range owned {
		if int(h.Product) >= len(e.products) {
			return nil, fault.New(fault.Internal, "product position %d of %d", h.Product, len(e.products))
		}
		licenses, _ := positive(h.Quantity)
		buf = append(buf, holding{product: h.Product, arr: h.ARRCents, licenses: licenses})
	}
	// Lines of one product are ordered as well: adding fractions in another order could end in another last digit.
	slices.SortFunc(buf, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.product, b.product), cmp.Compare(a.licenses, b.licenses))
	})
	n := 0
	for i, h := range buf {
		if i == 0 || buf[n-1].product != h.product {
			buf[n] = h
			n++
			continue
		}
		sum := &buf[n-1]
		sum.arr += h.arr
		if sum.licenses > 0 { // a line that does not say sorts first and leaves the sum unknown
			sum.licenses += h.licenses
		}
	}
	return buf[:n], nil
}
