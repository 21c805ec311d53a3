package scoring

import "revarch/fault"

// Level is how urgent a score is.
type Level uint8

// The levels, ascending.
const (
	LevelNone Level = iota
	LevelInfo
	LevelWarning
	LevelCritical
)

var levelNames = [...]string{"NONE", "INFO", "WARNING", "CRITICAL"}

// String returns NONE, INFO, WARNING or CRITICAL.
func (l Level) String() string { return nameAt(levelNames[:], int(l)) }

// MarshalText writes the wire name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a wire name; an unknown one is a fault.Invalid.
func (l *Level) UnmarshalText(b []byte) error { return parseName(l, "level", levelNames[:], string(b)) }

// Thresholds are the scores at which a model's levels begin. Health is urgent below them, the others from them on.
type Thresholds struct {
	Critical float64 `json:"critical"`
	Warning  float64 `json:"warning"`
	Info     float64 `json:"info"`
}

// Severity decides levels for an organization.
type Severity struct {
	Thresholds map[Model]Thresholds `json:"thresholds"`
	Hysteresis float64              `json:"hysteresis"` // points beyond its threshold at which a level is left
}

// DefaultSeverity returns the thresholds every organization starts with and a hysteresis of 3 points.
func DefaultSeverity() Severity {
	return Severity{Hysteresis: 3, Thresholds: map[Model]Thresholds{
		Health:    {Critical: 40, Warning: 60, Info: 75},
		Risk:      {Critical: 75, Warning: 55, Info: 35},
		Priority:  {Critical: 85, Warning: 70, Info: 50},
		Expansion: {Critical: 80, Warning: 65, Info: 45},
	}}
}

// Level returns the level of a score. A more urgent level than prev takes effect at once; a level already reached is
// kept until the score is Hysteresis points past its threshold. A model without thresholds has no levels. Callers
// keep the previous level, or none, for a score without composite.
func (s Severity) Level(m Model, score float64, prev Level) Level {
	t, ok := s.Thresholds[m]
	if !ok {
		return LevelNone
	}
	if m == Health { // low is urgent: mirror it
		score, t = -score, Thresholds{Critical: -t.Critical, Warning: -t.Warning, Info: -t.Info}
	}
	at := [...]float64{LevelInfo: t.Info, LevelWarning: t.Warning, LevelCritical: t.Critical}
	for l := LevelCritical; l > LevelNone; l-- {
		limit := at[l]
		if prev >= l {
			limit -= s.Hysteresis
		}
		if score > limit || (score == limit && m != Health) {
			return l
		}
	}
	return LevelNone
}

// Validate reports thresholds that are out of order or range as a fault.Invalid.
func (s Severity) Validate() error {
	if !(s.Hysteresis >= 0 && s.Hysteresis <= 50) {
		return fault.New(fault.Invalid, "hysteresis must lie between 0 and 50")
	}
	for m, t := range s.Thresholds {
		lo, hi := t.Info, t.Critical
		if m == Health {
			lo, hi = t.Critical, t.Info
		}
		if !(0 <= lo && lo <= t.Warning && t.Warning <= hi && hi <= 100) {
			return fault.New(fault.Invalid, "the thresholds of %s must ascend in urgency between 0 and 100", m)
		}
	}
	return nil
}
