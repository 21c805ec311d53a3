package expansion

import "math"

// Check is one condition of the readiness gate; checks add up to sets.
type Check uint8

// The checks, in the order they are listed.
const (
	CheckOnboarding Check = 1 << iota
	CheckHealth
	CheckP1Open
	CheckOverdue
	CheckUseRatio
)

// Gate is the outcome of the readiness gate: the checks that failed and those whose input is unknown, which pass.
type Gate struct {
	Failed, Unknown Check
}

// GateReason says what a check found.
type GateReason struct {
	Check  string `json:"check" enum:"onboarding,health,p1_open,overdue_days,use_ratio"`
	Reason string `json:"reason"` // unknown, or the condition that failed
}

// The names of readiness.
const (
	Ready    = "ready"
	NotReady = "not_ready"
)

// Readiness returns ready unless a check failed.
func (g Gate) Readiness() string {
	if g.Failed != 0 {
		return NotReady
	}
	return Ready
}

// Reasons lists the failed and the unknown checks, in the order of the checks; never nil.
func (g Gate) Reasons() []GateReason {
	reasons := make([]GateReason, 0, 5)
	for i, c := range [...]struct{ name, failed string }{
		{"onboarding", "onboarding"},
		{"health", "below_50"},
		{"p1_open", "open"},
		{"overdue_days", "above_60"},
		{"use_ratio", "below_0.3"},
	} {
		switch bit := Check(1) << i; {
		case g.Failed&bit != 0:
			reasons = append(reasons, GateReason{c.name, c.failed})
		case g.Unknown&bit != 0:
			reasons = append(reasons, GateReason{c.name, "unknown"})
		}
	}
	return reasons
}

// gate examines an account.
func gate(a *Account) Gate {
	var g Gate
	g.check(CheckHealth, a.Health, func(v float64) bool { return v < 50 })
	g.check(CheckP1Open, a.P1Open, func(v float64) bool { return v > 0 })
	g.check(CheckOverdue, a.OverdueDays, func(v float64) bool { return v > 60 })
	g.check(CheckUseRatio, a.UseRatio, func(v float64) bool { return v < 0.3 })

	young := a.AgeDays == nil || *a.AgeDays < 90
	unfinished := a.OnboardingPct == nil || *a.OnboardingPct < 0.8
	switch {
	case !young || !unfinished: // either alone settles it
	case a.AgeDays == nil || a.OnboardingPct == nil:
		g.Unknown |= CheckOnboarding
	default:
		g.Failed |= CheckOnboarding
	}
	return g
}

func (g *Gate) check(c Check, v *float64, fails func(float64) bool) {
	switch {
	case v == nil || math.IsNaN(*v):
		g.Unknown |= c
	case fails(*v):
		g.Failed |= c
	}
}
