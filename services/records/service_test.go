package records_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/records"
)

func account(name string, more string) string { return fmt.Sprintf(`{"Name":%q%s}`, name, more) }

func TestStorePage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	first := []connectors.Record{
		live("A1", 1, account("Maple", `,"ARR__c":1200.50,"Seats__c":40,"BillingState":"Texas","Competitor__c":"Acme"`)),
		live("A2", 2, account("Oak", `,"LastViewedDate":"2026-01-01"`)),
	}

	out := s.page("Account", first...)
	require.Equal(t, records.Counts{Read: 2, Created: 2}, out.Counts)
	require.Equal(t, []string{"A1 Maple maple TX 120050 40", "A2 Oak oak <nil> <nil> <nil>"},
		s.lines("SELECT external_id, name, normalized_name, state, arr_cents, seats FROM accounts ORDER BY external_id"))
	require.Equal(t, []string{"A1 120050"}, s.lines("SELECT external_id, arr_cents FROM subscription_lines"))
	require.Equal(t, []string{"next 2"}, s.lines("SELECT cursor, pulled FROM sync_cursors"))

	before := s.lines("SELECT xmin::text, id::text FROM accounts ORDER BY id")
	out = s.page("Account", first...)
	require.Equal(t, records.Counts{Read: 2, Unchanged: 2}, out.Counts, "the same page again")
	out = s.page("Account", live("A2", 3, account("Oak", `,"LastViewedDate":"2026-02-02"`)))
	require.Equal(t, records.Counts{Read: 1, Unchanged: 1}, out.Counts, "a volatile field")
	require.Equal(t, before, s.lines("SELECT xmin::text, id::text FROM accounts ORDER BY id"))

	out = s.page("Account", live("A1", 5, account("Maple Grove", `,"ARR__c":null`)), gone("A9", 5), live("A3", 1, account("Pine", "")), live("A3", 2, account("Pines", "")))
	require.Equal(t, records.Counts{Read: 4, Created: 1, Updated: 1, Unchanged: 2}, out.Counts)
	require.Equal(t, []string{"A1 Maple Grove", "A2 Oak", "A3 Pines"}, s.lines("SELECT external_id, name FROM accounts ORDER BY external_id"))
	require.Zero(t, s.count("SELECT count(*) FROM subscription_lines"), "an ARR that is gone has no line")

	out = s.page("Account", live("A1", 4, account("Older", "")))
	require.Equal(t, records.Counts{Read: 1, Unchanged: 1}, out.Counts, "an older version")
}

func TestBadRecordsAreNotedAndSkipped(t *testing.T) {
	t.Parallel()
	s := setup(t)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	out := s.page("Account",
		live("ok", 1, account("Good", `,"Seats__c":"many","CSAT_90d__c":99,"Type":"Customer"`)),
		live("none", 1, `{"Website":"a.org"}`),
		live("torn", 1, `{"Name":"x"`),
		live("list", 1, `[1]`),
		live("deep", 1, account("Deep", `,"x":`+deep)),
		live("long", 1, account(strings.Repeat("n", 1001), "")),
		live("huge", 1, account("Huge", `,"x":"`+strings.Repeat("x", 1<<20)+`"`)),
		live("", 1, account("No id", "")),
		live("nul", 1, account("N\\u0000UL \\ud83d\\ude00 \\ud800", `,"k\u0000":"v\u0000","big":1e999999,"n":[{"deep":-1e-999999}]`)[0:])) // JSON escapes
	require.Equal(t, records.Counts{Read: 9, Created: 2, Failed: 7}, out.Counts)
	require.Equal(t, []string{
		"deep malformed_record", "huge record_too_large", "list malformed_record", "long bad_value", "none missing_required",
		"record 8 of a page bad_id", "torn malformed_record",
	}, s.lines(`SELECT external_id, code FROM run_failures ORDER BY external_id COLLATE "C"`))
	require.Len(t, out.Warnings, 2)
	require.Equal(t, models.RunWarning{Code: "bad_value", Count: 1, Message: "Values of Account.CSAT_90d__c that do not fit CSAT, last 90 days were left out."}, out.Warnings[0])
	require.Equal(t, []string{"many <nil>"}, s.lines("SELECT r.payload->>'Seats__c', a.seats FROM raw_records r JOIN accounts a USING (external_id) WHERE external_id = 'ok'"))
	require.EqualValues(t, 1, s.count("SELECT count(*) FROM raw_records WHERE external_id = 'none'"), "what can be kept is kept raw")

	again := s.page("Account", live("none", 1, `{"Website":"a.org"}`))
	require.Equal(t, records.Counts{Read: 1, Failed: 1}, again.Counts, "it fails again")
	mended := s.page("Account", live("none", 2, account("Named", "")))
	require.Equal(t, records.Counts{Read: 1, Created: 1}, mended.Counts)
}

func TestAFailedTransactionLeavesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.page("Account", live("A1", 1, account("Maple", "")))
	state := func() []string {
		return s.lines(`SELECT (SELECT count(*) FROM raw_records), (SELECT count(*) FROM accounts), (SELECT count(*) FROM record_links),
			(SELECT count(*) FROM feature_facts), (SELECT cursor FROM sync_cursors)`)
	}
	before := state()
	s.exec(`CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'crash'; END $$`)
	s.exec("CREATE TRIGGER crash BEFORE UPDATE ON sync_cursors FOR EACH ROW EXECUTE FUNCTION crash()")
	in := s.input("Account", live("A1", 2, account("Maples", "")), live("A2", 2, account("Oak", `,"Seats__c":3`)))
	in.Page.Next = "later"
	_, err := s.svc.StorePage(t.Context(), in)
	require.Error(t, err)
	require.Equal(t, before, state())

	s.exec("DROP TRIGGER crash ON sync_cursors")
	out, err := s.svc.StorePage(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, records.Counts{Read: 2, Created: 1, Updated: 1}, out.Counts)

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.svc.StorePage(canceled, in)
	require.ErrorIs(t, err, context.Canceled)
}

func TestFactsAreOneRowPerChange(t *testing.T) {
	t.Parallel()
	s := setup(t)
	facts := func() []string {
		return s.lines(`SELECT feature, value, to_char(known_at, 'HH24:MI:SS.US'), to_char(valid_at, 'HH24:MI') FROM feature_facts ORDER BY known_at, feature COLLATE "C"`)
	}
	s.page("Account", live("A1", 1, account("Maple", `,"ARR__c":1200.50,"Seats__c":40,"Renewal_Date__c":"1970-01-11","Competitor__c":"Acme"`)))
	first := []string{
		"arr 1200.5 12:00:00.000000 00:01", "competitor_seen 1 12:00:00.000000 00:01", "renewal_date 10 12:00:00.000000 00:01",
		"seats 40 12:00:00.000000 00:01",
	}
	require.Equal(t, first, facts())

	*s.clock = s.clock.Add(time.Hour)
	s.page("Account", live("A1", 2, account("Maple!", `,"ARR__c":1200.5,"Seats__c":40,"Renewal_Date__c":"1970-01-11","Competitor__c":"Acme Corp"`)))
	require.Equal(t, first, facts(), "nothing that is a fact changed")

	s.page("Account", live("A1", 3, account("Maple!", `,"ARR__c":1200.5,"Seats__c":41,"Renewal_Date__c":null,"Competitor__c":"Acme Corp"`)))
	second := append(first, "renewal_date <nil> 13:00:00.000000 00:03", "seats 41 13:00:00.000000 00:03")
	require.Equal(t, second, facts())

	*s.clock = s.clock.Add(-2 * time.Hour) // a clock that runs back
	s.page("Account", live("A1", 4, account("Maple!", `,"ARR__c":1200.5,"Seats__c":42,"Competitor__c":"Acme Corp"`)))
	require.Equal(t, append(second, "seats 42 13:00:00.000001 00:04"), facts(), "a fact is known after the one before")
}

func TestChildrenFindTheirAccount(t *testing.T) {
	t.Parallel()
	s := setup(t)
	contact := `{"Name":"Ada","AccountId":"%s"}`
	s.page("Contact", live("C1", 1, fmt.Sprintf(contact, "A1")), live("C2", 1, fmt.Sprintf(contact, "A9")), live("C3", 1, `{"FirstName":"Bo","LastName":"Li"}`))
	s.page("Account", live("A1", 1, account("Maple", "")))
	s.page("Task", live("T1", 1, `{"AccountId":"A1","WhoId":"C1","TaskSubtype":"Call"}`))
	tied := `SELECT c.external_id, a.external_id FROM contacts c LEFT JOIN accounts a ON a.id = c.account_id ORDER BY 1`
	require.Equal(t, []string{"C1 <nil>", "C2 <nil>", "C3 <nil>"}, s.lines(tied))
	require.EqualValues(t, 1, s.count("SELECT count(*) FROM activities WHERE account_id IS NOT NULL AND contact_id IS NOT NULL AND type = 'call'"))

	resolved, orphans, err := s.svc.ResolveLinks(t.Context(), s.org, models.CRMA)
	require.NoError(t, err)
	require.EqualValues(t, 1, resolved)
	require.EqualValues(t, 1, orphans)
	require.Equal(t, []string{"C1 A1", "C2 <nil>", "C3 <nil>"}, s.lines(tied))
	require.Equal(t, []string{"Bo Li"}, s.lines("SELECT name FROM contacts WHERE external_id = 'C3'"))
}

