package scoring

import (
	"encoding/binary"
	"math"

	"revarch/fault"
)

// Compact is a stored score: the rule values and which rules fired, to be read against the rule set that made them.
// Everything else follows from these and is worked out again on reading. Equal scores have equal bytes, so a caller
// can tell whether a score changed; when it was computed is kept beside it.
//
// Layout, little endian: format, model, segment, number of rules (1 byte each); first 4 bytes of the rule set's hash;
// composite (float64, NaN for null); presence bits; fired bits; the present values (float64 each).
type Compact []byte

const (
	compactFormat = 1
	compactHeader = 4 + 4 + 8
)

// Encode appends the stored form of a result of this rule set to dst. It allocates only when dst is too small.
func (rs *RuleSet) Encode(dst []byte, r *Result) Compact {
	dst = append(dst, compactFormat, byte(r.Model), byte(r.Segment), byte(len(r.Rules)))
	dst = append(dst, rs.check[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Composite))
	var present, fired uint64
	for i := range r.Rules {
		if !math.IsNaN(r.Rules[i].Value) {
			present |= 1 << i
		}
		if r.Rules[i].Triggered {
			fired |= 1 << i
		}
	}
	for _, bits := range [2]uint64{present, fired} {
		for n := 0; n < len(r.Rules); n += 8 {
			dst = append(dst, byte(bits>>n))
		}
	}
	for i := range r.Rules {
		if present&(1<<i) != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Rules[i].Value))
		}
	}
	return dst
}

// Decode works a stored score out again into out. Bytes that are damaged, that another rule set made, or that no
// longer give the stored composite are a fault.Internal: they are never shown as something they are not.
func (rs *RuleSet) Decode(c Compact, out *Result) error {
	if len(c) < compactHeader || c[0] != compactFormat {
		return fault.New(fault.Internal, "a stored score is damaged")
	}
	if [4]byte(c[4:8]) != rs.check {
		return fault.New(fault.Internal, "a stored score was made by another rule set than %s", rs.version)
	}
	if !out.prepare(rs, Model(c[1]), Segment(c[2])) || int(c[3]) != len(out.Rules) {
		return fault.New(fault.Internal, "a stored score does not fit its rule set")
	}
	stored := math.Float64frombits(binary.LittleEndian.Uint64(c[8:]))
	width := (len(out.Rules) + 7) / 8
	body := c[compactHeader:]
	if len(body) < 2*width {
		return fault.New(fault.Internal, "a stored score is damaged")
	}
	values := body[2*width:]
	rules := rs.models[out.Model].rules
	for i := range out.Rules {
		r := &out.Rules[i]
		r.Value = math.NaN()
		if body[i/8]&(1<<(i%8)) != 0 {
			if len(values) < 8 {
				return fault.New(fault.Internal, "a stored score is damaged")
			}
			r.Value, values = math.Float64frombits(binary.LittleEndian.Uint64(values)), values[8:]
		}
		r.Score = rules[i].form.of(r.Value)
		r.Missing = math.IsNaN(r.Score)
		r.Triggered = body[width+i/8]&(1<<(i%8)) != 0
	}
	rs.compose(out)
	same := math.IsNaN(stored) && !out.Scored || math.Abs(stored-out.Composite) < 1e-6
	if len(values) != 0 || !same {
		return fault.New(fault.Internal, "a stored score does not agree with its rule values")
	}
	return nil
}
