package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/fault"
)

// Dollars are exact cents for every amount in range, and nothing else passes.
func TestDollarsAreExact(t *testing.T) {
	t.Parallel()
	parse := dollars(true)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-1e15, 1e15).Draw(t, "cents")
		text := new(big.Rat).SetFrac64(want, 100).FloatString(2)
		got, reason := parse(text)
		require.Empty(t, reason)
		require.Equal(t, fmt.Sprint(want), got)
	})
	for _, bad := range []string{"1.", ".5", "1.234", "1,000", "$1", "1e3", "+1", "--1", "-", "0x1", "١", "10000000000000.01", " 1"} {
		_, reason := parse(bad)
		require.NotEmpty(t, reason, bad)
	}
}

// Whatever the bytes, reading ends, names lines in ascending order, and goes on from any row as if it had not stopped.
func FuzzFile(f *testing.F) {
	f.Add([]byte("external_id,name,arr_usd\nA,\"x\ny\",1\n\nB,,\n\"C,\n"))
	f.Add([]byte("\xef\xbb\xbfname,external_id\r\nA,B\r\nA \"b\",C\r\n,\r\n\"\"\"\",D"))
	f.Fuzz(func(t *testing.T, data []byte) {
		type seen struct {
			Line     int64
			Key      string
			Problems []Problem
		}
		r := bytes.NewReader(data)
		read := func(stop bool) (out []seen, err error) {
			file, err := openFile(resources["accounts"], r, r.Size())
			if err != nil {
				require.Contains(t, []fault.Code{fault.BadFile, fault.Invalid}, fault.CodeOf(err))
				return nil, err
			}
			for {
				row, problems, err := file.next()
				if errors.Is(err, io.EOF) {
					return out, nil
				}
				if err != nil {
					require.Equal(t, fault.BadFile, fault.CodeOf(err))
					return out, err
				}
				line := row.Line
				if len(problems) > 0 {
					line = problems[0].Line
				} else {
					require.True(t, utf8.ValidString(row.Key) && row.Key != "")
				}
				require.True(t, len(out) == 0 || line > out[len(out)-1].Line)
				out = append(out, seen{line, row.Key, problems})
				if stop {
					file.seek(r, r.Size(), file.offset(), file.last)
				}
			}
		}
		whole, err := read(false)
		parts, again := read(true)
		require.Equal(t, whole, parts)
		require.Equal(t, fault.CodeOf(err), fault.CodeOf(again))
	})
}