func TestDeletionsAndMerges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.page("Account", live("A1", 1, account("Winner", "")), live("A2", 1, account("Loser", `,"ARR__c":5`)), live("A3", 1, account("Other", `,"ARR__c":7`)))
	s.page("Contact", live("C1", 1, `{"Name":"Ada","AccountId":"A2"}`))
	delete := func(recs ...connectors.Record) records.Counts {
		out, err := s.svc.StoreDeletions(t.Context(), records.StoreDeletionsInput{
			OrgID: s.org, RunID: s.run, Provider: models.CRMA,
			Mapping: compiled(t, "Account"), Page: connectors.DeletionsPage{Records: recs, Done: true}, Since: minute(9),
		})
		require.NoError(t, err)
		return out.Counts
	}
	merged := gone("A2", 5)
	merged.MergedInto = "A1"
	require.Equal(t, records.Counts{Read: 3, Deleted: 2, Unchanged: 1}, delete(merged, gone("A3", 5), gone("never", 5)))
	require.Equal(t, records.Counts{Read: 1, Unchanged: 1}, delete(merged))
	require.Equal(t, []string{"A1 false <nil>", "A2 true Winner", "A3 true <nil>"},
		s.lines(`SELECT a.external_id, a.deleted_at IS NOT NULL, w.name FROM accounts a LEFT JOIN accounts w ON w.id = a.merged_into ORDER BY 1`))
	require.Equal(t, []string{"Winner"}, s.lines("SELECT a.name FROM contacts c JOIN accounts a ON a.id = c.account_id"))
	require.Zero(t, s.count("SELECT count(*) FROM subscription_lines"), "what is deleted earns nothing")

	s.page("Contact", live("C2", 6, `{"Name":"Bo","AccountId":"A2"}`))
	require.EqualValues(t, 2, s.count("SELECT count(*) FROM contacts c JOIN accounts a ON a.id = c.account_id WHERE a.external_id = 'A1'"), "the loser's id stands for the winner")

	require.Equal(t, records.Counts{Read: 1, Unchanged: 1}, s.page("Account", live("A2", 1, account("Loser", `,"ARR__c":5`))).Counts, "an old version does not revive")
	require.Equal(t, records.Counts{Read: 2, Updated: 2}, s.page("Account", live("A2", 7, account("Loser", `,"ARR__c":5`)), live("A3", 7, account("Other", `,"ARR__c":7`))).Counts)
	require.Equal(t, []string{"A1 false", "A2 false", "A3 false"}, s.lines(`SELECT external_id, deleted_at IS NOT NULL OR merged_into IS NOT NULL FROM accounts ORDER BY 1`))
	require.EqualValues(t, 2, s.count("SELECT count(*) FROM contacts c JOIN accounts a ON a.id = c.account_id WHERE a.external_id = 'A2'"), "its children come back")
	require.EqualValues(t, 1200, 100*s.count("SELECT sum(arr_cents)/100 FROM subscription_lines"))
}

func TestMergesFollowChainsAndWaitForTheirWinner(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.page("Account", live("A1", 1, account("One", "")), live("A2", 1, account("Two", "")))
	s.page("Contact", live("C1", 1, `{"Name":"Ada","AccountId":"A1"}`))
	chain := []connectors.Record{gone("A1", 2), gone("A2", 2)}
	chain[0].MergedInto, chain[1].MergedInto = "A2", "A3"
	s.page("Account", chain...)
	require.Equal(t, []string{"Two"}, s.lines("SELECT a.name FROM contacts c JOIN accounts a ON a.id = c.account_id"), "the end of the chain is not there yet")
	s.page("Account", live("A3", 3, account("Three", "")))
	_, _, err := s.svc.ResolveLinks(t.Context(), s.org, models.CRMA)
	require.NoError(t, err)
	require.Equal(t, []string{"Three"}, s.lines("SELECT a.name FROM contacts c JOIN accounts a ON a.id = c.account_id"))
	require.EqualValues(t, 2, s.count("SELECT count(*) FROM accounts a JOIN accounts w ON w.id = a.merged_into WHERE w.external_id = 'A3'"))
}

func TestOrganizationsAreApart(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.page("Account", live("A1", 1, account("Of A", `,"Seats__c":1`)))
	a := s.org
	s.org, s.run = s.newOrg()
	require.Equal(t, records.Counts{Read: 1, Created: 1}, s.page("Account", live("A1", 1, account("Of B", ""))).Counts, "the same external id")
	require.Equal(t, records.Counts{Read: 1, Deleted: 1}, s.page("Account", gone("A1", 2)).Counts)
	require.Equal(t, []string{"Of A false", "Of B true"}, s.lines("SELECT name, deleted_at IS NOT NULL FROM accounts ORDER BY name"))
	cursors, err := s.svc.Cursors(t.Context(), uuid.New(), models.CRMA)
	require.NoError(t, err)
	require.Empty(t, cursors)
	id := int32(s.count("SELECT mapping_id FROM accounts WHERE org_id = $1", a))
	sources, err := s.svc.FieldSources(t.Context(), a, id)
	require.NoError(t, err)
	require.Equal(t, models.FieldSource{Provider: models.CRMA, Object: "Account", Field: "Seats__c"}, sources[id]["seats"])
	_, err = s.svc.FieldSources(t.Context(), s.org, id+1)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.svc.StorePage(t.Context(), records.StorePageInput{Mapping: compiled(t, "Account")})
	require.Error(t, err, "no organization")
}
