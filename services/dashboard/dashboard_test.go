package dashboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/dashboard"
	"revarch/services/paging"
	"revarch/services/readiness"
	"revarch/testkit"
)

type system struct {
	tb  testing.TB
	db  testkit.DB
	svc *dashboard.Service
	now time.Time
	p   auth.Principal
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.App, 4)
	s := &system{tb: tb, db: db, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), p: viewer(db.NewOrg(tb, "First"))}
	clock := func() time.Time { return s.now }
	s.svc = &dashboard.Service{Store: st, Clock: clock, Readiness: &readiness.Service{Store: st, Clock: clock, Cursors: paging.New([]byte("secret"))}}
	return s
}

func viewer(org uuid.UUID) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Role: auth.Viewer, Surface: "rest"}
}

func (s *system) account(arr *int64, risk *float64, territory string) uuid.UUID {
	id := models.NewID()
	s.db.Exec(s.tb, `WITH a AS (INSERT INTO accounts (org_id, id, provider, external_id, name, territory, mapping_id) VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, 'A', $5, 1)),
		s AS (INSERT INTO scores (org_id, account_id, model, composite, coverage, model_version, computed_at, took_us, body) VALUES ($1, $2::uuid, 'risk', $4, 0.9, 'v', now(), 1, ''))
		INSERT INTO account_arr (org_id, account_id, arr_cents, as_of) VALUES ($1, $2::uuid, $3, '2026-05-01')`, s.p.OrgID, id, arr, risk, territory)
	return id
}

// deal is an open deal unless closed.
type deal struct {
	account     *uuid.UUID
	cents       *int64
	probability *float64
	category    string
	stage       string
	close       string
	owner       string
	closed      bool
}

func (s *system) deal(org uuid.UUID, d deal) {
	s.db.Exec(s.tb, `INSERT INTO opportunities (org_id, id, provider, external_id, account_id, name, stage, amount_cents, probability, forecast_category, close_date, owner_external_id, is_closed, mapping_id)
		VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, $3, 'D', $4, $5, $6, NULLIF($7, ''), NULLIF($8, '')::date, NULLIF($9, ''), $10, 1)`, org, models.NewID(), d.account, d.stage, d.cents, d.probability, d.category, d.close, d.owner, d.closed)
}

