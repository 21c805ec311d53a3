package crma

import (
	"bytes"
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

// system are the fields that every record has.
type system struct {
	ID             string
	SystemModstamp string
	IsDeleted      bool
	MasterRecordID string `json:"MasterRecordId"`
}

// toRecord reads the system fields and leaves the attributes, which repeat type and address, out of the payload.
func toRecord(raw rawRecord, payload bool) (connectors.Record, error) {
	var sys system
	if err := json.Unmarshal(raw, &sys); err != nil {
		return connectors.Record{}, fault.New(fault.Unavailable, "A record of the provider is not in the expected form.")
	}
	rec := connectors.Record{ExternalID: longID(sys.ID), Deleted: sys.IsDeleted, MergedInto: longID(sys.MasterRecordID)}
	if rec.ExternalID == "" {
		return connectors.Record{}, fault.New(fault.Unavailable, "A record of the provider has no valid id.")
	}
	var err error
	if rec.UpdatedAt, err = parseTime(sys.SystemModstamp); err != nil {
		return connectors.Record{}, err
	}
	if payload {
		rec.Payload, err = withoutAttributes(raw)
	}
	return rec, err
}

var attributesFirst = []byte(`{"attributes":{`)

// withoutAttributes removes the attributes object. The provider writes it first and flat, so that cutting is enough;
// any other form goes through a map.
func withoutAttributes(raw []byte) (json.RawMessage, error) {
	if rest, ok := bytes.CutPrefix(raw, attributesFirst); ok {
		if end := flatEnd(rest); end > 0 && end < len(rest) && rest[end] == ',' {
			out := make([]byte, 0, len(rest)-end)
			return append(append(out, '{'), rest[end+1:]...), nil
		}
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fault.New(fault.Unavailable, "A record of the provider is not in the expected form.")
	}
	delete(fields, "attributes")
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "encode record")
	}
	return out, nil
}

// flatEnd returns the index behind the closing brace of an object without inner objects, -1 if it has any.
func flatEnd(b []byte) int {
	inString := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			return -1
		case c == '}':
			return i + 1
		}
	}
	return -1
}
