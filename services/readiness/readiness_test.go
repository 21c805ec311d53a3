package readiness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/paging"
	"revarch/services/readiness"
	"revarch/services/scoring"
	"revarch/testkit"
)

type system struct {
	tb     testing.TB
	db     testkit.DB
	svc    *readiness.Service
	scorer readiness.Scorer
	now    time.Time
	p      auth.Principal
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.Worker, 4)
	s := &system{tb: tb, db: db, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), p: viewer(db.NewOrg(tb, "First"))}
	clock := func() time.Time { return s.now }
	s.svc = &readiness.Service{Store: st, Clock: clock, Cursors: paging.New([]byte("secret"))}
	s.scorer = readiness.Scorer{Scoring: &scoring.Service{Store: st, Clock: clock}, Readiness: s.svc}
	return s
}

func viewer(org uuid.UUID) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Role: auth.Viewer, Surface: "rest"}
}

// good is a customer with everything that readiness asks for: contact, segment, ARR, recent activity and enough data.
func (s *system) good(name string) uuid.UUID {
	org, id, contact := s.p.OrgID, models.NewID(), models.NewID()
	s.db.Exec(s.tb, `INSERT INTO accounts (org_id, id, provider, external_id, name, status, segment, mapping_id, source_created_at, seats, active_28d, active_prior_28d,
		products_owned, products_live, p1_open, tickets_90d, csat_90d, overdue_days, onboarding_pct, goals_met_pct, renewal_date)
		VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, $3, 'customer', 'SMB', 1, '2025-01-01', 100, 60, 60, 2, 2, 0, 3, 4.2, 0, 0.9, 0.7, '2026-12-01')`, org, id, name)
	s.db.Exec(s.tb, "INSERT INTO subscription_lines (org_id, id, account_id, source, provider, external_id, arr_cents) VALUES ($1, $2, $3::uuid, 'account_total', 'crm_a', $3::uuid::text, 100000)", org, models.NewID(), id)
	s.db.Exec(s.tb, "INSERT INTO contacts (org_id, id, provider, external_id, account_id, name, email, champion, title, mapping_id) VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, $3, 'Ann', 'a@b.org', true, 'Superintendent', 1)", org, contact, id)
	s.db.Exec(s.tb, "INSERT INTO activities (org_id, id, provider, external_id, account_id, contact_id, type, on_date, mapping_id) VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, $3, $4, 'call', '2026-04-25', 1)", org, models.NewID(), id, contact)
	return id
}

func (s *system) connect(org uuid.UUID, lastSync time.Time) {
	s.db.Exec(s.tb, `INSERT INTO connections (org_id, id, provider, status, connected_at, last_sync_at) VALUES ($1, $2, 'crm_a', 'connected', $3, $4)`,
		org, models.NewID(), s.now.AddDate(0, -6, 0), lastSync)
	s.db.Exec(s.tb, "INSERT INTO field_mappings (org_id, provider, object, target_field, source_field) VALUES ($1, 'crm_a', 'Contact', 'champion', 'Champion__c'), ($1, 'crm_a', 'Account', 'competitor', 'Competitor__c'), ($1, 'crm_a', 'Task', 'on_date', 'ActivityDate')", org)
	s.db.Exec(s.tb, "INSERT INTO sync_cursors (org_id, provider, object, completed_at) VALUES ($1, 'crm_a', 'Task', $2)", org, lastSync)
}

func (s *system) score() {
	s.tb.Helper()
	_, err := s.scorer.ScoreOrg(s.tb.Context(), s.p.OrgID, uuid.Nil, nil)
	require.NoError(s.tb, err)
}

func (s *system) affected(code string) map[string][]string {
	s.tb.Helper()
	page, err := s.svc.Affected(s.tb.Context(), s.p, readiness.AffectedInput{IssueCode: code})
	require.NoError(s.tb, err)
	out := map[string][]string{}
	for _, r := range page.Records {
		require.NotEmpty(s.tb, r.Detail)
		require.NotEmpty(s.tb, r.FixHint)
		out[r.Name] = r.IssueCodes
	}
	return out
}

