package crma

import (
	"encoding/json"

	"revarch/connectors"
	"revarch/fault"
)

// rawRecord is a record as it came, checked to be well-formed by the decoder that filled it.
type rawRecord json.RawMessage

// UnmarshalJSON keeps a copy of the bytes.
func (r *rawRecord) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// errForm is what a record gets that is not as the provider documents it.
var errForm = fault.New(fault.Unavailable, "A record of the provider is not in the expected form.")

// errOtherObject is what a record gets that is of another object than the one that was asked for.
var errOtherObject = fault.New(fault.Unavailable, "The provider answered with a record of another object than the one asked for.")

// toRecord reads the fields that every record has and, if asked to, the payload: all members as they came but the
// attributes, which only repeat type and address.
func toRecord(raw rawRecord, object string, payload bool) (connectors.Record, error) {
	var rec connectors.Record
	var out []byte
	if payload {
		out = append(make([]byte, 0, len(raw)), '{')
	}
	var stamp string
	foreign := false
	ok := members(raw, func(member, key, value []byte) {
		switch string(key) {
		case `"attributes"`:
			members(value, func(_, key, value []byte) {
				foreign = foreign || (string(key) == `"type"` && plain(value) != object)
			})
			return
		case `"Id"`:
			rec.ExternalID = longID(plain(value))
		case `"SystemModstamp"`:
			stamp = plain(value)
		case `"IsDeleted"`:
			rec.Deleted = string(value) == "true"
		case `"MasterRecordId"`:
			rec.MergedInto = longID(plain(value))
		}
		if payload {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, member...)
		}
	})
	if !ok || rec.ExternalID == "" {
		return connectors.Record{}, errForm
	}
	if foreign {
		return connectors.Record{}, errOtherObject
	}
	var err error
	if rec.UpdatedAt, err = parseTime(stamp); err != nil {
		return connectors.Record{}, err
	}
	if payload {
		rec.Payload = append(out, '}')
	}
	return rec, nil
}

// plain returns the text of a string value without escapes, "" for any other value.
func plain(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	return string(value[1 : len(value)-1])
}

// members walks the members of an object of well-formed JSON: key and value as they stand there, and the whole. Pages
// hold thousands of records, and decoding each again costs more than everything else done with it. It reports
// whether b is an object.
func members(b []byte, visit func(member, key, value []byte)) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] == '"'; i = space(b, i+1) {
		keyEnd := skip(b, i)
		from := space(b, space(b, keyEnd)+1) // behind the colon
		to := skip(b, from)
		if to <= from || to > len(b) {
			return false
		}
		visit(b[i:to], b[i:keyEnd], b[from:to])
		if i = space(b, to); i >= len(b) || b[i] != ',' {
			break
		}
	}
	return i < len(b) && b[i] == '}'
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skip returns the index behind the value that starts at i.
func skip(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of the object around a bare value
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
