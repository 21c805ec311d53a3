package affinity

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/affinity"
	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// MaxLimit is the largest page of entries.
const MaxLimit = 1000

// Why a list has no entries.
const (
	ReasonNotComputed = "not_computed"
	ReasonFewProducts = "fewer_than_two_products"
	ReasonNoOwners    = "no_owning_accounts"
	ReasonNoMatch     = "no_match"
)

// Filter selects entries; zero fields select everything but pairs that nobody owns together.
type Filter struct {
	Segment     string     `json:"s,omitempty"` // all, Enterprise, Mid-Market or SMB
	ProductID   *uuid.UUID `json:"p,omitempty"` // on either side
	MinLift     float64    `json:"l,omitempty"`
	Significant *bool      `json:"g,omitempty"`
	IncludeZero bool       `json:"z,omitempty"`
}

// ListInput asks for entries; Limit 0 asks for all of them.
type ListInput struct {
	Filter
	Cursor string
	Limit  int
}

// Entry is one direction of a pair as every surface shows it.
type Entry struct {
	affinity.Entry
	ComputedAt time.Time `json:"computed_at"`
	RunID      uuid.UUID `json:"run_id" format:"uuid"`
}

// Matrix is the selected entries of one computation, by segment (all first), lift falling with unknown ones last, and
// ids. They are rendered while they are iterated over.
type Matrix struct {
	Info       *models.AffinityMatrix // nil: never computed
	Reason     *string                // why there are none
	NextCursor *string
	Len        int

	pairs    []pair
	order    []place
	products map[uuid.UUID]affinity.ProductRef
}

// pair is a stored pair, without the ids that Pair has no room for.
type pair struct {
	affinity.Pair
	a, b  uuid.UUID
	scope int16
}

// place is one direction of a pair and what it is ordered by.
type place struct {
	pair    int32
	reverse bool
	scope   int16
	lift    float64 // -1: unknown
}

// position is a place in the list.
type position struct {
	Computed time.Time `json:"c"` // of the matrix that the page before was from
	Scope    int16     `json:"s"`
	Lift     uint64    `json:"l"` // bits
	A        uuid.UUID `json:"a"`
	B        uuid.UUID `json:"b"`
}

// List returns entries of the stored matrix. It is read as a whole, so that slow readers hold no transaction and nobody
// sees parts of two computations; a cursor of a former computation is refused. Faults: Denied, Invalid, CursorDead.
func (s *Service) List(ctx context.Context, p auth.Principal, in ListInput) (*Matrix, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, err
	}
	f, err := in.store()
	if err != nil {
		return nil, err
	}
	var after *position
	if in.Cursor != "" {
		after = &position{}
		if err := s.Cursors.Decode(in.Cursor, p.OrgID, "affinity", in.Filter, after); err != nil {
			return nil, err
		}
	}
	m := &Matrix{products: map[uuid.UUID]affinity.ProductRef{}}
	err = s.Store.Snapshot(ctx, p.OrgID, func(tx *store.Tx) error {
		info, ok, err := tx.AffinityMatrix()
		if err != nil || !ok {
			return err
		}
		info.ComputedAt = info.ComputedAt.UTC()
		m.Info = &info
		err = tx.EachAffinityEntry(ctx, f, func(e *models.AffinityEntry) error { m.add(e, in.Significant); return nil })
		if err != nil {
			return err
		}
		return m.name(tx)
	})
	if err != nil {
		return nil, err
	}
	m.Reason = m.emptyReason()
	slices.SortFunc(m.order, m.compare)
	if after != nil {
		if err := m.skip(*after); err != nil {
			return nil, err
		}
	}
	if in.Limit > 0 && len(m.order) > in.Limit {
		m.order = m.order[:in.Limit]
		next, err := s.Cursors.Encode(p.OrgID, "affinity", in.Filter, m.position(m.order[in.Limit-1]))
		if err != nil {
			return nil, err
		}
		m.NextCursor = &next
	}
	m.Len = len(m.order)
	return m, nil
}

