package data

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var anchor = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func generate(tb testing.TB, cfg Config) []Story {
	tb.Helper()
	cfg.Anchor = anchor
	g, err := New(cfg)
	require.NoError(tb, err)
	out := make([]Story, g.Accounts())
	for i := range out {
		out[i] = g.Story(i)
	}
	return out
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	require.NoError(tb, err)
	return string(b)
}

func TestTheSameSeedMakesTheSameBytes(t *testing.T) {
	t.Parallel()
	one, two := generate(t, Config{Seed: 5, Accounts: 200}), generate(t, Config{Seed: 5, Accounts: 200})
	require.Equal(t, encode(t, one), encode(t, two))
	more := generate(t, Config{Seed: 5, Accounts: 300})
	require.Equal(t, encode(t, one), encode(t, more[:200]), "more accounts change none of the first")
	require.NotEqual(t, encode(t, one), encode(t, generate(t, Config{Seed: 6, Accounts: 200})))
}

func roster(n int) []RosterEntry {
	var out []RosterEntry
	for i := range n {
		out = append(out, RosterEntry{Kind: K12, ID: fmt.Sprintf("01%05d", i), Name: fmt.Sprintf("Real District %d", i), City: "Town", State: "AL", Enrollment: 900 + i},
			RosterEntry{Kind: Higher, ID: fmt.Sprint(100000 + i), Name: fmt.Sprintf("Real College %d", i), City: "Town", State: "NY"})
	}
	return out
}

func TestARosterGivesRealNamesAndKeepsTheShape(t *testing.T) {
	t.Parallel()
	plain, real := generate(t, Config{Seed: 1, Accounts: 600}), generate(t, Config{Seed: 1, Accounts: 600, Roster: roster(600)})
	byID, byName, noID, malformed := 0, 0, 0, 0
	seen := map[string]bool{}
	for i, s := range real {
		require.Len(t, s.Contacts, len(plain[i].Contacts))
		require.Len(t, s.Opportunities, len(plain[i].Opportunities))
		require.Len(t, s.Tasks, len(plain[i].Tasks))
		require.Len(t, s.Assets, len(plain[i].Assets))
		for k := range s.Opportunities {
			require.Len(t, s.Opportunities[k].Lines, len(plain[i].Opportunities[k].Lines))
		}
		a := s.Account
		id := a.NCESID.V + a.UNITID.V
		switch {
		case id == "":
			noID++
		case len(id) != 7 && a.Sector == K12, len(id) != 6 && a.Sector == Higher:
			malformed++
		}
		if len(a.Name) > 4 && a.Name[:4] == "Real" {
			byName++
			require.False(t, seen[a.Name], "%s is taken twice", a.Name)
			seen[a.Name] = true
			if id != "" {
				byID++
			}
		}
	}
	require.InDelta(t, 0.94, share(byName, 600), 0.03)
	require.InDelta(t, 0.86, share(byID, 600), 0.04)
	require.InDelta(t, 0.08, share(noID, 600), 0.03)
	require.InDelta(t, 0.02, share(malformed, 600), 0.015)
}

func share(n, of int) float64 { return float64(n) / float64(of) }

func TestTheStoriesHoldTogether(t *testing.T) {
	t.Parallel()
	stories := generate(t, Config{Seed: 1, Accounts: 2000})
	status, contacts, opps, tasks, ready, tracked := map[Status]int{}, 0, 0, 0, 0, 0
	ratios := []float64{}
	for _, s := range stories {
		a := s.Account
		status[a.Status]++
		contacts, opps, tasks = contacts+len(s.Contacts), opps+len(s.Opportunities), tasks+len(s.Tasks)
		var installed int64
		for _, x := range s.Assets {
			require.Positive(t, x.Price)
			if x.Installed {
				installed += x.Price
			}
			if x.End.OK {
				require.False(t, x.End.V.Before(x.Start) && x.Installed)
			}
		}
		if a.Status == Customer && a.ARR.OK && a.ARR.V > 0 {
			require.InDelta(t, installed, a.ARR.V, 100_000)
			require.Positive(t, installed)
		}
		if a.Seats.OK && a.Active28.OK && a.Seats.V > 0 {
			ratios = append(ratios, share(a.Active28.V, a.Seats.V))
		}
		open := false
		for _, o := range s.Opportunities {
			open = open || !o.Stage.Closed
			require.False(t, o.Stage.Closed && o.Close.After(anchor.AddDate(0, 0, 1)), "closed in the future")
			var sum int64
			for _, l := range o.Lines {
				require.Equal(t, l.Unit*int64(l.Quantity), l.Total)
				sum += l.Total
			}
			if len(o.Lines) > 0 {
				require.Equal(t, o.Amount.V, sum)
			}
		}
		if a.Status == Customer || open {
			tracked++
			reachable := false
			for _, c := range s.Contacts {
				reachable = reachable || c.Email.OK || c.Phone.OK
			}
			if reachable && a.Segment.OK && a.Seats.OK && (!a.ARR.OK || a.ARR.V >= 0) {
				ready++
			}
		}
	}
	require.InDelta(t, 0.60, share(status[Customer], 2000), 0.04)
	require.InDelta(t, 3, share(contacts, 2000), 0.2)
	require.InDelta(t, 1.5, share(opps, 2000), 0.3)
	require.InDelta(t, 6, share(tasks, 2000), 1)
	require.Greater(t, share(ready, tracked), 0.8, "most tracked accounts can be scored")
	low, high := 0, 0
	for _, x := range ratios {
		low, high = low+one(x < 0.35), high+one(x > 0.65)
	}
	require.Greater(t, share(low, len(ratios)), 0.12)
	require.Greater(t, share(high, len(ratios)), 0.3)
}

func one(b bool) int { return btoi(b) }

func TestProductsAreBoughtTogetherAsTheModelSays(t *testing.T) {
	t.Parallel()
	owners, both := map[int]float64{}, map[[2]int]float64{}
	n := 0.0
	for _, s := range generate(t, Config{Seed: 1, Accounts: 4000, TasksPerAccount: -1}) {
		if s.Account.Status != Customer || s.Account.Sector != K12 {
			continue
		}
		n++
		have := map[int]time.Time{}
		for _, a := range s.Assets {
			if a.Installed {
				have[a.Product] = a.Start
			}
		}
		for x := range have {
			owners[x]++
			for y := range have {
				both[[2]int{x, y}]++
			}
		}
		require.Equal(t, have[familyConnect], have[translateNow], "a bundle begins on one day")
	}
	lift := func(a, b int) float64 { return both[[2]int{a, b}] * n / (owners[a] * owners[b]) }
	require.Greater(t, lift(readingPath, assessPro), 1.3)
	require.Greater(t, lift(classHub, rosterBridge), 1.5)
	require.InDelta(t, 1, lift(readingPath, safeHallways), 0.15)
	require.InDelta(t, owners[familyConnect], both[[2]int{familyConnect, translateNow}], 0)
	require.False(t, math.IsNaN(lift(readingPath, legacyGradebook)), "some still use a retired product")
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{}, {Accounts: -1, Anchor: anchor}, {ContactsPerAccount: 1000, Anchor: anchor}} {
		_, err := New(cfg)
		require.Error(t, err)
	}
	none := generate(t, Config{Accounts: 50, ContactsPerAccount: -1, OpportunitiesPerAccount: -1, TasksPerAccount: -1})
	for _, s := range none {
		require.Empty(t, s.Contacts)
		require.Empty(t, s.Tasks)
	}
}
