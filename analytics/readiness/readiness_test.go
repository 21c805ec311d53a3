package readiness_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/analytics/readiness"
	"revarch/fault"
)

// good returns an account without issues.
func good() readiness.Account {
	return readiness.Account{
		Customer: true, Contacts: 2, Segment: "SMB", ARRCents: 100, LastActivityDays: new(3),
		Scores: []readiness.Score{
			{Model: readiness.Health, Composite: new(70.0), Coverage: 0.8, Contributions: []float64{30, 20, 20, 0, 0, 0, 0, 0}},
			{Model: readiness.Risk, Composite: new(30.0), Coverage: 0.6, Contributions: []float64{10, 10, 10, 0, 0, 0, 0, 0}},
		},
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	scores := func(h, r float64) []readiness.Score {
		s := good().Scores
		s[0].Composite, s[1].Composite = &h, &r
		return s
	}
	with := func(change readiness.Score) []readiness.Score { return append(good().Scores[:1], change) }
	base := good()
	tests := []struct {
		name   string
		a      readiness.Account
		source *int
		want   []readiness.Code
		ready  bool
	}{
		{"nothing is wrong", base, new(100), nil, true},
		{
			"no contacts",
			readiness.Account{Customer: true, Segment: "SMB", ARRCents: 1, Scores: base.Scores},
			nil,
			[]readiness.Code{readiness.NoContacts},
			false,
		},
		{
			"a segment that is none of the three",
			readiness.Account{Contacts: 1, Segment: "Huge", Scores: base.Scores},
			nil,
			[]readiness.Code{readiness.MissingSegment},
			false,
		},
		{
			"negative ARR",
			readiness.Account{Customer: true, Contacts: 1, Segment: "Enterprise", ARRCents: -1, Scores: base.Scores},
			nil,
			[]readiness.Code{readiness.NegativeARR},
			false,
		},
		{
			"a customer without ARR",
			readiness.Account{Customer: true, Contacts: 1, Segment: "SMB", Scores: base.Scores},
			nil,
			[]readiness.Code{readiness.ZeroARR},
			true,
		},
		{"a pilot without ARR", readiness.Account{Customer: true, Pilot: true, Contacts: 1, Segment: "SMB", Scores: base.Scores}, nil, nil, true},
		{"a prospect without ARR", readiness.Account{OpenOpportunity: true, Contacts: 1, Segment: "SMB", Scores: base.Scores}, nil, nil, true},
		{"90 days of silence", readiness.Account{Contacts: 1, Segment: "SMB", LastActivityDays: new(90), Scores: base.Scores}, new(400), nil, true},
		{
			"91 days of silence",
			readiness.Account{Contacts: 1, Segment: "SMB", LastActivityDays: new(91), Scores: base.Scores},
			new(1),
			[]readiness.Code{readiness.NoRecentActivity},
			true,
		},
		{"silence without a source", readiness.Account{Contacts: 1, Segment: "SMB", LastActivityDays: new(91), Scores: base.Scores}, nil, nil, true},
		{"no activity ever, source connected for 30 days", readiness.Account{Contacts: 1, Segment: "SMB", Scores: base.Scores}, new(30), nil, true},
		{
			"no activity ever, source connected for 31 days",
			readiness.Account{Contacts: 1, Segment: "SMB", Scores: base.Scores},
			new(31),
			[]readiness.Code{readiness.NoRecentActivity},
			true,
		},
		{
			"healthy and at risk",
			readiness.Account{Contacts: 1, Segment: "SMB", Scores: scores(75, 55)},
			nil,
			[]readiness.Code{readiness.ScoreImbalance},
			true,
		},
		{"healthy and nearly at risk", readiness.Account{Contacts: 1, Segment: "SMB", Scores: scores(75, 54.9)}, nil, nil, true},
		{
			"sick without risk",
			readiness.Account{Contacts: 1, Segment: "SMB", Scores: scores(39.9, 34.9)},
			nil,
			[]readiness.Code{readiness.ScoreImbalance},
			true,
		},
		{"nearly sick without risk", readiness.Account{Contacts: 1, Segment: "SMB", Scores: scores(40, 10)}, nil, nil, true},
		{
			"a coverage below one half",
			readiness.Account{Contacts: 1, Segment: "SMB", Scores: with(readiness.Score{Coverage: 0.49})},
			nil,
			[]readiness.Code{readiness.ScoreImbalance},
			false,
		},
		{"a category with 61 percent", readiness.Account{
			Contacts: 1, Segment: "SMB",
			Scores: with(readiness.Score{Coverage: 0.5, Contributions: []float64{61, 39}}),
		}, nil, []readiness.Code{readiness.ScoreImbalance}, true},
		{"a category with 60 percent", readiness.Account{
			Contacts: 1, Segment: "SMB",
			Scores: with(readiness.Score{Coverage: 0.5, Contributions: []float64{60, 40}}),
		}, nil, nil, true},
		{"not scored yet", readiness.Account{Contacts: 1, Segment: "SMB"}, nil, nil, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			issues, ready := tc.a.Judge(tc.source)
			require.ElementsMatch(t, tc.want, issues.List())
			require.Equal(t, tc.ready, ready)
		})
	}
}

