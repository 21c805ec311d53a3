package datasets_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/datasets"
)

// grown returns a file in an official layout with n rows. An IPEDS file cannot have a million: UNITID has six digits.
func grown(layout string, n int) (name string, b []byte) {
	var out bytes.Buffer
	if layout == "ccd" {
		out.WriteString(ccdModern[:strings.IndexByte(ccdModern, '\n')+1])
		states := datasets.StateCodes()
		per := n/len(states) + 1
		for i := range n {
			state := states[i/per]
			fmt.Fprintf(&out, "2022-2023,%s,STATE NAME,%s,Invented District %d,01,,%s-%d,%s%05d,%d Mill Road,Old Mill,%s,35950,1234,%d Mill Road,Old Mill,%s,35950,1234,(256)555-0100,http://www.district%d.example,1,Open,1,08/29/2022,1,Regular public school district,NOTCHR,PK,12,Other\r\n",
				datasets.FIPSOf(state), state, i, state, i, datasets.FIPSOf(state), i%per, i%9999, state, i%9999, state, i)
		}
		return "ccd_lea_029_2223_w_1a_083023.csv", out.Bytes()
	}
	out.WriteString(hdColumns + "\r\n")
	for i := range n {
		row := hdRows[i%3]
		out.WriteString(fmt.Sprint(100_000+i) + row[6:] + "\r\n")
	}
	return "hd2022.csv", out.Bytes()
}

func BenchmarkVerify(b *testing.B) {
	for _, layout := range []string{"ccd", "hd"} {
		for _, n := range []int{100_000, 800_000} {
			b.Run(fmt.Sprintf("%s/%d", layout, n), func(b *testing.B) {
				name, data := grown(layout, n)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					f, err := datasets.Open(b.Context(), name, bytes.NewReader(data), int64(len(data)))
					require.NoError(b, err)
					stats, _, err := f.Verify(b.Context())
					if layout == "ccd" {
						require.NoError(b, err)
					}
					require.Equal(b, n, stats.Rows)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// endless makes up a file as it is read, so that the test's own input takes no memory.
type endless struct {
	head, row string
	size      int64
}

func (e endless) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < e.size {
		if off < int64(len(e.head)) {
			m := copy(p[n:], e.head[off:])
			n, off = n+m, off+int64(m)
			continue
		}
		i := (off - int64(len(e.head))) / int64(len(e.row))
		text := e.row[:11] + fmt.Sprintf("%02d%05d", 1+i/100_000, i%100_000) + e.row[18:]
		at := (off - int64(len(e.head))) % int64(len(e.row))
		m := copy(p[n:], text[at:])
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// peakHeap reads a file of n rows and returns the largest heap in use at any thousandth row, after a collection.
func peakHeap(t *testing.T, n int64) uint64 {
	t.Helper()
	head := "SCHOOL_YEAR,LEAID,FIPST,ST,LEA_NAME,ST_LEAID,LEA_TYPE,SY_STATUS,GSLO,GSHI\n"
	row := "2022-2023, 0000000,01,AL,Invented District with a name of some length,AL-1,1,1,PK,12\n"
	src := endless{head: head, row: row, size: int64(len(head)) + n*int64(len(row))}
	f, err := datasets.Open(t.Context(), "ccd_lea_029_2223_w_1a_083023.csv", src, src.size, datasets.AllowPartial())
	require.NoError(t, err)
	var peak uint64
	i := int64(0)
	for _, err := range f.Rows(t.Context()) {
		if err != nil { // keys run past those of the state; nothing else may be wrong
			require.ErrorAs(t, err, new(*datasets.RowError))
		}
		if i++; i%(n/4) == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
	require.Equal(t, n, i)
	return peak
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) { //nolint:paralleltest // it measures the heap of the process
	small := peakHeap(t, 20_000)
	large := peakHeap(t, 400_000)
	require.Less(t, large, small+4<<20)
}
