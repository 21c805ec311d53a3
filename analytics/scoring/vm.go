package scoring

import "math"

type opcode uint8

const (
	opConst opcode = iota
	opFeature
	opValue
	opAdd
	opSub
	opMul
	opDiv
	opNeg
	opAbs
	opLog10
	opLess
	opLessEq
	opGreater
	opGreaterEq
	opEqual
	opNotEqual
	opAnd
	opOr
	opNot
)

type op struct {
	code opcode
	feat Feature
	num  float64
}

// maxStack bounds how deep a compiled expression may nest; the parser refuses deeper ones.
const maxStack = 16

// program is a compiled expression in postfix order. NaN stands for null throughout: arithmetic carries it, and
// and/or treat it as unknown (false and null is false, true or null is true).
type program []op

// eval runs the program; value is what the word "value" means in a threshold. The result is NaN for null.
func (p program) eval(f *Features, value float64) float64 {
	var st [maxStack]float64
	n := 0
	for i := range p {
		o := &p[i]
		switch o.code {
		case opConst:
			st[n] = o.num
			n++
		case opFeature:
			st[n] = f.at(o.feat)
			n++
		case opValue:
			st[n] = value
			n++
		case opNeg, opAbs, opLog10, opNot:
			st[n-1] = unary(o.code, st[n-1])
		default:
			n--
			st[n-1] = pair(o.code, st[n-1], st[n])
		}
	}
	if math.IsInf(st[0], 0) {
		return math.NaN()
	}
	return st[0]
}

func unary(c opcode, x float64) float64 {
	switch c {
	case opNeg:
		return -x
	case opAbs:
		return math.Abs(x)
	case opLog10:
		return math.Log10(math.Max(x, 1)) // less than one unit of money counts as nothing, not as minus infinity
	}
	if math.IsNaN(x) {
		return x
	}
	return truth(x == 0)
}

func pair(c opcode, a, b float64) float64 {
	switch c {
	case opAnd:
		if a == 0 || b == 0 {
			return 0
		}
		return truthOrNull(a, b, true)
	case opOr:
		if (a != 0 && !math.IsNaN(a)) || (b != 0 && !math.IsNaN(b)) {
			return 1
		}
		return truthOrNull(a, b, false)
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		if b == 0 {
			return math.NaN() // a ratio of nothing is unknown
		}
		return a / b
	}
	return truthOrNull(a, b, compare(c, a, b))
}

func compare(c opcode, a, b float64) bool {
	switch c {
	case opLess:
		return a < b
	case opLessEq:
		return a <= b
	case opGreater:
		return a > b
	case opGreaterEq:
		return a >= b
	case opEqual:
		return a == b
	}
	return a != b
}

func truthOrNull(a, b float64, v bool) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return truth(v)
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
