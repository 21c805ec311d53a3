package xls_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/datasets/xls"
	"revarch/datasets/xls/xlstest"
)

func readAll(b []byte) ([][]string, error) {
	sheet, err := xls.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for {
		_, cells, err := sheet.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, append([]string(nil), cells...))
	}
}

func sample(n int) [][]any {
	rows := [][]any{{"Names", "Code", "Count", "Share"}}
	for i := range n {
		rows = append(rows, []any{fmt.Sprintf("Cañon %d – district", i), "0" + fmt.Sprint(i), i - 3, float64(i) + 0.25})
	}
	return rows
}

func asText(rows [][]any) [][]string {
	var out [][]string
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, v := range row {
			if v == nil {
				v = ""
			}
			cells = append(cells, fmt.Sprint(v))
		}
		out = append(out, cells)
	}
	return out
}

func TestReadsWhatSpreadsheetsWrite(t *testing.T) {
	t.Parallel()
	rows := sample(3000)
	for name, o := range map[string]xlstest.Options{
		"shared strings":                         {},
		"text in the cells":                      {InlineText: true},
		"numbers as floats":                      {PlainNumbers: true},
		"strings cut over many CONTINUE records": {RecordLimit: 37},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readAll(xlstest.Workbook(rows, o))
			require.NoError(t, err)
			require.Equal(t, asText(rows), got)
		})
	}
	t.Run("a workbook in the mini stream", func(t *testing.T) {
		t.Parallel()
		got, err := readAll(xlstest.Workbook(sample(5), xlstest.Options{Small: true}))
		require.NoError(t, err)
		require.Equal(t, asText(sample(5)), got)
	})
}

func TestEveryCutIsAnError(t *testing.T) {
	t.Parallel()
	whole := xlstest.Workbook(sample(200), xlstest.Options{})
	used := len(whole) - 512 // the last sector is partly padding
	for n := 0; n < used; n += 97 {
		_, err := readAll(whole[:n])
		require.Error(t, err, "cut at %d of %d", n, len(whole))
	}
}

func TestOtherFilesAreNamed(t *testing.T) {
	t.Parallel()
	_, err := readAll([]byte(strings.Repeat("UNITID,INSTNM\n", 100)))
	require.ErrorIs(t, err, xls.ErrNotWorkbook)
	renamed := bytes.Replace(xlstest.Workbook(sample(1), xlstest.Options{}), wide("Workbook"), wide("WordDocs"), 1)
	_, err = readAll(renamed)
	require.ErrorIs(t, err, xls.ErrNotWorkbook)
	_, err = readAll(nil)
	require.ErrorIs(t, err, xls.ErrTruncated)
}

func wide(s string) []byte {
	var b []byte
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return b
}

func TestLoopsEnd(t *testing.T) {
	t.Parallel()
	b := xlstest.Workbook(sample(300), xlstest.Options{})
	copy(b[512+4*5:], []byte{2, 0, 0, 0}) // the stream's fourth sector leads back to its first
	_, err := readAll(b)
	require.ErrorIs(t, err, xls.ErrCorrupt)
}

func TestAnyTableSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.OneOf(
			rapid.Map(rapid.StringN(1, 40, -1), func(s string) any { return strings.ToValidUTF8(s, "?") }),
			rapid.Map(rapid.IntRange(-1<<29, 1<<29-1), func(v int) any { return v }),
		), 1, 12)
		rows := rapid.SliceOfN(row, 1, 30).Draw(t, "rows")
		o := xlstest.Options{
			InlineText: rapid.Bool().Draw(t, "inline"), PlainNumbers: rapid.Bool().Draw(t, "plain"),
			RecordLimit: rapid.IntRange(12, 200).Draw(t, "limit"), Small: rapid.Bool().Draw(t, "small"),
		}
		got, err := readAll(xlstest.Workbook(rows, o))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(asText(rows)) {
			t.Fatalf("wrote %q, read %q", asText(rows), got)
		}
	})
}

func FuzzOpen(f *testing.F) {
	f.Add(xlstest.Workbook(sample(20), xlstest.Options{}))
	f.Add(xlstest.Workbook(sample(20), xlstest.Options{RecordLimit: 40, InlineText: true}))
	f.Add(xlstest.Workbook(sample(3), xlstest.Options{Small: true}))
	f.Add([]byte(xls.Magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := readAll(b)
		if err != nil {
			known := false
			for _, want := range []error{xls.ErrNotWorkbook, xls.ErrTruncated, xls.ErrCorrupt, xls.ErrEncrypted, xls.ErrTooOld} {
				known = known || errors.Is(err, want)
			}
			require.True(t, known, "unnamed error %v", err)
		}
		require.LessOrEqual(t, len(rows), len(b))
	})
}
