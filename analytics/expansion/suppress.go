package expansion

import "slices"

// Suppressed counts the signals that were not made, by the one reason each has. Owned counts the active products that
// accounts own already; the others are products that had evidence.
type Suppressed struct {
	Owned             int64 `json:"owned"`
	OptedOut          int64 `json:"opted_out"`
	SaveFirst         int64 `json:"save_first"`
	OpenOpportunity   int64 `json:"open_opportunity"`
	AlreadyPitched    int64 `json:"already_pitched"`
	AlreadyWon        int64 `json:"already_won"`
	RecentlyDismissed int64 `json:"recently_dismissed"`
	NotOffered        int64 `json:"not_offered"`
}

func (s *Suppressed) merge(o *Suppressed) {
	s.Owned += o.Owned
	s.OptedOut += o.OptedOut
	s.SaveFirst += o.SaveFirst
	s.OpenOpportunity += o.OpenOpportunity
	s.AlreadyPitched += o.AlreadyPitched
	s.AlreadyWon += o.AlreadyWon
	s.RecentlyDismissed += o.RecentlyDismissed
	s.NotOffered += o.NotOffered
}

const (
	saveFirstRisk = 75
	dismissedDays = 180
	dismissedRise = 0.10 // what P must have gained for a dismissed signal to come back early
)

// reason returns the counter of the reason to keep back a signal for product b, nil when there is none. The order is
// fixed: what concerns the whole account, then what happened already, then what is on offer.
func (s *Suppressed) reason(a *Account, b uint16, probability float64) *int64 {
	switch {
	case a.OptedOut:
		return &s.OptedOut
	case a.Risk != nil && *a.Risk >= saveFirstRisk:
		return &s.SaveFirst
	case slices.Contains(a.OpenOpportunities, b):
		return &s.OpenOpportunity
	}
	var pitched, won, dismissed bool
	for i := range a.Past {
		past := &a.Past[i]
		if past.Product != b {
			continue
		}
		switch past.Status {
		case Pitched:
			pitched = true
		case Won:
			won = true
		case Dismissed:
			rose := past.Probability != nil && probability-*past.Probability >= dismissedRise-1e-9
			dismissed = dismissed || past.DaysAgo < dismissedDays && !rose
		}
	}
	switch {
	case pitched:
		return &s.AlreadyPitched
	case won:
		return &s.AlreadyWon
	case dismissed:
		return &s.RecentlyDismissed
	case slices.Contains(a.NotOffered, b):
		return &s.NotOffered
	}
	return nil
}
