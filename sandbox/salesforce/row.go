package salesforce

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	timeLayout = "2006-01-02T15:04:05.000-0700" // as JSON answers spell instants: no colon in the offset
	dateLayout = "2006-01-02"
)

// row is one version of a record, never changed once made: a change makes a new row, so a page that is being written
// and a locator that is still open keep what they saw. Its values are kept as JSON, ready to be copied into answers.
type row struct {
	id      string
	stamp   int64 // SystemModstamp in milliseconds
	deleted bool
	raw     []byte
	ends    []uint32 // ends[i] is where the i-th value ends in raw
}

// val returns the JSON of the i-th field.
func (r *row) val(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.raw[start:r.ends[i]]
}

func (r *row) isNull(i int) bool { return r.val(i)[0] == 'n' }

// str returns the text of the i-th field, "" for null.
func (r *row) str(i int) string { return unquote(r.val(i)) }

func unquote(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	for _, c := range v {
		if c == '\\' {
			var s string
			if json.Unmarshal(v, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(v[1 : len(v)-1])
}

// encoder builds a row value by value in the order of the object's fields.
type encoder struct {
	raw  []byte
	ends []uint32
}

func (e *encoder) reset() { e.raw, e.ends = e.raw[:0], e.ends[:0] }

func (e *encoder) done() { e.ends = append(e.ends, uint32(len(e.raw))) }

func (e *encoder) null() { e.raw = append(e.raw, "null"...); e.done() }

func (e *encoder) json(v []byte) { e.raw = append(e.raw, v...); e.done() }

// str appends a text; the empty one is null, as the provider stores it.
func (e *encoder) str(s string) {
	if s == "" {
		e.null()
		return
	}
	e.raw = appendString(e.raw, s)
	e.done()
}

func (e *encoder) bool(b bool) { e.raw = strconv.AppendBool(e.raw, b); e.done() }

// cents appends money exactly, with at least one decimal.
func (e *encoder) cents(c int64) {
	if c < 0 {
		e.raw = append(e.raw, '-')
		c = -c
	}
	e.raw = append(strconv.AppendInt(e.raw, c/100, 10), '.', byte('0'+c/10%10))
	if c%10 != 0 {
		e.raw = append(e.raw, byte('0'+c%10))
	}
	e.done()
}

// double appends a whole number as the provider spells a double.
func (e *encoder) double(n int) {
	e.raw = append(strconv.AppendInt(e.raw, int64(n), 10), ".0"...)
	e.done()
}

func (e *encoder) decimal(f float64) {
	e.raw = strconv.AppendFloat(e.raw, f, 'f', -1, 64)
	if f == float64(int64(f)) {
		e.raw = append(e.raw, ".0"...)
	}
	e.done()
}

func (e *encoder) time(t time.Time) { e.raw = appendTime(e.raw, t); e.done() }

func (e *encoder) date(t time.Time) {
	e.raw = append(e.raw, '"')
	e.raw = append(t.AppendFormat(e.raw, dateLayout), '"')
	e.done()
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	return append(t.UTC().AppendFormat(b, timeLayout), '"')
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// row copies what was built into a row of its own.
func (e *encoder) row(o *object) *row {
	r := &row{raw: append([]byte(nil), e.raw...), ends: append([]uint32(nil), e.ends...)}
	r.id = unquote(r.val(o.at.id))
	r.deleted = r.val(o.at.deleted)[0] == 't'
	if t, err := time.Parse(timeLayout, unquote(r.val(o.at.system))); err == nil {
		r.stamp = t.UnixMilli()
	}
	return r
}

// with returns a new version of the row with some values replaced.
func (r *row) with(o *object, changed map[int][]byte) *row {
	var e encoder
	for i := range o.Fields {
		if v, ok := changed[i]; ok {
			e.json(v)
		} else {
			e.json(r.val(i))
		}
	}
	return e.row(o)
}

// object returns the row as one JSON object with all its fields.
func (r *row) object(o *object) json.RawMessage {
	b := []byte{'{'}
	for i := range o.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, o.Fields[i].Name)
		b = append(b, ':')
		b = append(b, r.val(i)...)
	}
	return append(b, '}')
}
