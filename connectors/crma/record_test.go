package crma

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/fault"
)

func TestToRecordKeepsThePayloadAsItCame(t *testing.T) {
	t.Parallel()
	raw := `{"attributes":{"type":"Account","url":"/a}\"{"},"Id":"001A0000006Vm9r","SystemModstamp":"2026-05-01T12:00:00.000+0000",` +
		`"ARR__c":12345678901234567.10,"Name":"Á \"quoted\"","MasterRecordId":null}`
	rec, err := toRecord(rawRecord(raw), true)
	require.NoError(t, err)
	require.Equal(t, "001A0000006Vm9rIAC", rec.ExternalID)
	require.Equal(t, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), rec.UpdatedAt)
	require.Equal(t, `{"Id":"001A0000006Vm9r","SystemModstamp":"2026-05-01T12:00:00.000+0000",`+
		`"ARR__c":12345678901234567.10,"Name":"Á \"quoted\"","MasterRecordId":null}`, string(rec.Payload))
}

func TestToRecordRefusesRecordsWithoutIdentity(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no id":          `{"SystemModstamp":"2026-05-01T12:00:00.000+0000"}`,
		"no stamp":       `{"Id":"001A0000006Vm9r"}`,
		"a wrong id":     `{"Id":"x","SystemModstamp":"2026-05-01T12:00:00.000+0000"}`,
		"not an object":  `[]`,
		"a number as id": `{"Id":1,"SystemModstamp":"2026-05-01T12:00:00.000+0000"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := toRecord(rawRecord(raw), true)
			require.Equal(t, fault.Unavailable, fault.CodeOf(err))
		})
	}
}

func FuzzWithoutAttributes(f *testing.F) {
	for _, s := range []string{`{"attributes":{"a":"b"},"Id":"1"}`, `{"attributes":{"a":{"b":1}},"Id":"1"}`, `{"attributes":{"a":"}"}}`,
		`{"Id":"1","attributes":{}}`, `{"attributes":{"a":"\\"},"x":{"attributes":{}}}`, `{"attributes":null,"Id":1}`, `{}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return
		}
		first := json.RawMessage(s)
		out, err := withoutAttributes(first)
		require.NoError(t, err)
		require.Equal(t, s, string(first), "the input stays")
		var got, whole map[string]any
		require.NoError(t, json.Unmarshal(out, &got))
		require.NoError(t, json.Unmarshal([]byte(s), &whole))
		delete(whole, "attributes")
		if _, twice := got["attributes"]; !twice { // a key given twice is no record of the provider's
			require.Equal(t, whole, got)
		}
	})
}
