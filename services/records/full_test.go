package records_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/records"
)

// full enumerates records of Account in one page and returns the run.
func (s *system) full(recs ...connectors.Record) uuid.UUID {
	s.tb.Helper()
	run := s.newRun(s.org)
	_, err := s.svc.BeginFull(s.tb.Context(), s.org, models.CRMA, "Account", run)
	require.NoError(s.tb, err)
	in := s.input("Account", recs...)
	in.RunID, in.Full, in.Page.Done = run, true, true
	_, err = s.svc.StorePage(s.tb.Context(), in)
	require.NoError(s.tb, err)
	return run
}

func TestTombstones(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var all []connectors.Record
	for i := range 10 {
		all = append(all, live(fmt.Sprint("A", i), 1, account(fmt.Sprint("Account ", i), "")))
	}
	tombstone := func(run uuid.UUID, confirmed bool) (records.Result, error) {
		return s.svc.TombstoneUnseen(t.Context(), records.TombstoneInput{OrgID: s.org, RunID: run, Provider: models.CRMA, Mapping: compiled(t, "Account"), Confirmed: confirmed})
	}
	dead := func() int64 { return s.count("SELECT count(*) FROM accounts WHERE deleted_at IS NOT NULL") }
	finish := func(run uuid.UUID) {
		require.NoError(t, s.svc.FinishFull(t.Context(), s.org, models.CRMA, "Account", run))
		require.Zero(t, s.count("SELECT count(*) FROM sync_seen"))
	}

	run := s.full(all...)
	require.Zero(t, s.count("SELECT count(*) FROM sync_seen"), "the first load notes nothing")
	out, err := tombstone(run, false)
	require.NoError(t, err)
	require.Zero(t, out)
	finish(run)
	_, err = tombstone(run, false)
	require.True(t, fault.Is(err, fault.Conflict), "the enumeration is over")

	run = s.full(append(all[:6:6], live("A8", 1, `{}`))...) // A8 is there and cannot be read
	out, err = tombstone(run, false)
	require.NoError(t, err)
	require.Equal(t, records.Counts{Read: 3, Deleted: 3}, out.Counts)
	require.EqualValues(t, 3, dead())
	finish(run)

	run = s.full(all[0])
	out, err = tombstone(run, false)
	require.NoError(t, err)
	require.Zero(t, out.Counts)
	require.Equal(t, "deletions_refused", out.Warnings[0].Code)
	require.EqualValues(t, 3, dead(), "too many at once")
	out, err = tombstone(run, true)
	require.NoError(t, err)
	require.EqualValues(t, 6, out.Deleted)
	finish(run)

	run = s.newRun(s.org)
	cur, err := s.svc.BeginFull(t.Context(), s.org, models.CRMA, "Account", run)
	require.NoError(t, err)
	require.Empty(t, cur.Cursor)
	in := s.input("Account", all[1])
	in.RunID, in.Full = run, true
	_, err = s.svc.StorePage(t.Context(), in)
	require.NoError(t, err)
	_, err = tombstone(run, true)
	require.True(t, fault.Is(err, fault.Conflict), "an incomplete enumeration tells nothing")
	cur, err = s.svc.BeginFull(t.Context(), s.org, models.CRMA, "Account", run)
	require.NoError(t, err)
	require.Equal(t, "next", cur.Cursor, "the same run goes on")
	require.EqualValues(t, 8, dead(), "what comes again lives again")
}

func TestRemapEqualsAFreshPull(t *testing.T) {
	t.Parallel()
	s := setup(t)
	recs := []connectors.Record{
		live("A1", 1, account("Maple", `,"ARR__c":1200.50,"Seats__c":40,"Alt_Seats__c":44,"Type":"Customer","BillingState":"TX"`)),
		live("A2", 2, account("Oak", `,"Seats__c":7,"Alt_Name__c":"Oaks","Alt_Seats__c":"x"`)),
		live("A3", 3, `{"Alt_Name__c":"Only here","ARR__c":3}`), live("A4", 4, account("Gone", `,"ARR__c":9`)),
	}
	changed := entries("Account", "name", "Name", "seats", "Alt_Seats__c", "arr_cents", "ARR__c", "state", "BillingState")
	m, err := records.Compile(objects, "Account", changed)
	require.NoError(t, err)
	state := func(org uuid.UUID) []string {
		return s.lines(`SELECT a.external_id, to_jsonb(a) - '{org_id,id,mapping_id,created_at,updated_at,deleted_at}'::text[], a.deleted_at IS NULL, l.arr_cents
			FROM accounts a LEFT JOIN subscription_lines l ON l.org_id = a.org_id AND l.account_id = a.id WHERE a.org_id = $1 ORDER BY a.external_id`, org)
	}
	first := s.org
	s.page("Account", recs...)
	s.page("Account", gone("A4", 5))
	remap := func(m *records.Mapping) (sum records.Counts) {
		*s.clock = s.clock.Add(time.Hour)
		for after, more := "", true; more; more = after != "" {
			next, out, err := s.svc.Remap(t.Context(), records.RemapInput{OrgID: first, RunID: s.run, Provider: models.CRMA, Mapping: m, After: after, Limit: 2})
			require.NoError(t, err)
			sum, after = sum.Add(out.Counts), next
		}
		return sum
	}
	run := s.run
	require.Equal(t, records.Counts{Read: 4, Updated: 3, Failed: 1}, remap(m))
	require.Equal(t, records.Counts{Read: 4, Unchanged: 3, Failed: 1}, remap(m), "doing it again changes nothing")
	require.EqualValues(t, 1, s.count("SELECT count(*) FROM feature_facts WHERE feature = 'seats' AND value = 44"))

	s.org, s.run = s.newOrg()
	in := s.input("Account", recs...)
	in.Mapping = m
	_, err = s.svc.StorePage(t.Context(), in)
	require.NoError(t, err)
	in.Page.Records = []connectors.Record{gone("A4", 5)}
	_, err = s.svc.StorePage(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, state(s.org), state(first))

	s.run = run
	other, err := records.Compile(objects, "Account", entries("Account", "name", "Alt_Name__c"))
	require.NoError(t, err)
	require.Equal(t, records.Counts{Read: 4, Created: 1, Updated: 1, Failed: 2}, remap(other))
	require.Equal(t, []string{"A3 Only here"}, s.lines("SELECT external_id, name FROM accounts WHERE org_id = $1 AND external_id = 'A3'", first), "what failed before is taken now")
	require.Equal(t, []string{"<nil> <nil>"}, s.lines("SELECT seats, arr_cents FROM accounts WHERE org_id = $1 AND external_id = 'A2'", first), "a field without a source is null")
}
