package datasets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/services/datasets/datasetstest"
)

// BenchmarkLoad loads a CCD directory of a million rows through every check, beside the owner's COPY of its rows.
func BenchmarkLoad(b *testing.B) {
	s := setup(b)
	year := 2001
	for b.Loop() {
		m, err := datasetstest.MeasureLoad(b.Context(), s.store, s.db.Owner, s.operator.OrgID, year, 1_000_000)
		require.NoError(b, err)
		year++
		b.Logf("rows %d, %d MiB: upload %v, load %v, COPY %v, ratio %.2f", m.Rows, m.Bytes>>20, m.Upload, m.Load, m.Copy, m.Ratio())
		b.ReportMetric(float64(m.Rows), "rows")
		b.ReportMetric(m.Load.Seconds(), "load-s")
		b.ReportMetric(m.Copy.Seconds(), "copy-s")
	}
}
