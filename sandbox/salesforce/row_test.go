package salesforce

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	for id15, want := range map[string]string{ // as the provider's documents and tools show them
		"00130000000xvfE": "00130000000xvfEAAQ", "001A0000006Vm9r": "001A0000006Vm9rIAC",
	} {
		require.Equal(t, want, withChecksum(id15))
	}
	seen := map[string]bool{}
	for n := range uint64(5000) {
		id := makeID("003", n*7919)
		full, ok := normalID(id[:15])
		require.True(t, ok)
		require.Equal(t, id, full)
		require.False(t, seen[id])
		seen[id] = true
	}
	for _, bad := range []string{"", "short", "00130000000xvf'", "00130000000xvfEAAA", "00130000000xvfEAAQx"} {
		_, ok := normalID(bad)
		require.False(t, ok, bad)
	}
}

// Values are written by position; this finds one in the wrong place.
func TestGeneratedValuesFitTheirFields(t *testing.T) {
	t.Parallel()
	s := testStore(t, 300)
	for _, table := range s.list {
		require.NotEmpty(t, table.rows, table.Name)
		filled := make([]int, len(table.Fields))
		for _, r := range table.rows {
			require.Len(t, r.ends, len(table.Fields), table.Name)
			for i := range table.Fields {
				f := &table.Fields[i]
				if r.isNull(i) {
					require.True(t, f.Nillable, "%s.%s is null", table.Name, f.Name)
					continue
				}
				filled[i]++
				_, failure := coerce(f, json.RawMessage(r.val(i)), true)
				require.Nil(t, failure, "%s.%s = %s", table.Name, f.Name, r.val(i))
				for _, target := range f.ReferenceTo {
					if prefix := s.byName[strings.ToLower(target)].Prefix; len(f.ReferenceTo) == 1 {
						require.Equal(t, prefix, r.str(i)[:3], "%s.%s", table.Name, f.Name)
					}
				}
				if f.Type == "picklist" {
					require.Contains(t, f.Picklist, r.str(i), "%s.%s", table.Name, f.Name)
				}
			}
			require.LessOrEqual(t, r.str(table.at.created), r.str(table.at.modified))
			require.LessOrEqual(t, r.str(table.at.modified), r.str(table.at.system))
		}
		for i, f := range table.Fields {
			if f.Name != "MasterRecordId" && f.Name != "RevArch_Key__c" {
				require.Positive(t, filled[i], "%s.%s is never set", table.Name, f.Name)
			}
		}
	}
}

func TestMoneyIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(-1e14, 1e14).Draw(t, "cents")
		var e encoder
		e.cents(cents)
		var n json.Number
		require.NoError(t, json.Unmarshal(e.raw, &n))
		f, err := n.Float64()
		require.NoError(t, err)
		require.InDelta(t, float64(cents), f*100, 0.5)
		require.Contains(t, n.String(), ".")
	})
}
