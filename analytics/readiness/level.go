package readiness

import (
	"cmp"
	"slices"
	"time"
)

// Tally counts issues over accounts, one at a time, in constant memory. The zero value is ready for use.
type Tally struct {
	ActivitySourceDays *int // see Account.Judge

	tracked, ready, unscored int
	issues                   [NumCodes]int
}

// Add judges one account and counts it if it is tracked. It returns what it found, for callers that list accounts.
func (t *Tally) Add(a *Account) (issues Codes, ready bool) {
	if !a.Tracked() {
		return 0, false
	}
	issues, ready = a.Judge(t.ActivitySourceDays)
	t.tracked++
	if ready {
		t.ready++
	}
	if len(a.Scores) == 0 {
		t.unscored++
	}
	for c := range Code(NumCodes) {
		if issues.Has(c) {
			t.issues[c]++
		}
	}
	return issues, ready
}

// Merge adds the counts of another tally, so that parts of an organization can be tallied apart.
func (t *Tally) Merge(o Tally) {
	t.tracked += o.tracked
	t.ready += o.ready
	t.unscored += o.unscored
	for c := range o.issues {
		t.issues[c] += o.issues[c]
	}
}

// Sources is what readiness needs to know of an organization's connections.
type Sources struct {
	CRMConnected bool
	Failing      int            // connectors in a failed state
	SinceSync    *time.Duration // since the last successful sync, nil when there was none ever
	Lag          *time.Duration // freshness lag of the data; nil: the same as SinceSync
}

// Level is how far the data can be relied on.
type Level string

// The levels. Blocked is an answer, not an error: scores still exist, with low confidence.
const (
	Ready    Level = "ready"
	Degraded Level = "degraded"
	Blocked  Level = "blocked"
)

// Reason says why the level is not ready.
type Reason string

// The reasons. Those up to ReasonStale block, the others degrade.
const (
	ReasonNoCRM            Reason = "no_crm_connected"
	ReasonNeverSynced      Reason = "never_synced"
	ReasonNoAccounts       Reason = "no_tracked_accounts"
	ReasonTooFewReady      Reason = "under_40_percent_scoring_ready"
	ReasonStale            Reason = "last_sync_over_7_days_ago"
	ReasonFewReady         Reason = "under_80_percent_scoring_ready"
	ReasonConnectorFailing Reason = "connector_failing"
	ReasonLag              Reason = "data_over_24_hours_old"
)

const (
	maxLag   = 24 * time.Hour
	maxStale = 7 * 24 * time.Hour
)

// Issue is one code with how many tracked accounts have it.
type Issue struct {
	Code     Code     `json:"code"`
	Count    int      `json:"count"`
	Share    float64  `json:"share"` // of the tracked accounts, 0 to 1
	Severity Severity `json:"severity"`
}

// Report is the readiness of an organization's data.
type Report struct {
	Level           Level    `json:"level"`
	Reasons         []Reason `json:"reasons"`         // why not ready, what blocks first; empty when ready
	BlockingIssues  []Issue  `json:"blocking_issues"` // codes that occur, worst first: severity, then count, then code
	TrackedAccounts int      `json:"tracked_accounts"`
	ScoringReady    int      `json:"scoring_ready_accounts"`
	Unscored        int      `json:"unscored_accounts"`   // tracked accounts without any score yet; never scoring-ready
	ReadyShare      *float64 `json:"scoring_ready_share"` // 0 to 1, nil without tracked accounts
}

// Report judges the accounts added so far.
func (t *Tally) Report(src Sources) Report {
	r := Report{
		Level: Ready, Reasons: []Reason{}, BlockingIssues: t.list(), TrackedAccounts: t.tracked, ScoringReady: t.ready,
		Unscored: t.unscored,
	}
	if t.tracked > 0 {
		share := float64(t.ready) / float64(t.tracked)
		r.ReadyShare = &share
	}
	note := func(to Level, why Reason, on bool) {
		if on {
			r.Reasons = append(r.Reasons, why)
			if r.Level != Blocked {
				r.Level = to
			}
		}
	}
	lag := src.Lag
	if lag == nil {
		lag = src.SinceSync
	}
	tooFew := 100*t.ready < 40*t.tracked
	stale := src.SinceSync != nil && *src.SinceSync > maxStale
	note(Blocked, ReasonNoCRM, !src.CRMConnected)
	note(Blocked, ReasonNeverSynced, src.SinceSync == nil)
	note(Blocked, ReasonNoAccounts, t.tracked == 0)
	note(Blocked, ReasonTooFewReady, tooFew)
	note(Blocked, ReasonStale, stale)
	note(Degraded, ReasonFewReady, !tooFew && 100*t.ready < 80*t.tracked)
	note(Degraded, ReasonConnectorFailing, src.Failing > 0)
	note(Degraded, ReasonLag, !stale && lag != nil && *lag > maxLag)
	return r
}

func (t *Tally) list() []Issue {
	out := []Issue{}
	for c, n := range t.issues {
		if n > 0 {
			code := Code(c)
			out = append(out, Issue{code, n, float64(n) / float64(t.tracked), code.Severity()})
		}
	}
	slices.SortFunc(out, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	return out
}
