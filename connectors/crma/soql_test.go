package crma

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/fault"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in string
		want     time.Time
	}{
		{"JSON", "2026-05-01T12:00:00.000+0000", time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
		{"milliseconds", "2026-05-01T12:00:00.123+0000", time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC)},
		{"another offset", "2026-05-01T12:00:00.000-0730", time.Date(2026, 5, 1, 19, 30, 0, 0, time.UTC)},
		{"no fraction", "2026-05-01T12:00:00+0000", time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
		{"bulk", "2026-05-01T12:00:00.000Z", time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
		{"offset with a colon", "2026-05-01T14:00:00+02:00", time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseTime(tc.in)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	for _, bad := range []string{"", "2026-05-01", "2026-13-01T12:00:00.000+0000", "yesterday"} {
		_, err := parseTime(bad)
		require.Equal(t, fault.Unavailable, fault.CodeOf(err), bad)
	}
}

func TestSelectionWritesTheKeyset(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 14, 0, 0, 0, time.FixedZone("", 7200))
	for _, tc := range []struct {
		name string
		sel  selection
		want string
	}{
		{"a full run", selection{}, "SELECT Id, A__c FROM Account ORDER BY SystemModstamp, Id"},
		{
			"an incremental run",
			selection{from: at, limit: 50},
			"SELECT Id, A__c FROM Account WHERE SystemModstamp >= 2026-05-01T12:00:00Z ORDER BY SystemModstamp, Id LIMIT 50",
		},
		{
			"behind a row",
			selection{from: at, after: keyset{at: at.Add(120 * time.Millisecond), id: "001000000000001AAA"}},
			"SELECT Id, A__c FROM Account WHERE (SystemModstamp > 2026-05-01T12:00:00.120Z OR (SystemModstamp = 2026-05-01T12:00:00.120Z " +
				"AND Id > '001000000000001AAA')) ORDER BY SystemModstamp, Id",
		},
		{
			"the recycle bin",
			selection{from: at, deleted: true},
			"SELECT Id, A__c FROM Account WHERE IsDeleted = true AND SystemModstamp >= 2026-05-01T12:00:00Z ORDER BY SystemModstamp, Id",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.sel.object, tc.sel.columns = "Account", []string{"Id", "A__c"}
			got, err := tc.sel.soql()
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	for _, name := range []string{"", "A B", "A;", "Account.Name", "1A", "_a", "A'", strings.Repeat("a", 81), "é"} {
		_, err := selection{object: "Account", columns: []string{name}}.soql()
		require.Equal(t, fault.Invalid, fault.CodeOf(err), name)
	}
}

// unquote reads a literal back as the provider's grammar does; ok is false unless it ends exactly at the end.
func unquote(literal string) (s string, ok bool) {
	escapes := map[rune]rune{'\'': '\'', '\\': '\\', 'n': '\n', 'r': '\r', 't': '\t'}
	var out []rune
	runes := []rune(literal)
	if len(runes) < 2 || runes[0] != '\'' {
		return "", false
	}
	for i := 1; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '\'':
			return string(out), i == len(runes)-1
		case '\\':
			i++
			if i == len(runes) || escapes[runes[i]] == 0 {
				return "", false
			}
			out = append(out, escapes[runes[i]])
		default:
			out = append(out, c)
		}
	}
	return "", false
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "O'Brien", `\`, `\'`, "' OR Name != '", "a\nb", "\xff'", "é'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := unquote(quote(s))
		require.True(t, ok, "the literal ends where it should: %s", quote(s))
		require.Equal(t, string([]rune(s)), got)
		require.NotContains(t, quote(s), "\n")
	})
}
