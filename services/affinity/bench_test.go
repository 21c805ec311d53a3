package affinity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/services/affinity/affinitytest"
	"revarch/store"
)

// BenchmarkAffinity computes and stores the four matrices of accounts that own 12 of 60 products each, beside what
// PostgreSQL needs to hand out the same rows, to take the same matrix in, and to count pairs by self-joins.
func BenchmarkAffinity(b *testing.B) {
	for _, accounts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			s := setup(b)
			org := s.db.NewOrg(b, "Bench")
			affinitytest.SeedMarket(b, s.db, org, accounts, 60, 12)
			for b.Loop() {
				var read, stored time.Duration
				var m models.AffinityMatrix
				memory := affinitytest.PeakRSS(b, func() {
					start := time.Now()
					res, info, err := s.svc.Read(b.Context(), org, nil)
					require.NoError(b, err)
					read, m = time.Since(start), info
					m.RunID, m.ComputedAt = models.NewID(), s.now
					start = time.Now()
					_, _, err = s.svc.Replace(b.Context(), org, m, res)
					require.NoError(b, err)
					stored = time.Since(start)
				})
				b.ReportMetric(float64(accounts), "accounts")
				b.ReportMetric(float64(m.Records), "records")
				b.ReportMetric(memory, "peak-MiB")
				b.ReportMetric(read.Seconds(), "read-s")
				b.ReportMetric(affinitytest.CopyTo(b, s.db, org, store.AffinityRead, "2026-05-02").Seconds(), "read-copy-s")
				b.ReportMetric(stored.Seconds(), "store-s")
				b.ReportMetric(affinitytest.CopyRows(b, s.db, "affinity_entries").Seconds(), "store-copy-s")
				b.ReportMetric((read + stored).Seconds(), "whole-s")
				b.ReportMetric(s.selfJoins(b, org).Seconds(), "sql-s")
			}
		})
	}
}

// selfJoins takes the time of counting co-owners in SQL, who had which first included, once per matrix.
func (s *system) selfJoins(b *testing.B, org uuid.UUID) time.Duration {
	b.Helper()
	owned := strings.NewReplacer("$1", "'"+org.String()+"'::uuid", "$2", "'2026-05-02'", "$3", "90").Replace(store.AffinityRead)
	return affinitytest.InOrg(b, s.db.Worker, org, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `CREATE TEMPORARY TABLE owned ON COMMIT DROP AS SELECT account_id, segment, product_id, min(start_date) AS start_date, min(bundle) AS bundle
			FROM (`+owned+`) x GROUP BY 1, 2, 3; ANALYZE owned`)
		for segment := 0; err == nil && segment < 4; segment++ {
			_, err = tx.Exec(ctx, `SELECT x.product_id, y.product_id, count(*), count(*) FILTER (WHERE x.start_date < y.start_date), count(*) FILTER (WHERE x.start_date > y.start_date),
				count(*) FILTER (WHERE x.start_date = y.start_date AND x.bundle = y.bundle) FROM owned x JOIN owned y ON y.account_id = x.account_id AND y.product_id > x.product_id
				WHERE $1 = 0 OR x.segment = $1 GROUP BY 1, 2`, segment)
		}
		return err
	})
}
