package accounts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/auth"
	"revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/services/accounts"
	"revarch/services/paging"
	"revarch/services/scoring"
	"revarch/testkit"
)

type system struct {
	tb  testing.TB
	db  testkit.DB
	svc *accounts.Service
	p   auth.Principal
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.App, 4)
	clock := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	s := &system{tb: tb, db: db, p: viewer(db.NewOrg(tb, "First"))}
	s.svc = &accounts.Service{Store: st, Scores: &scoring.Service{Store: st, Clock: clock}, Clock: clock, Cursors: paging.New([]byte("secret"))}
	return s
}

func viewer(org uuid.UUID) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Role: auth.Viewer, Surface: "rest"}
}

// account is an account with its ranks; nil numbers are unknown.
type account struct {
	name         string
	risk, health *float64
	arr          *int64
	extra        string // further columns as name = value pairs
}

func (s *system) add(org uuid.UUID, a account) uuid.UUID {
	id := models.NewID()
	s.db.Exec(s.tb, `WITH a AS (INSERT INTO accounts (org_id, id, provider, external_id, name, normalized_name, mapping_id) VALUES ($1, $2::uuid, 'crm_a', $2::uuid::text, $3, $4, 1)),
		s AS (INSERT INTO scores (org_id, account_id, model, composite, coverage, model_version, computed_at, took_us, body)
			SELECT $1::uuid, $2::uuid, m.model, m.composite, 0.9, 'v', now(), 1, '' FROM (VALUES ('risk', $5::real), ('health', $6::real)) m (model, composite))
		INSERT INTO account_arr (org_id, account_id, arr_cents, as_of) VALUES ($1, $2::uuid, $7, '2026-05-01')`,
		org, id, a.name, datasets.NormalizeName(a.name), a.risk, a.health, a.arr)
	if a.extra != "" {
		s.db.Exec(s.tb, "UPDATE accounts SET "+a.extra+" WHERE id = $1", id)
	}
	return id
}

func (s *system) names(in accounts.SearchInput) []string {
	s.tb.Helper()
	page, err := s.svc.Search(s.tb.Context(), s.p, in)
	require.NoError(s.tb, err)
	return namesOf(page.Accounts)
}

func namesOf(rows []accounts.AccountRow) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r.Name)
	}
	return out
}

//go:fix inline
func ptr[T any](v T) *T { return new(v) }

