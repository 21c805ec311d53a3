package expansion_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/expansion"
	"revarch/testkit"
)

// wrongTotals counts the products and statuses whose kept sums are not those of the signals, in one statement.
func (s *system) wrongTotals() int64 {
	s.tb.Helper()
	return s.db.Count(s.tb, `WITH kept AS (SELECT org_id, product_id, status, count, unpriced, estimated_arr_cents, expected_arr_cents FROM expansion_totals WHERE count <> 0),
		summed AS (SELECT org_id, product_id, status, count(*), count(*) FILTER (WHERE estimated_arr_cents IS NULL), coalesce(sum(estimated_arr_cents), 0),
			coalesce(sum(expected_arr_cents), 0) FROM expansion_signals GROUP BY 1, 2, 3)
		SELECT count(*) FROM ((TABLE kept EXCEPT TABLE summed) UNION ALL (TABLE summed EXCEPT TABLE kept)) x`)
}

// expect sums up the signals as lists show them.
func expect(signals []expansion.Signal) (k expansion.KPI) {
	for _, x := range signals {
		switch x.Status {
		case "pending":
			k.TotalPending++
			k.ByStatus.Pending++
			if x.Unpriced {
				k.Unpriced++
			} else {
				k.PipelineARRCents += *x.ExpectedARRCents
			}
		case "pitched":
			k.ByStatus.Pitched++
		case "won":
			k.ByStatus.Won++
			if !x.Unpriced {
				k.WonARRCents += *x.EstimatedARRCents
			}
		case "dismissed":
			k.ByStatus.Dismissed++
		}
	}
	return k
}

func TestFiguresAreThoseOfTheSignals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, products := s.market()
	s.market() // of another organization
	s.db.Exec(t, "UPDATE products SET active = false WHERE org_id = $1 AND id = $2", org, products[0].ID)

	t.Run("after any moves and regenerations", func(t *testing.T) {
		ids := make([]uuid.UUID, 0, 20)
		for _, x := range s.all(org, expansion.Filter{})[:cap(ids)] {
			ids = append(ids, x.ID)
		}
		rapid.Check(t, func(t *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(t, "moves") {
				in := expansion.MoveInput{ID: rapid.SampledFrom(ids).Draw(t, "signal"), Status: rapid.SampledFrom(expansion.Statuses).Draw(t, "status")}
				_, err := s.move(org, in)
				require.True(t, err == nil || fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound), "%v", err)
			}
			if rapid.IntRange(0, 19).Draw(t, "regenerate") == 0 {
				s.now = s.now.AddDate(0, 0, rapid.SampledFrom([]int{0, 1, 181}).Draw(t, "days"))
				s.generate(org)
			}
			require.Zero(t, s.wrongTotals())
			got := s.kpi(org)
			want := expect(s.all(org, expansion.Filter{Status: "won"}))
			require.Equal(t, want.WonARRCents, got.WonARRCents)
			require.Equal(t, want.ByStatus.Won, got.ByStatus.Won)
		})
		got, want := s.kpi(org), expect(s.all(org, expansion.Filter{}))
		require.Equal(t, []any{want.TotalPending, want.ByStatus, want.Unpriced, want.PipelineARRCents, want.WonARRCents},
			[]any{got.TotalPending, got.ByStatus, got.Unpriced, got.PipelineARRCents, got.WonARRCents})
	})
	t.Run("at every moment while many move and regenerate", func(t *testing.T) {
		signals := s.all(org, expansion.Filter{})
		var wg, checking sync.WaitGroup
		stop, moved := make(chan struct{}), make([]int, 4)
		checking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if n := s.wrongTotals(); n > 0 {
						t.Errorf("%d sums are wrong", n)
						return
					}
				}
			}
		})
		for w := range moved {
			wg.Go(func() {
				for i := range 60 {
					_, err := s.move(org, expansion.MoveInput{ID: signals[(i*7+w)%50].ID, Status: expansion.Statuses[(i+w*3)%4]})
					if err == nil {
						moved[w]++
					} else if !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
						t.Errorf("move: %v", err)
					}
				}
			})
		}
		for range 2 {
			wg.Go(func() {
				for range 4 {
					if _, err := s.svc.Generate(t.Context(), org, models.NewID(), nil); err != nil {
						t.Errorf("regenerate: %v", err)
					}
				}
			})
		}
		wg.Wait()
		close(stop)
		checking.Wait()
		require.Positive(t, slices.Min(moved))
		require.Zero(t, s.wrongTotals())
	})
}

// TestPagesOfAnUnknownOrganization reads pages right after many signals came: nothing is known of them then, and all the
// same no page may sort them as a whole.
func TestPagesOfAnUnknownOrganization(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, products := s.market()
	s.db.Exec(t, `INSERT INTO expansion_signals (org_id, id, account_id, product_id, status, place, priority_basis, probability, price_basis, price_scope, evidence_scope,
		gate_failed, gate_unknown, antecedents, created_at, updated_at)
		SELECT $1, gen_random_uuid(), (SELECT id FROM accounts WHERE org_id = $1 LIMIT 1), $2, 'won', -i, 0, 0.5, 0, 0, 0, 0, 0, '', now(), now()
		FROM generate_series(1, 100000) i`, org, products[1].ID)
	gone := func() bool { // a connection that ends tells what it did
		return s.db.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'revarch_worker'") == 0
	}
	require.NoError(t, s.store.Close())
	require.Eventually(t, gone, 20*time.Second, 20*time.Millisecond)
	s.db.Exec(t, "SELECT pg_stat_reset()")
	s.store = testkit.OpenStore(t, s.db.Worker, 1)
	s.svc.Store = s.store
	page, err := s.svc.List(t.Context(), as(org, auth.Viewer), expansion.ListInput{Filter: expansion.Filter{Status: "won"}})
	require.NoError(t, err)
	require.Len(t, page.Signals, expansion.DefaultLimit)
	require.NoError(t, s.store.Close())
	require.Eventually(t, gone, 20*time.Second, 20*time.Millisecond)
	read := s.db.Count(t, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'expansion_signals'")
	require.GreaterOrEqual(t, read, int64(expansion.DefaultLimit))
	require.Less(t, read, int64(500), "rows read for a page of %d", expansion.DefaultLimit)
}
