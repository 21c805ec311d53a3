package imports_test

import (
	"fmt"
	"io"
	"runtime"
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

// peak watches the heap while fn runs and returns the most that was in use, in MiB, above where it began.
func peak(fn func()) float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, most := m.HeapInuse, m.HeapInuse
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}
	}()
	fn()
	close(stop)
	<-done
	return float64(most-base) / (1 << 20)
}

// BenchmarkImport imports new accounts, again unchanged, and checks the same file without writing; ten times the rows in
// the same memory.
func BenchmarkImport(b *testing.B) {
	const rows = 1_000_000
	for _, n := range []int{rows / 2, rows} {
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
				memory := peak(load)
				b.ReportMetric(stage.Seconds(), "stage_s")
				b.ReportMetric(merge.Seconds(), "merge_s")
				b.ReportMetric(closing.Seconds(), "close_s")
				b.ReportMetric(memory, "peak_MiB")
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
