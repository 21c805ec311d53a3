package salesforce

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// values are new values of a record by field position, as JSON in the provider's spelling.
type values map[int][]byte

// read checks a client's JSON object against the schema. Strict is how the provider treats its clients; the other way
// lets the sandbox's own administration set read-only fields and texts of any length.
func (t *table) read(body map[string]json.RawMessage, hidden map[string]bool, strict, creating bool) (values, *apiError) {
	out := values{}
	for name, v := range body {
		if strings.EqualFold(name, "attributes") {
			continue
		}
		i, ok := t.index(name)
		if !ok || hidden[strings.ToLower(name)] {
			return nil, fail(http.StatusBadRequest, "INVALID_FIELD", "No such column '%s' on sobject of type %s", name, t.Name)
		}
		f := &t.Fields[i]
		if i == t.at.id || strict && !f.Writable {
			e := fail(http.StatusBadRequest, "INVALID_FIELD_FOR_INSERT_UPDATE",
				"Unable to create/update fields: %s. Please check the security settings of this field and verify that it is read/write for your profile or permission set.", f.Name)
			e.Fields = []string{f.Name}
			return nil, e
		}
		value, err := coerce(f, v, strict)
		if err != nil {
			return nil, err
		}
		out[i] = value
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		given, ok := out[i]
		if strict && f.Writable && !f.Nillable && !f.DefaultOnCreate && defaultOf(f.Name) == nil && (ok && string(given) == "null" || creating && !ok) {
			e := fail(http.StatusBadRequest, "REQUIRED_FIELD_MISSING", "Required fields are missing: [%s]", f.Name)
			e.Fields = []string{f.Name}
			return nil, e
		}
	}
	return out, nil
}

// defaultOf is what a required field becomes when a client leaves it out.
func defaultOf(name string) []byte {
	switch name {
	case "OwnerId":
		return []byte(`"` + userID(0) + `"`)
	case "Status":
		return []byte(`"Not Started"`)
	case "Priority":
		return []byte(`"Normal"`)
	}
	return nil
}

func coerce(f *field, v json.RawMessage, strict bool) ([]byte, *apiError) {
	wrong := func(code string) *apiError {
		e := fail(http.StatusBadRequest, code, "%s: value not of required type: %.200s", f.Name, string(v))
		e.Fields = []string{f.Name}
		return e
	}
	if string(v) == "null" {
		return []byte("null"), nil
	}
	var e encoder
	switch f.Type {
	case "boolean":
		if s := string(v); s != "true" && s != "false" {
			return nil, wrong("JSON_PARSER_ERROR")
		}
		return v, nil
	case "double", "currency", "percent", "int":
		n, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
		if err != nil {
			return nil, wrong("JSON_PARSER_ERROR")
		}
		e.decimal(n)
		return e.raw, nil
	}
	var s string
	if json.Unmarshal(v, &s) != nil || !utf8.ValidString(s) {
		return nil, wrong("JSON_PARSER_ERROR")
	}
	if s == "" {
		return []byte("null"), nil // the provider stores no empty texts
	}
	switch f.Type {
	case "date":
		d, err := time.Parse(dateLayout, s[:min(len(s), 10)])
		if err != nil {
			return nil, wrong("JSON_PARSER_ERROR")
		}
		e.date(d)
	case "datetime":
		at, ok := parseTime(s)
		if !ok {
			return nil, wrong("JSON_PARSER_ERROR")
		}
		e.time(at)
	case "reference", "id":
		id, ok := normalID(s)
		if !ok {
			return nil, wrong("MALFORMED_ID")
		}
		e.str(id)
	default:
		if n := utf8.RuneCountInString(s); strict && f.Length > 0 && n > f.Length {
			err := fail(http.StatusBadRequest, "STRING_TOO_LONG", "%s: data value too large: %.80s (max length=%d)", f.Label, s, f.Length)
			err.Fields = []string{f.Name}
			return nil, err
		}
		e.str(s)
	}
	return e.raw, nil
}

// parseTime reads an instant in any of the spellings that clients use.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, timeLayout, "2006-01-02T15:04:05-0700"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
