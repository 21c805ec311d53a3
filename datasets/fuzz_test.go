package datasets_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/datasets"
	"revarch/fault"
)

// FuzzOpen holds for any bytes: the answer is a file or a bad_file with a text, rows are within the input, nothing panics.
func FuzzOpen(f *testing.F) {
	f.Add("hd2022.csv", []byte(hdColumns+"\r\n"+strings.Join(hdRows, "\r\n")))
	f.Add("ussd23.csv", []byte(saipeColumns+"\nAL,01,00005,\"A \"\"b\"\"\",3,2,1\n"))
	f.Add("x", []byte(ccdWide))
	f.Add("x", []byte(ccdModern))
	f.Add("x.gz", []byte("\x1f\x8b\x08\x00"))
	f.Add("x.zip", []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		file, err := datasets.Open(t.Context(), name, bytes.NewReader(b), int64(len(b)), datasets.AllowPartial())
		if err == nil {
			_, _, err = file.Verify(t.Context())
			require.LessOrEqual(t, file.Stats().Rows+file.Stats().Bad, len(b))
		}
		if err != nil {
			require.Contains(t, []fault.Code{fault.BadFile, fault.TooLarge}, fault.CodeOf(err), "%v", err)
			require.NotEmpty(t, fault.Public(err))
		}
	})
}

// FuzzRowsAgreeWithEncodingCSV compares the scanner with the standard library on what the latter accepts.
func FuzzRowsAgreeWithEncodingCSV(f *testing.F) {
	f.Add("A", "plain")
	f.Add("with \"quotes\"", "two\nlines")
	f.Add("comma, inside", "\r\nCRLF")
	f.Fuzz(func(t *testing.T, name, other string) {
		name, other = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(other, "?")
		if strings.ContainsAny(name+other, "\x00") || strings.TrimSpace(name) == "" || len(name)+len(other) > 1000 {
			return
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		require.NoError(t, w.Write(append(strings.Split(saipeColumns, ","), "Extra")))
		for i := range 3 {
			require.NoError(t, w.Write([]string{"AL", "01", fmt.Sprint(i), name, "3", "2", "1", other}))
		}
		w.Flush()
		std := csv.NewReader(bytes.NewReader(b.Bytes()))
		_, err := std.Read()
		require.NoError(t, err)
		file, err := datasets.Open(t.Context(), "ussd23.csv", bytes.NewReader(b.Bytes()), int64(b.Len()), datasets.AllowPartial())
		require.NoError(t, err)
		for row, err := range file.Rows(t.Context()) {
			require.NoError(t, err)
			want, err := std.Read()
			require.NoError(t, err)
			require.Equal(t, strings.TrimSpace(want[3]), strings.ReplaceAll(row.Poverty.Name, "\r\n", "\n"))
		}
		_, err = std.Read()
		require.ErrorIs(t, err, io.EOF)
	})
}
