package sandbox_test

import (
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
	"revarch/sandbox/control"
)

func TestAuthorization(t *testing.T) {
	t.Parallel()
	s := start(t)
	open := func(t *testing.T, target string) (*http.Response, string) {
		t.Helper()
		res, err := s.http.Get(target)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(body)
	}
	t.Run("the consent page names the client and what it asks for", func(t *testing.T) {
		t.Parallel()
		res, body := open(t, s.authorizeURL())
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		for _, want := range []string{"Allow RevArch to use your data?", "refresh_token", `lang="en"`, `value="deny"`, `value="allow"`, `method="post"`} {
			require.Contains(t, body, want)
		}
		require.NotRegexp(t, `(?i)<script`, body)
	})
	t.Run("what the request says is escaped on the page", func(t *testing.T) {
		t.Parallel()
		_, body := open(t, s.authorizeURL(func(q url.Values) { q.Set("state", `"><img src=x>`) }))
		require.NotContains(t, body, "<img")
	})
	t.Run("an unknown client or a foreign redirect is told to the user, not to the redirect", func(t *testing.T) {
		t.Parallel()
		for key, value := range map[string]string{"client_id": "other", "redirect_uri": "https://evil.example/api/connectors/crm_a/callback"} {
			res, body := open(t, s.authorizeURL(func(q url.Values) { q.Set(key, value) }))
			require.Equal(t, http.StatusBadRequest, res.StatusCode)
			require.Empty(t, res.Header.Get("Location"))
			require.Contains(t, body, "error=")
		}
	})
	t.Run("a redirect must match to the letter but for a loopback port", func(t *testing.T) {
		t.Parallel()
		for uri, status := range map[string]int{
			"http://127.0.0.1:9/api/connectors/crm_a/callback":         http.StatusOK,
			"http://localhost:9/api/connectors/crm_a/callback":         http.StatusOK,
			"http://127.0.0.1:9/api/connectors/crm_a/callback/":        http.StatusBadRequest,
			"http://127.0.0.1:9/api/connectors/crm_a/callback?x=1":     http.StatusBadRequest,
			"http://127.0.0.1:9/api/connectors/crm_b/callback":         http.StatusBadRequest,
			"https://127.0.0.1:9/api/connectors/crm_a/callback":        http.StatusBadRequest,
			"http://u@127.0.0.1:9/api/connectors/crm_a/callback":       http.StatusBadRequest,
			"http://127.0.0.1.evil.test/api/connectors/crm_a/callback": http.StatusBadRequest,
			"": http.StatusBadRequest,
		} {
			res, _ := open(t, s.authorizeURL(func(q url.Values) { q.Set("redirect_uri", uri) }))
			require.Equal(t, status, res.StatusCode, uri)
		}
	})
	t.Run("other mistakes go back to the client with its state", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ key, value, code string }{
			{"response_type", "token", "unsupported_response_type"},
			{"code_challenge", "", "invalid_request"},
			{"code_challenge_method", "plain", "invalid_request"},
			{"scope", "api everything", "invalid_scope"},
		} {
			res, _ := open(t, s.authorizeURL(func(q url.Values) { q.Set(c.key, c.value) }))
			require.Equal(t, http.StatusFound, res.StatusCode)
			back, err := res.Location()
			require.NoError(t, err)
			require.Equal(t, c.code, back.Query().Get("error"))
			require.Equal(t, "st&te", back.Query().Get("state"))
		}
	})
	t.Run("denying goes back with access_denied and no code", func(t *testing.T) {
		t.Parallel()
		back, err := control.Consent(t.Context(), s.authorizeURL(), false)
		require.NoError(t, err)
		u, err := url.Parse(back)
		require.NoError(t, err)
		require.Equal(t, "access_denied", u.Query().Get("error"))
		require.Empty(t, u.Query().Get("code"))
	})
	t.Run("automatic consent skips the page", func(t *testing.T) {
		t.Parallel()
		auto := start(t, func(c *sandbox.Config) { c.AutoConsent = true })
		res, err := auto.http.Get(auto.authorizeURL())
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusFound, res.StatusCode)
		require.Contains(t, res.Header.Get("Location"), "code=")
	})
}

