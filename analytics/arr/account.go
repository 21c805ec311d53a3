package arr

import "revarch/fault"

// DefaultGraceDays is how long an expired line without a decision stays in ARR.
const DefaultGraceDays = 90

// Terms says at which moment ARR is asked for.
type Terms struct {
	At        Date // the day ARR is wanted for
	AsOf      Date // the day of asking, not before At: a grace period that is over by then is over for every At
	GraceDays int
}

// Now returns terms for the ARR of a day as seen on that day.
func Now(day Date, graceDays int) Terms { return Terms{At: day, AsOf: day, GraceDays: graceDays} }

// Total is the ARR of one account on a date.
type Total struct {
	ARRCents      int64
	PendingCents  int64 // part of ARRCents that waits for a late renewal
	Lines         int   // recurring lines counted, pending ones included
	Pending       int
	Pilot         bool  // a pilot is in force
	FromTotal     bool  // ARRCents is an account-level figure, because there are no product lines
	Negative      bool  // ARRCents < 0: counted all the same, and listed as an issue
	InvalidLines  []int // indexes of lines whose term or value makes no sense; they count nothing
	ExpiredDate   Date  // when ARRCents is 0 and it was not: the day after the last line ended
	EverRecurring bool  // a recurring line has been in force on or before the date
}

// Active reports whether the account is a customer on the date, paying or as a pilot.
func (t Total) Active() bool { return t.Lines > 0 || t.Pilot }

// Account adds up an account's lines. Account-level lines are ignored from the day its first recurring product line
// starts, so that a figure kept by hand cannot bring back revenue whose lines have ended.
func Account(lines []Line, at Terms) Total {
	var t Total
	products := hasProducts(lines, at.At)
	for i, l := range lines {
		cents, err := l.AnnualCents()
		if err != nil {
			t.InvalidLines = append(t.InvalidLines, i)
			continue
		}
		if l.AccountTotal && products {
			continue
		}
		s := StateOf(lines, i, at)
		switch {
		case l.Kind == Pilot:
			t.Pilot = t.Pilot || s == InForce
		case l.Kind != Recurring || s == NotStarted:
		case !s.Counts():
			t.EverRecurring = true
			t.ExpiredDate = max(t.ExpiredDate, l.End+1)
		default:
			t.EverRecurring = true
			t.add(cents, s, l.AccountTotal)
		}
	}
	if t.Lines > 0 {
		t.ExpiredDate = 0
	}
	t.Negative = t.ARRCents < 0
	return t
}

func (t *Total) add(cents int64, s State, fromTotal bool) {
	t.ARRCents += cents
	t.Lines++
	t.FromTotal = t.FromTotal || fromTotal
	if s == RenewalPending {
		t.Pending++
		t.PendingCents += cents
	}
}

func hasProducts(lines []Line, at Date) bool {
	for _, l := range lines {
		if !l.AccountTotal && l.Kind == Recurring && l.Start <= at && l.End >= l.Start {
			return true
		}
	}
	return false
}

// StateOf returns where line i of an account stands. Only recurring lines wait for a renewal; a line is superseded by
// a recurring one of the same key that starts later, ends later and has started by At.
func StateOf(lines []Line, i int, at Terms) State {
	l := lines[i]
	switch {
	case at.At < l.Start:
		return NotStarted
	case at.At <= l.End:
		return InForce
	case l.Kind != Recurring || l.Disposition == Churned || l.Disposition == Lost:
		return Ended
	}
	for j, next := range lines {
		if j != i && next.Key == l.Key && next.AccountTotal == l.AccountTotal && next.Kind == Recurring &&
			next.Start > l.Start && next.End > l.End && next.Start <= at.At {
			return Superseded
		}
	}
	if int(max(at.AsOf, at.At)-l.End) <= at.GraceDays {
		return RenewalPending
	}
	return Ended
}

// Validate reports what is wrong with the terms as a fault.Invalid.
func (t Terms) Validate() error {
	if t.AsOf < t.At || t.GraceDays < 0 {
		return fault.New(fault.Invalid, "ARR needs a day of asking not before the day asked for, and a grace period of 0 or more days")
	}
	return nil
}
