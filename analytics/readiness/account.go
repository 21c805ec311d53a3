package readiness

import (
	"math"
	"strings"

	"revarch/fault"
)

// Code names one thing that is wrong with an account's data.
type Code uint8

// The codes. Those up to NegativeARR keep an account from being scoring-ready.
const (
	NoContacts       Code = iota // no contact with a valid e-mail address or phone number
	MissingSegment               // the segment is none of the three
	NegativeARR                  // ARR in force below 0
	NoRecentActivity             // an activity source is connected and has nothing of the last 90 days
	ZeroARR                      // a customer without ARR in force that is not a pilot
	ScoreImbalance               // scores contradict each other, rest on too little, or on one category
	NumCodes         = 6
)

var codeNames = [NumCodes]string{
	"no_contacts", "missing_segment", "negative_arr", "no_recent_activity", "zero_arr", "score_imbalance",
}

// String returns the code's wire name.
func (c Code) String() string {
	if c < NumCodes {
		return codeNames[c]
	}
	return "unknown"
}

// MarshalText writes the wire name.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a wire name; an unknown one is a fault.Invalid.
func (c *Code) UnmarshalText(b []byte) error {
	for i, n := range codeNames {
		if n == string(b) {
			*c = Code(i)
			return nil
		}
	}
	return fault.New(fault.Invalid, "%q is not an issue; expected one of %s", b, strings.Join(codeNames[:], ", "))
}

// Severity says what an issue costs.
type Severity string

// The severities.
const (
	Blocking Severity = "blocking" // the account is not scoring-ready
	Warning  Severity = "warning"
)

// Severity returns whether the code keeps an account from being scoring-ready.
func (c Code) Severity() Severity {
	if c <= NegativeARR {
		return Blocking
	}
	return Warning
}

// Codes is a set of codes.
type Codes uint8

// Has reports whether the set holds c.
func (s Codes) Has(c Code) bool { return s&(1<<c) != 0 }

// List returns the codes of the set in order, never nil.
func (s Codes) List() []Code {
	out := []Code{}
	for c := range Code(NumCodes) {
		if s.Has(c) {
			out = append(out, c)
		}
	}
	return out
}

// Model names a score where readiness has to tell them apart.
type Model uint8

// The models.
const (
	Other Model = iota
	Health
	Risk
)

// Score is what readiness needs to know of one score of an account.
type Score struct {
	Model         Model
	Composite     *float64  // 0 to 100; nil when there is too little data
	Coverage      float64   // 0 to 1
	Contributions []float64 // per category; read only while the account is judged
}

// Account is what readiness needs to know of one account.
type Account struct {
	Customer         bool // status customer
	OpenOpportunity  bool
	Contacts         int // not deleted, with a valid e-mail address or phone number
	Segment          string
	ARRCents         int64 // in force now
	Pilot            bool
	LastActivityDays *int    // nil: no activity ever
	Scores           []Score // one per model that is switched on; empty: not scored yet
}

// The limits of the definitions.
const (
	quietDays     = 90  // an account without activity for longer is quiet
	settlingDays  = 30  // a source connected for no longer is not yet expected to know every account
	minCoverage   = 0.5 // what a score must at least rest on
	maxCategory   = 0.6 // share of the contributions that one category may have
	coverageSlack = 1e-9
)

// Tracked reports whether the account counts for readiness: a customer or one with an open opportunity.
func (a *Account) Tracked() bool { return a.Customer || a.OpenOpportunity }

// Coverage returns the lowest coverage of the account's scores, 0 when it has none.
func (a *Account) Coverage() float64 {
	if len(a.Scores) == 0 {
		return 0
	}
	low := math.Inf(1)
	for i := range a.Scores {
		low = min(low, a.Scores[i].Coverage)
	}
	return low
}

// Judge returns what is wrong with an account and whether it is scoring-ready. activitySourceDays says for how many
// days an activity source has been connected, nil when none is: then silence means nothing.
func (a *Account) Judge(activitySourceDays *int) (issues Codes, ready bool) {
	set := func(c Code, on bool) {
		if on {
			issues |= 1 << c
		}
	}
	set(NoContacts, a.Contacts == 0)
	set(MissingSegment, a.Segment != "Enterprise" && a.Segment != "Mid-Market" && a.Segment != "SMB")
	set(NegativeARR, a.ARRCents < 0)
	set(NoRecentActivity, a.quiet(activitySourceDays))
	set(ZeroARR, a.Customer && a.ARRCents == 0 && !a.Pilot)
	set(ScoreImbalance, a.imbalanced())
	const blocking = 1<<NoContacts | 1<<MissingSegment | 1<<NegativeARR
	return issues, issues&blocking == 0 && a.Coverage()+coverageSlack >= minCoverage
}

func (a *Account) quiet(sourceDays *int) bool {
	switch {
	case sourceDays == nil:
		return false
	case a.LastActivityDays == nil:
		return *sourceDays > settlingDays
	}
	return *a.LastActivityDays > quietDays
}

// imbalanced is false for an account that is not scored at all: that is missing coverage, not a contradiction.
func (a *Account) imbalanced() bool {
	var health, risk *float64
	for i := range a.Scores {
		s := &a.Scores[i]
		switch s.Model {
		case Health:
			health = s.Composite
		case Risk:
			risk = s.Composite
		}
		if s.Coverage+coverageSlack < minCoverage || s.lopsided() {
			return true
		}
	}
	if health == nil || risk == nil {
		return false
	}
	return (*health >= 75 && *risk >= 55) || (*health < 40 && *risk < 35)
}

func (s *Score) lopsided() bool {
	sum, most := 0.0, 0.0
	for _, c := range s.Contributions {
		sum += c
		most = max(most, c)
	}
	return sum > 0 && most > maxCategory*sum+coverageSlack
}
