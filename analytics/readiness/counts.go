package readiness

// Counts is a tally in the form it is stored in.
type Counts struct {
	Tracked  int            `json:"tracked"`
	Ready    int            `json:"ready"`
	Unscored int            `json:"unscored"`
	Issues   map[string]int `json:"issues"` // by the code's wire name
}

// Counts returns what the tally has counted.
func (t *Tally) Counts() Counts {
	c := Counts{Tracked: t.tracked, Ready: t.ready, Unscored: t.unscored, Issues: map[string]int{}}
	for code := range Code(NumCodes) {
		if n := t.issues[code]; n > 0 {
			c.Issues[code.String()] = n
		}
	}
	return c
}

// Tally returns the tally that counted this; names that are no codes any more are left out.
func (c Counts) Tally() Tally {
	t := Tally{tracked: c.Tracked, ready: c.Ready, unscored: c.Unscored}
	for code := range Code(NumCodes) {
		t.issues[code] = c.Issues[code.String()]
	}
	return t
}
