package crma

import (
	"fmt"
	"strings"
	"time"

	"revarch/fault"
)

// jsonTime is how the REST API writes instants: an offset without a colon.
const jsonTime = "2006-01-02T15:04:05.000-0700"

// parseTime reads an instant in the layouts that the REST and bulk APIs use; the result is UTC.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{jsonTime, "2006-01-02T15:04:05-0700", time.RFC3339Nano} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New(fault.Unavailable, "The provider's answer has an instant in an unknown form.")
}

// literal writes an instant as SOQL does: unquoted, UTC, milliseconds only when there are any.
func literal(t time.Time) string {
	t = t.UTC()
	if t.Nanosecond() < int(time.Millisecond) {
		return t.Format("2006-01-02T15:04:05Z")
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// quote writes a string literal.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// selection is one keyset query.
type selection struct {
	object  string
	columns []string
	deleted bool      // only rows in the recycle bin
	from    time.Time // lower bound of a run, inclusive; zero for none
	after   keyset    // last row read; zero for none
	limit   int       // 0 for none
}

// keyset is a place in the order by (SystemModstamp, Id).
type keyset struct {
	at time.Time
	id string
}

// soql writes the query. Object and column names come from describe or from our own list and are checked all the same.
func (s selection) soql() (string, error) {
	for _, name := range append([]string{s.object}, s.columns...) {
		if !identifier(name) {
			return "", fault.New(fault.Invalid, "A field or object name is not a name of the provider.")
		}
	}
	var where []string
	if s.deleted {
		where = append(where, "IsDeleted = true")
	}
	switch {
	case s.after.id != "":
		t := literal(s.after.at)
		where = append(where, fmt.Sprintf("(SystemModstamp > %s OR (SystemModstamp = %s AND Id > %s))", t, t, quote(s.after.id)))
	case !s.from.IsZero():
		where = append(where, "SystemModstamp >= "+literal(s.from))
	}
	q := "SELECT " + strings.Join(s.columns, ", ") + " FROM " + s.object
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	q += " ORDER BY SystemModstamp, Id"
	if s.limit > 0 {
		q += fmt.Sprintf(" LIMIT %d", s.limit)
	}
	return q, nil
}

// identifier reports whether s is a plain field or object name.
func identifier(s string) bool {
	if s == "" || len(s) > 80 || s[0] == '_' || (s[0] >= '0' && s[0] <= '9') {
		return false
	}
	return alphanumeric(strings.ReplaceAll(s, "_", ""))
}
