package imports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"revarch/models"
	"revarch/services/records"
)

// Parsers take a trimmed cell that is not empty and return it as PostgreSQL reads it, or the reason why it does not fit.
// Reasons never repeat the value.

const maxID = 255 // bytes

func id(s string) (cell, reason string) {
	if len(s) > maxID {
		return "", fmt.Sprintf("is longer than %d bytes", maxID)
	}
	return s, ""
}

func text(limit int) func(string) (string, string) {
	return func(s string) (string, string) {
		if utf8.RuneCountInString(s) > limit {
			return "", fmt.Sprintf("is longer than %d characters", limit)
		}
		return s, ""
	}
}

func oneOf(words ...string) func(string) (string, string) {
	return func(s string) (string, string) {
		if slices.Contains(words, s) {
			return s, ""
		}
		return "", "must be " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	}
}

// canonical converts as records of a provider are converted.
func canonical(record models.RecordType, field, reason string) func(string) (string, string) {
	convert := records.TextConverter(record, field)
	return func(s string) (string, string) {
		v, ok := convert(s)
		if !ok || v == nil {
			return "", reason
		}
		return fmt.Sprint(v), ""
	}
}

// dollars reads an amount with at most two decimals as cents, exactly.
func dollars(negative bool) func(string) (string, string) {
	return func(s string) (string, string) {
		const form = "must be an amount in dollars with at most two decimals, such as 1200.50"
		digits, minus := strings.CutPrefix(s, "-")
		whole, fraction, dot := strings.Cut(digits, ".")
		switch {
		case whole == "" || strings.Trim(whole+fraction, "0123456789") != "" || dot && fraction == "" || len(fraction) > 2:
			return "", form
		case minus && !negative:
			return "", "must not be negative"
		}
		n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
		if err != nil || n > 1e15 {
			return "", "is beyond 10 trillion dollars"
		}
		if minus {
			n = -n
		}
		return strconv.FormatInt(n, 10), ""
	}
}

func date(s string) (string, string) {
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() < 1900 || t.Year() > 2200 {
		return "", "must be a date from 1900 to 2200 such as 2026-07-01"
	}
	return s, ""
}

func quantity(s string) (string, string) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.Trim(s, "0123456789.") != "" || math.IsInf(f, 0) || f > 1e12 {
		return "", "must be a number that is not negative, such as 250"
	}
	return strconv.FormatFloat(f, 'f', -1, 64), ""
}
