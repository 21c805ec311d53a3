package affinity_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/affinity"
)

// BenchmarkMatrices counts rows that are in memory already and computes the four matrices.
func BenchmarkMatrices(b *testing.B) {
	for _, accounts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("accounts=%d/products=60", accounts), func(b *testing.B) {
			var rows []affinity.Row
			records := stream(b, accounts, 60, 12, func(r affinity.Row) {
				r.Owned = append([]affinity.Owned(nil), r.Owned...)
				rows = append(rows, r)
			})
			for b.Loop() {
				acc, err := affinity.New(products(60))
				require.NoError(b, err)
				for _, r := range rows {
					if err := acc.Add(r); err != nil {
						b.Fatal(err)
					}
				}
				acc.Finish()
			}
			b.ReportMetric(float64(records), "records")
		})
	}
}

// BenchmarkMillion streams a million accounts under a memory limit of 1 GiB; making the rows is part of the time.
func BenchmarkMillion(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	for _, n := range []int{200, 400} {
		b.Run(fmt.Sprintf("products=%d", n), func(b *testing.B) {
			var peak uint64
			for b.Loop() {
				acc, err := affinity.New(products(n))
				require.NoError(b, err)
				seen := 0
				records := stream(b, 1_000_000, n, 12, func(r affinity.Row) {
					if err := acc.Add(r); err != nil {
						b.Fatal(err)
					}
					if seen++; seen%100_000 == 0 {
						peak = max(peak, heap())
					}
				})
				res := acc.Finish()
				peak = max(peak, heap())
				b.ReportMetric(float64(records), "records")
				require.Len(b, res.Matrices[0].Pairs, n*(n-1)/2)
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MiB")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}

// BenchmarkRender renders both directions of a pair, the cost of serving two entries before JSON.
func BenchmarkRender(b *testing.B) {
	p := compute(b, 2, example()).Matrices[0].Pairs[0]
	b.ReportAllocs()
	for b.Loop() {
		p.Render(affinity.ScopeAll)
	}
}
