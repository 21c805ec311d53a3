package expansion_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/services/affinity/affinitytest"
)

// BenchmarkExpansion finds and stores the signals of accounts that own 12 of 60 products each, beside the owner's COPY of
// the rows it makes; then finds them again when nothing has changed.
func BenchmarkExpansion(b *testing.B) {
	for _, accounts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			s := setup(b)
			org := s.db.NewOrg(b, "Bench")
			affinitytest.SeedMarket(b, s.db, org, accounts, 60, 12)
			s.compute(org)
			for b.Loop() {
				s.db.Exec(b, "DELETE FROM expansion_signals")
				s.db.Exec(b, "VACUUM expansion_signals")
				start := time.Now()
				counts, err := s.svc.Generate(b.Context(), org, models.NewID(), nil)
				require.NoError(b, err)
				b.ReportMetric(time.Since(start).Seconds(), "generate-s")
				b.ReportMetric(float64(counts["signals"]), "signals")
				b.ReportMetric(affinitytest.CopyRows(b, s.db, org, "expansion_signals").Seconds(), "copy-s")
				start = time.Now()
				_, err = s.svc.Generate(b.Context(), org, models.NewID(), nil)
				require.NoError(b, err)
				b.ReportMetric(time.Since(start).Seconds(), "again-s")
			}
		})
	}
}
