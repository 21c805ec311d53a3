package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/runs"
)

// canary looks like a secret: no answer and no log line may repeat it.
const canary = "s3cret-canary-9f2c"

func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 3})
	org, admin := s.org("Alpha", false)
	key := s.key(org, auth.Scopes...)
	missing := uuid.NewString()
	quiet := func(t *testing.T, what string, got response) {
		t.Helper()
		require.NotContains(t, got.Body, canary, what)
	}

	for _, c := range []struct {
		name, method, path string
		body               any
		status             int
		code               string
	}{
		{"an unknown field", "POST", "/api/tasks", map[string]any{"title": "x", "password": canary}, 422, "invalid"},
		{"a wrong type", "POST", "/api/tasks", `{"title": {"nested": "` + canary + `"}}`, 422, "invalid"},
		{"a wrong type of number", "PATCH", "/api/tasks/" + missing, `{"version": "` + canary + `"}`, 422, "invalid"},
		{"a value that is not allowed", "POST", "/api/tasks", map[string]any{"title": "x", "priority": canary}, 422, "invalid"},
		{"a day that is none", "POST", "/api/tasks", map[string]any{"title": "x", "due_date": canary}, 422, "invalid"},
		{"an id that is none", "POST", "/api/tasks", map[string]any{"title": "x", "account_id": canary}, 422, "invalid"},
		{"a missing field", "POST", "/api/tasks", map[string]any{}, 422, "invalid"},
		{"malformed JSON", "POST", "/api/tasks", `{"title": "` + canary, 400, "invalid"},
		{"JSON with more behind it", "POST", "/api/tasks", `{"title": "x"} ` + canary, 400, "invalid"},
		{"an array for an object", "POST", "/api/tasks", `["` + canary + `"]`, 422, "invalid"},
		{"no body", "POST", "/api/tasks", nil, 400, "invalid"},
		{"a NUL in a text", "POST", "/api/tasks", `{"title": "a\u0000` + canary + `"}`, 422, "invalid"},
		{"a NUL in a query", "GET", "/api/accounts?query=a%00" + canary, nil, 422, "invalid"},
		{"bytes that are not UTF-8", "GET", "/api/accounts?query=%ff%fe" + canary, nil, 422, "invalid"},
		{"a NUL in an e-mail", "POST", "/api/auth/login", `{"email": "a\u0000b@x", "password": "` + canary + `"}`, 422, "invalid"},
		{"an unknown query parameter", "GET", "/api/accounts?secret=" + canary, nil, 422, "invalid"},
		{"a limit that is no number", "GET", "/api/accounts?limit=" + canary, nil, 422, "invalid"},
		{"a limit out of range", "GET", "/api/accounts?limit=100000", nil, 422, "invalid"},
		{"an instant that is none", "GET", "/api/governance-log?since=" + canary, nil, 422, "invalid"},
		{"a status that is none", "GET", "/api/accounts?status=" + canary, nil, 422, "invalid"},
		{"a cursor that is none", "GET", "/api/accounts?cursor=" + canary, nil, 422, "invalid"},
		{"a cursor that is base64", "GET", "/api/runs?cursor=QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", nil, 422, "invalid"},
		{"a bad id in a path", "GET", "/api/accounts/" + canary, nil, 422, "invalid"},
		{"a bad id in the path of a stream", "GET", "/api/runs/" + canary + "/events", nil, 404, "not_found"},
		{"an id nobody has", "GET", "/api/accounts/" + missing, nil, 404, "not_found"},
		{"an unknown path", "GET", "/api/" + canary, nil, 404, "not_found"},
		{"the root of the API", "GET", "/api", nil, 404, "not_found"},
		{"a wrong method", "DELETE", "/api/accounts", nil, 405, "method_not_allowed"},
		{"an unknown provider", "GET", "/api/connectors/crm_z/status", nil, 404, "not_found"},
		{"an unknown provider to connect", "GET", "/api/connectors/crm_z/auth", nil, 404, "not_found"},
		{"an unknown query parameter of the start of an authorization", "GET", "/api/connectors/crm_a/auth?secret=" + canary, nil, 422, "invalid"},
		{"an unknown query parameter of a stream", "GET", "/api/runs/" + missing + "/events?secret=" + canary, nil, 422, "invalid"},
		{"an unknown provider's callback", "GET", "/api/connectors/crm_z/callback?state=x&code=" + canary, nil, 404, "not_found"},
		{"a sync of what is not connected", "POST", "/api/connectors/crm_a/sync", map[string]any{}, 409, "conflict"},
		{"a mapping of what is not connected", "PUT", "/api/connectors/crm_a/mappings", map[string]any{"mappings": []any{}}, 428, "precondition_required"},
		{"a missing state", "GET", "/api/connectors/crm_a/callback?code=" + canary, nil, 422, "invalid"},
		{"a wrong state", "GET", "/api/connectors/crm_a/callback?code=x&state=" + canary, nil, 422, "invalid"},
		{"an error of the provider without a state", "GET", "/api/connectors/crm_a/callback?error=" + canary, nil, 422, "invalid"},
		{"an unknown tool", "POST", "/api/tools/" + canary, map[string]any{}, 404, "not_found"},
		{"an unknown argument of a tool", "POST", "/api/tools/list_tasks", map[string]any{"nonsense": canary}, 422, "invalid"},
		{"a wrong type of an argument", "POST", "/api/tools/get_account_360", map[string]any{"account_id": canary}, 422, "invalid"},
		{"a tool with malformed arguments", "POST", "/api/tools/create_task", `{"title": "` + canary, 400, "invalid"},
		{"settings without If-Match", "PUT", "/api/settings/organization", s.settings(admin, nil), 428, "precondition_required"},
		{"settings of a place that is none", "PUT", "/api/settings/organization", s.settings(admin, map[string]any{"time_zone": "Mars/" + canary}), 428, "precondition_required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, who := range map[string]caller{"session": admin, "key": key} {
				got := who.do(c.method, c.path, c.body)
				problemOf(t, c.name+" by "+name, got, c.status, c.code)
				quiet(t, c.name, got)
			}
		})
	}

	t.Run("a body over one MiB", func(t *testing.T) {
		got := admin.do(http.MethodPost, "/api/tasks", `{"title": "`+strings.Repeat("x", 1<<20)+canary+`"}`)
		problemOf(t, "too large", got, http.StatusRequestEntityTooLarge, "too_large")
		quiet(t, "too large", got)
		require.Equal(t, http.StatusRequestEntityTooLarge, key.do(http.MethodPost, "/api/mcp", strings.Repeat("x", 11<<20)).Status)
	})

	t.Run("If-Match that is stale, nonsense or right", func(t *testing.T) {
		got := admin.ok(http.MethodGet, "/api/settings/organization", nil, nil)
		etag := got.Header.Get("Etag")
		require.Equal(t, `"1"`, etag)
		for _, bad := range []string{`"99"`, `"0"`, "*", canary} {
			p := admin.with("If-Match", bad).refused(http.MethodPut, "/api/settings/organization", s.settings(admin, nil), http.StatusPreconditionFailed, "stale_version")
			require.NotContains(t, p.Detail, canary)
		}
		admin.with("If-Match", etag).ok(http.MethodPut, "/api/settings/organization", s.settings(admin, map[string]any{"name": "Renamed"}), nil)
		admin.with("If-Match", etag).refused(http.MethodPut, "/api/settings/organization", s.settings(admin, nil), http.StatusPreconditionFailed, "stale_version")
		bad := admin.with("If-Match", `"2"`).refused(http.MethodPut, "/api/settings/organization",
			s.settings(admin, map[string]any{"time_zone": "Mars/Olympus", "reporting_currency": "usd"}), http.StatusUnprocessableEntity, "invalid")
		require.Len(t, bad.Errors, 2, "every bad field at once")
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM orgs WHERE id = $1 AND name = 'Renamed' AND version = 2", org))
	})

	t.Run("nothing was stored, and the log repeats nothing", func(t *testing.T) {
		require.NotContains(t, logged.text(), canary)
		for _, table := range []string{"tasks", "runs", "connections", "idempotency_keys"} {
			require.Zero(t, s.db.Count(t, "SELECT count(*) FROM "+table+" WHERE org_id = $1", org), table)
		}
	})
}

