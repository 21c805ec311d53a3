package imports_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/fault"
)

// A file whose reading breaks off between chunks goes on behind the last one that was committed: every row once, and
// every line by its own number, also where rows have several lines.
func TestReadingGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var b strings.Builder
	b.WriteString("\ufeffexternal_id,name,arr_usd\n")
	line, bad := 2, []int{}
	for i := range 23_000 {
		switch {
		case i%5000 == 4999: // the last row of a chunk
			fmt.Fprintf(&b, "A%d,\"Two\r\nor\nthree\",%d\n\n", i, i)
			line += 4
		case i%7001 == 7000:
			fmt.Fprintf(&b, "A%d,Bad,x\n", i)
			bad = append(bad, line)
			line++
		default:
			fmt.Fprintf(&b, "A%d,Name,%d\n", i, i)
			line++
		}
	}
	run, in := s.start("accounts", b.String())
	stops := 0
	for done := false; !done; stops++ {
		ctx, stop := context.WithCancel(t.Context())
		chunks := 0
		got, err := s.svc.Stage(ctx, s.p.OrgID, run.ID, in, func(int64) {
			if chunks++; chunks == 2 { // at the next statement
				stop()
			}
		})
		stop()
		if done = err == nil; done {
			require.EqualValues(t, 23_000, got.Rows)
			require.EqualValues(t, len(bad), got.Bad)
		}
	}
	require.Greater(t, stops, 2)
	require.EqualValues(t, 23_000-len(bad), s.db.Count(t, "SELECT count(DISTINCT key) FROM import_rows WHERE org_id = $1 AND NOT refused", s.p.OrgID))
	require.EqualValues(t, line-2, s.db.Count(t, "SELECT max(line) - 1 FROM import_rows WHERE org_id = $1", s.p.OrgID))
	_, err := s.svc.Merge(t.Context(), s.p.OrgID, run.ID, in)
	require.Equal(t, fault.BadFile, fault.CodeOf(err))
	failures, _, err := s.svc.Runs.Failures(t.Context(), s.p.OrgID, run.ID, "", "", 200)
	require.NoError(t, err)
	require.Len(t, failures, len(bad))
	for i, f := range failures {
		require.Equal(t, fmt.Sprintf("line %09d arr_usd", bad[i]), f.ExternalID)
	}
	require.NoError(t, s.svc.Close(t.Context(), s.p.OrgID, run.ID, in))
	s.empty()
}

func TestMergingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	run, in := s.start("accounts", "external_id,name,arr_usd\nA,One,1\nB,Two,2\n")
	_, err := s.svc.Merge(t.Context(), s.p.OrgID, run.ID, in)
	require.Equal(t, fault.Internal, fault.CodeOf(err), "it is not read yet")
	_, err = s.svc.Stage(t.Context(), s.p.OrgID, run.ID, in, nil)
	require.NoError(t, err)
	for range 3 { // the answer of an attempt may be lost
		got, err := s.svc.Merge(t.Context(), s.p.OrgID, run.ID, in)
		require.NoError(t, err)
		require.True(t, got.Scores)
	}
	require.EqualValues(t, 2, s.db.Count(t, "SELECT (counts->>'created')::bigint FROM runs WHERE org_id = $1", s.p.OrgID))
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM governance_log WHERE org_id = $1 AND tool = 'import-file'", s.p.OrgID))
	require.EqualValues(t, 2, s.db.Count(t, "SELECT count(*) FROM feature_facts WHERE org_id = $1", s.p.OrgID))
}

// Whatever versions of accounts files bring, in whatever order of columns: what is stored is the last version of each, a
// file adds up, and one that changes nothing says so.
func TestTheLastFileStands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.p = s.member()
		want := map[string]int64{}
		for range rapid.IntRange(1, 4).Draw(rt, "files") {
			rows := rapid.MapOfN(rapid.StringMatching(`[a-e/\\]{1,2}`), rapid.Int64Range(-1e15, 1e15), 1, 6).Draw(rt, "rows")
			flip := rapid.Bool().Draw(rt, "flip")
			var b strings.Builder
			b.WriteString(map[bool]string{false: "external_id,arr_usd,name\n", true: "name,arr_usd,external_id\n"}[flip])
			var created, updated, unchanged int64
			for key, cents := range rows {
				amount := new(big.Rat).SetFrac64(cents, 100).FloatString(2)
				if flip {
					fmt.Fprintf(&b, "Name,%s,%s\n", amount, key)
				} else {
					fmt.Fprintf(&b, "%s,%s,Name\n", key, amount)
				}
				before, known := want[key]
				switch {
				case !known:
					created++
				case before != cents:
					updated++
				default:
					unchanged++
				}
				want[key] = cents
			}
			got := s.loaded("accounts", b.String())
			require.Equal(rt, []int64{created, updated, unchanged}, []int64{got.Created, got.Updated, got.Unchanged})
		}
		for key, cents := range want {
			require.Equal(rt, cents, s.db.Count(t, `SELECT l.arr_cents FROM accounts a JOIN subscription_lines l USING (org_id, id, external_id, arr_cents)
				WHERE org_id = $1 AND external_id = $2`, s.p.OrgID, key))
		}
		require.EqualValues(rt, len(want), s.db.Count(t, "SELECT count(*) FROM accounts WHERE org_id = $1", s.p.OrgID))
	})
}
