package api_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/models"
	"revarch/services/accounts"
	"revarch/services/dashboard"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/paging"
	"revarch/services/readiness"
	"revarch/services/runs"
	"revarch/services/scoring"
	"revarch/services/tasks"
	"revarch/testkit"
)

// lists is a server with the resources people read and work on.
type lists struct {
	tb  testing.TB
	db  testkit.DB
	id  *identity.Service
	web http.Handler
	org uuid.UUID
	key string // with every scope, of org
}

func setupLists(tb testing.TB) *lists {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.App, 6)
	cursors := paging.New([]byte("secret"))
	log := &governance.Service{Store: st, Clock: time.Now}
	s := &lists{tb: tb, db: db, id: &identity.Service{Store: st, Log: log, Clock: time.Now}}
	scores := &scoring.Service{Store: st, Clock: time.Now}
	acc := &accounts.Service{Store: st, Scores: scores, Clock: time.Now, Cursors: cursors}
	work := &tasks.Service{Store: st, Log: log, Clock: time.Now, Cursors: cursors}
	ready := &readiness.Service{Store: st, Clock: time.Now, Cursors: cursors}
	jobs := &api.Runs{Runs: runs.New(st, nil, nil, nil), Cursors: cursors}
	server, err := api.New(s.id, log, api.Options{Cursors: cursors}, &api.Accounts{Accounts: acc}, &api.Tasks{Tasks: work}, jobs,
		&api.Dashboard{Dashboard: &dashboard.Service{Store: st, Readiness: ready, Clock: time.Now}, Readiness: ready},
		&api.Scoring{Scoring: scores, Runs: jobs}, &api.Exports{Accounts: acc, Tasks: work})
	require.NoError(tb, err)
	s.web = server.Handler()
	s.org = db.NewOrg(tb, "First")
	s.key = s.newKey(s.org, auth.Scopes...)
	return s
}

func (s *lists) newKey(org uuid.UUID, scopes ...auth.Scope) string {
	s.tb.Helper()
	_, secret, err := s.id.CreateKey(s.tb.Context(), auth.Engine(org), identity.NewKeyInput{Name: "key", Scopes: scopes})
	require.NoError(s.tb, err)
	return secret
}

