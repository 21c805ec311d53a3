package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
)

func TestConversions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		record           models.RecordType
		target, in, want string
		transform        string
	}{
		{models.RecordAccount, "arr_cents", `1234.5`, "1234 50 ok", ""},
		{models.RecordAccount, "seats", `67340.0`, "67340", ""},
		{models.RecordAccount, "seats", `"12"`, "12", ""},
		{models.RecordAccount, "seats", `12.5`, "bad", ""},
		{models.RecordAccount, "seats", `"1;2"`, "bad", ""},
		{models.RecordAccount, "seats", `-1`, "bad", ""},
		{models.RecordAccount, "csat_90d", `4.25`, "4.25", ""},
		{models.RecordAccount, "csat_90d", `87`, "bad", ""},
		{models.RecordAccount, "onboarding_pct", `80.0`, "0.8", ""},
		{models.RecordAccount, "onboarding_pct", `180`, "bad", ""},
		{models.RecordAccount, "onboarding_pct", `0.8`, "0.8", "share"},
		{models.RecordAccount, "status", `"Former Customer"`, "former_customer", ""},
		{models.RecordAccount, "status", `"Customer - Direct"`, "customer", ""},
		{models.RecordAccount, "status", `"Partner"`, "bad", ""},
		{models.RecordAccount, "buyer_type", `"K-12"`, "k12", ""},
		{models.RecordAccount, "buyer_type", `"Higher Ed"`, "higher_ed", ""},
		{models.RecordAccount, "segment", `"Mid-Market"`, "Mid-Market", ""},
		{models.RecordAccount, "state", `"tx"`, "TX", ""},
		{models.RecordAccount, "state", `"District of Columbia"`, "DC", ""},
		{models.RecordAccount, "state", `"Ontario"`, "bad", ""},
		{models.RecordProduct, "offered_to", `"K-12;Higher Ed"`, "higher_ed,k12", ""},
		{models.RecordProduct, "offered_to", `"District, k12"`, "k12", ""},
		{models.RecordProduct, "offered_to", `"K-12;Zoo"`, "bad", ""},
		{models.RecordProduct, "offered_in", `"TX;California; tx;"`, "CA,TX", ""},
		{models.RecordProduct, "offered_in", `";"`, "<nil>", ""},
		{models.RecordAccount, "domain", `"https://www.Example.k12.tx.us:443/a?b"`, "example.k12.tx.us", ""},
		{models.RecordAccount, "domain", `"n/a"`, "bad", ""},
		{models.RecordAccount, "domain", `"10.0.0.1"`, "bad", ""},
		{models.RecordAccount, "nces_id", `601234`, "0601234", ""},
		{models.RecordAccount, "nces_id", `"4812345"`, "4812345", ""},
		{models.RecordAccount, "nces_id", `"12"`, "bad", ""},
		{models.RecordAccount, "unitid", `228723.0`, "228723", ""},
		{models.RecordAccount, "unitid", `"2287"`, "bad", ""},
		{models.RecordAccount, "name", `""`, "<nil>", ""},
		{models.RecordAccount, "name", `{"a":1}`, "bad", ""},
		{models.RecordAccount, "competitor", `""`, "", ""},
		{models.RecordAccount, "competitor", `null`, "<nil>", ""},
		{models.RecordAccount, "renewal_date", `"2026-05-01"`, "2026-05-01 00:00:00 +0000 UTC", ""},
		{models.RecordAccount, "renewal_date", `"2026-05-01T23:30:00.000-0800"`, "2026-05-01 00:00:00 +0000 UTC", ""},
		{models.RecordAccount, "renewal_date", `"2026-13-01"`, "bad", ""},
		{models.RecordOpportunity, "stage_changed_at", `"2026-05-01T12:00:00.000+0000"`, "2026-05-01 12:00:00 +0000 UTC", ""},
		{models.RecordOpportunity, "stage_changed_at", `1777636800000`, "2026-05-01 12:00:00 +0000 UTC", ""},
		{models.RecordOpportunity, "type", `"New Business"`, "new_business", ""},
		{models.RecordOpportunity, "amount_cents", `100.005`, "bad", ""},
		{models.RecordOpportunity, "amount_cents", `100.005`, "10000", "round_cents"},
		{models.RecordOpportunity, "amount_cents", `12345`, "12345", "cents"},
		{models.RecordContact, "champion", `"yes"`, "true", ""},
		{models.RecordContact, "champion", `"maybe"`, "bad", ""},
		{models.RecordContact, "email", `"A.B@Example.ORG"`, "a.b@example.org", ""},
		{models.RecordActivity, "type", `"Call"`, "call", ""},
	} {
		t.Run(fmt.Sprintf("%s of %s", tc.target, tc.in), func(t *testing.T) {
			t.Parallel()
			field, ok := targetField(tc.record, tc.target)
			require.True(t, ok)
			convert, ok := converterFor(field, tc.transform)
			require.True(t, ok)
			got, ok := convert(gjson.Parse(tc.in))
			if tc.want == "1234 50 ok" {
				require.Equal(t, int64(123450), got)
				return
			}
			if !ok {
				got = "bad"
			}
			require.Equal(t, tc.want, fmt.Sprint(got))
		})
	}
}

