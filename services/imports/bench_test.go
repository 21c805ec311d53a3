package imports_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/services/imports"
)

// generated makes a file of accounts as it is read.
func generated(rows int) io.Reader {
	r, w := io.Pipe()
	go func() {
		buf := []byte("external_id,name,segment,state,nces_id,unitid,arr_usd,status\n")
		for i := range rows {
			buf = fmt.Appendf(buf, "D-%07d,\"Maple Grove School District %d\",%s,TX,48%05d,,%d.25,%s\n",
				i, i, []string{"Enterprise", "Mid-Market", "SMB"}[i%3], i%100_000, i%200_000, []string{"customer", "prospect"}[i%2])
			if len(buf) > 60_000 || i == rows-1 {
				if _, err := w.Write(buf); err != nil {
					return
				}
				buf = buf[:0]
			}
		}
		_ = w.Close()
	}()
	return r
}

// memory watches the heap while fn runs and returns in MiB above where it began the most that was in use, which depends on
// how long the collector waits, and the most that a collection left alive, which does not.
func memory(fn func()) (used, live float64) {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // often enough to see what is alive in between
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	var base, most [2]uint64
	metrics.Read(sample)
	for i := range sample {
		base[i] = sample[i].Value.Uint64()
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				metrics.Read(sample)
				for i := range sample {
					most[i] = max(most[i], sample[i].Value.Uint64())
				}
			}
		}
	}()
	fn()
	close(stop)
	<-done
	mib := func(i int) float64 { return float64(most[i]-min(most[i], base[i])) / (1 << 20) }
	return mib(0), mib(1)
}

// BenchmarkImport imports new accounts, again unchanged, and checks the same file without writing; ten times the rows in
// the same memory, but for the 16 MiB of a file that are kept at a time: 100,000 rows are shorter than that.
func BenchmarkImport(b *testing.B) {
	const rows = 1_000_000
	for _, n := range []int{rows / 10, rows / 3, rows} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s := setup(b)
				var stage, merge, closing, again time.Duration
				load := func() {
					run, _, err := s.svc.Import(b.Context(), s.p, imports.ImportInput{Resource: "accounts", Body: generated(n)})
					require.NoError(b, err)
					in := input(b, run)
					start := time.Now()
					_, err = s.svc.Stage(b.Context(), s.p.OrgID, run.ID, in, nil)
					require.NoError(b, err)
					stage = time.Since(start)
					start = time.Now()
					got, err := s.svc.Merge(b.Context(), s.p.OrgID, run.ID, in)
					require.NoError(b, err)
					require.EqualValues(b, n, got.Created+got.Unchanged)
					merge = time.Since(start)
					start = time.Now()
					require.NoError(b, s.svc.Close(b.Context(), s.p.OrgID, run.ID, in))
					closing = time.Since(start)
					s.db.Exec(b, "UPDATE runs SET status = 'succeeded' WHERE org_id = $1", s.p.OrgID)
				}
				used, live := memory(load)
				b.ReportMetric(stage.Seconds(), "stage_s")
				b.ReportMetric(merge.Seconds(), "merge_s")
				b.ReportMetric(closing.Seconds(), "close_s")
				b.ReportMetric(used, "peak_MiB")
				b.ReportMetric(live, "live_MiB")
				start := time.Now()
				load()
				again = time.Since(start)
				b.ReportMetric(again.Seconds(), "again_s")
				start = time.Now()
				report, err := s.svc.DryRun(b.Context(), s.p, imports.ImportInput{Resource: "accounts", Body: generated(n)})
				require.NoError(b, err)
				require.EqualValues(b, n, report.Valid)
				b.ReportMetric(time.Since(start).Seconds(), "dry_s")
			}
		})
	}
}