// settings reads the organization's settings and changes some.
func (s *system) settings(c caller, change map[string]any) map[string]any {
	s.tb.Helper()
	var out map[string]any
	c.ok(http.MethodGet, "/api/settings/organization", nil, &out)
	delete(out, "id")
	maps.Copy(out, change)
	return out
}

func TestBadAuthorizations(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 3})
	org, admin := s.org("Alpha", false)
	connected := func() int64 {
		return s.db.Count(t, "SELECT count(*) FROM connection_grants WHERE org_id = $1", org)
	}

	t.Run("a callback and its code serve once", func(t *testing.T) {
		path := admin.connect()
		admin.refused(http.MethodGet, path, nil, http.StatusUnprocessableEntity, "invalid")
		require.EqualValues(t, 1, connected())
		// The used code under a state that is good.
		used, err := url.Parse(path)
		require.NoError(t, err)
		fresh, err := url.Parse(admin.consent())
		require.NoError(t, err)
		fresh.RawQuery = url.Values{"state": {fresh.Query().Get("state")}, "code": {used.Query().Get("code")}}.Encode()
		got := admin.do(http.MethodGet, fresh.RequestURI(), nil)
		require.GreaterOrEqual(t, got.Status, 400, got.Body)
		require.Less(t, got.Status, 500, got.Body)
		require.NotContains(t, got.Body, used.Query().Get("code"))
		admin.connect()
	})

	t.Run("a browser is led back to the connector's page with a code of ours", func(t *testing.T) {
		got := admin.with("Accept", "text/html").do(http.MethodGet, "/api/connectors/crm_a/callback?state=x&code="+canary, nil)
		require.Equal(t, http.StatusFound, got.Status)
		require.Equal(t, "/settings/connectors/crm_a?error=invalid", got.Header.Get("Location"))
	})

	t.Run("a person who declines changes nothing", func(t *testing.T) {
		var begin struct {
			AuthorizeURL string `json:"authorize_url"`
		}
		admin.ok(http.MethodGet, "/api/connectors/crm_a/auth", nil, &begin)
		back, err := control.Consent(t.Context(), begin.AuthorizeURL, false)
		require.NoError(t, err)
		u, err := url.Parse(back)
		require.NoError(t, err)
		admin.refused(http.MethodGet, u.RequestURI(), nil, http.StatusForbidden, "denied")
		require.EqualValues(t, 1, connected())
	})

	t.Run("a state that took longer than ten minutes is refused", func(t *testing.T) {
		path := admin.consent()
		s.pass(11 * time.Minute)
		admin.refused(http.MethodGet, path, nil, http.StatusUnprocessableEntity, "invalid")
	})

	t.Run("the provider does not send people to another host", func(t *testing.T) {
		var begin struct {
			AuthorizeURL string `json:"authorize_url"`
		}
		admin.with("X-Forwarded-Host", "evil.example").with("Forwarded", "host=evil.example").ok(http.MethodGet, "/api/connectors/crm_a/auth", nil, &begin)
		u, err := url.Parse(begin.AuthorizeURL)
		require.NoError(t, err)
		require.Equal(t, s.url+"/api/connectors/crm_a/callback", u.Query().Get("redirect_uri"))
		q := u.Query()
		q.Set("redirect_uri", "https://evil.example/api/connectors/crm_a/callback")
		u.RawQuery = q.Encode()
		_, err = control.Consent(t.Context(), u.String(), true)
		require.Error(t, err)
	})

	t.Run("an instance_url on a foreign host is not believed", func(t *testing.T) {
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.InstanceURL, URL: "https://evil.example"})
		require.NoError(t, err)
		got := admin.do(http.MethodGet, admin.consent(), nil)
		require.GreaterOrEqual(t, got.Status, 400, got.Body)
		require.Contains(t, got.Header.Get("Content-Type"), "problem+json")
		require.NotContains(t, got.Body, "evil.example")
		require.NoError(t, s.box.Lift(t.Context(), ""))
		require.EqualValues(t, 1, connected())
		admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
	})

	t.Run("client credentials that are refused are named as such", func(t *testing.T) {
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.InvalidClient})
		require.NoError(t, err)
		problemOf(t, "callback", admin.do(http.MethodGet, admin.consent(), nil), http.StatusBadGateway, "client_misconfigured")
		require.NoError(t, s.box.Lift(t.Context(), ""))
		require.EqualValues(t, 1, connected())
	})
}

