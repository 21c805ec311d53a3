package imports_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/models"
	"revarch/services/imports"
)

func input(tb testing.TB, run models.Run) (in imports.RunInput) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal(run.Input, &in))
	return in
}

func TestFilesThatAreRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const header = "external_id,name,segment,state,nces_id,unitid,arr_usd,status\n"
	for _, tc := range []struct{ name, body, says string }{
		{"an empty file", "", "The file is empty"},
		{"a byte order mark alone", "\ufeff\r\n", "The file is empty"},
		{"blank lines alone", "\n\n\n", "The file is empty"},
		{"UTF-16", "\xff\xfee\x00x\x00", "UTF-16"},
		{"a workbook", "PK\x03\x04...", "Excel workbook"},
		{"a compressed file", "\x1f\x8b\x08", "compressed"},
		{"a header in Latin-1", "external_id,name,\xe9tat\n", "cannot be read as CSV in UTF-8"},
		{"a quote that the header leaves open", "external_id,\"name\n1,2\n", "cannot be read as CSV"},
		{"an unknown column", "external_id,name,shoe_size\n", "valid columns are external_id, name, segment, state, nces_id, unitid, arr_usd, status"},
		{"a column that is missing", "external_id,segment\n", "does not fit"},
		{"a column that is there twice", "external_id,name,Name\n", "does not fit"},
		{"semicolons", "external_id;name\nA;B\n", "does not fit"},
		{"rows in Latin-1", header + "A,Maple,,,,,,\nB,Universit\xe9,,,,,,\n", "Line 3 is not UTF-8"},
		{"a quote that swallows the rest of a large file", header + "A,Maple,,,,,,\nB,\"Oak,,,,,,\n" + strings.Repeat("C,Elm,,,,,,\n", 200_000), "line 3 does not end: a quote is never closed"},
	} {
		_, err := s.dry("accounts", tc.body)
		require.ErrorContains(t, err, tc.says, tc.name)
		require.Contains(t, []fault.Code{fault.BadFile, fault.Invalid}, fault.CodeOf(err), tc.name)
	}
	_, err := s.dry("accounts", "external_id,shoe_size\n")
	require.Equal(t, []fault.FieldError{
		{Field: "column 2", Message: "unknown; valid columns are external_id, name, segment, state, nces_id, unitid, arr_usd, status"},
		{Field: "name", Message: "the column is missing"},
	}, fault.FieldsOf(err))
	_, err = s.dry("contacts", header)
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
	s.empty()
	require.Zero(t, s.db.Count(t, "SELECT count(*) FROM runs WHERE org_id = $1", s.p.OrgID))
}

func TestADryRunNamesEveryBadRowAndWritesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	got, err := s.dry("accounts", strings.Join([]string{
		"external_id,name,segment,state,nces_id,unitid,arr_usd,status",
		"A1,Good,Mid-Market,District of Columbia,601234,,-12.5,Former Customer", // 2
		",No id,,,,,,", // 3
		"A2,,,,,,,",    // 4
		"A3,Bad,Large,Ontario,12,2287,1e3,Friend", // 5
		"A4,Money,,,,,$5,",                        // 6
		"A5,Money,,,,,1.005,",                     // 7
		"A6,Money,,,,,.5,",                        // 8
		"A7,Short,,",                              // 9
		"A1,Twin,,,,,,",                           // 10
		`A8,A "quoted" word,,,,,,`,                // 11
		"",                                        // 12
		"A9,\"Two\nlines\",,,,,99999999999999999999,", // 13
		strings.Repeat("x", 256) + ",Long,,,,,,",      // 15
		"B1,NUL\x00,,,,,,",                            // 16
		`B2,"never closed,,,,,,`,                      // 17
	}, "\r\n"))
	require.NoError(t, err)
	const money = "must be an amount in dollars with at most two decimals, such as 1200.50"
	require.Equal(t, []int64{14, 1, 13}, []int64{got.Rows, got.Valid, got.Bad})
	require.Equal(t, []imports.Problem{
		{Line: 3, Column: "external_id", Reason: "is empty"},
		{Line: 4, Column: "name", Reason: "is empty"},
		{Line: 5, Column: "segment", Reason: "must be Enterprise, Mid-Market or SMB"},
		{Line: 5, Column: "state", Reason: "must be a two-letter state or territory code, such as TX"},
		{Line: 5, Column: "nces_id", Reason: "must be an NCES district id of 7 digits"},
		{Line: 5, Column: "unitid", Reason: "must be an IPEDS UNITID of 6 digits"},
		{Line: 5, Column: "arr_usd", Reason: money},
		{Line: 5, Column: "status", Reason: "must be customer, prospect or former_customer"},
		{Line: 6, Column: "arr_usd", Reason: money},
		{Line: 7, Column: "arr_usd", Reason: money},
		{Line: 8, Column: "arr_usd", Reason: money},
		{Line: 9, Reason: "has 4 fields, the header has 8"},
		{Line: 10, Column: "external_id", Reason: "is there already in a row before"},
		{Line: 11, Reason: "has misplaced quotes: put the whole field in quotes and double those inside"},
		{Line: 13, Column: "arr_usd", Reason: "is beyond 10 trillion dollars"},
		{Line: 15, Column: "external_id", Reason: "is longer than 255 bytes"},
		{Line: 16, Column: "name", Reason: "contains a NUL character"},
		{Line: 17, Reason: "has misplaced quotes: put the whole field in quotes and double those inside"},
	}, got.Errors)
	s.empty()

	s.loaded("accounts", "external_id,name\nA1,Maple\n")
	s.loaded("products", "sku,name\nR-1,Reading\n")
	got, err = s.dry("account_products", strings.Join([]string{
		"quantity,end_date,start_date,arr_usd,sku,account_external_id",
		"1,2026-12-31,2026-01-01,5,R-1,A1",   // 2
		"1,2026-12-31,2026-02-01,5,R-1,A1",   // 3: another term
		"2,2027-12-31,2026-01-01,6,R-1,A1",   // 4: the same as 2
		"-1,12/31/2026,2026-02-30,5,R-1,A1",  // 5
		"NaN,2026-01-01,2026-12-31,5,R-1,A1", // 6
		"1,2026-01-01,2026-12-31,5,R-1,A1",   // 7
		"1,,,5,R-2,A2",                       // 8
	}, "\n"))
	require.NoError(t, err)
	require.EqualValues(t, 7, got.Rows)
	require.EqualValues(t, 5, got.Bad)
	require.Equal(t, []imports.Problem{
		{Line: 4, Reason: "repeats account, product and start date of a row before it"},
		{Line: 5, Column: "start_date", Reason: "must be a date from 1900 to 2200 such as 2026-07-01"},
		{Line: 5, Column: "end_date", Reason: "must be a date from 1900 to 2200 such as 2026-07-01"},
		{Line: 5, Column: "quantity", Reason: "must be a number that is not negative, such as 250"},
		{Line: 6, Column: "quantity", Reason: "must be a number that is not negative, such as 250"},
		{Line: 7, Column: "end_date", Reason: "is before start_date"},
		{Line: 7, Reason: "repeats account, product and start date of a row before it"}, // which is bad as well
		{Line: 8, Column: "account_external_id", Reason: "is the id of no account"},
		{Line: 8, Column: "sku", Reason: "is the code of no product"},
	}, got.Errors)

	s.db.Exec(t, `INSERT INTO products (org_id, id, provider, external_id, sku, name, mapping_id) VALUES ($1, $2, 'crm_a', 'x', 'C-1', 'CRM', 0)`, s.p.OrgID, models.NewID())
	got, err = s.dry("products", "sku,name,list_price_usd,active\nC-1,Mine,1,maybe\nC-2,Mine,-1,\nC-1,Mine,,true\n")
	require.NoError(t, err)
	require.Equal(t, []imports.Problem{
		{Line: 2, Column: "active", Reason: "must be true or false"},
		{Line: 2, Column: "sku", Reason: "is the code of a product that is synced from a connected system; leave the row out"},
		{Line: 3, Column: "list_price_usd", Reason: "must not be negative"},
		{Line: 4, Column: "sku", Reason: "is there already in a row before"},
		{Line: 4, Column: "sku", Reason: "is the code of a product that is synced from a connected system; leave the row out"},
	}, got.Errors)
	require.EqualValues(t, 3, got.Bad)

	got, err = s.dry("accounts", "external_id,name,arr_usd\nB-1,Birch,a lot\nB-1,Birch,5\n,Elm,1\n,Oak,1\n")
	require.NoError(t, err)
	require.EqualValues(t, 4, got.Bad)
	require.Equal(t, []imports.Problem{
		{Line: 2, Column: "arr_usd", Reason: "must be an amount in dollars with at most two decimals, such as 1200.50"},
		{Line: 3, Column: "external_id", Reason: "is there already in a row before"},
		{Line: 4, Column: "external_id", Reason: "is empty"},
		{Line: 5, Column: "external_id", Reason: "is empty"}, // nothing repeats nothing
	}, got.Errors)
}

func TestABoundedListCountsAll(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var b strings.Builder
	b.WriteString("external_id,name,arr_usd\n")
	for i := range 8000 {
		fmt.Fprintf(&b, "A%d,Name,x\n", i)
	}
	got, err := s.dry("accounts", b.String())
	require.NoError(t, err)
	require.EqualValues(t, 8000, got.Bad)
	require.Len(t, got.Errors, imports.MaxProblems)
	require.True(t, got.Truncated)
	require.EqualValues(t, 2, got.Errors[0].Line)
	_, err = s.load("accounts", b.String())
	require.Equal(t, fault.BadFile, fault.CodeOf(err))
	require.EqualValues(t, imports.MaxProblems, s.db.Count(t, "SELECT count(*) FROM run_failures WHERE org_id = $1", s.p.OrgID))
	require.EqualValues(t, 8000, s.db.Count(t, "SELECT (counts->>'failed')::bigint FROM runs WHERE org_id = $1", s.p.OrgID))
	s.empty()
}
