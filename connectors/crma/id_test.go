package crma

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLongID(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"lower case and digits", "001000000000001", "001000000000001AAA"},
		{"upper case sets bits from the left", "00D00000000000A", "00D00000000000AEAQ"},
		{"mixed case", "001A0000006Vm9r", "001A0000006Vm9rIAC"},
		{"all upper case", "ABCDEFGHIJKLMNO", "ABCDEFGHIJKLMNO555"},
		{"18 characters stay", "001A0000006Vm9rIAC", "001A0000006Vm9rIAC"},
		{"empty", "", ""},
		{"16 characters", "001A0000006Vm9rI", ""},
		{"a quote", "001A0000006Vm9'", ""},
		{"letters outside ASCII", "001A000000é6Vm", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, longID(tc.in))
		})
	}
}

func TestLongIDTellsApartWhatOnlyCaseTellsApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[0-9a-zA-Z]{15}`).Draw(t, "id")
		long := longID(a)
		require.Len(t, long, 18)
		require.Equal(t, a, long[:15])
		require.Equal(t, long, longID(long))
		b := rapid.StringMatching(`[0-9a-zA-Z]{15}`).Draw(t, "other")
		if a != b {
			require.NotEqual(t, long, longID(b))
		}
	})
}