// Money is exact for every amount that has at most two decimals, however it is written.
func TestCentsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-1<<61, 1<<61).Draw(t, "cents")
		text := new(big.Rat).SetFrac64(want, 100).FloatString(rapid.IntRange(2, 6).Draw(t, "decimals"))
		got, exact, ok := cents(text)
		require.True(t, ok && exact, text)
		require.Equal(t, want, got)
		got, exact, ok = cents(fmt.Sprintf("%de-2", want))
		require.True(t, ok && exact)
		require.Equal(t, want, got)
	})
}

func TestValidateNamesEveryBadEntry(t *testing.T) {
	t.Parallel()
	objects := []connectors.ObjectSpec{{Name: "Account", Record: models.RecordAccount}, {Name: "Contact", Record: models.RecordContact}}
	schema := connectors.Schema{Objects: []connectors.Object{
		{Name: "Account", Fields: []connectors.Field{{Name: "Name", Type: connectors.TypeString}, {Name: "IsActive", Type: connectors.TypeBoolean}}},
		{Name: "Contact", Fields: []connectors.Field{{Name: "Title", Type: connectors.TypeString}}},
	}}
	err := Validate(objects, schema, []models.FieldMapping{
		{Object: "Account", SourceField: "Name", TargetField: "name"},
		{Object: "Lead", SourceField: "Name", TargetField: "name"},
		{Object: "Account", SourceField: "Name", TargetField: "shoe_size"},
		{Object: "Account", SourceField: "Name", TargetField: "name"},
		{Object: "Account", SourceField: "Gone__c", TargetField: "city"},
		{Object: "Account", SourceField: "IsActive", TargetField: "seats"},
		{Object: "Account", SourceField: "Name", TargetField: "state", Transform: "rot13"},
		{Object: "Account", SourceField: "Name", TargetField: "territory", Transform: "cents"},
		{Object: "Contact", SourceField: "Title", TargetField: "title"},
	})
	require.True(t, fault.Is(err, fault.Invalid))
	var fields []string
	for _, f := range fault.FieldsOf(err) {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{
		"mappings[1].object", "mappings[2].target_field", "mappings[3].target_field", "mappings[4].source_field",
		"mappings[5].source_field", "mappings[6].transform", "mappings[7].transform", "mappings",
	}, fields)
	require.NoError(t, Validate(objects, schema, []models.FieldMapping{{Object: "Account", SourceField: "Name", TargetField: "name"}}))
}

// Whatever bytes come, reading neither panics nor lets through what is no JSON object.
func FuzzRead(f *testing.F) {
	m, err := Compile([]connectors.ObjectSpec{{Name: "Account", Record: models.RecordAccount}}, "Account", []models.FieldMapping{
		{Object: "Account", SourceField: "Name", TargetField: "name"},
		{Object: "Account", SourceField: "ARR__c", TargetField: "arr_cents"},
		{Object: "Account", SourceField: "Seats__c", TargetField: "seats"},
		{Object: "Account", SourceField: "Renewal_Date__c", TargetField: "renewal_date"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"Name":"A\u0000\ud800","ARR__c":1e999,"x":[[1e400]],"Seats__c":"1;2","Renewal_Date__c":"0000-00-00"}`))
	f.Add([]byte(`{"Name":{"Name":[]},"Name":"B"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := reader{m: m, normalize: func(s string) string { return s }}
		got := r.read(payload)
		if got.raw {
			require.True(t, gjson.ValidBytes(got.payload))
			require.True(t, utf8.Valid(got.payload))
			var v any
			dec := json.NewDecoder(bytes.NewReader(got.payload))
			dec.UseNumber()
			require.NoError(t, dec.Decode(&v))
			require.NotContains(t, fmt.Sprint(v), "\x00")
			require.Len(t, got.hash, 16)
		}
		if got.failed == nil {
			require.NotEmpty(t, got.text(m.name))
		}
	})
}