func TestCodes(t *testing.T) {
	t.Parallel()
	exchange := func(s *system, code, v, redirect string) (tokens, int) {
		return s.token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {v}, "redirect_uri": {redirect}})
	}
	t.Run("a token answer has the provider's shape", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		require.Equal(t, s.url+"/crm_a", s.tokens.Instance)
		require.Regexp(t, `^\d{13}$`, s.tokens.Issued)
		require.NotEmpty(t, s.tokens.Refresh)
		require.NotEmpty(t, s.tokens.Sig)
		require.Nil(t, s.tokens.Expires)
		require.Equal(t, http.StatusOK, s.get("/services/oauth2/userinfo").status)
		id, err := url.Parse(s.tokens.ID)
		require.NoError(t, err)
		require.Contains(t, string(s.get(id.Path[len("/crm_a"):]).body), `"organization_id"`)
	})
	t.Run("a code works once", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		code := s.code()
		_, status := exchange(s, code, verifier, callback)
		require.Equal(t, http.StatusOK, status)
		again, status := exchange(s, code, verifier, callback)
		require.Equal(t, http.StatusBadRequest, status)
		require.Equal(t, "invalid_grant", again.Error)
	})
	t.Run("a wrong verifier spends the code", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		code := s.code()
		got, _ := exchange(s, code, verifier+"x", callback)
		require.Equal(t, "invalid code verifier", got.Text)
		_, status := exchange(s, code, verifier, callback)
		require.Equal(t, http.StatusBadRequest, status)
	})
	t.Run("a code belongs to its redirect and dies after ten minutes", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		got, _ := exchange(s, s.code(), verifier, callback+"/")
		require.Equal(t, "redirect_uri_mismatch", got.Error)
		code := s.code()
		s.clock.advance(10*time.Minute + time.Second)
		got, _ = exchange(s, code, verifier, callback)
		require.Equal(t, "expired authorization code", got.Text)
	})
	t.Run("a wrong secret is invalid_client", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		got, status := s.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {sandbox.DefaultClientID}, "client_secret": {"no"}})
		require.Equal(t, http.StatusBadRequest, status)
		require.Equal(t, "invalid_client", got.Error)
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	t.Run("a refresh rotates the refresh token and keeps older access tokens", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		got, status := s.refresh(s.tokens.Refresh)
		require.Equal(t, http.StatusOK, status)
		require.NotEqual(t, s.tokens.Refresh, got.Refresh)
		require.Equal(t, http.StatusOK, s.get(rest+"/limits").status)
		s.tokens = got
		require.Equal(t, http.StatusOK, s.get(rest+"/limits").status)
	})
	t.Run("reuse of a rotated token kills the grant", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		old := s.tokens.Refresh
		got, _ := s.refresh(old)
		s.tokens = got
		reuse, status := s.refresh(old)
		require.Equal(t, http.StatusBadRequest, status)
		require.Equal(t, "expired access/refresh token", reuse.Text)
		require.Equal(t, http.StatusUnauthorized, s.get(rest+"/limits").status)
		reuse, _ = s.refresh(got.Refresh)
		require.Equal(t, "invalid_grant", reuse.Error)
	})
	t.Run("of refreshes at once one wins and the others are told to wait", func(t *testing.T) {
		t.Parallel()
		s := setup(t, func(c *sandbox.Config) { c.RefreshTime = 300 * time.Millisecond })
		texts := make([]string, 4)
		var wg sync.WaitGroup
		for i := range texts {
			wg.Go(func() {
				got, _ := s.refresh(s.tokens.Refresh)
				texts[i] = got.Text
			})
		}
		wg.Wait()
		busy := 0
		for _, text := range texts {
			if text != "" {
				require.Equal(t, "token request is already being processed", text)
				busy++
			}
		}
		require.Equal(t, 3, busy)
	})
	t.Run("an unused refresh token dies after 30 days, an access token after its lifetime", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.clock.advance(2*time.Hour + time.Second)
		require.Equal(t, "INVALID_SESSION_ID", s.get(rest+"/limits").errorCode(t))
		s.clock.advance(30 * 24 * time.Hour)
		_, status := s.refresh(s.tokens.Refresh)
		require.Equal(t, http.StatusBadRequest, status)
	})
	t.Run("revoking either token ends the grant", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		res, err := s.http.PostForm(s.url+"/crm_a/services/oauth2/revoke", url.Values{"token": {s.tokens.Refresh}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Equal(t, http.StatusUnauthorized, s.get(rest+"/limits").status)
	})
	t.Run("introspection tells when a token ends", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		form := url.Values{"token": {s.tokens.Access}, "client_id": {sandbox.DefaultClientID}, "client_secret": {sandbox.DefaultClientSecret}}
		ask := func() string {
			res, err := s.http.PostForm(s.url+"/crm_a/services/oauth2/introspect", form)
			require.NoError(t, err)
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return string(b)
		}
		require.Contains(t, ask(), `"exp":`)
		require.NoError(t, s.admin.ExpireSessions(t.Context()))
		require.JSONEq(t, `{"active":false}`, ask())
	})
}