// tally returns a tally of 100 accounts of which n are scoring-ready and the others have no contacts.
func tally(n int) *readiness.Tally {
	var t readiness.Tally
	for i := range 100 {
		a := good()
		if i >= n {
			a.Contacts = 0
		}
		t.Add(&a)
	}
	return &t
}

func TestLevel(t *testing.T) {
	t.Parallel()
	fresh := readiness.Sources{CRMConnected: true, SinceSync: new(2 * time.Hour)}
	with := func(change func(*readiness.Sources)) readiness.Sources {
		s := fresh
		change(&s)
		return s
	}
	failing := with(func(s *readiness.Sources) { s.Failing = 1 })
	lagging := with(func(s *readiness.Sources) { s.Lag = new(24*time.Hour + 1) })
	edge := with(func(s *readiness.Sources) { s.SinceSync = new(24 * time.Hour) })
	weekOld := with(func(s *readiness.Sources) { s.SinceSync = new(7 * 24 * time.Hour) })
	older := with(func(s *readiness.Sources) { s.SinceSync = new(7*24*time.Hour + 1) })
	tests := []struct {
		name    string
		n       int
		src     readiness.Sources
		want    readiness.Level
		reasons []readiness.Reason
	}{
		{"84 of 100 with a lag of 2 hours are ready", 84, fresh, readiness.Ready, []readiness.Reason{}},
		{"80 of 100 are ready", 80, fresh, readiness.Ready, []readiness.Reason{}},
		{"79 of 100 are degraded", 79, fresh, readiness.Degraded, []readiness.Reason{readiness.ReasonFewReady}},
		{"60 of 100 are degraded", 60, fresh, readiness.Degraded, []readiness.Reason{readiness.ReasonFewReady}},
		{"40 of 100 are degraded", 40, fresh, readiness.Degraded, []readiness.Reason{readiness.ReasonFewReady}},
		{"39 of 100 are blocked", 39, fresh, readiness.Blocked, []readiness.Reason{readiness.ReasonTooFewReady}},
		{"35 of 100 are blocked", 35, fresh, readiness.Blocked, []readiness.Reason{readiness.ReasonTooFewReady}},
		{"a failing connector degrades", 84, failing, readiness.Degraded, []readiness.Reason{readiness.ReasonConnectorFailing}},
		{"a lag over 24 hours degrades", 84, lagging, readiness.Degraded, []readiness.Reason{readiness.ReasonLag}},
		{"a lag of 24 hours does not", 84, edge, readiness.Ready, []readiness.Reason{}},
		{"a sync a week ago degrades", 84, weekOld, readiness.Degraded, []readiness.Reason{readiness.ReasonLag}},
		{"a sync longer ago blocks", 84, older, readiness.Blocked, []readiness.Reason{readiness.ReasonStale}},
		{
			"no CRM and no sync block", 84,
			readiness.Sources{},
			readiness.Blocked,
			[]readiness.Reason{readiness.ReasonNoCRM, readiness.ReasonNeverSynced},
		},
		{
			"what blocks is not softened by what degrades", 35, failing, readiness.Blocked,
			[]readiness.Reason{readiness.ReasonTooFewReady, readiness.ReasonConnectorFailing},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := tally(tc.n).Report(tc.src)
			require.Equal(t, tc.want, r.Level)
			require.Equal(t, tc.reasons, r.Reasons)
			require.InDelta(t, float64(tc.n)/100, *r.ReadyShare, 1e-12)
		})
	}

	t.Run("no tracked account blocks and has no share", func(t *testing.T) {
		t.Parallel()
		var tl readiness.Tally
		tl.Add(&readiness.Account{})
		r := tl.Report(fresh)
		require.Equal(t, readiness.Blocked, r.Level)
		require.Nil(t, r.ReadyShare)
		require.Equal(t, []readiness.Reason{readiness.ReasonNoAccounts}, r.Reasons)
	})

	t.Run("issues are listed worst first", func(t *testing.T) {
		t.Parallel()
		tl := tally(90)
		for range 100 {
			a := good()
			a.ARRCents, a.Segment = 0, "none"
			tl.Add(&a)
		}
		unscored := good()
		unscored.Scores = nil
		tl.Add(&unscored)
		r := tl.Report(fresh)
		require.Equal(t, []readiness.Issue{
			{Code: readiness.MissingSegment, Count: 100, Share: 100.0 / 201, Severity: readiness.Blocking},
			{Code: readiness.NoContacts, Count: 10, Share: 10.0 / 201, Severity: readiness.Blocking},
			{Code: readiness.ZeroARR, Count: 100, Share: 100.0 / 201, Severity: readiness.Warning},
		}, r.BlockingIssues)
		require.Equal(t, 201, r.TrackedAccounts)
		require.Equal(t, 90, r.ScoringReady)
		require.Equal(t, 1, r.Unscored)
		data, err := json.Marshal(r)
		require.NoError(t, err)
		var back readiness.Report
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, r, back)
	})
	t.Run("an unknown issue is refused", func(t *testing.T) {
		t.Parallel()
		var c readiness.Code
		require.True(t, fault.Is(c.UnmarshalText([]byte("tired")), fault.Invalid))
	})
}

