package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"revarch/fault"
)

// Features holds the known inputs of one account. The zero value knows nothing. It is a plain value: copying it
// copies everything, and resetting it for the next account allocates nothing.
type Features struct {
	values [NumFeatures]float64
	known  [(NumFeatures + 63) / 64]uint64
}

// Set stores a value. A value that is not finite means unknown and clears the feature.
func (f *Features) Set(x Feature, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		f.Clear(x)
		return
	}
	f.values[x] = v
	f.known[x>>6] |= 1 << (x & 63)
}

// SetBool stores a boolean feature.
func (f *Features) SetBool(x Feature, v bool) {
	n := 0.0
	if v {
		n = 1
	}
	f.Set(x, n)
}

// SetEnum stores an enumerator by its label; an unknown label is a fault.Invalid and changes nothing.
func (f *Features) SetEnum(x Feature, label string) error {
	info := x.Info()
	i := slices.Index(info.Labels, label)
	if info.Kind != Enum || i < 0 {
		return fault.New(fault.Invalid, "%q is not a value of %s; expected one of %s", label, info.Name, strings.Join(info.Labels, ", "))
	}
	f.Set(x, float64(i))
	return nil
}

// Clear makes a feature unknown.
func (f *Features) Clear(x Feature) {
	f.values[x] = 0
	f.known[x>>6] &^= 1 << (x & 63)
}

// Reset makes every feature unknown.
func (f *Features) Reset() { *f = Features{} }

// Has reports whether a feature is known.
func (f *Features) Has(x Feature) bool { return f.known[x>>6]&(1<<(x&63)) != 0 }

// Get returns a feature's value (booleans 0 or 1, enumerators their code) and whether it is known.
func (f *Features) Get(x Feature) (float64, bool) { return f.values[x], f.Has(x) }

// at returns the value, NaN when unknown: the form in which the evaluator carries nulls.
func (f *Features) at(x Feature) float64 {
	if f.known[x>>6]&(1<<(x&63)) == 0 {
		return math.NaN()
	}
	return f.values[x]
}

// SetText stores a feature by wire name from its text: a number, true or false, or an enumerator. The empty text
// means unknown. An unknown name or a text of the wrong kind is a fault.Invalid and changes nothing.
func (f *Features) SetText(name, text string) error {
	x, ok := FeatureByName(name)
	if !ok {
		return fault.New(fault.Invalid, "%q is not a feature", name)
	}
	if text == "" {
		f.Clear(x)
		return nil
	}
	switch x.Info().Kind {
	case Enum:
		return f.SetEnum(x, text)
	case Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fault.New(fault.Invalid, "%s must be true or false", name)
		}
		f.SetBool(x, b)
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fault.New(fault.Invalid, "%s must be a number", name)
		}
		f.Set(x, v)
	}
	return nil
}

// MarshalJSON writes the known features as an object of wire names, in catalogue order.
func (f Features) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range NumFeatures {
		x := Feature(i)
		if !f.Has(x) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		v, err := valueOf(x.Info().Kind, x.Info().Labels, f.values[x]).MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encoding feature %s: %w", x, err)
		}
		fmt.Fprintf(&b, "%q:%s", x.String(), v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON replaces all features by those of an object of wire names; null means unknown. An unknown name or
// a value of the wrong kind is a fault.Invalid.
func (f *Features) UnmarshalJSON(data []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return fault.Wrap(err, fault.Invalid, "features must be an object")
	}
	var out Features
	for name, raw := range in {
		text := strings.TrimSpace(string(raw))
		x, ok := FeatureByName(name)
		isText := strings.HasPrefix(text, `"`)
		if ok && text != "null" && isText != (x.Info().Kind == Enum) {
			return fault.New(fault.Invalid, "%s must be of kind %s", name, x.Info().Kind)
		}
		if isText {
			if err := json.Unmarshal(raw, &text); err != nil {
				return fault.Wrap(err, fault.Invalid, "%s is not readable", name)
			}
		}
		if text == "null" {
			text = ""
		}
		if err := out.SetText(name, text); err != nil {
			return err
		}
	}
	*f = out
	return nil
}