func TestBadMappings(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 3})
	org, admin := s.org("Alpha", false)
	admin.connect()
	var set struct {
		Version  int64
		Mappings []map[string]any
	}
	read := func() string {
		return admin.ok(http.MethodGet, "/api/connectors/crm_a/mappings", nil, &set).Header.Get("Etag")
	}
	etag := read()
	require.NotEmpty(t, set.Mappings)
	before := s.db.Count(t, "SELECT count(*) FROM field_mappings WHERE org_id = $1", org)
	entry := func(object, source, target, transform string) map[string]any {
		return map[string]any{"object": object, "source_field": source, "target_field": target, "transform": transform, "required": false}
	}
	bad := []map[string]any{
		entry("Account", "Nothing__c", "segment", ""), entry("Account", "Name", "no_such_target", ""), entry("Nowhere", "Name", "name", ""),
		entry("Account", "Name", "name", "no_such_transform"),
	}
	p := admin.with("If-Match", etag).refused(http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": append(append([]map[string]any{}, set.Mappings...), bad...)},
		http.StatusUnprocessableEntity, "invalid")
	require.GreaterOrEqual(t, len(p.Errors), len(bad), "one error per bad entry: %+v", p.Errors)
	for i := range bad {
		require.Contains(t, errorsOf(p.Errors), "["+jsonNumber(len(set.Mappings)+i)+"]")
	}
	admin.with("If-Match", etag).refused(http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": append(append([]map[string]any{}, set.Mappings...), set.Mappings[0])},
		http.StatusUnprocessableEntity, "invalid")
	admin.with("If-Match", etag).refused(http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": []any{entry("Account", "Industry", "segment", "")}},
		http.StatusUnprocessableEntity, "invalid") // without the name that every account must have
	admin.with("If-Match", `"999"`).refused(http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": set.Mappings}, http.StatusPreconditionFailed, "stale_version")
	require.Equal(t, etag, read(), "nothing was written")
	require.Equal(t, before, s.db.Count(t, "SELECT count(*) FROM field_mappings WHERE org_id = $1", org))
	fewer := slices.DeleteFunc(slices.Clone(set.Mappings), func(m map[string]any) bool { return m["target_field"] == "city" })
	require.Len(t, fewer, len(set.Mappings)-1)
	admin.with("If-Match", etag).ok(http.MethodPut, "/api/connectors/crm_a/mappings", map[string]any{"mappings": fewer}, nil)
	require.NotEqual(t, etag, read())
}

