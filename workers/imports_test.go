package workers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/sandbox"
	"revarch/services/imports"
)

func (s *system) startImport(resource, body string) models.Run {
	s.tb.Helper()
	run, already, err := s.imports.Import(s.tb.Context(), s.admin, imports.ImportInput{Resource: resource, Body: strings.NewReader(body)})
	require.NoError(s.tb, err)
	require.False(s.tb, already)
	return run
}

// imported imports a file to its end and checks that nothing of it is left lying about.
func (s *system) imported(resource, body string) models.Run {
	s.tb.Helper()
	got := s.ended(s.startImport(resource, body))
	require.Zero(s.tb, s.number("SELECT (SELECT count(*) FROM import_rows WHERE org_id = $1) + (SELECT count(*) FROM imports WHERE org_id = $1) + (SELECT count(*) FROM uploads WHERE org_id = $1)"))
	return got
}

func TestImports(t *testing.T) {
	t.Parallel()

	t.Run("accounts, products and what accounts bought become records, links, lines, facts and scores, once", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		s.work(s.process)
		accounts := "\ufeffexternal_id,name,segment,state,nces_id,unitid,arr_usd,status\r\nA1,\"Maple, \"\"Grove\"\" ISD\",Enterprise,tx,4812345,,1200.50,customer\r\nA2,Oak,SMB,,,228723,,Prospect\r\n"
		got := s.imported("accounts", accounts)
		require.Equal(t, models.RunSucceeded, got.Status, "%v", got.ErrorMessage)
		require.EqualValues(t, 2, got.Counts["created"])
		require.EqualValues(t, 2, got.Counts["accounts_scored"])
		require.Equal(t, models.RunSucceeded, s.imported("products", "name,sku,list_price_usd,active\nReading,R-1,10,\nMath,M/1,12.5,false\n").Status)
		lines := "account_external_id,sku,arr_usd,start_date,end_date,quantity\nA1,R-1,700.00,2026-01-01,2027-12-31,70\nA1,R-1,50,2026-03-01,2027-12-31,5\nA2,M/1,,,,\n"
		got = s.imported("account_products", lines)
		require.Equal(t, models.RunSucceeded, got.Status, "%v", got.ErrorMessage)
		require.EqualValues(t, 3, got.Counts["created"])

		require.EqualValues(t, 1, s.number(`SELECT count(*) FROM accounts WHERE org_id = $1 AND external_id = 'A1' AND name = 'Maple, "Grove" ISD' AND state = 'TX'
			AND nces_id = '4812345' AND arr_cents = 120050 AND status = 'customer' AND normalized_name <> '' AND provider = 'csv'`))
		require.EqualValues(t, 120050, s.number("SELECT sum(arr_cents)::bigint FROM subscription_lines WHERE org_id = $1 AND source = 'account_total'"))
		require.EqualValues(t, 75000, s.number("SELECT sum(arr_cents)::bigint FROM subscription_lines WHERE org_id = $1 AND source = 'product'"))
		require.EqualValues(t, 75000, s.number("SELECT r.arr_cents FROM account_arr r JOIN accounts a ON a.org_id = r.org_id AND a.id = r.account_id WHERE r.org_id = $1 AND external_id = 'A1'"))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM feature_facts WHERE org_id = $1 AND feature = 'arr' AND value = 1200.5"))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM products WHERE org_id = $1 AND sku = 'R-1' AND active AND list_price_cents = 1000"))
		require.EqualValues(t, 3, s.number("SELECT count(*) FROM account_products WHERE org_id = $1 AND account_id IS NOT NULL AND product_id IS NOT NULL AND status = 'active'"))
		require.EqualValues(t, 7, s.number("SELECT count(*) FROM record_links WHERE org_id = $1 AND provider = 'csv'"))
		require.EqualValues(t, 3, s.number("SELECT count(*) FROM governance_log WHERE org_id = $1 AND tool = 'import-file' AND outcome = 'ok' AND actor_label = 'ada@example.com'"))

		again := s.imported("accounts", accounts)
		require.Equal(t, models.RunSucceeded, again.Status)
		require.EqualValues(t, 2, again.Counts["unchanged"])
		require.Zero(t, again.Counts["created"]+again.Counts["updated"])
		changed := s.imported("accounts", "external_id,name,arr_usd\nA1,Maple,\nA3,Elm,5\n")
		require.EqualValues(t, 1, changed.Counts["updated"])
		require.EqualValues(t, 1, changed.Counts["created"])
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM accounts WHERE org_id = $1 AND name = 'Maple' AND segment = 'Enterprise' AND arr_cents IS NULL"), "columns that are not in the file stay")
		require.EqualValues(t, 500, s.number("SELECT sum(arr_cents)::bigint FROM subscription_lines WHERE org_id = $1 AND source = 'account_total'"))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM feature_facts WHERE org_id = $1 AND feature = 'arr' AND value IS NULL"))
		require.EqualValues(t, 3, s.imported("account_products", lines).Counts["unchanged"])
	})

	t.Run("one bad row, even the last, leaves everything as it was and is named", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		s.work(s.process)
		var b strings.Builder
		b.WriteString("external_id,name,arr_usd\n")
		for i := range 12_000 {
			fmt.Fprintf(&b, "A%d,Account %d,%d\n", i, i, i)
		}
		b.WriteString("A12000,Last,12.345\n")
		got := s.imported("accounts", b.String())
		require.Equal(t, models.RunFailed, got.Status)
		require.Equal(t, "bad_file", *got.ErrorCode)
		require.Equal(t, "1 of 12001 rows cannot be imported, so nothing was changed. Line 12002: arr_usd must be an amount in dollars with at most two decimals, such as 1200.50.", *got.ErrorMessage)
		require.EqualValues(t, 12001, got.Counts["read"])
		require.EqualValues(t, 1, got.Counts["failed"])
		failures, more, err := s.runs.Failures(t.Context(), s.org(), got.ID, "", "", 10)
		require.NoError(t, err)
		require.False(t, more)
		require.Equal(t, "line 000012002 arr_usd", failures[0].ExternalID)
		require.Zero(t, s.number("SELECT (SELECT count(*) FROM accounts WHERE org_id = $1) + (SELECT count(*) FROM record_links WHERE org_id = $1) + (SELECT count(*) FROM subscription_lines WHERE org_id = $1) + (SELECT count(*) FROM feature_facts WHERE org_id = $1)"))
		require.Zero(t, s.number("SELECT count(*) FROM governance_log WHERE org_id = $1 AND tool = 'import-file' AND outcome = 'ok'"))

		twice := s.imported("accounts", "external_id,name\nA,One\nB,Two\nA,Three\n")
		require.Equal(t, models.RunFailed, twice.Status)
		require.Contains(t, *twice.ErrorMessage, "Line 4: external_id is there already in a row before.")
	})

	t.Run("ids resolve over the providers of one's own organization, and never those of another", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 20})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		ids, err := s.box.IDs(t.Context(), "Account")
		require.NoError(t, err)
		sku := "R-9"
		require.Equal(t, models.RunSucceeded, s.imported("products", "sku,name\nR-9,Nine\n").Status)
		line := "account_external_id,sku,arr_usd\n" + ids[0] + "," + sku + ",99.99\n"
		require.Equal(t, models.RunSucceeded, s.imported("account_products", line).Status)
		require.EqualValues(t, 9999, s.number(`SELECT sum(l.arr_cents)::bigint FROM subscription_lines l JOIN accounts a ON a.org_id = l.org_id AND a.id = l.account_id
			WHERE l.org_id = $1 AND l.provider = 'csv' AND a.provider = 'crm_a' AND a.external_id = $2`, ids[0]))
		s.succeeded(s.sync(true))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM subscription_lines WHERE org_id = $1 AND provider = 'csv'"), "a sync leaves it alone")

		require.Equal(t, models.RunSucceeded, s.imported("accounts", "external_id,name\n"+ids[0]+",Twin\n").Status)
		report, err := s.imports.DryRun(t.Context(), s.admin, imports.ImportInput{Resource: "account_products", Body: strings.NewReader(line)})
		require.NoError(t, err)
		require.Equal(t, []imports.Problem{{Line: 2, Column: "account_external_id", Reason: "is the id of several accounts"}}, report.Errors)

		other := auth.Principal{OrgID: s.db.NewOrg(t, "Other"), Kind: "user", ID: models.NewID(), Label: "bob@example.com", Role: auth.Admin, Surface: "rest"}
		report, err = s.imports.DryRun(t.Context(), other, imports.ImportInput{Resource: "account_products", Body: strings.NewReader(line)})
		require.NoError(t, err)
		require.Equal(t, []imports.Problem{
			{Line: 2, Column: "account_external_id", Reason: "is the id of no account"},
			{Line: 2, Column: "sku", Reason: "is the code of no product"},
		}, report.Errors)
		require.EqualValues(t, 1, report.Bad)
	})

	t.Run("a worker that is killed in the middle of a file leaves exactly its rows", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		kill := s.spawn()
		var b strings.Builder
		b.WriteString("external_id,name,segment,state,nces_id,unitid,arr_usd,status\n")
		const rows = 150_000
		for i := range rows {
			fmt.Fprintf(&b, "A%d,\"Maple\n%d\",SMB,TX,,,%d.25,prospect\n", i, i, i)
		}
		run := s.startImport("accounts", b.String())
		s.until("a part of the file is staged", func() bool {
			n := s.number("SELECT COALESCE(sum(rows), 0)::bigint FROM imports WHERE org_id = $1")
			return n > 0 && n < rows
		})
		kill()
		before := s.number("SELECT sum(rows)::bigint FROM imports WHERE org_id = $1")
		require.Equal(t, before, s.number("SELECT count(*) FROM import_rows WHERE org_id = $1"))
		s.work(s.process)
		got := s.succeeded(run)
		require.EqualValues(t, rows, got.Counts["created"])
		require.EqualValues(t, rows, s.number("SELECT count(*) FROM accounts WHERE org_id = $1"))
		require.EqualValues(t, rows, s.number("SELECT count(*) FROM subscription_lines WHERE org_id = $1"))
		require.Zero(t, s.number("SELECT count(*) FROM import_rows WHERE org_id = $1"))
	})

	t.Run("only one file of a kind is imported at a time, and cancelling leaves nothing", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1})
		run := s.startImport("products", "sku,name\nA,B\n") // no worker: it waits
		same, already, err := s.imports.Import(t.Context(), s.admin, imports.ImportInput{Resource: "products", Body: strings.NewReader("sku,name\nC,D\n")})
		require.NoError(t, err)
		require.True(t, already)
		require.Equal(t, run.ID, same.ID)
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM uploads WHERE org_id = $1"))
		_, err = s.runs.Cancel(t.Context(), s.admin, run.ID)
		require.NoError(t, err)
		s.work(s.process)
		require.Equal(t, models.RunCancelled, s.ended(run).Status)
		require.Zero(t, s.number("SELECT (SELECT count(*) FROM uploads WHERE org_id = $1) + (SELECT count(*) FROM products WHERE org_id = $1)"))
		viewer := s.admin
		viewer.Role = auth.Rep
		_, _, err = s.imports.Import(t.Context(), viewer, imports.ImportInput{Resource: "products", Body: strings.NewReader("sku,name\nC,D\n")})
		require.Equal(t, fault.Denied, fault.CodeOf(err))
	})
}
