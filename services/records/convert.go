package records

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"revarch/models"
)

// converter turns a JSON value into the value of a column: nil, string, int64, float64, bool or time.Time. It is false
// for a value that does not fit.
type converter func(gjson.Result) (any, bool)

// bounds of columns whose kind alone allows more than makes sense.
var bounds = map[string][2]float64{"csat_90d": {1, 5}}

// converterFor returns the conversion of a canonical field, by a named transform or, for "", by its own default.
func converterFor(t models.TargetField, transform string) (converter, bool) {
	if transform != "" {
		for _, tr := range Transforms {
			if tr.Name == transform && tr.Fits(t) {
				return tr.convert, true
			}
		}
		return nil, false
	}
	if name, ok := defaultTransforms[target{t.Record, t.Name}]; ok {
		return converterFor(t, name)
	}
	switch t.Kind {
	case models.KindText:
		if t.Record == models.RecordAccount && t.Name == "competitor" {
			return keepEmpty, true
		}
		return toText, true
	case models.KindLink:
		return toLink, true
	case models.KindInteger:
		return toCount, true
	case models.KindDecimal:
		if b, ok := bounds[t.Name]; ok {
			return within(toDecimal, b[0], b[1]), true
		}
		return toDecimal, true
	case models.KindPercent:
		return percentToShare, true
	case models.KindMoney:
		return toCents, true
	case models.KindBool:
		return toBool, true
	case models.KindDate:
		return toDate, true
	case models.KindInstant:
		return toInstant, true
	}
	return nil, false
}

// TextConverter returns the conversion of text into the value of a canonical field, as a mapping without a transform does
// it; it answers false for text that does not fit. An unknown field is nil.
func TextConverter(record models.RecordType, field string) func(text string) (any, bool) {
	t, ok := targetField(record, field)
	if !ok {
		return nil
	}
	convert, ok := converterFor(t, "")
	if !ok {
		return nil
	}
	return func(text string) (any, bool) { return convert(gjson.Result{Type: gjson.String, Str: text}) }
}

// plain returns a value as trimmed text; ok is false for an object or an array.
func plain(v gjson.Result) (s string, ok bool) {
	switch v.Type {
	case gjson.String:
		return strings.TrimSpace(v.Str), true
	case gjson.Null:
		return "", true
	case gjson.JSON:
		return "", false
	default:
		return v.Raw, true
	}
}

func toText(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	if len(s) > maxText && utf8.RuneCountInString(s) > maxText {
		return nil, false
	}
	return s, true
}

// keepEmpty is toText for a field where an empty text says something.
func keepEmpty(v gjson.Result) (any, bool) {
	if v.Type == gjson.String && v.Str == "" {
		return "", true
	}
	return toText(v)
}

func toLink(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	return s, len(s) <= maxID
}

// toCount takes whole numbers that are not negative, also written as 12.0.
func toCount(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, ok := decimal(s)
		if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, false
		}
		n = int64(f)
	}
	return n, n >= 0
}

func toDecimal(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	f, ok := decimal(s)
	return f, ok
}

// decimal reads a finite decimal number.
func decimal(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(s, "xX_pP") {
		return 0, false
	}
	return f, true
}

func within(c converter, low, high float64) converter {
	return func(v gjson.Result) (any, bool) {
		out, ok := c(v)
		if f, is := out.(float64); is && (f < low || f > high) {
			return nil, false
		}
		return out, ok
	}
}

func percentToShare(v gjson.Result) (any, bool) {
	out, ok := within(toDecimal, 0, 100)(v)
	if f, is := out.(float64); is {
		return f / 100, ok
	}
	return out, ok
}

// toCents reads an amount in currency units exactly; more than two decimals do not fit.
func toCents(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	n, exact, ok := cents(s)
	return n, ok && exact
}

// roundCents is toCents that rounds half to even.
func roundCents(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	n, _, ok := cents(s)
	return n, ok
}

// cents reads decimal text, also with an exponent, as hundredths without going through binary fractions. exact is false
// when digits beyond were rounded, half to even.
func cents(s string) (n int64, exact, ok bool) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e > 30 || e < -30 {
			return 0, false, false
		}
		mantissa, exponent = s[:i], e
	}
	negative := strings.HasPrefix(mantissa, "-")
	mantissa = strings.TrimPrefix(strings.TrimPrefix(mantissa, "-"), "+")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 60 {
		return 0, false, false
	}
	keep := len(whole) + exponent + 2 // how many digits are hundredths or more
	for keep > len(digits) {
		digits += "0"
	}
	for keep < 0 {
		digits, keep = "0"+digits, keep+1
	}
	rest := strings.TrimRight(digits[keep:], "0")
	n, err := strconv.ParseInt("0"+digits[:keep], 10, 64)
	if err != nil || n >= 1<<62 {
		return 0, false, false
	}
	if rest > "5" || rest == "5" && n%2 == 1 {
		n++
	}
	if negative {
		n = -n
	}
	return n, rest == "", true
}

// wholeCents takes an amount that is in cents already.
func wholeCents(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func toBool(v gjson.Result) (any, bool) {
	switch v.Type {
	case gjson.True:
		return true, true
	case gjson.False:
		return false, true
	}
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	switch strings.ToLower(s) {
	case "true", "yes", "y", "1":
		return true, true
	case "false", "no", "n", "0":
		return false, true
	}
	return nil, false
}

// layouts of instants, the most frequent first; one without an offset is taken as UTC.
var layouts = []string{
	"2006-01-02T15:04:05.000-0700", time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05", time.DateOnly,
}

func instant(s string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), t.Year() >= 1 && t.Year() <= 9999
		}
	}
	return time.Time{}, false
}

func toInstant(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	if v.Type == gjson.Number { // milliseconds since 1970
		ms, err := strconv.ParseInt(s, 10, 64)
		if err != nil || ms < -62135596800000 || ms > 253402300799999 {
			return nil, false
		}
		return time.UnixMilli(ms).UTC(), true
	}
	t, ok := instant(s)
	return t, ok
}

// toDate takes the day as it is written: a date has no time zone.
func toDate(v gjson.Result) (any, bool) {
	s, ok := plain(v)
	if !ok || s == "" {
		return nil, ok
	}
	if len(s) > 10 && (s[10] == 'T' || s[10] == ' ') {
		if _, ok := instant(s); !ok {
			return nil, false
		}
		s = s[:10]
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return nil, false
	}
	return t, true
}
