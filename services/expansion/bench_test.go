package expansion_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/services/affinity/affinitytest"
	"revarch/services/expansion"
	"revarch/store"
)

// BenchmarkExpansion finds and stores the signals of a book of accounts that own 12 of 60 products each, beside the
// owner's COPY of the rows it makes; then finds them again when nothing has changed, and reads a page of them.
func BenchmarkExpansion(b *testing.B) {
	for _, accounts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			s := setup(b)
			org := s.db.NewOrg(b, "Bench")
			affinitytest.SeedBook(b, s.db, org, accounts, 60)
			s.compute(org)
			for b.Loop() {
				b.ReportMetric(float64(accounts), "accounts")
				s.benchGenerate(b, org)
				start := time.Now()
				s.generate(org)
				b.ReportMetric(time.Since(start).Seconds(), "again-s")
				s.benchPage(b, org)
			}
		})
	}
}

// benchGenerate measures a regeneration where there are no signals yet.
func (s *system) benchGenerate(b *testing.B, org uuid.UUID) {
	b.Helper()
	affinitytest.Empty(b, s.db, "expansion_signals")
	var counts map[string]int64
	var took time.Duration
	memory := affinitytest.PeakRSS(b, func() {
		start := time.Now()
		counts = s.generate(org)
		took = time.Since(start)
	})
	b.ReportMetric(took.Seconds(), "generate-s")
	b.ReportMetric(memory, "peak-MiB")
	b.ReportMetric(float64(counts["signals"]), "signals")
	b.ReportMetric(affinitytest.CopyRows(b, s.db, "expansion_signals").Seconds(), "copy-s")
}

// benchPage measures the middle one of some reads of the first page, with the figures over all signals.
func (s *system) benchPage(b *testing.B, org uuid.UUID) {
	b.Helper()
	took := make([]time.Duration, 9)
	for i := range took {
		start := time.Now()
		page, err := s.svc.List(b.Context(), as(org, auth.Viewer), expansion.ListInput{})
		require.NoError(b, err)
		require.Len(b, page.Signals, expansion.DefaultLimit)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "page-ms")
}

// BenchmarkMillion takes 1,000,000 accounts that own 12 of 200 products each through both computations, with the
// process limited to 1 GiB. It takes some minutes and about 10 GB of disk, most of both for making the accounts.
func BenchmarkMillion(b *testing.B) {
	const limit = 1 << 30
	for _, accounts := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
			s := setup(b)
			org := s.db.NewOrg(b, "Bench")
			affinitytest.SeedBook(b, s.db, org, accounts, 200)
			for b.Loop() {
				var took time.Duration
				memory := affinitytest.PeakRSS(b, func() {
					start := time.Now()
					s.compute(org)
					took = time.Since(start)
				})
				b.ReportMetric(float64(accounts), "accounts")
				b.ReportMetric(took.Seconds(), "affinity-s")
				b.ReportMetric(memory, "affinity-MiB")
				b.ReportMetric(float64(s.db.Count(b, "SELECT records FROM affinity_matrices")), "records")
				b.ReportMetric(affinitytest.CopyTo(b, s.db, org, store.AffinityRead, "2026-05-02").Seconds(), "read-copy-s")
				s.benchGenerate(b, org)
				b.ReportMetric(float64(s.db.Count(b, "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"))/(1<<20), "spilled-MiB")
			}
		})
	}
}
