package scoring

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"revarch/fault"
)

// Value is what a rule's expression yielded: a number, a boolean, an enumerator's label, or nothing. In JSON it is a
// number, true or false, a string, or null. The zero value is null.
type Value struct {
	Known bool
	Kind  Kind
	Num   float64 // Number: the value; Bool: 0 or 1
	Label string  // Enum: the enumerator
}

func valueOf(k Kind, labels []string, v float64) Value {
	switch {
	case math.IsNaN(v):
		return Value{}
	case k == Enum && v >= 0 && int(v) < len(labels):
		return Value{Known: true, Kind: Enum, Label: labels[int(v)]}
	case k == Enum:
		return Value{}
	}
	return Value{Known: true, Kind: k, Num: v}
}

// String returns the value as text, "" for null.
func (v Value) String() string {
	switch {
	case !v.Known:
		return ""
	case v.Kind == Enum:
		return v.Label
	case v.Kind == Bool:
		return strconv.FormatBool(v.Num != 0)
	}
	return strconv.FormatFloat(v.Num, 'f', -1, 64)
}

// MarshalJSON writes a number, a boolean, a string or null.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case !v.Known:
		return []byte("null"), nil
	case v.Kind == Enum:
		return json.Marshal(v.Label)
	case v.Kind == Bool:
		return strconv.AppendBool(nil, v.Num != 0), nil
	}
	return json.Marshal(v.Num)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		return fault.Wrap(err, fault.Invalid, "a rule value is not readable")
	}
	switch x := got.(type) {
	case nil:
		*v = Value{}
	case float64:
		*v = Value{Known: true, Kind: Number, Num: x}
	case bool:
		*v = Value{Known: true, Kind: Bool, Num: float64(slices.Index([]bool{false, true}, x))}
	case string:
		*v = Value{Known: true, Kind: Enum, Label: x}
	default:
		return fault.New(fault.Invalid, "a rule value must be a number, a boolean, a string or null")
	}
	return nil
}
