package salesforce

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// compiled is a query bound to a table: positions instead of names, a test instead of conditions.
type compiled struct {
	*query
	table  *table
	cols   []int
	test   func(*row) bool // nil for all rows
	order  []orderKey
	from   bound    // no row before it can match
	fromID string   // no lower id can match
	only   []string // no row but these ids can match; nil when that is not known
	hidden map[string]bool
}

type orderKey struct {
	col       int
	desc      bool
	nullsLast bool
}

// bound is a lowest (SystemModstamp, Id).
type bound struct {
	stamp int64
	id    string
}

func (b bound) less(o bound) bool { return b.stamp < o.stamp || b.stamp == o.stamp && b.id < o.id }

var noBound = bound{stamp: -1 << 62}

// compile binds a query. The schema does not change under it, so no lock is needed.
func (s *store) compile(q *query) (*compiled, *apiError) {
	t := s.byName[strings.ToLower(q.object.text)]
	if t == nil {
		return nil, located(q.text, q.object.pos, "INVALID_TYPE", "sObject type '%s' is not supported. If you are attempting to use a custom object, be sure to append the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.", q.object.text)
	}
	c := &compiled{query: q, table: t, hidden: s.hidden(t.Name), from: noBound}
	for _, f := range q.fields {
		i, failure := c.column(f)
		if failure != nil {
			return nil, failure
		}
		c.cols = append(c.cols, i)
	}
	for _, o := range q.order {
		i, failure := c.column(o.field)
		if failure != nil {
			return nil, failure
		}
		if !t.Fields[i].filterable() {
			return nil, located(q.text, o.field.pos, "INVALID_FIELD", "field '%s' can not be sorted in a query call", t.Fields[i].Name)
		}
		c.order = append(c.order, orderKey{i, o.desc, o.nullsLast})
	}
	if q.where != nil {
		test, failure := c.condition(q.where)
		if failure != nil {
			return nil, failure
		}
		c.test, c.from, c.only = test, c.lowest(q.where), c.ids(q.where)
		c.fromID = c.lowestID(q.where)
	}
	return c, nil
}

func (c *compiled) column(n name) (int, *apiError) {
	i, ok := c.table.index(n.text)
	if !ok || c.hidden[strings.ToLower(n.text)] {
		return 0, located(c.text, n.pos, "INVALID_FIELD", "No such column '%s' on entity '%s'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.", n.text, c.table.Name)
	}
	return i, nil
}

// condition turns a condition into a test.
func (c *compiled) condition(w *condition) (func(*row) bool, *apiError) {
	if w.field.text == "" {
		tests := make([]func(*row) bool, len(w.kids))
		for i, k := range w.kids {
			test, failure := c.condition(k)
			if failure != nil {
				return nil, failure
			}
			tests[i] = test
		}
		if w.op == "NOT" {
			return func(r *row) bool { return !tests[0](r) }, nil
		}
		and := w.op == "AND"
		return func(r *row) bool {
			for _, test := range tests {
				if test(r) != and {
					return !and
				}
			}
			return and
		}, nil
	}
	col, failure := c.column(w.field)
	if failure != nil {
		return nil, failure
	}
	f := &c.table.Fields[col]
	if !f.filterable() {
		return nil, located(c.text, w.field.pos, "INVALID_FIELD", "field '%s' can not be filtered in a query call", f.Name)
	}
	for i := range w.values {
		if failure := c.accept(f, w, &w.values[i]); failure != nil {
			return nil, failure
		}
	}
	return c.comparison(col, w), nil
}

// accept checks that a literal fits its field.
func (c *compiled) accept(f *field, w *condition, v *literal) *apiError {
	ordered := w.op[0] == '<' || w.op[0] == '>'
	if v.kind == litNull {
		if ordered {
			return located(c.text, w.field.pos, "INVALID_QUERY_FILTER_OPERATOR", "field '%s' cannot be compared with null by '%s'", f.Name, w.op)
		}
		return nil
	}
	var want literalKind
	kind, quotes := f.Type, "should not be enclosed in quotes"
	switch f.Type {
	case "boolean":
		if want = litBool; ordered {
			return located(c.text, w.field.pos, "INVALID_QUERY_FILTER_OPERATOR", "invalid operator on boolean field")
		}
	case "date":
		want = litDate
	case "datetime":
		want, kind = litDateTime, "dateTime"
	case "double", "currency", "percent", "int":
		want = litNumber
	default:
		want, quotes = litString, "should be enclosed in quotes"
		if f.Type != "id" && f.Type != "reference" {
			kind = "string"
		}
	}
	if v.kind != want {
		return located(c.text, w.field.pos, "INVALID_FIELD", "value of filter criterion for field '%s' must be of type %s and %s", f.Name, kind, quotes)
	}
	if (f.Type == "id" || f.Type == "reference") && v.text != "" {
		id, ok := normalID(v.text)
		if !ok {
			return located(c.text, w.field.pos, "INVALID_QUERY_FILTER_OPERATOR", "invalid ID field: %s", v.text)
		}
		v.text = id
	}
	return nil
}

