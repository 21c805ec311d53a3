package arr

import (
	"time"

	"revarch/fault"
)

// Date is a calendar day without a time zone, counted from 1 January 1970. Differences are days.
type Date int32

// OpenEnd marks a line without an end of term.
const OpenEnd Date = 1<<31 - 1

// DateOf returns the calendar day of t in t's own location.
func DateOf(t time.Time) Date { return On(t.Year(), t.Month(), t.Day()) }

// On returns a calendar day; days and months beyond their range carry over, as in time.Date.
func On(year int, month time.Month, day int) Date {
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// ParseDate reads 2026-03-01; anything else is a fault.Invalid.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%q is not a date; expected YYYY-MM-DD", s)
	}
	return DateOf(t), nil
}

// Time returns midnight UTC of the day.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// String returns 2026-03-01.
func (d Date) String() string { return d.Time().Format(time.DateOnly) }

// addMonths returns the same day k months later, or the last day of that month when it is shorter; cut says so.
func (d Date) addMonths(k int) (day Date, cut bool) {
	y, m, dd := d.Time().Date()
	first := On(y, m+time.Month(k), 1)
	last := On(y, m+time.Month(k)+1, 1) - 1
	want := first + Date(dd) - 1
	return min(want, last), want > last
}

// wholeMonths returns k when the term from start to end is exactly k months, 0 otherwise. A term that starts on a day
// the last month does not have may end on that month's last day or on the day before it.
func wholeMonths(start, end Date) int {
	next := end + 1
	y1, m1, _ := start.Time().Date()
	y2, m2, _ := next.Time().Date()
	k := (y2-y1)*12 + int(m2-m1)
	for _, n := range [2]int{k, k - 1} {
		if n < 1 {
			continue
		}
		if day, cut := start.addMonths(n); day == next || (cut && day+1 == next) {
			return n
		}
	}
	return 0
}
