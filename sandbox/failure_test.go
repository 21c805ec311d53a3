package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
	"revarch/sandbox/control"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	const soql = "SELECT Id FROM Account"
	// inject starts a system in which one failure is in force.
	inject := func(t *testing.T, f control.Failure) *system {
		t.Helper()
		s := setup(t)
		_, err := s.admin.Fail(t.Context(), f)
		require.NoError(t, err)
		return s
	}
	ask := func(s *system) response { return s.get(queryPath("query", soql)) }

	t.Run("a status strikes the next requests and then no more", func(t *testing.T) {
		t.Parallel()
		s := inject(t, control.Failure{Kind: control.Status, Times: 2})
		require.Equal(t, "SERVER_UNAVAILABLE", ask(s).errorCode(t))
		require.Equal(t, http.StatusServiceUnavailable, ask(s).status)
		require.Equal(t, http.StatusOK, ask(s).status)
		list, err := s.admin.Failures(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, list[0].Hits)
	})
	t.Run("every third request fails with 500 after one was skipped", func(t *testing.T) {
		t.Parallel()
		s := inject(t, control.Failure{Kind: control.Status, Status: 500, Every: 3, Skip: 1})
		var got []int
		for range 7 {
			got = append(got, ask(s).status)
		}
		require.Equal(t, []int{200, 200, 200, 500, 200, 200, 500}, got)
	})
	t.Run("a hang ends without an answer", func(t *testing.T) {
		t.Parallel()
		s := inject(t, control.Failure{Kind: control.Hang, DelayMS: 10, Times: 1})
		_, err := s.do(http.MethodPost, rest+"/sobjects/Task", map[string]any{})
		require.Error(t, err)
		require.Equal(t, http.StatusOK, ask(s).status)
	})
	t.Run("latency and a slow body delay a good answer", func(t *testing.T) {
		t.Parallel()
		for _, kind := range []control.Kind{control.Latency, control.SlowBody} {
			s := inject(t, control.Failure{Kind: kind, DelayMS: 60})
			begun := time.Now()
			require.Equal(t, http.StatusOK, ask(s).status)
			require.GreaterOrEqual(t, time.Since(begun), 60*time.Millisecond)
		}
	})
	t.Run("a truncated answer is a 200 that does not parse", func(t *testing.T) {
		t.Parallel()
		res := ask(inject(t, control.Failure{Kind: control.Truncate}))
		require.Equal(t, http.StatusOK, res.status)
		require.False(t, json.Valid(res.body))
		require.NotEmpty(t, res.body)
	})
	t.Run("a maintenance page is a 200 of HTML", func(t *testing.T) {
		t.Parallel()
		res := ask(inject(t, control.Failure{Kind: control.HTML}))
		require.Equal(t, http.StatusOK, res.status)
		require.Contains(t, res.header.Get("Content-Type"), "text/html")
	})
	t.Run("a redirect leads to the foreign host", func(t *testing.T) {
		t.Parallel()
		res := ask(inject(t, control.Failure{Kind: control.Redirect, URL: "https://evil.example/x"}))
		require.Equal(t, "https://evil.example/x", res.header.Get("Location"))
	})
	t.Run("the request limit is spent after its budget", func(t *testing.T) {
		t.Parallel()
		s := inject(t, control.Failure{Kind: control.Limit, Budget: 2})
		require.Equal(t, http.StatusOK, ask(s).status)
		require.Equal(t, http.StatusOK, ask(s).status)
		res := ask(s)
		require.Equal(t, http.StatusForbidden, res.status)
		require.Equal(t, "REQUEST_LIMIT_EXCEEDED", res.errorCode(t))
		require.Equal(t, "api-usage=1000000/1000000", res.header.Get("Sforce-Limit-Info"))
		require.NoError(t, s.admin.Lift(t.Context(), ""))
		require.Equal(t, http.StatusOK, ask(s).status)
	})
	t.Run("a day's own limit is spent and comes back the next day", func(t *testing.T) {
		t.Parallel()
		s := setup(t, func(c *sandbox.Config) { c.DailyLimit, c.AccessTTL = 1, 48*time.Hour })
		require.Equal(t, http.StatusOK, ask(s).status)
		require.Equal(t, http.StatusForbidden, ask(s).status)
		s.clock.advance(24 * time.Hour)
		require.Equal(t, http.StatusOK, ask(s).status)
	})
	t.Run("a dead cursor is INVALID_QUERY_LOCATOR", func(t *testing.T) {
		t.Parallel()
		s := setup(t, func(c *sandbox.Config) { c.Accounts = 250 })
		var p page
		require.NoError(t, json.Unmarshal(s.get(queryPath("query", soql), "Sforce-Query-Options", "batchSize=200").body, &p))
		_, err := s.admin.Fail(t.Context(), control.Failure{Kind: control.DeadCursor, Times: 1})
		require.NoError(t, err)
		require.Equal(t, "INVALID_QUERY_LOCATOR", s.get(p.NextRecordsURL).errorCode(t))
	})
	t.Run("a field that lost its permission is neither described nor known", func(t *testing.T) {
		t.Parallel()
		s := inject(t, control.Failure{Kind: control.HideField, Object: "Account", Field: "ARR__c"})
		require.NotContains(t, string(s.get(rest+"/sobjects/Account/describe").body), "ARR__c")
		require.Equal(t, "INVALID_FIELD", s.get(queryPath("query", "SELECT Id, ARR__c FROM Account")).errorCode(t))
		require.Equal(t, "INVALID_FIELD", s.get(queryPath("query", "SELECT Id FROM Account WHERE arr__c > 1")).errorCode(t))
		require.NotContains(t, string(s.get(rest+"/sobjects/Account/"+ids(s.query("query", soql))[0]).body), "ARR__c")
		require.NoError(t, s.admin.Lift(t.Context(), "1"))
		require.Equal(t, http.StatusOK, s.get(queryPath("query", "SELECT Id, ARR__c FROM Account")).status)
	})
	t.Run("expired sessions need a refresh, revoked grants cannot", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		require.NoError(t, s.admin.ExpireSessions(t.Context()))
		require.Equal(t, "INVALID_SESSION_ID", ask(s).errorCode(t))
		var status int
		s.tokens, status = s.refresh(s.tokens.Refresh)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, http.StatusOK, ask(s).status)
		require.NoError(t, s.admin.RevokeGrants(t.Context()))
		require.Equal(t, http.StatusUnauthorized, ask(s).status)
		got, _ := s.refresh(s.tokens.Refresh)
		require.Equal(t, "invalid_grant", got.Error)
	})
	t.Run("the token endpoint can refuse the client, be busy, be down and name a foreign instance", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		fail := func(f control.Failure) {
			f.Times = 1
			_, err := s.admin.Fail(t.Context(), f)
			require.NoError(t, err)
		}
		fail(control.Failure{Kind: control.InvalidClient})
		got, _ := s.refresh(s.tokens.Refresh)
		require.Equal(t, "invalid_client", got.Error)
		fail(control.Failure{Kind: control.TokenBusy})
		got, _ = s.refresh(s.tokens.Refresh)
		require.True(t, strings.HasSuffix(got.Text, "already being processed"))
		fail(control.Failure{Kind: control.Status, Path: "/oauth2/token"})
		require.Equal(t, http.StatusOK, ask(s).status)
		res, err := s.do(http.MethodPost, "/services/oauth2/token", nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, res.status)
		fail(control.Failure{Kind: control.InstanceURL, URL: "https://evil.example"})
		got, status := s.refresh(s.tokens.Refresh)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "https://evil.example", got.Instance)
	})
	t.Run("nonsense is refused", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		for _, f := range []control.Failure{{Kind: "nope"}, {Kind: control.Status, Status: 200}, {Kind: control.Redirect}, {Kind: control.HideField}, {Kind: control.Latency}, {Kind: control.HTML, Times: -1}} {
			_, err := s.admin.Fail(t.Context(), f)
			require.Error(t, err)
		}
	})
}
