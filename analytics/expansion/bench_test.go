package expansion

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRegenerate takes accounts that are in memory already through both passes and goes through the signals as
// they are stored.
func BenchmarkRegenerate(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("accounts=%d/products=60", n), func(b *testing.B) {
			products := testProducts(60)
			accounts := randomAccounts(rand.New(rand.NewPCG(3, 3)), n, len(products))
			res := matrices(b, products, accounts)
			runtime.GC()
			before := heap()
			signals, antecedents, peak := 0, 0, uint64(0)
			for b.Loop() {
				run := regenerate(b, products, res, accounts, 1)
				signals, antecedents = run.Len(), 0
				for s := range run.ByAccount() {
					antecedents += len(s.Antecedents)
				}
				peak = max(peak, heap())
			}
			require.Positive(b, antecedents)
			b.ReportMetric(float64(signals), "signals")
			b.ReportMetric(float64(antecedents)/float64(signals), "antecedents/signal")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*signals), "ns/signal")
			b.ReportMetric((float64(peak)-float64(before))/(1<<20), "MiB-above-input")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}
