package scoring_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/analytics/scoring"
	"revarch/fault"
)

var update = flag.Bool("update", false, "rewrite golden files")

// full returns an account about which everything is known.
func full() *scoring.Features {
	var f scoring.Features
	for i := range scoring.NumFeatures {
		f.Set(scoring.Feature(i), 0.5)
	}
	f.Set(scoring.ChampionStatus, 1)
	return &f
}

// TestStoredSize adds to the compact bytes what a PostgreSQL row and its primary key entry take around them.
func TestStoredSize(t *testing.T) {
	t.Parallel()
	const (
		tuple = 24 + 4         // header and line pointer
		keys  = 16 + 16 + 2    // org_id, account_id, model
		rest  = 8 + 4 + 16     // computed_at, took, reference to the rule set
		shown = 8 + 8 + 4      // composite and coverage as columns to sort by, status
		bytea = 4              // length word
		slack = 24             // alignment
		index = 8 + 16*2 + 2*8 // entry of the primary key
	)
	rs := defaults(t)
	var out scoring.Results
	rs.ScoreAll(scoring.SMB, full(), &out)
	most := 0
	for m := range out.Of {
		n := len(rs.Encode(nil, &out.Of[m]))
		t.Logf("%s: %d rules, %d bytes", scoring.Model(m), len(out.Of[m].Rules), n)
		most = max(most, n)
	}
	t.Logf("largest row with its index entry: %d bytes", most+tuple+keys+rest+shown+bytea+slack+index)
	require.LessOrEqual(t, most, 170)
	require.LessOrEqual(t, most+tuple+keys+rest+shown+bytea+slack+index, 700)
}

func TestDamagedScores(t *testing.T) {
	t.Parallel()
	rs := defaults(t)
	var out scoring.Results
	rs.ScoreAll(scoring.SMB, full(), &out)
	good := rs.Encode(nil, &out.Of[scoring.Health])
	_, err := scoring.Render(rs, good, scoring.Stamp{})
	require.NoError(t, err)

	t.Run("a cut, an extra or a changed byte is refused", func(t *testing.T) {
		t.Parallel()
		for i := range good {
			_, err := scoring.Render(rs, good[:i], scoring.Stamp{})
			require.True(t, fault.Is(err, fault.Internal), "cut at %d", i)
		}
		_, err := scoring.Render(rs, append(slices.Clip(good), 0), scoring.Stamp{})
		require.True(t, fault.Is(err, fault.Internal))
		for _, i := range []int{0, 1, 3, 5, 14, 16} {
			bad := append(scoring.Compact(nil), good...)
			bad[i] ^= 0xff
			_, err := scoring.Render(rs, bad, scoring.Stamp{})
			require.True(t, fault.Is(err, fault.Internal), "changed at %d", i)
		}
	})
	t.Run("another rule set is refused", func(t *testing.T) {
		t.Parallel()
		c := scoring.DefaultConfig()
		c.Models[scoring.Priority] = false
		other, err := scoring.NewRuleSet(c)
		require.NoError(t, err)
		_, err = scoring.Render(other, good, scoring.Stamp{})
		require.True(t, fault.Is(err, fault.Internal))
	})
}

// TestGolden pins one whole decomposition. By hand, health of a Mid-Market account: adoption
// (10 x 50 + 8 x 80)/18 = 63.33, relationship (8 x 100 + 6 x 40)/14 = 74.29, engagement 0 (last activity 90 days
// ago), support 40; (22 x 63.33 + 14 x 74.29 + 12 x 0 + 10 x 40)/58 = 48.85; coverage 22 x 18/23 + 14 x 14/19 +
// 12 x 7/11 + 10 x 6/11 = 40.62 %.
func TestGolden(t *testing.T) {
	t.Parallel()
	var f scoring.Features
	require.NoError(t, json.Unmarshal([]byte(`{"use_ratio":0.45,"use_trend":0,"champion_status":"active",
		"contacts_active_90d":2,"last_activity_days":90,"p1_open":1}`), &f))
	rs := defaults(t)
	var r scoring.Result
	rs.Score(scoring.Health, scoring.MidMarket, &f, &r)
	require.InDelta(t, 48.85, r.Composite, 0.01)
	require.InDelta(t, 0.4062, r.Coverage, 0.0001)

	at := scoring.Stamp{ComputedAt: time.Date(2026, 3, 1, 8, 30, 0, 0, time.UTC), Took: 1500 * time.Nanosecond}
	shown := rs.Render(&r, at)
	got, err := json.MarshalIndent(map[string]any{
		"score": shown.Rounded(), "levers": scoring.Levers(shown)[:3],
	}, "", "  ")
	require.NoError(t, err)
	const path = "testdata/health.json"
	if *update {
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got)+"\n")

	t.Run("a rendered score survives JSON", func(t *testing.T) {
		t.Parallel()
		data, err := json.Marshal(shown)
		require.NoError(t, err)
		var back scoring.Rendered
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, shown, back)
	})
}