func errorsOf(v any) string {
	raw, _ := json.Marshal(v) //nolint:errchkjson // field errors are texts
	return string(raw)
}

func jsonNumber(n int) string {
	raw, _ := json.Marshal(n) //nolint:errchkjson // a number
	return string(raw)
}

func TestProvidersThatMisbehave(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 6})
	org, admin := s.org("Alpha", false)
	admin.connect()
	admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
	stored := func() int64 {
		return s.db.Count(t, "SELECT count(*) FROM raw_records WHERE org_id = $1 AND deleted_at IS NULL", org)
	}
	had := stored()
	failing := func(code string, f control.Failure) runs.View {
		t.Helper()
		_, err := s.box.Fail(t.Context(), f)
		require.NoError(t, err)
		v := admin.run("/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, "failed")
		require.NotNil(t, v.Error)
		require.Equal(t, code, v.Error.Code, v.Error.Message)
		require.Greater(t, len(v.Error.Message), 20, "a sentence that says what to do")
		require.NotContains(t, v.Error.Message, s.boxURL)
		require.NoError(t, s.box.Lift(t.Context(), ""))
		require.Equal(t, had, stored(), "nothing that was stored is lost")
		return v
	}

	t.Run("a page cut short is asked for again", func(t *testing.T) {
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Truncate, Path: "/query", Times: 2})
		require.NoError(t, err)
		admin.run("/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, "succeeded")
		require.Equal(t, had, stored())
		require.NoError(t, s.box.Lift(t.Context(), ""))
	})

	t.Run("a field that loses its permission half way is reported and costs no record", func(t *testing.T) {
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.HideField, Object: "Account", Field: "CSAT_90d__c"})
		require.NoError(t, err)
		var started struct{ Run runs.View }
		admin.with("Prefer", "wait=60").ok(http.MethodPost, "/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, &started)
		v := started.Run
		require.False(t, v.Status.Live(), "%+v", v)
		if v.Status == "failed" {
			require.Equal(t, "schema_drift", v.Error.Code, v.Error.Message)
		} else {
			require.NotEmpty(t, v.Warnings, "a field that is gone is told")
		}
		require.Equal(t, had, stored())
		require.NoError(t, s.box.Lift(t.Context(), ""))
		admin.run("/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, "succeeded")
	})

	t.Run("a limit for today makes the run wait and say so", func(t *testing.T) {
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Limit, Budget: 1})
		require.NoError(t, err)
		var started struct{ Run runs.View }
		admin.ok(http.MethodPost, "/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, &started)
		path := "/api/runs/" + started.Run.ID.String()
		var v runs.View
		require.Eventually(t, func() bool {
			admin.ok(http.MethodGet, path, nil, &v)
			return !v.Status.Live() || len(v.Warnings) > 0 || strings.Contains(v.Phase, "wait")
		}, time.Minute, 50*time.Millisecond, "the run says that it waits, or why it ended: %+v", v)
		if !v.Status.Live() {
			require.Equal(t, "quota_exhausted", v.Error.Code)
		} else {
			admin.do(http.MethodPost, path+"/cancel", nil)
			require.Eventually(t, func() bool {
				admin.ok(http.MethodGet, path, nil, &v)
				return v.Status == "cancelled"
			}, time.Minute, 50*time.Millisecond)
		}
		require.Equal(t, had, stored())
		require.NoError(t, s.box.Lift(t.Context(), ""))
	})

	t.Run("a revoked grant ends the run, shows, and is not asked for again", func(t *testing.T) {
		require.NoError(t, s.box.RevokeGrants(t.Context()))
		failing("reauthorization_required", control.Failure{Kind: control.Latency, Path: "/nothing", DelayMS: 1})
		var st struct {
			Status string
			Error  *struct{ Code, Message string }
		}
		admin.ok(http.MethodGet, "/api/connectors/crm_a/status", nil, &st)
		require.Equal(t, "reauthorization_required", st.Status)
		require.Equal(t, "reauthorization_required", st.Error.Code)
		asked := func() int {
			x, err := s.box.Status(t.Context())
			require.NoError(t, err)
			return x.TokenRequests
		}
		before := asked()
		admin.refused(http.MethodPost, "/api/connectors/crm_a/sync", map[string]any{}, http.StatusConflict, "reauthorization_required")
		admin.do(http.MethodPost, "/api/connectors/crm_a/validate", nil)
		admin.do(http.MethodGet, "/api/connectors/crm_a/discover", nil)
		require.Equal(t, before, asked(), "the token endpoint is left alone")
		admin.connect()
		admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
		require.Equal(t, had, stored())
	})
}