func TestSearch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.add(s.p.OrgID, account{"Austin Independent School District", new(80.0), new(30.0), new(int64(500)), "segment = 'Enterprise', territory = 'South West', state = 'TX', status = 'customer', domain = 'austinisd.org', nces_id = '4808940'"})
	s.add(s.p.OrgID, account{"Boise City ISD", new(20.0), new(90.0), new(int64(9_000_000_000_001)), "state = 'ID', status = 'prospect', domain = 'boise.k12.id.us', segment = 'SMB'"})
	s.add(s.p.OrgID, account{"100% College_", nil, nil, nil, "unitid = '123456', state = 'NY'"})
	s.add(s.p.OrgID, account{"Gone", new(99.0), nil, nil, "deleted_at = now()"})

	t.Run("sorts by each number, the unknown last, and by name", func(t *testing.T) {
		require.Equal(t, []string{"Austin Independent School District", "Boise City ISD", "100% College_"}, s.names(accounts.SearchInput{}))
		for sort, first := range map[string]string{"risk": "Austin Independent School District", "health": "Boise City ISD", "arr": "Boise City ISD", "name": "100% College_"} {
			require.Equal(t, first, s.names(accounts.SearchInput{Filter: accounts.Filter{Sort: sort}})[0], sort)
		}
	})
	t.Run("says that priority is sorted by risk", func(t *testing.T) {
		page, err := s.svc.Search(t.Context(), s.p, accounts.SearchInput{Filter: accounts.Filter{Sort: "priority"}})
		require.NoError(t, err)
		require.Equal(t, "risk", page.SortedBy)
		require.Nil(t, page.Accounts[0].Priority)
		require.Equal(t, "not_available", *page.Accounts[0].PriorityReason)
		require.EqualValues(t, 3, page.Total)
		require.Equal(t, "USD", page.Currency)
	})
	t.Run("shows levels and why a score is missing", func(t *testing.T) {
		page, err := s.svc.Search(t.Context(), s.p, accounts.SearchInput{})
		require.NoError(t, err)
		require.Equal(t, "CRITICAL", *page.Accounts[0].RiskStatus)
		require.Equal(t, "CRITICAL", *page.Accounts[0].HealthStatus)
		require.Equal(t, "insufficient_data", *page.Accounts[2].Reason)
		require.Nil(t, page.Accounts[2].ARRCents)
	})
	t.Run("finds by part of a name, of a domain, and by official ids", func(t *testing.T) {
		for query, want := range map[string]string{
			"AUSTIN": "Austin Independent School District", "austin isd": "Austin Independent School District",
			"k12.id": "Boise City ISD", "4808940": "Austin Independent School District", "123456": "100% College_", "100%": "100% College_", "college_": "100% College_",
		} {
			require.Equal(t, []string{want}, s.names(accounts.SearchInput{Filter: accounts.Filter{Query: query}}), query)
		}
		require.Empty(t, s.names(accounts.SearchInput{Filter: accounts.Filter{Query: "48089"}}), "part of an id")
		require.Empty(t, s.names(accounts.SearchInput{Filter: accounts.Filter{Query: "Gone"}}))
	})
	t.Run("filters by segment, territory, state and status", func(t *testing.T) {
		for _, f := range []accounts.Filter{{Segment: "Enterprise"}, {Territory: "west"}, {State: "tx"}, {Status: "customer"}} {
			require.Equal(t, []string{"Austin Independent School District"}, s.names(accounts.SearchInput{Filter: f}))
		}
	})
	t.Run("refuses values it does not know", func(t *testing.T) {
		_, err := s.svc.Search(t.Context(), s.p, accounts.SearchInput{Filter: accounts.Filter{Segment: "Big", Sort: "luck", Query: "a\x00"}, Limit: 201})
		require.Len(t, fault.FieldsOf(err), 4)
	})
	t.Run("shows another organization nothing", func(t *testing.T) {
		other := viewer(s.db.NewOrg(t, "Second"))
		page, err := s.svc.Search(t.Context(), other, accounts.SearchInput{})
		require.NoError(t, err)
		require.Empty(t, page.Accounts)
		require.Zero(t, page.Total)
		mine, err := s.svc.Search(t.Context(), s.p, accounts.SearchInput{Limit: 1})
		require.NoError(t, err)
		_, err = s.svc.Search(t.Context(), other, accounts.SearchInput{Cursor: *mine.NextCursor})
		require.True(t, fault.Is(err, fault.Invalid))
	})
}

// Paging visits each row that was there once in the order asked for, whatever is inserted meanwhile.
func TestPagingWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	s := setup(t)
	composite := rapid.OneOf(rapid.Just[*float64](nil), rapid.Map(rapid.SampledFrom([]float64{0, 33.3, 66.6600001, 100}), ptr[float64]))
	cents := rapid.OneOf(rapid.Just[*int64](nil), rapid.Map(rapid.SampledFrom([]int64{-5, 0, 7, 900_719_925_474_099}), ptr[int64]))
	rapid.Check(t, func(rt *rapid.T) {
		p := viewer(s.db.NewOrg(t, "Paged"))
		add := func() uuid.UUID {
			return s.add(p.OrgID, account{
				name: rapid.SampledFrom([]string{"A", "a", "B", "Ä"}).Draw(rt, "name"), risk: composite.Draw(rt, "risk"),
				health: composite.Draw(rt, "health"), arr: cents.Draw(rt, "arr"),
			})
		}
		var want []uuid.UUID
		for range rapid.IntRange(0, 5).Draw(rt, "rows") {
			want = append(want, add())
		}
		s.svc.SortUpTo = rapid.SampledFrom([]int64{0, -1, 5}).Draw(rt, "sort up to") // the two ways give one order
		in := accounts.SearchInput{Filter: accounts.Filter{Sort: rapid.SampledFrom(accounts.Sorts).Draw(rt, "sort")}, Limit: rapid.IntRange(1, 3).Draw(rt, "limit")}
		var seen []uuid.UUID
		for {
			page, err := s.svc.Search(t.Context(), p, in)
			require.NoError(rt, err)
			for _, r := range page.Accounts {
				require.NotContains(rt, seen, r.AccountID)
				seen = append(seen, r.AccountID)
			}
			if page.NextCursor == nil {
				break
			}
			in.Cursor = *page.NextCursor
			if len(seen) < 8 {
				add()
			}
		}
		for _, id := range want {
			require.True(rt, slices.Contains(seen, id))
		}
	})
}