func (in ListInput) store() (store.AffinityFilter, error) {
	f := store.AffinityFilter{ProductID: in.ProductID, MinLift: in.MinLift, Significant: in.Significant, IncludeZero: in.IncludeZero}
	if in.Limit < 0 || in.Limit > MaxLimit {
		return f, fault.WithFields("the limit is out of range", fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	if math.IsNaN(in.MinLift) || in.MinLift < 0 {
		return f, fault.WithFields("min_lift is out of range", fault.FieldError{Field: "min_lift", Message: "must be 0 or more"})
	}
	if in.Segment != "" {
		scopes := affinity.Scopes()
		at := slices.Index(scopes[:], affinity.Scope(in.Segment))
		if at < 0 {
			return f, fault.WithFields("the segment is unknown", fault.FieldError{Field: "segment", Message: "must be one of all, Enterprise, Mid-Market, SMB"})
		}
		scope := int16(at)
		f.Scope = &scope
	}
	return f, nil
}

// add takes the directions of an entry that the filter selects.
func (m *Matrix) add(e *models.AffinityEntry, significant *bool) {
	p := pair{Pair: toPair(e), a: e.ProductA, b: e.ProductB, scope: e.Scope}
	lift, ok := p.Lift()
	if !ok {
		lift = -1
	}
	at := int32(len(m.pairs))
	m.pairs = append(m.pairs, p)
	m.products[p.a], m.products[p.b] = affinity.ProductRef{}, affinity.ProductRef{}
	for _, reverse := range []bool{false, true} {
		is := p.SignificantAB
		if reverse {
			is = p.SignificantBA
		}
		if significant == nil || *significant == is {
			m.order = append(m.order, place{at, reverse, e.Scope, lift})
		}
	}
}

// toPair reads the numbers of a stored pair.
func toPair(e *models.AffinityEntry) affinity.Pair {
	n := func(v int64) uint32 { return uint32(v) }
	return affinity.Pair{
		N: n(e.N), NA: n(e.NA), NB: n(e.NB), NAB: n(e.NAB), FirstA: n(e.FirstA), FirstB: n(e.FirstB), SameDay: n(e.SameDay), Bundled: n(e.Bundled),
		Method: affinity.Method(e.Method), SignificantAB: e.SignificantAB, SignificantBA: e.SignificantBA, P: e.P, Q: e.Q, CrossAB: e.CrossAB, CrossBA: e.CrossBA,
	}
}

// name looks the products up.
func (m *Matrix) name(tx *store.Tx) error {
	ids := make([]uuid.UUID, 0, len(m.products))
	for id := range m.products {
		ids = append(ids, id)
	}
	rows, err := tx.ProductsByID(ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		m.products[id] = Ref(id, rows[id])
	}
	return nil
}

// Ref names a product to a reader.
func Ref(id uuid.UUID, p models.Product) affinity.ProductRef {
	r := affinity.ProductRef{ID: id, Name: p.Name}
	if p.SKU != nil {
		r.SKU = *p.SKU
	}
	return r
}

func (m *Matrix) emptyReason() *string {
	why := ""
	switch {
	case m.Info == nil:
		why = ReasonNotComputed
	case len(m.order) > 0:
		return nil
	case m.Info.Products < 2:
		why = ReasonFewProducts
	case m.Info.Accounts == 0:
		why = ReasonNoOwners
	default:
		why = ReasonNoMatch
	}
	return &why
}

func (m *Matrix) ids(p place) (a, b uuid.UUID) {
	x := &m.pairs[p.pair]
	if p.reverse {
		return x.b, x.a
	}
	return x.a, x.b
}

func (m *Matrix) position(p place) position {
	a, b := m.ids(p)
	return position{m.Info.ComputedAt, p.scope, math.Float64bits(p.lift), a, b}
}

func (m *Matrix) compare(x, y place) int {
	xa, xb := m.ids(x)
	ya, yb := m.ids(y)
	return cmp.Or(cmp.Compare(x.scope, y.scope), cmp.Compare(y.lift, x.lift), bytes.Compare(xa[:], ya[:]), bytes.Compare(xb[:], yb[:]))
}

// skip drops what the pages before have shown.
func (m *Matrix) skip(after position) error {
	if m.Info == nil || !after.Computed.Equal(m.Info.ComputedAt) {
		return fault.New(fault.CursorDead, "the matrix was computed anew since the page before; start again without the cursor")
	}
	lift := math.Float64frombits(after.Lift)
	from, _ := slices.BinarySearchFunc(m.order, after, func(p place, after position) int {
		a, b := m.ids(p)
		c := cmp.Or(cmp.Compare(p.scope, after.Scope), cmp.Compare(lift, p.lift), bytes.Compare(a[:], after.A[:]), bytes.Compare(b[:], after.B[:]))
		return cmp.Or(c, -1) // right behind it
	})
	m.order = m.order[from:]
	return nil
}

// Entries goes through the entries in order.
func (m *Matrix) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		scopes := affinity.Scopes()
		for _, p := range m.order {
			x := &m.pairs[p.pair]
			forth, back := x.Render(scopes[x.scope])
			if p.reverse {
				forth = back
			}
			a, b := m.ids(p)
			forth.ProductA, forth.ProductB = m.products[a], m.products[b]
			if !yield(Entry{forth, m.Info.ComputedAt, m.Info.RunID}) {
				return
			}
		}
	}
}

// Result returns the stored matrix as analytics/affinity computed it, inside a transaction; ok is false when there is
// none. Owners of products are left out.
func Result(ctx context.Context, tx *store.Tx) (res *affinity.Result, info models.AffinityMatrix, ok bool, err error) {
	if info, ok, err = tx.AffinityMatrix(); err != nil || !ok {
		return nil, info, ok, err
	}
	res = &affinity.Result{}
	index := map[uuid.UUID]uint16{}
	at := func(id uuid.UUID) uint16 {
		i, known := index[id]
		if !known {
			i = uint16(len(res.Products))
			index[id], res.Products = i, append(res.Products, id)
		}
		return i
	}
	for i, scope := range affinity.Scopes() {
		res.Matrices[i].Scope = scope
	}
	err = tx.EachAffinityEntry(ctx, store.AffinityFilter{IncludeZero: true}, func(e *models.AffinityEntry) error {
		p := toPair(e)
		p.A, p.B = at(e.ProductA), at(e.ProductB)
		m := &res.Matrices[e.Scope]
		m.N, m.Pairs = p.N, append(m.Pairs, p)
		return nil
	})
	return res, info, true, err
}
