package salesforce

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/sandbox/data"
)

func testStore(tb testing.TB, accounts int) *store {
	tb.Helper()
	gen, err := data.New(data.Config{Seed: 1, Accounts: accounts, Anchor: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(tb, err)
	return newStore(gen, time.Now, nil, func(string) map[string]bool { return nil })
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, soql := range []string{
		"SELECT Id FROM Account", "select Id,Name\nfrom Account", "SELECT COUNT() FROM Account WHERE IsDeleted = false",
		"SELECT Id FROM A WHERE (X > 2026-05-01T12:00:00Z OR (X = 2026-05-01T12:00:00.000+00:00 AND Id > '001')) ORDER BY X, Id LIMIT 2000",
		"SELECT Id FROM A WHERE N IN ('a', 'b\\'c') AND B != NULL AND NOT C = TRUE", "SELECT Id FROM A WHERE D >= 2026-05-01 AND F < -1.5e3",
		"SELECT Id FROM A WHERE N NOT IN (1,2) ORDER BY N DESC NULLS LAST, Id ASC", "SELECT Id FROM A LIMIT 0",
	} {
		_, failure := parse(soql)
		require.Nil(t, failure, soql)
	}
	for soql, text := range map[string]string{
		"":                         "unexpected token: '<EOF>'",
		"SELECT FROM Account":      "unexpected token: 'FROM'",
		"SELECT Id, FROM Account":  "unexpected token: 'FROM'",
		"SELECT Id, Id FROM A":     "duplicate field selected",
		"SELECT Id FROM A WHERE":   "<EOF>",
		"SELECT Id FROM A LIMIT x": "unexpected token: 'x'",
		"SELECT Id FROM A WHERE a = 1 AND b = 2 OR c = 3":   "unexpected token: 'OR'",
		"SELECT Id FROM A WHERE a = 'open":                  "in a string",
		"SELECT Id FROM A WHERE a = 'bad \\q'":              "Illegal escape",
		"SELECT Id FROM A WHERE a = 2026-13-41T00:00:00Z":   "unexpected token",
		"SELECT Id FROM A WHERE a IN ()":                    "unexpected token: ')'",
		"SELECT Id FROM A WHERE a LIKE 'x%'":                "unexpected token: 'LIKE'",
		"SELECT Id FROM A; DROP":                            "';'",
		"SELECT Id FROM A trailing":                         "unexpected token: 'trailing'",
		"SELECT Id FROM A WHERE " + strings.Repeat("(", 80): "nested too deeply",
	} {
		_, failure := parse(soql)
		require.NotNil(t, failure, soql)
		require.Equal(t, "MALFORMED_QUERY", failure.Code, soql)
		require.Contains(t, failure.Message, text, soql)
		require.Contains(t, failure.Message, "ERROR at Row:1:Column:")
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	s := testStore(t, 120)
	count := func(where string) int {
		q, failure := parse("SELECT Id FROM Account WHERE " + where)
		require.Nil(t, failure, where)
		c, failure := s.compile(q)
		require.Nil(t, failure, where)
		return len(s.run(c, true))
	}
	total := len(s.byName["account"].rows)
	id := s.byName["account"].rows[7].id
	for _, c := range []struct{ a, b string }{ // a and b share all rows out between them
		{"Type = 'customer'", "Type != 'Customer'"},
		{"Segment__c = null", "Segment__c != null"},
		{"IsDeleted = true", "IsDeleted = false"},
		{"Type IN ('Customer', 'Prospect')", "Type NOT IN ('Customer', 'Prospect')"},
		{"Name < 'm'", "Name >= 'm'"},
		{"CreatedDate <= 2025-01-01T00:00:00Z", "CreatedDate > 2024-12-31T19:00:00-05:00"},
		{"NOT (Type = 'Customer' OR ARR__c > 5)", "Type = 'Customer' OR ARR__c > 5"},
		{"Id = '" + id + "'", "Id != '" + id[:15] + "'"},
		{"Id > ''", "Id < ''"},
		{"Id IN ('" + id + "','" + id + "')", "NOT Id = '" + id + "'"},
	} {
		require.Equal(t, total, count(c.a)+count(c.b), c.a)
	}
	require.Equal(t, 1, count("Id IN ('"+id[:15]+"')"))
	require.Positive(t, count("ARR__c > 100000.5"))
	require.Equal(t, count("Renewal_Date__c >= 2026-08-01")+count("Renewal_Date__c < 2026-08-01"), count("Renewal_Date__c != null"))
}

// Whatever the bounds, starting in the middle finds what a look at every row finds.
func TestKeysetFindsWhatAScanFinds(t *testing.T) {
	t.Parallel()
	s := testStore(t, 80)
	rows := s.byName["contact"].rows
	rapid.Check(t, func(t *rapid.T) {
		at := rows[rapid.IntRange(0, len(rows)-1).Draw(t, "row")]
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		stamp := time.UnixMilli(at.stamp).UTC().Format(time.RFC3339)
		shape := rapid.SampledFrom([]string{
			"(SystemModstamp > T OR (SystemModstamp = T AND Id > 'I'))", "SystemModstamp > T OR (Id > 'I' AND SystemModstamp = T)",
			"SystemModstamp >= T AND Id != 'I'", "SystemModstamp > T", "SystemModstamp < T", "Id > 'I'",
			"(SystemModstamp > T OR (SystemModstamp = T AND Id >= 'I')) AND IsDeleted = false", "NOT SystemModstamp > T",
		}).Draw(t, "shape")
		order := rapid.SampledFrom([]string{"SystemModstamp, Id", "Id", "SystemModstamp DESC", "SystemModstamp DESC, Id DESC", "Name, Id"}).Draw(t, "order")
		q, failure := parse("SELECT Id FROM Contact WHERE " + strings.NewReplacer("T", stamp, "I", at.id).Replace(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(shape, "NOT", "not"), "Id", "id"), "IsDeleted", "isdeleted")) + " ORDER BY " + order)
		require.Nil(t, failure)
		c, failure := s.compile(q)
		require.Nil(t, failure)
		var want []*row
		for _, r := range rows {
			if c.test(r) {
				want = append(want, r)
			}
		}
		c.limit = -1
		want = s.finish(c, want)
		c.limit = limit
		got := s.run(c, true)
		want = want[:min(limit, len(want))]
		require.Len(t, got, len(want))
		for i := range got {
			if order != "SystemModstamp DESC" { // ties are in no particular order
				require.Equal(t, want[i].id, got[i].id)
			}
			require.Equal(t, want[i].stamp == got[i].stamp, order[0] == 'S' || want[i].id == got[i].id)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("SELECT Id FROM Account WHERE (SystemModstamp > 2026-05-01T12:00:00Z OR (SystemModstamp = 2026-05-01T12:00:00Z AND Id > '001')) ORDER BY SystemModstamp, Id LIMIT 5")
	f.Add("SELECT COUNT() FROM Task WHERE NOT Subject IN ('a\\n','b') AND IsClosed = true")
	f.Add("SELECT Id FROM Account WHERE a = '\\")
	s := testStore(f, 3)
	f.Fuzz(func(t *testing.T, soql string) {
		q, failure := parse(soql)
		if failure == nil {
			var c *compiled
			if c, failure = s.compile(q); failure == nil {
				s.run(c, true)
			}
		}
		if failure != nil {
			require.NotEmpty(t, failure.Code)
			require.Equal(t, 400, failure.Status)
		}
	})
}
