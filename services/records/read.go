package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Limits beyond which a record or a value is not taken.
const (
	maxPayload = 1 << 20 // bytes of JSON
	maxID      = 255     // bytes of an external id
	maxText    = 1000    // characters of a canonical text
	maxDepth   = 100     // levels of nested JSON
)

// volatileFields change without the record changing: who looked at it, and the address of the answer.
var volatileFields = map[string]bool{"attributes": true, "LastViewedDate": true, "LastReferencedDate": true}

// reading is one record read by a mapping.
type reading struct {
	payload []byte
	hash    []byte
	values  []any
	bad     []*field // optional values that do not fit and are stored as null
	failed  *problem
	raw     bool // the payload can be stored, whatever became of the values
}

// problem says why a record could not be taken.
type problem struct{ code, message string }

// reader reads records one after another and reuses its buffers.
type reader struct {
	m         *Mapping
	normalize func(string) string
	scratch   []byte
	slab      []any
}

// read parses a payload once: it checks it, hashes it and converts the mapped fields.
func (r *reader) read(payload []byte) reading {
	if len(payload) > maxPayload {
		return reading{failed: &problem{"record_too_large", "The record is larger than 1 MiB."}}
	}
	if !validObject(payload) {
		return reading{failed: &problem{"malformed_record", "The record is not a JSON object."}}
	}
	if suspicious(payload) {
		clean, err := rewrite(payload)
		if err != nil {
			return reading{failed: &problem{"malformed_record", "The record is not valid JSON."}}
		}
		payload = clean
	}
	out := reading{payload: payload, values: r.row(), raw: true}
	if odd := r.scan(&out); odd {
		clean, err := rewrite(payload)
		if err != nil {
			return reading{failed: &problem{"malformed_record", "The record is not valid JSON."}}
		}
		clear(out.values)
		out.payload, out.bad, out.failed = clean, nil, nil
		r.scan(&out)
	}
	sum := sha256.Sum256(r.scratch)
	out.hash = append([]byte(nil), sum[:16]...)
	r.finish(&out)
	return out
}

// row takes the next row of values from a slab.
func (r *reader) row() []any {
	n := r.m.columns
	if len(r.slab) < n {
		r.slab = make([]any, 256*n)
	}
	row := r.slab[:n:n]
	r.slab = r.slab[n:]
	return row
}

// scan walks over the fields. It reports a number that PostgreSQL might not hold, so that the payload is rewritten.
func (r *reader) scan(out *reading) (odd bool) {
	r.scratch = r.scratch[:0]
	gjson.ParseBytes(out.payload).ForEach(func(key, value gjson.Result) bool {
		if value.Type == gjson.Number && oddNumber(value.Raw) || value.Type == gjson.JSON && oddNested(value.Raw) {
			odd = true
		}
		if !volatileFields[key.Str] {
			r.scratch = append(append(append(append(r.scratch, key.Raw...), ':'), value.Raw...), ',')
		}
		fields := r.m.fields[key.Str]
		for i := range fields {
			r.convert(&fields[i], value, out)
		}
		return true
	})
	return odd
}

func (r *reader) convert(f *field, value gjson.Result, out *reading) {
	v, ok := f.convert(value)
	out.values[f.column] = v
	if ok {
		return
	}
	out.values[f.column] = nil
	if f.required {
		out.failed = &problem{"bad_value", "The value of " + f.source + " does not fit " + f.label + "."}
		return
	}
	out.bad = append(out.bad, f)
}

// finish fills what follows from other values and checks what must be there.
func (r *reader) finish(out *reading) {
	m, v := r.m, out.values
	if m.columns == 0 {
		return
	}
	if m.first >= 0 && v[m.name] == nil {
		first, _ := v[m.first].(string)
		last, _ := v[m.last].(string)
		if full := strings.TrimSpace(first + " " + last); full != "" {
			v[m.name] = full
		} else if out.failed == nil {
			out.failed = &problem{"missing_required", "The record has no name."}
		}
	}
	for _, c := range m.required {
		if v[c] == nil && out.failed == nil {
			out.failed = &problem{"missing_required", "The record has no value for " + m.labels[c] + "."}
		}
	}
	if m.normalized >= 0 {
		name, _ := v[m.name].(string)
		v[m.normalized] = r.normalize(name)
	}
	for c, value := range m.ifNull {
		if v[c] == nil {
			v[c] = value
		}
	}
}

// text returns the value of a column, "" for null.
func (o *reading) text(column int) string {
	if column < 0 {
		return ""
	}
	s, _ := o.values[column].(string)
	return s
}

func validObject(payload []byte) bool {
	start := bytes.TrimLeft(payload, " \t\r\n")
	if len(start) == 0 || start[0] != '{' {
		return false
	}
	if bytes.Count(payload, []byte("{"))+bytes.Count(payload, []byte("[")) > maxDepth && depth(payload) > maxDepth {
		return false
	}
	return gjson.ValidBytes(payload)
}

// depth returns how deep brackets nest outside of strings.
func depth(payload []byte) int {
	level, deepest, inString := 0, 0, false
	for i := 0; i < len(payload); i++ {
		switch c := payload[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// suspicious reports text that is valid JSON and that jsonb still refuses: NUL characters, halves of surrogate pairs and
// bytes that are not UTF-8.
func suspicious(payload []byte) bool {
	for rest := payload; ; {
		i := bytes.Index(rest, []byte(`\u`))
		if i < 0 || len(rest) < i+6 {
			return !utf8.Valid(payload)
		}
		if code := rest[i+2 : i+6]; string(code) == "0000" || code[0]|0x20 == 'd' && code[1] > '7' {
			return true
		}
		rest = rest[i+2:]
	}
}

// oddNumber reports a number that is too long or too large for numeric.
func oddNumber(raw string) bool {
	if len(raw) > 300 {
		return true
	}
	i := strings.IndexAny(raw, "eE")
	if i < 0 {
		return false
	}
	exp, err := strconv.Atoi(raw[i+1:])
	return err != nil || exp > 300 || exp < -300
}

// oddNested reports an inner object or array that might hold an odd number.
func oddNested(raw string) bool {
	digits := 0
	for i := range len(raw) {
		switch c := raw[i]; {
		case c >= '0' && c <= '9':
			digits++
			if digits > 300 {
				return true
			}
		case (c == 'e' || c == 'E') && digits > 0:
			return true
		default:
			digits = 0
		}
	}
	return false
}

// rewrite makes a payload that jsonb takes: NUL characters are dropped, broken characters become U+FFFD, numbers out of
// range become text.
func rewrite(payload []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tame(v)); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

func tame(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case json.Number:
		if oddNumber(v.String()) {
			return v.String()
		}
		return v
	case []any:
		for i := range v {
			v[i] = tame(v[i])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[strings.ReplaceAll(k, "\x00", "")] = tame(x)
		}
		return out
	}
	return v
}