func (s *system) pipeline(in dashboard.PipelineInput) dashboard.Pipeline {
	s.tb.Helper()
	out, err := s.svc.Pipeline(s.tb.Context(), s.p, in)
	require.NoError(s.tb, err)
	return out
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	s := setup(t)
	get := func(in dashboard.Input) dashboard.Dashboard {
		t.Helper()
		d, err := s.svc.Dashboard(t.Context(), s.p, in)
		require.NoError(t, err)
		return d
	}

	t.Run("is null with a reason where nothing is known", func(t *testing.T) {
		d := get(dashboard.Input{})
		require.Nil(t, d.ARRCents)
		require.Equal(t, "no_data", *d.ARRReason)
		require.Nil(t, d.AtRiskAccounts)
		require.Equal(t, "no_history", *d.NRRReason)
		require.Equal(t, "not_available", *d.ActiveSignalReason)
		require.Nil(t, d.PipelineCents)
		require.Nil(t, d.OppCount)
		require.Equal(t, "no_data", *d.PipelineReason)
		p := s.pipeline(dashboard.PipelineInput{})
		require.Nil(t, p.OpenCents)
		require.Equal(t, "no_data", *p.Reason)
		require.Equal(t, "blocked", d.DataReadiness.Level)
	})
	t.Run("knows that a synced CRM has no deals", func(t *testing.T) {
		s.db.Exec(t, "INSERT INTO connections (org_id, id, provider, status, last_sync_at) VALUES ($1, $2, 'crm_a', 'connected', now())", s.p.OrgID, models.NewID())
		require.Zero(t, *get(dashboard.Input{}).PipelineCents)
		require.Zero(t, *s.pipeline(dashboard.PipelineInput{}).OpenCents)
	})

	s.db.Exec(t, "INSERT INTO readiness_tallies (org_id, checked_at, counts) VALUES ($1, now(), '{}')", s.p.OrgID) // these scores cannot be judged
	north := s.account(new(int64(10_050)), new(75.0), "North")
	south := s.account(new(int64(-50)), new(55.0), "South")
	s.account(nil, new(54.9), "South")
	s.deal(s.p.OrgID, deal{account: &north, cents: new(int64(700)), stage: "S"})
	s.deal(s.p.OrgID, deal{account: &south, stage: "S"})
	s.deal(s.p.OrgID, deal{account: &south, cents: new(int64(9)), stage: "S", closed: true})

	t.Run("sums what is known", func(t *testing.T) {
		d := get(dashboard.Input{})
		require.EqualValues(t, 10_000, *d.ARRCents)
		require.Equal(t, "2026-05-01", *d.ARRAsOf)
		require.EqualValues(t, 700, *d.PipelineCents)
		require.EqualValues(t, 2, *d.OppCount)
		require.EqualValues(t, 1, *d.OppCountNoAmount)
		require.EqualValues(t, 2, *d.AtRiskAccounts)
		require.Equal(t, s.now, d.AsOf)
		require.Equal(t, "USD", d.Currency)
	})
	t.Run("narrows to a territory", func(t *testing.T) {
		d := get(dashboard.Input{Territory: "south"})
		require.EqualValues(t, -50, *d.ARRCents)
		require.EqualValues(t, 0, *d.PipelineCents)
		require.EqualValues(t, 1, *d.AtRiskAccounts)
	})
	fact := func(account uuid.UUID, at string, value any) {
		s.db.Exec(t, "INSERT INTO feature_facts (org_id, account_id, feature, known_at, valid_at, value, source_ref) VALUES ($1, $2, 'arr', $3, $3, $4, '')", s.p.OrgID, account, at, value)
	}
	t.Run("tells of the past what was known then", func(t *testing.T) {
		fact(north, "2026-03-01T00:00:00Z", 80.25)
		fact(north, "2026-04-01T00:00:00Z", 90)
		d := get(dashboard.Input{AsOf: "2026-03-15"})
		require.EqualValues(t, 8025, *d.ARRCents)
		require.Nil(t, d.PipelineCents)
		require.Equal(t, "not_recorded", *d.PipelineReason)
		require.Equal(t, "no_data", *get(dashboard.Input{AsOf: "2026-02-01"}).ARRReason)
		_, err := s.svc.Dashboard(t.Context(), s.p, dashboard.Input{AsOf: "2026-05-02"})
		require.True(t, fault.Is(err, fault.Invalid), "the future")
		require.Equal(t, "no_history", *get(dashboard.Input{}).NRRReason)
	})
	t.Run("knows retention once there is a year of history", func(t *testing.T) {
		merged, lost := s.account(nil, nil, ""), s.account(nil, nil, "")
		s.db.Exec(t, "UPDATE accounts SET merged_into = $2, deleted_at = now() WHERE id = $1", merged, north)
		s.db.Exec(t, "UPDATE accounts SET deleted_at = now() WHERE id = $1", lost)
		fact(north, "2025-04-01T00:00:00Z", 50)
		fact(merged, "2025-04-01T00:00:00Z", 30)
		fact(lost, "2025-04-01T00:00:00Z", 20)
		d := get(dashboard.Input{}) // 10,050 now of 10,000 then
		require.InDelta(t, 1.005, *d.NRR, 1e-9)
		require.True(t, d.NRRLowN)
		require.Nil(t, d.NRRReason)
	})
	t.Run("shows another organization nothing", func(t *testing.T) {
		d, err := s.svc.Dashboard(t.Context(), viewer(s.db.NewOrg(t, "Second")), dashboard.Input{})
		require.NoError(t, err)
		require.Nil(t, d.ARRCents)
		require.Nil(t, d.PipelineCents)
		require.Nil(t, d.AtRiskAccounts)
	})
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	s := setup(t)
	west := s.account(new(int64(100)), nil, "West")
	for _, d := range []deal{
		{account: &west, cents: new(int64(10_001)), probability: new(0.9), category: "Commit", stage: "Contract", close: "2026-06-30", owner: "u1"},
		{cents: new(int64(5_000)), probability: new(0.5), category: "Best Case", stage: "Demo", close: "2026-07-01", owner: "u2"},
		{cents: new(int64(2_000)), probability: new(0.1), category: "Pipeline", stage: "Demo", close: "2026-04-30"},
		{cents: new(int64(1_000)), category: "Omitted", stage: "Lead"},
		{category: "Pipeline", stage: "Lead"},
		{cents: new(int64(99)), category: "Closed", stage: "Won", closed: true},
	} {
		s.deal(s.p.OrgID, d)
	}

	t.Run("sums by category, best case cumulative", func(t *testing.T) {
		p := s.pipeline(dashboard.PipelineInput{})
		require.EqualValues(t, 18_001, *p.OpenCents)
		require.EqualValues(t, 10_001, *p.CommitCents)
		require.EqualValues(t, 17_001, *p.BestCaseCents)
		require.EqualValues(t, 11_701, *p.WeightedCents) // 9,000.9 + 2,500 + 200
		require.EqualValues(t, 5, *p.OppCount)
		require.EqualValues(t, 1, *p.OppCountNoAmount)
		require.EqualValues(t, 1, *p.OppCountNoProbability)
		require.EqualValues(t, 1, *p.OverdueClose)
		require.Equal(t, "no_quota", *p.CoverageReason)
		require.EqualValues(t, 100, *p.ARRCents)
	})
	t.Run("narrows by owner and territory", func(t *testing.T) {
		require.EqualValues(t, 5_000, *s.pipeline(dashboard.PipelineInput{Owner: "u2"}).OpenCents)
		require.EqualValues(t, 10_001, *s.pipeline(dashboard.PipelineInput{Territory: "west"}).OpenCents)
	})
	t.Run("knows fiscal quarters", func(t *testing.T) { // the year starts in July: 1 May 2026 is in 2026-Q4
		p := s.pipeline(dashboard.PipelineInput{Period: "current"})
		require.Equal(t, dashboard.FiscalPeriod{Label: "2026-Q4", Start: "2026-04-01", End: "2026-06-30"}, *p.Period)
		require.EqualValues(t, 12_001, *p.OpenCents)
		p = s.pipeline(dashboard.PipelineInput{Period: "next"})
		require.Equal(t, dashboard.FiscalPeriod{Label: "2027-Q1", Start: "2026-07-01", End: "2026-09-30"}, *p.Period)
		require.EqualValues(t, 5_000, *p.OpenCents)
		require.Equal(t, p, s.pipeline(dashboard.PipelineInput{Period: "2027-Q1"}))
		s.db.Exec(t, "UPDATE orgs SET fiscal_year_start_month = 1 WHERE id = $1", s.p.OrgID)
		require.Equal(t, dashboard.FiscalPeriod{Label: "2026-Q2", Start: "2026-04-01", End: "2026-06-30"}, *s.pipeline(dashboard.PipelineInput{Period: "current"}).Period)
		for _, bad := range []string{"2026", "2026-Q5", "Q3", "last", "2026-Q33"} {
			_, err := s.svc.Pipeline(t.Context(), s.p, dashboard.PipelineInput{Period: bad})
			require.True(t, fault.Is(err, fault.Invalid), bad)
		}
	})
}