func TestGet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.p.OrgID
	entries := func(id int, object, json string) {
		s.db.Exec(t, "INSERT INTO mapping_versions (org_id, id, provider, object, hash, entries) VALUES ($1, $2, 'crm_a', $3, $4, $5)", org, id, object, []byte(object), json)
	}
	entries(1, "Account", `{"name":"Name","seats":"Seats__c","active_28d":"Active_Users_28d__c"}`)
	entries(2, "Contact", `{"name":"Name","email":"Email","left_on":"Left_Date__c"}`)
	id, loser, gone := models.NewID(), models.NewID(), models.NewID()
	for _, x := range []uuid.UUID{id, loser, gone} {
		s.db.Exec(t, `INSERT INTO accounts (org_id, id, provider, external_id, name, seats, active_28d, mapping_id, source_created_at)
			VALUES ($1, $2, 'crm_a', $3, 'Austin', 100, 30, 1, '2025-01-01')`, org, x, x.String())
	}
	s.db.Exec(t, "UPDATE accounts SET deleted_at = now(), merged_into = $2 WHERE id = $1", loser, id)
	s.db.Exec(t, "UPDATE accounts SET deleted_at = now() WHERE id = $1", gone)
	s.db.Exec(t, "INSERT INTO record_links (org_id, provider, object, external_id, record_type, record_id) VALUES ($1, 'crm_a', 'Account', 'x', 'account', $2)", org, id)
	s.db.Exec(t, `INSERT INTO subscription_lines (org_id, id, account_id, source, provider, external_id, arr_cents) VALUES ($1, $2, $3, 'account_total', 'crm_a', 'x', 1234500)`,
		org, models.NewID(), id)
	contact := models.NewID()
	s.db.Exec(t, "INSERT INTO contacts (org_id, id, provider, external_id, account_id, name, email, mapping_id) VALUES ($1, $2, 'crm_a', 'c', $3, 'Ann', 'ann@austin.org', 2)", org, contact, id)
	s.db.Exec(t, "INSERT INTO opportunities (org_id, id, provider, external_id, account_id, name, stage, amount_cents, mapping_id) VALUES ($1, $2, 'crm_a', 'o', $3, 'Deal', 'Open', 100, 3)", org, models.NewID(), id)
	s.db.Exec(t, "INSERT INTO activities (org_id, id, provider, external_id, account_id, contact_id, type, on_date, mapping_id) VALUES ($1, $2, 'crm_a', 'a', $3, $4, 'email', '2026-04-20', 4)",
		org, models.NewID(), id, contact)
	s.db.Exec(t, "INSERT INTO tasks (org_id, id, title, account_id, due_date) VALUES ($1, $2, 'Call', $3, '2026-04-30')", org, models.NewID(), id)
	product := models.NewID()
	s.db.Exec(t, "INSERT INTO products (org_id, id, provider, external_id, sku, name, mapping_id) VALUES ($1, $2, 'crm_a', 'p', 'R-1', 'Reader', 5)", org, product)
	for i, dates := range [][2]any{{"2024-07-01", "2025-06-30"}, {"2025-07-01", "2026-06-30"}, {"2026-07-01", nil}} {
		s.db.Exec(t, `INSERT INTO account_products (org_id, id, provider, external_id, account_id, product_id, arr_cents, start_date, end_date, mapping_id)
			VALUES ($1, $2, 'crm_a', $3, $4, $5, 700, $6, $7, 6)`, org, models.NewID(), fmt.Sprint(i), id, product, dates[0], dates[1])
	}
	_, err := s.svc.Scores.ScoreOrg(t.Context(), org, uuid.Nil, nil)
	require.NoError(t, err)

	t.Run("shows everything with where it came from", func(t *testing.T) {
		d, err := s.svc.Get(t.Context(), s.p, id)
		require.NoError(t, err)
		require.EqualValues(t, 1234500, *d.Account.ARRCents)
		require.Equal(t, []string{"Salesforce"}, d.Account.Sources)
		require.Equal(t, accounts.ValueSource{Field: "seats", Provider: "crm_a", Object: "Account", SourceField: "Seats__c"}, d.Sources[1])
		require.Equal(t, "2026-04-20", *d.Contacts[0].LastActivityAt)
		require.Equal(t, "Deal", d.Opportunities[0].Name)
		require.Len(t, d.Products, 3)
		require.Equal(t, accounts.Product{
			ProductID: product, SKU: new("R-1"), Name: "Reader", ARRCents: new(int64(700)), StartDate: new("2025-07-01"), EndDate: new("2026-06-30"), Owned: true,
		}, d.Products[0], "what is in force first")
		require.False(t, d.Products[1].Owned, "it has not begun")
		require.False(t, d.Products[2].Owned, "it is over")
		require.Len(t, d.Activities, 1)
		require.True(t, d.Tasks[0].Overdue)
		require.Nil(t, d.DistrictIntelligence)
		require.Nil(t, d.Scores.Priority)
		require.Empty(t, d.Truncated)
	})
	t.Run("explains each score by its sources, adding up to the composite", func(t *testing.T) {
		_, scores, err := s.svc.Health(t.Context(), s.p, id)
		require.NoError(t, err)
		for _, v := range []*scoring.ScoreView{scores.Health, scores.Risk} {
			require.Len(t, v.CategoryScores, 8)
			sources := map[string]string{}
			for _, r := range v.RuleResults {
				if r.Source != nil {
					sources[r.RuleID] = *r.Source
				}
			}
			use := map[string]string{"health": "H-AD1", "risk": "R-AD2"}[v.Model]
			require.Equal(t, "Salesforce Account.Active_Users_28d__c, Salesforce Account.Seats__c", sources[use])
		}
		require.Nil(t, scores.Health.CompositeScore, "two rules are too little")
		require.Equal(t, "insufficient_data", scores.Health.Status)
	})
	t.Run("names the account that a merged one became", func(t *testing.T) {
		_, err := s.svc.Get(t.Context(), s.p, loser)
		require.True(t, fault.Is(err, fault.NotFound))
		require.Contains(t, fault.Public(err), id.String())
	})
	t.Run("tells a foreign account from an unknown one to nobody", func(t *testing.T) {
		other := viewer(s.db.NewOrg(t, "Second"))
		unknown := models.NewID()
		want := fmt.Sprintf("no account %s", unknown)
		for _, x := range []uuid.UUID{id, loser, gone, unknown} {
			_, err := s.svc.Get(t.Context(), other, x)
			require.True(t, fault.Is(err, fault.NotFound))
			require.Len(t, fault.Public(err), len(want))
		}
		for _, x := range []*uuid.UUID{&id, nil} {
			rows := 0
			_ = s.svc.EachContact(t.Context(), other, x, func(c []accounts.Contact) error { rows += len(c); return nil })
			require.Zero(t, rows)
		}
	})
	t.Run("writes each account's ARR when scoring", func(t *testing.T) {
		require.EqualValues(t, 1234500, s.db.Count(t, "SELECT sum(arr_cents) FROM account_arr WHERE org_id = $1 AND as_of = '2026-05-01'", org))
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM account_arr WHERE org_id = $1", org))
	})
}