// comparison makes the test of one field; its literals fit.
func (c *compiled) comparison(col int, w *condition) func(*row) bool {
	at := c.table.at
	if w.op == "IN" || w.op == "NOT IN" {
		tests := make([]func(*row) bool, len(w.values))
		for i, v := range w.values {
			tests[i] = c.comparison(col, &condition{op: "=", field: w.field, values: []literal{v}})
		}
		want := w.op == "IN"
		return func(r *row) bool {
			for _, test := range tests {
				if test(r) {
					return want
				}
			}
			return !want
		}
	}
	op, v := w.op, w.values[0]
	if v.kind == litNull {
		return func(r *row) bool { return r.isNull(col) == (op == "=") }
	}
	var order func(*row) int
	switch f := &c.table.Fields[col]; {
	case col == at.system:
		ms := int64(v.num)
		order = func(r *row) int { return int(max(-1, min(1, r.stamp-ms))) }
	case col == at.id:
		order = func(r *row) int { return strings.Compare(r.id, v.text) }
	case v.kind == litNumber:
		order = func(r *row) int { return compareNumbers(r.val(col), v.num) }
	case v.kind == litBool:
		order = func(r *row) int { return strings.Compare(string(r.val(col)), v.text) }
	case v.kind == litDate, v.kind == litDateTime, f.Type == "reference":
		order = func(r *row) int { return strings.Compare(r.str(col), v.text) }
	default:
		folded := strings.ToLower(v.text)
		order = func(r *row) int { return strings.Compare(strings.ToLower(r.str(col)), folded) }
	}
	return func(r *row) bool {
		if r.isNull(col) {
			return op == "!=" || op == "=" && v.text == "" // the empty text is null
		}
		return holds(op, order(r))
	}
}

func holds(op string, n int) bool {
	switch op {
	case "=":
		return n == 0
	case "!=":
		return n != 0
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	}
	return n >= 0
}

func compareNumbers(v []byte, want float64) int {
	n, _ := strconv.ParseFloat(string(v), 64) // rows hold valid numbers
	switch {
	case n < want:
		return -1
	case n > want:
		return 1
	}
	return 0
}

// lowest finds the first (SystemModstamp, Id) that a condition can match. That is what makes a keyset query start
// where the last page ended instead of at the first row.
func (c *compiled) lowest(w *condition) bound {
	switch w.op {
	case "AND":
		low, equal, id := noBound, noBound, ""
		for _, k := range w.kids {
			if b := c.lowest(k); low.less(b) {
				low = b
			}
			switch {
			case k.op == "=" && c.is(k.field, c.table.at.system) && k.values[0].kind == litDateTime:
				equal = bound{stamp: int64(k.values[0].num)}
			case (k.op == ">" || k.op == ">=") && c.is(k.field, c.table.at.id):
				id = k.values[0].text
			}
		}
		if equal != noBound && id != "" {
			if b := (bound{equal.stamp, id}); low.less(b) {
				low = b
			}
		}
		return low
	case "OR":
		low := c.lowest(w.kids[0])
		for _, k := range w.kids[1:] {
			if b := c.lowest(k); b.less(low) {
				low = b
			}
		}
		return low
	}
	if w.field.text == "" || !c.is(w.field, c.table.at.system) || w.values[0].kind != litDateTime {
		return noBound
	}
	switch ms := int64(w.values[0].num); w.op {
	case ">":
		return bound{stamp: ms + 1}
	case "=", ">=":
		return bound{stamp: ms}
	}
	return noBound
}

func (c *compiled) is(n name, col int) bool {
	i, ok := c.table.index(n.text)
	return ok && i == col
}

// lowestID finds the first id that a condition can match.
func (c *compiled) lowestID(w *condition) string {
	low := ""
	switch {
	case w.op == "AND":
		for _, k := range w.kids {
			low = max(low, c.lowestID(k))
		}
	case (w.op == ">" || w.op == ">=") && c.is(w.field, c.table.at.id):
		low = w.values[0].text
	}
	return low
}

// ids returns the only ids that a condition can match, or nil.
func (c *compiled) ids(w *condition) []string {
	if w.op == "AND" {
		for _, k := range w.kids {
			if ids := c.ids(k); ids != nil {
				return ids
			}
		}
		return nil
	}
	if w.op != "=" && w.op != "IN" || !c.is(w.field, c.table.at.id) {
		return nil
	}
	out := []string{}
	for _, v := range w.values {
		out = append(out, v.text)
	}
	return out
}

// compare orders two rows by the query's keys.
func (c *compiled) compare(a, b *row) int {
	for _, k := range c.order {
		if n := c.compareKey(k, a, b); n != 0 {
			return n
		}
	}
	return compareRows(a, b)
}

func (c *compiled) compareKey(k orderKey, a, b *row) int {
	an, bn := a.isNull(k.col), b.isNull(k.col)
	if an || bn {
		switch {
		case an && bn:
			return 0
		case an == k.nullsLast:
			return 1
		}
		return -1
	}
	n := 0
	switch f := &c.table.Fields[k.col]; {
	case k.col == c.table.at.id:
		n = strings.Compare(a.id, b.id)
	case k.col == c.table.at.system:
		n = int(max(-1, min(1, a.stamp-b.stamp)))
	case f.Type == "double" || f.Type == "currency" || f.Type == "percent" || f.Type == "int":
		want, _ := strconv.ParseFloat(string(b.val(k.col)), 64) // rows hold valid numbers
		n = compareNumbers(a.val(k.col), want)
	case f.Type == "date" || f.Type == "datetime" || f.Type == "reference" || f.Type == "boolean":
		n = bytes.Compare(a.val(k.col), b.val(k.col))
	default:
		n = strings.Compare(strings.ToLower(a.str(k.col)), strings.ToLower(b.str(k.col)))
	}
	if k.desc {
		return -n
	}
	return n
}

// badTime is the answer to a time that cannot be read.
func badTime(what string) *apiError {
	return fail(http.StatusBadRequest, "INVALID_REPLICATION_DATE", "%s is not a valid date, for example %s", what, time.Unix(0, 0).UTC().Format(time.RFC3339))
}