func (s *lists) do(key, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	s.tb.Helper()
	r := httptest.NewRequestWithContext(s.tb.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.web.ServeHTTP(w, r)
	return w
}

// ok sends a request and returns the JSON object that must come back.
func (s *lists) ok(status int, method, path, body string, headers ...string) map[string]any {
	s.tb.Helper()
	w := s.do(s.key, method, path, body, headers...)
	require.Equal(s.tb, status, w.Code, w.Body.String())
	var out map[string]any
	require.NoError(s.tb, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

func (s *lists) account(org uuid.UUID, name string) uuid.UUID {
	id := models.NewID()
	s.db.Exec(s.tb, "INSERT INTO accounts (org_id, id, provider, external_id, name, mapping_id) VALUES ($1, $2, 'crm_a', $3, $4, 1)", org, id, id.String(), name)
	return id
}

func (s *lists) csv(path string) [][]string {
	s.tb.Helper()
	w := s.do(s.key, http.MethodGet, path, "")
	require.Equal(s.tb, http.StatusOK, w.Code, w.Body.String())
	require.Equal(s.tb, "text/csv; charset=utf-8", w.Header().Get("Content-Type"))
	rows, err := csv.NewReader(w.Body).ReadAll()
	require.NoError(s.tb, err)
	return rows
}

func TestExports(t *testing.T) {
	t.Parallel()
	s := setupLists(t)
	s.db.Exec(t, `INSERT INTO accounts (org_id, id, provider, external_id, name, state, mapping_id)
		SELECT $1, gen_random_uuid(), 'crm_a', n::text, 'Account ' || n, CASE WHEN n <= 10 THEN 'TX' END, 1 FROM generate_series(1, 2501) n`, s.org)
	evil := s.account(s.org, `=HYPERLINK("http://x")`)
	s.db.Exec(t, "UPDATE accounts SET domain = '-12.5', territory = E'@a,\"b\"\n', state = 'NM' WHERE id = $1", evil)
	s.db.Exec(t, "INSERT INTO account_arr (org_id, account_id, arr_cents, as_of) VALUES ($1, $2, -105, '2026-05-01')", s.org, evil)

	t.Run("hold every row of the same filters", func(t *testing.T) {
		require.Len(t, s.csv("/api/exports/accounts?sort=name"), 2503)
		require.Len(t, s.csv("/api/exports/accounts?state=TX"), 11)
		require.Len(t, s.csv("/api/exports/accounts?query=nothing"), 1, "the header alone")
	})
	t.Run("cannot run as formulas", func(t *testing.T) {
		rows := s.csv("/api/exports/accounts?state=NM")
		cell := map[string]string{}
		for i, name := range rows[0] {
			cell[name] = rows[1][i]
		}
		require.Equal(t, `'=HYPERLINK("http://x")`, cell["name"])
		require.Equal(t, "'@a,\"b\"\n", cell["territory"])
		require.Equal(t, "-12.5", cell["domain"])
		require.Equal(t, "-1.05", cell["arr"])
		require.Equal(t, "USD", cell["currency"])
	})
	t.Run("exist for contacts, opportunities and tasks", func(t *testing.T) {
		s.db.Exec(t, "INSERT INTO contacts (org_id, id, provider, external_id, account_id, name, phone, mapping_id) VALUES ($1, $2, 'crm_a', 'c', $3, 'Ann', '+1 (512) 555', 1)", s.org, models.NewID(), evil)
		s.db.Exec(t, "INSERT INTO opportunities (org_id, id, provider, external_id, account_id, name, stage, amount_cents, mapping_id) VALUES ($1, $2, 'crm_a', 'o', $3, 'Deal', 'S', 1234567, 1)", s.org, models.NewID(), evil)
		s.ok(http.StatusCreated, http.MethodPost, "/api/tasks", fmt.Sprintf(`{"title":"Call","account_id":%q}`, evil))
		require.Contains(t, s.csv("/api/exports/contacts")[1], "'+1 (512) 555")
		require.Contains(t, s.csv("/api/exports/opportunities?open=true")[1], "12345.67")
		require.Len(t, s.csv("/api/exports/opportunities?open=false"), 1)
		require.Len(t, s.csv("/api/exports/tasks?account_id="+evil.String()), 2)
	})
	t.Run("need the permission, and know no other resource or parameter", func(t *testing.T) {
		require.Equal(t, http.StatusOK, s.do(s.newKey(s.org, auth.ScopeRead), http.MethodGet, "/api/exports/accounts", "").Code)
		refused := s.do(s.newKey(s.org, auth.ScopeWriteSafe, auth.ScopeWriteDestructive, auth.ScopeAdmin), http.MethodGet, "/api/exports/accounts", "")
		require.Equal(t, http.StatusForbidden, refused.Code)
		require.Contains(t, refused.Body.String(), "with scope read")
		require.Equal(t, http.StatusNotFound, s.do(s.key, http.MethodGet, "/api/exports/users", "").Code)
		require.Equal(t, http.StatusUnprocessableEntity, s.do(s.key, http.MethodGet, "/api/exports/accounts?colour=red", "").Code)
		w := s.do(s.key, http.MethodGet, "/api/exports/contacts?account_id="+models.NewID().String(), "")
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		require.Contains(t, w.Body.String(), `"code":"not_found"`)
	})
	t.Run("show another organization nothing", func(t *testing.T) {
		other := s.newKey(s.db.NewOrg(t, "Second"), auth.Scopes...)
		for _, resource := range []string{"accounts", "contacts", "opportunities", "tasks"} {
			w := s.do(other, http.MethodGet, "/api/exports/"+resource, "")
			require.Equal(t, 1, strings.Count(w.Body.String(), "\n"), resource)
		}
		require.Equal(t, http.StatusNotFound, s.do(other, http.MethodGet, "/api/exports/contacts?account_id="+evil.String(), "").Code)
	})
}

func TestTasksAPI(t *testing.T) {
	t.Parallel()
	s := setupLists(t)
	made := s.ok(http.StatusCreated, http.MethodPost, "/api/tasks", `{"title":"Call","assignee":"ann@example.org","due_date":"2030-01-02"}`, "Idempotency-Key", "k")
	again := s.ok(http.StatusCreated, http.MethodPost, "/api/tasks", `{"title":"Call","assignee":"ann@example.org","due_date":"2030-01-02"}`, "Idempotency-Key", "k")
	require.Equal(t, made, again)
	path := "/api/tasks/" + made["task"].(map[string]any)["task_id"].(string)

	t.Run("PATCH leaves what is absent and clears what is null", func(t *testing.T) {
		task := s.ok(http.StatusOK, http.MethodPatch, path, `{"assignee":null,"priority":"HIGH"}`)["task"].(map[string]any)
		require.Nil(t, task["assignee"])
		require.Equal(t, "2030-01-02", task["due_date"])
		require.Equal(t, "HIGH", task["priority"])
	})
	t.Run("answers problems by code and field", func(t *testing.T) {
		for body, status := range map[string]int{`{"status":"SLEEPING"}`: 422, `{"due_date":"soon"}`: 422, `{}`: 422, `{"colour":"red"}`: 422, `{"status":"DONE","version":1}`: 412} {
			require.Equal(t, status, s.do(s.key, http.MethodPatch, path, body).Code, body)
		}
		w := s.do(s.key, http.MethodPost, "/api/tasks", `{"title":"x"}`, "Idempotency-Key", "k")
		require.Equal(t, http.StatusConflict, w.Code)
		other := s.newKey(s.db.NewOrg(t, "Second"), auth.Scopes...)
		require.Equal(t, http.StatusNotFound, s.do(other, http.MethodPatch, path, `{"status":"DONE"}`).Code)
	})
	t.Run("lists with summary and cursor", func(t *testing.T) {
		s.ok(http.StatusCreated, http.MethodPost, "/api/tasks", `{"title":"Second"}`)
		page := s.ok(http.StatusOK, http.MethodGet, "/api/tasks?limit=1", "")
		require.Len(t, page["tasks"], 1)
		require.InEpsilon(t, 2.0, page["summary"].(map[string]any)["open"], 1e-9)
		page = s.ok(http.StatusOK, http.MethodGet, "/api/tasks?limit=1&cursor="+page["next_cursor"].(string), "")
		require.Nil(t, page["next_cursor"])
	})
}

func TestReadingAPI(t *testing.T) {
	t.Parallel()
	s := setupLists(t)
	id := s.account(s.org, "Austin")
	has := func(got map[string]any, keys ...string) {
		t.Helper()
		for _, k := range keys {
			require.Contains(t, got, k)
		}
	}
	page := s.ok(http.StatusOK, http.MethodGet, "/api/accounts?limit=100&query=aus&sort=priority", "")
	has(page, "accounts", "total", "sorted_by", "currency", "next_cursor")
	has(page["accounts"].([]any)[0].(map[string]any), "account_id", "name", "segment", "territory", "state", "status", "nces_id", "unitid", "domain", "arr_cents",
		"health", "risk", "priority", "health_status", "reason", "coverage")
	detail := s.ok(http.StatusOK, http.MethodGet, "/api/accounts/"+id.String(), "")
	has(detail, "account", "scores", "contacts", "opportunities", "activities", "tasks", "sources", "district_intelligence")
	require.Equal(t, "not_scored", detail["scores"].(map[string]any)["reason"])
	has(s.ok(http.StatusOK, http.MethodGet, "/api/dashboard", ""), "as_of", "currency", "arr_cents", "pipeline_cents", "nrr", "nrr_reason", "at_risk_accounts",
		"active_signal_count", "forecast_health", "data_readiness")
	has(s.ok(http.StatusOK, http.MethodGet, "/api/dashboard/pipeline?period=current", ""), "open_cents", "commit_cents", "best_case_cents", "weighted_cents", "coverage_reason")
	has(s.ok(http.StatusOK, http.MethodGet, "/api/readiness", ""), "level", "blocking_issues", "checked_at")
	has(s.ok(http.StatusOK, http.MethodGet, "/api/readiness/affected?issue_code=zero_arr", ""), "records", "counts_by_code", "next_cursor")

	rules := s.ok(http.StatusOK, http.MethodGet, "/api/scoring/rules", "")
	require.Len(t, rules["category_weights"], 2)
	require.NotEmpty(t, rules["model_version"])
	for _, r := range rules["rules"].([]any) {
		require.Contains(t, []any{"health", "risk"}, r.(map[string]any)["model"])
	}
	require.Len(t, s.ok(http.StatusOK, http.MethodGet, "/api/scoring/rules?model=health&category=adoption", "")["rules"], 3)
	require.Equal(t, "not_available", s.ok(http.StatusOK, http.MethodGet, "/api/scoring/rules?model=priority", "")["reason"])

	first := s.ok(http.StatusAccepted, http.MethodPost, "/api/scores/compute", "")
	require.Equal(t, "score_accounts", first["run"].(map[string]any)["kind"])
	second := s.ok(http.StatusAccepted, http.MethodPost, "/api/scores/compute", "")
	require.Equal(t, first["run"].(map[string]any)["id"], second["run"].(map[string]any)["id"])
	require.Equal(t, true, second["already_running"])
	require.Equal(t, http.StatusForbidden, s.do(s.newKey(s.org, auth.ScopeRead), http.MethodPost, "/api/scores/compute", "").Code)
}
