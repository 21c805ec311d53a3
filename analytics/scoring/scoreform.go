package scoring

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"revarch/fault"
)

type formKind uint8

const (
	formPass formKind = iota
	formLin
	formBool
	formEnum
	formSteps
)

// scoreForm turns a rule's value into points from 0 to 100.
type scoreForm struct {
	kind  formKind
	a, b  float64 // lin: the values worth 0 and 100; bool: the points of true and false
	steps []step  // map: by enumerator code, or ascending by value
	open  bool    // steps: the last one reaches to infinity
}

type step struct{ at, points float64 }

// parseScore reads "lin A->0, B->100", "map x:P, y:P", "map 0:P, 1:P, 2+:P", "bool P, Q" or "pass".
func parseScore(text string, value operand) (scoreForm, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	var parts []string
	for p := range strings.SplitSeq(rest, ",") {
		parts = append(parts, strings.TrimSpace(p))
	}
	want := map[string]Kind{"lin": Number, "bool": Bool, "pass": Number, "map": value.kind}
	k, ok := want[word]
	if !ok {
		return scoreForm{}, fault.New(fault.Invalid, "%q is not a score; expected lin, map, bool or pass", word)
	}
	if k != value.kind || (word == "map" && k == Bool) {
		return scoreForm{}, fault.New(fault.Invalid, "%s cannot score a %s", word, value.kind)
	}
	switch word {
	case "pass":
		if rest != "" {
			return scoreForm{}, fault.New(fault.Invalid, "pass takes no arguments")
		}
		return scoreForm{kind: formPass}, nil
	case "bool":
		if len(parts) != 2 {
			return scoreForm{}, fault.New(fault.Invalid, "bool needs the points of true and of false")
		}
		t, err1 := points(parts[0])
		f, err2 := points(parts[1])
		return scoreForm{kind: formBool, a: t, b: f}, firstError(err1, err2)
	case "lin":
		return parseLin(parts)
	}
	return parseMap(parts, value)
}

func parseLin(parts []string) (scoreForm, error) {
	bad := fault.New(fault.Invalid, "lin needs two different values, as in lin 0.1->0, 0.8->100")
	if len(parts) != 2 {
		return scoreForm{}, bad
	}
	a, ok1 := strings.CutSuffix(parts[0], "->0")
	b, ok2 := strings.CutSuffix(parts[1], "->100")
	x, err1 := finite(a)
	y, err2 := finite(b)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || x == y {
		return scoreForm{}, bad
	}
	return scoreForm{kind: formLin, a: x, b: y}, nil
}

func parseMap(parts []string, value operand) (scoreForm, error) {
	out := scoreForm{kind: formSteps}
	if value.kind == Enum {
		out.kind = formEnum
	}
	for i, p := range parts {
		key, pts, ok := strings.Cut(p, ":")
		if !ok {
			return out, fault.New(fault.Invalid, "map needs pairs, as in map active:100, left:0")
		}
		n, err := points(pts)
		if err != nil {
			return out, err
		}
		at := float64(slices.Index(value.labels, strings.TrimSpace(key)))
		if value.kind == Enum && at < 0 {
			return out, fault.New(fault.Invalid, "%q is not a value to map", key)
		}
		if value.kind == Number {
			var last bool
			if key, last = strings.CutSuffix(strings.TrimSpace(key), "+"); last && i < len(parts)-1 {
				return out, fault.New(fault.Invalid, "only the last key of a map may be open")
			}
			out.open = last
			if at, err = finite(key); err != nil {
				return out, err
			}
			if i > 0 && at <= out.steps[i-1].at {
				return out, fault.New(fault.Invalid, "the keys of a map must ascend")
			}
		}
		out.steps = append(out.steps, step{at, n})
	}
	return out, nil
}

// of returns the points of a value, NaN when the value is null or the form says nothing about it. A number below
// the first step counts as the first, one between two steps as the lower.
func (s *scoreForm) of(v float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	switch s.kind {
	case formPass:
		return clamp100(v)
	case formLin:
		return clamp100((v - s.a) / (s.b - s.a) * 100)
	case formBool:
		if v != 0 {
			return s.a
		}
		return s.b
	case formEnum:
		for _, x := range s.steps {
			if x.at == v {
				return x.points
			}
		}
		return math.NaN()
	}
	last := len(s.steps) - 1
	if v > s.steps[last].at && !s.open {
		return math.NaN()
	}
	for i := last; i > 0; i-- {
		if v >= s.steps[i].at {
			return s.steps[i].points
		}
	}
	return s.steps[0].points
}

// span returns the lowest and highest points the form can give.
func (s *scoreForm) span() (lo, hi float64) {
	switch s.kind {
	case formBool:
		return math.Min(s.a, s.b), math.Max(s.a, s.b)
	case formEnum, formSteps:
		lo, hi = 100, 0
		for _, x := range s.steps {
			lo, hi = math.Min(lo, x.points), math.Max(hi, x.points)
		}
		return lo, hi
	}
	return 0, 100
}

func points(text string) (float64, error) {
	v, err := finite(text)
	if err == nil && (v < 0 || v > 100) {
		err = fault.New(fault.Invalid, "points must lie between 0 and 100")
	}
	return v, err
}

func finite(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fault.New(fault.Invalid, "%q is not a number", strings.TrimSpace(text))
	}
	return v, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func clamp100(v float64) float64 { return math.Min(math.Max(v, 0), 100) }
