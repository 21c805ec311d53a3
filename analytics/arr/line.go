package arr

import (
	"math/bits"

	"revarch/fault"
)

// Kind says what a line sells. Only Recurring counts; a pilot keeps its account active at an ARR of 0.
type Kind uint8

// The kinds.
const (
	Recurring Kind = iota
	OneOff         // services
	Hardware
	UncommittedUsage
	Pilot // free of charge
)

// Disposition is what was decided about a line's renewal.
type Disposition uint8

// The dispositions. Churned and Lost end a line with its term; with any other an expired line waits for its renewal.
const (
	Undecided Disposition = iota
	Pending
	Renewed
	Expanded
	Churned
	Lost
)

// Line is one subscription line of an account. A multi-year ramp is one line per slice.
type Line struct {
	Key          string // what a later line renews: the product, or the contract line; "" is a key like any other
	ValueCents   int64  // value over the whole term, or per year when Annual; negative for a credit
	Annual       bool   // ValueCents is already per year
	Start, End   Date   // both included; End is OpenEnd for an Annual line without a term
	Kind         Kind
	Disposition  Disposition
	AccountTotal bool // an account-level figure that stands in for product lines until there are some
}

// Annualize returns the annual value of a value over a term, half to even: value x 12/k for a term of k whole months,
// else value x 365/days. A term that ends before it starts, or a value beyond what cents can hold, is a fault.Invalid.
func Annualize(valueCents int64, start, end Date) (int64, error) {
	if end < start || end == OpenEnd {
		return 0, fault.New(fault.Invalid, "a term must end, and not before it starts")
	}
	if k := wholeMonths(start, end); k > 0 {
		return mulDiv(valueCents, 12, uint64(k))
	}
	return mulDiv(valueCents, 365, uint64(end-start)+1)
}

// mulDiv returns v x num/den rounded half to even, exact in between.
func mulDiv(v int64, num, den uint64) (int64, error) {
	abs := uint64(v)
	if v < 0 {
		abs = -abs
	}
	hi, lo := bits.Mul64(abs, num)
	if hi >= den {
		return 0, fault.New(fault.Invalid, "the value of a line is out of range")
	}
	q, r := bits.Div64(hi, lo, den)
	if r > den-r || (r == den-r && q&1 == 1) {
		q++
	}
	if q > 1<<63-1 {
		return 0, fault.New(fault.Invalid, "the value of a line is out of range")
	}
	if v < 0 {
		return -int64(q), nil
	}
	return int64(q), nil
}

// AnnualCents returns the line's ARR while it is in force: 0 for kinds that do not recur. A term or value that makes
// no sense is a fault.Invalid.
func (l Line) AnnualCents() (int64, error) {
	switch {
	case l.End < l.Start:
		return 0, fault.New(fault.Invalid, "a line ends on %s, before it starts on %s", l.End, l.Start)
	case l.Kind != Recurring:
		return 0, nil
	case l.Annual:
		return l.ValueCents, nil
	}
	return Annualize(l.ValueCents, l.Start, l.End)
}

// State is where a line stands on a date.
type State uint8

// The states.
const (
	NotStarted State = iota
	InForce
	RenewalPending // expired, undecided and within the grace period: still counted
	Superseded     // expired, and a later line with the same key has taken over
	Ended          // expired and decided against, or past the grace period
)

var stateNames = [...]string{"not_started", "in_force", "renewal_pending", "superseded", "ended"}

// String returns the state's wire name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// Counts reports whether a line in this state is part of ARR.
func (s State) Counts() bool { return s == InForce || s == RenewalPending }