func TestAffected(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.connect(s.p.OrgID, s.now.Add(-time.Hour))
	s.good("Good")
	contactless, silent, mute := s.good("Contactless"), s.good("Silent"), s.good("Mute")
	s.db.Exec(t, "UPDATE contacts SET email = 'nonsense', phone = '' WHERE account_id = $1", contactless)
	s.db.Exec(t, "UPDATE activities SET on_date = '2026-01-30' WHERE account_id = $1", silent) // 91 days ago
	s.db.Exec(t, "UPDATE accounts SET segment = NULL WHERE id = $1", mute)
	free, owed := s.good("Free"), s.good("Owed")
	s.db.Exec(t, "DELETE FROM subscription_lines WHERE account_id = $1", free)
	s.db.Exec(t, "UPDATE subscription_lines SET arr_cents = -5 WHERE account_id = $1", owed)
	untracked := s.good("Untracked")
	s.db.Exec(t, "UPDATE accounts SET status = 'prospect', segment = NULL WHERE id = $1", untracked)

	t.Run("knows nothing before the first refresh", func(t *testing.T) {
		page, err := s.svc.Affected(t.Context(), s.p, readiness.AffectedInput{})
		require.NoError(t, err)
		require.Nil(t, page.CheckedAt)
		require.Empty(t, page.Records)
	})
	s.score()

	t.Run("names each issue of tracked accounts", func(t *testing.T) {
		require.Equal(t, map[string][]string{
			"Contactless": {"no_contacts"}, "Silent": {"no_recent_activity"}, "Mute": {"missing_segment"},
			"Free": {"zero_arr"}, "Owed": {"negative_arr"},
		}, s.affected(""))
		require.Equal(t, map[string][]string{"Owed": {"negative_arr"}}, s.affected("negative_arr"))
		page, err := s.svc.Affected(t.Context(), s.p, readiness.AffectedInput{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"no_contacts": 1, "no_recent_activity": 1, "missing_segment": 1, "zero_arr": 1, "negative_arr": 1, "score_imbalance": 0}, page.CountsByCode)
		require.Equal(t, s.now, *page.CheckedAt)
	})
	t.Run("tracks an account with an open deal", func(t *testing.T) {
		s.db.Exec(t, "INSERT INTO opportunities (org_id, id, provider, external_id, account_id, name, stage, mapping_id) VALUES ($1, $2, 'crm_a', 'o', $3, 'D', 'S', 1)", s.p.OrgID, models.NewID(), untracked)
		s.score()
		require.Equal(t, []string{"missing_segment"}, s.affected("missing_segment")["Untracked"])
	})
	t.Run("keeps since when and forgets what was mended or deleted", func(t *testing.T) {
		first := s.now
		s.now = s.now.Add(48 * time.Hour)
		s.db.Exec(t, "UPDATE accounts SET segment = 'SMB' WHERE id = $1", mute)
		s.db.Exec(t, "UPDATE accounts SET deleted_at = now() WHERE id = $1", owed)
		s.db.Exec(t, "UPDATE accounts SET segment = NULL WHERE id = $1", contactless)
		s.score()
		page, err := s.svc.Affected(t.Context(), s.p, readiness.AffectedInput{})
		require.NoError(t, err)
		for _, r := range page.Records {
			require.NotContains(t, []string{"Mute", "Owed"}, r.Name)
			require.Equal(t, first, r.FirstSeenAt)
		}
		require.Equal(t, []string{"missing_segment", "no_contacts"}, s.affected("missing_segment")["Contactless"])
		require.EqualValues(t, 2, s.db.Count(t, "SELECT count(DISTINCT first_seen_at) FROM account_issues WHERE account_id = $1", contactless))
	})
	t.Run("pages through all, once each", func(t *testing.T) {
		want, seen := len(s.affected("")), map[uuid.UUID]bool{}
		in := readiness.AffectedInput{Limit: 2}
		for {
			page, err := s.svc.Affected(t.Context(), s.p, in)
			require.NoError(t, err)
			for _, r := range page.Records {
				require.False(t, seen[r.AccountID])
				seen[r.AccountID] = true
			}
			if page.NextCursor == nil {
				break
			}
			in.Cursor = *page.NextCursor
		}
		require.Len(t, seen, want)
	})
	t.Run("shows another organization nothing", func(t *testing.T) {
		other := viewer(s.db.NewOrg(t, "Second"))
		page, err := s.svc.Affected(t.Context(), other, readiness.AffectedInput{})
		require.NoError(t, err)
		require.Empty(t, page.Records)
		for code, n := range page.CountsByCode {
			require.Zero(t, n, code)
		}
	})
	t.Run("refuses a code that does not exist", func(t *testing.T) {
		_, err := s.svc.Affected(t.Context(), s.p, readiness.AffectedInput{IssueCode: "bad_luck"})
		require.True(t, fault.Is(err, fault.Invalid))
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	report := func() readiness.Report {
		t.Helper()
		r, err := s.svc.Report(t.Context(), s.p)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, "blocked", report().Level)
	require.Equal(t, []string{"no_crm_connected", "never_synced", "no_tracked_accounts"}, report().Reasons)

	s.connect(s.p.OrgID, s.now.Add(-2*time.Hour))
	var ids []uuid.UUID
	for i := range 10 {
		ids = append(ids, s.good(fmt.Sprint("Account ", i)))
	}
	unready := func(n int) { // the first n lack a segment
		s.db.Exec(t, "UPDATE accounts SET segment = CASE WHEN id = ANY ($2) THEN NULL ELSE 'SMB' END WHERE org_id = $1", s.p.OrgID, ids[:n])
		s.score()
	}
	require.Equal(t, 10, report().UnscoredAccounts, "judged on the spot before the first refresh")
	for n, want := range map[int]string{1: "ready", 2: "ready", 4: "degraded", 6: "degraded", 7: "blocked"} {
		unready(n)
		r := report()
		require.Equal(t, want, r.Level, n)
		require.Equal(t, 10-n, r.ScoringReadyAccounts)
		require.Equal(t, 10, r.TotalAccounts)
		require.Equal(t, []readiness.DataIssue{{Code: "missing_segment", Count: n, Share: float64(n) / 10, Severity: "blocking"}}, r.BlockingIssues)
	}
	unready(0)
	require.Equal(t, "ready", report().Level)

	s.now = s.now.Add(23 * time.Hour) // the connection is judged now, not when scores were computed
	require.Equal(t, []string{"data_over_24_hours_old"}, report().Reasons)
	s.now = s.now.Add(7 * 24 * time.Hour)
	require.Equal(t, "blocked", report().Level)
	s.db.Exec(t, "UPDATE connections SET status = 'error', last_sync_at = $2 WHERE org_id = $1", s.p.OrgID, s.now)
	require.Equal(t, []string{"connector_failing"}, report().Reasons)
}
