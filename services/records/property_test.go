package records_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/connectors"
	"revarch/models"
	"revarch/services/records"
)

// version is a state of a record at the source, newer with each at.
type version struct {
	at      int
	deleted bool
	seats   int
}

func (v version) record(id string) connectors.Record {
	if v.deleted {
		return gone(id, v.at)
	}
	return live(id, v.at, account("Account "+id, fmt.Sprintf(`,"Seats__c":%d`, v.seats)))
}

// Whatever pages come, in whatever order and how often: what is stored is the last version of each record that came, and
// facts tell each change once.
func TestTheLastVersionStands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.org, s.run = s.newOrg()
		history := map[string][]version{}
		newest := map[string]version{}
		clock := 0
		for range rapid.IntRange(1, 8).Draw(rt, "pages") {
			page, last := []connectors.Record{}, map[string]version{}
			for range rapid.IntRange(0, 6).Draw(rt, "records") {
				id := rapid.SampledFrom([]string{"A", "B", "C", "a"}).Draw(rt, "id")
				v := version{at: clock, deleted: rapid.IntRange(0, 3).Draw(rt, "deleted") == 0, seats: rapid.IntRange(0, 2).Draw(rt, "seats")}
				clock++
				if old := history[id]; len(old) > 0 && rapid.Bool().Draw(rt, "again") {
					v = rapid.SampledFrom(old).Draw(rt, "version")
				} else {
					history[id] = append(old, v)
				}
				if before, ok := last[id]; !ok || v.at >= before.at {
					last[id] = v
				}
				page = append(page, v.record(id))
			}
			for id, v := range last {
				if now, known := newest[id]; v.at >= now.at && (known || !v.deleted) { // what was never there cannot be deleted
					newest[id] = v
				}
			}
			out, err := s.svc.StorePage(t.Context(), records.StorePageInput{
				OrgID: s.org, RunID: s.run, Provider: models.CRMA,
				Mapping: compiled(t, "Account"), Page: connectors.Page{Object: "Account", Records: page, Next: "n"},
			})
			require.NoError(rt, err)
			require.Equal(rt, int64(len(page)), out.Read)
			require.Equal(rt, out.Read, out.Created+out.Updated+out.Unchanged+out.Deleted+out.Failed)
		}
		want := []string{}
		for _, id := range slices.Sorted(maps.Keys(newest)) {
			if v := newest[id]; !v.deleted {
				want = append(want, fmt.Sprintf("%s %d", id, v.seats))
			}
		}
		require.Equal(rt, want, append([]string{}, s.lines(`SELECT external_id, seats::text FROM accounts WHERE org_id = $1 AND deleted_at IS NULL ORDER BY external_id COLLATE "C"`, s.org)...))
		require.Zero(rt, s.count(`SELECT count(*) FROM (SELECT value, lag(value) OVER w AS before, row_number() OVER w AS n FROM feature_facts
			WHERE org_id = $1 WINDOW w AS (PARTITION BY account_id, feature ORDER BY known_at)) f WHERE n > 1 AND value IS NOT DISTINCT FROM before`, s.org))
		require.Zero(rt, s.count(`SELECT count(*) FROM accounts a WHERE org_id = $1 AND seats::float8 IS DISTINCT FROM (SELECT value FROM feature_facts f
			WHERE f.org_id = a.org_id AND f.account_id = a.id AND feature = 'seats' ORDER BY known_at DESC LIMIT 1)`, s.org))
	})
}
