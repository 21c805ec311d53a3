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
	rec, err := toRecord(rawRecord(raw), "Account", true)
	require.NoError(t, err)
	require.Equal(t, "001A0000006Vm9rIAC", rec.ExternalID)
	require.Equal(t, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), rec.UpdatedAt)
	require.Equal(t, `{"Id":"001A0000006Vm9r","SystemModstamp":"2026-05-01T12:00:00.000+0000",`+
		`"ARR__c":12345678901234567.10,"Name":"Á \"quoted\"","MasterRecordId":null}`, string(rec.Payload))
}

func TestToRecordLeavesOutAttributesWhereverTheyAre(t *testing.T) {
	t.Parallel()
	const sys = `"Id":"001A0000006Vm9rIAC","SystemModstamp":"2026-05-01T12:00:00.000+0000"`
	for name, raw := range map[string]string{
		"first":        `{"attributes":{"a":"}"},` + sys + `}`,
		"last":         `{` + sys + `,"attributes":{"a":{"b":[]}}}`,
		"in the midst": `{"Id":"001A0000006Vm9rIAC", "attributes" : null , "SystemModstamp":"2026-05-01T12:00:00.000+0000" }`,
		"nowhere":      `{` + sys + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, err := toRecord(rawRecord(raw), "Account", true)
			require.NoError(t, err)
			require.Equal(t, "{"+sys+"}", string(rec.Payload))
		})
	}
}

func TestToRecordReadsDeletionAndMerge(t *testing.T) {
	t.Parallel()
	rec, err := toRecord(rawRecord(`{"attributes":{},"Id":"001A0000006Vm9r","SystemModstamp":"2026-05-01T12:00:00.000+0000","IsDeleted":true,"MasterRecordId":"001A0000006Vm9s"}`), "Account", false)
	require.NoError(t, err)
	require.True(t, rec.Deleted)
	require.Equal(t, longID("001A0000006Vm9s"), rec.MergedInto)
	require.Nil(t, rec.Payload)
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
			_, err := toRecord(rawRecord(raw), "Account", true)
			require.Equal(t, fault.Unavailable, fault.CodeOf(err))
		})
	}
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"attributes":{"a":"b"},"Id":"1"}`, `{"attributes":{"a":{"b":1}},"Id":"1"}`, `{"a":"}\\\"{"}`, `{"Id":"1","attributes":{}}`,
		` { "a" : [ 1 , {"b":"]"} ] , "c" : -1.5e3 } `, `{"attributes":null,"Id":1}`, `{}`, `[]`, `"x"`, `{"a":{"b":{"c":[[]]}},"d":true}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var whole any
		decodable := json.Unmarshal([]byte(s), &whole) == nil
		want, wantObject := whole.(map[string]any)
		got := map[string]any{}
		isObject := members([]byte(s), func(member, key, value []byte) {
			require.Contains(t, string(member), string(value))
			if decodable {
				var k string
				var v any
				require.NoError(t, json.Unmarshal(key, &k))
				require.NoError(t, json.Unmarshal(value, &v))
				got[k] = v
			}
		})
		if !decodable { // it must only end
			return
		}
		if !wantObject {
			require.False(t, isObject)
			return
		}
		require.True(t, isObject)
		require.Equal(t, want, got)
	})
}