func TestTallyProperties(t *testing.T) {
	t.Parallel()
	anyAccount := rapid.Custom(func(t *rapid.T) readiness.Account {
		a := good()
		a.Customer, a.OpenOpportunity = rapid.Bool().Draw(t, "customer"), rapid.Bool().Draw(t, "open")
		a.Contacts = rapid.IntRange(0, 2).Draw(t, "contacts")
		a.ARRCents = rapid.Int64Range(-1, 1).Draw(t, "arr")
		a.Segment = rapid.SampledFrom([]string{"", "SMB"}).Draw(t, "segment")
		a.LastActivityDays = new(rapid.IntRange(0, 200).Draw(t, "quiet"))
		a.Scores[0].Coverage = rapid.Float64Range(0, 1).Draw(t, "coverage")
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		accounts := rapid.SliceOfN(anyAccount, 0, 30).Draw(t, "accounts")
		cut := rapid.IntRange(0, len(accounts)).Draw(t, "cut")
		whole := readiness.Tally{ActivitySourceDays: new(100)}
		left, right := whole, whole
		ready := 0
		for i := range accounts {
			if _, ok := whole.Add(&accounts[i]); ok {
				ready++
			}
			if i < cut {
				left.Add(&accounts[i])
			} else {
				right.Add(&accounts[i])
			}
		}
		right.Merge(left)
		require.Equal(t, whole, right, "parts and order change nothing")
		r := whole.Report(readiness.Sources{})
		require.Equal(t, ready, r.ScoringReady)
		for _, i := range r.BlockingIssues {
			require.LessOrEqual(t, i.Count, r.TrackedAccounts)
			if i.Severity == readiness.Blocking {
				require.LessOrEqual(t, i.Count+r.ScoringReady, r.TrackedAccounts)
			}
		}
	})
}

func TestAddDoesNotAllocate(t *testing.T) {
	tl := readiness.Tally{ActivitySourceDays: new(100)}
	a := good()
	require.Zero(t, testing.AllocsPerRun(100, func() { tl.Add(&a) }))
}