// The parts that are shown sum to the totals that are shown, to the cent.
func TestPipelinePartsSumToTotals(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.p = viewer(s.db.NewOrg(t, "Sums"))
		for range rapid.IntRange(1, 6).Draw(rt, "deals") {
			s.deal(s.p.OrgID, deal{
				cents:       rapid.Ptr(rapid.Int64Range(-500, 1_000_000_001), true).Draw(rt, "cents"),
				probability: rapid.Ptr(rapid.Map(rapid.IntRange(0, 1000), func(i int) float64 { return float64(i) / 1000 }), true).Draw(rt, "p"),
				category:    rapid.SampledFrom([]string{"Commit", "Best Case", "Pipeline", "Omitted", "Most Likely", ""}).Draw(rt, "category"),
				stage:       fmt.Sprint("Stage ", rapid.IntRange(1, 3).Draw(rt, "stage")),
			})
		}
		p := s.pipeline(dashboard.PipelineInput{})
		for _, parts := range [][]dashboard.PipelinePart{p.ByCategory, p.ByStage} {
			var amount, weighted, count, noAmount int64
			for _, x := range parts {
				amount, weighted, count, noAmount = amount+x.AmountCents, weighted+x.WeightedCents, count+x.OppCount, noAmount+x.OppCountNoAmount
			}
			require.Equal(rt, *p.OpenCents, amount)
			require.Equal(rt, *p.WeightedCents, weighted)
			require.Equal(rt, *p.OppCount, count)
			require.Equal(rt, *p.OppCountNoAmount, noAmount)
		}
	})
}
