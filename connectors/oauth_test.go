package connectors_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"revarch/connectors"
	"revarch/fault"
)

func oauthFor(t *testing.T, style oauth2.AuthStyle, handler http.HandlerFunc) *connectors.OAuth {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &connectors.OAuth{
		HTTP: connectors.NewHTTPClient(), AuthStyle: style,
		Settings: connectors.Settings{
			AuthorizeURL: server.URL + "/authorize?prompt=login", TokenURL: server.URL + "/token",
			RevokeURL: server.URL + "/revoke", ClientID: "client", ClientSecret: "client-secret", Scopes: []string{"api", "refresh"},
		},
		AuthorizeParams: map[string]string{"access_type": "offline"},
		Classify: func(e connectors.TokenError, _ bool) *connectors.Refusal {
			return &connectors.Refusal{Class: connectors.Class(e.Code)}
		},
	}
}

func TestAuthorizeURLCarriesPKCEStateAndExtras(t *testing.T) {
	t.Parallel()
	o := oauthFor(t, oauth2.AuthStyleInParams, nil)
	u, err := url.Parse(o.AuthorizeURL("s&t", "challenge", "https://app.example/callback"))
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"response_type": {"code"}, "client_id": {"client"}, "redirect_uri": {"https://app.example/callback"},
		"scope": {"api refresh"}, "state": {"s&t"}, "code_challenge": {"challenge"}, "code_challenge_method": {"S256"},
		"access_type": {"offline"}, "prompt": {"login"},
	}, u.Query())
}

func TestExchangeSendsCredentialsWhereTheStyleSays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		style oauth2.AuthStyle
		want  url.Values
		basic string
	}{
		{"in the form", oauth2.AuthStyleInParams, url.Values{"client_id": {"client"}, "client_secret": {"client-secret"}}, ""},
		{"in the header", oauth2.AuthStyleInHeader, url.Values{}, "client:client-secret"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got url.Values
			var basic string
			o := oauthFor(t, tc.style, func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				got = r.PostForm
				if user, pass, given := r.BasicAuth(); given {
					basic = user + ":" + pass
				}
				ok(w, `{"access_token":"a","refresh_token":"r","expires_in":"1800","scope":"api","extra":1}`)
			})
			answer, err := o.Exchange(t.Context(), "co=de+1", "verifier", "https://app.example/callback")
			require.NoError(t, err)
			tc.want["grant_type"], tc.want["code"], tc.want["code_verifier"] = []string{"authorization_code"}, []string{"co=de+1"}, []string{"verifier"}
			tc.want["redirect_uri"] = []string{"https://app.example/callback"}
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.basic, basic)
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			require.Equal(t, now.Add(30*time.Minute), answer.ExpiresAt(now))
			require.Contains(t, string(answer.Raw), "extra")
		})
	}
}

func TestTokenRefusalsBecomeFaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, kind, body string
		status           int
		exchange, later  fault.Code
	}{
		{"a dead grant", "application/json", `{"error":"grant_dead","error_description":"secret"}`, 400, fault.Invalid, fault.ReauthRequired},
		{"a bad client", "application/json", `{"error":"client_bad"}`, 401, fault.ClientMisconfig, fault.ClientMisconfig},
		{"a server error with an OAuth body", "application/json", `{"error":"grant_dead"}`, 500, fault.Unavailable, fault.Unavailable},
		{"an HTML error", "text/html", "<html>secret</html>", 400, fault.Unavailable, fault.Unavailable},
		{"too many requests", "application/json", `{"error":"grant_dead"}`, 429, fault.Throttled, fault.Throttled},
		{"a maintenance page", "text/html", "<html>secret</html>", 200, fault.Unavailable, fault.Unavailable},
		{"half an answer", "application/json", `{"access_token":"secret`, 200, fault.Unavailable, fault.Unavailable},
		{"no access token", "application/json", `{"refresh_token":"secret"}`, 200, fault.Unavailable, fault.Unavailable},
		{"a redirect", "", "", 307, fault.Unavailable, fault.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := oauthFor(t, oauth2.AuthStyleInParams, func(w http.ResponseWriter, r *http.Request) {
				if tc.status == 307 && !strings.HasSuffix(r.URL.Path, "/again") {
					http.Redirect(w, r, "/token/again", tc.status)
					return
				}
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(max(tc.status, 200))
				_, _ = io.WriteString(w, tc.body)
			})
			_, err := o.Exchange(t.Context(), "secret-code", "secret-verifier", "https://app.example/callback")
			requireQuiet(t, err, tc.exchange)
			_, err = o.Refresh(t.Context(), "secret-refresh")
			requireQuiet(t, err, tc.later)
		})
	}
	t.Run("no refresh token", func(t *testing.T) {
		t.Parallel()
		_, err := oauthFor(t, oauth2.AuthStyleInParams, nil).Refresh(t.Context(), "")
		requireQuiet(t, err, fault.ReauthRequired)
	})
}

func TestRevokeTakesGoneForDoneButNotAnOutage(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Code{200: "", 400: "", 404: "", 429: fault.Unavailable, 503: fault.Unavailable} {
		o := oauthFor(t, oauth2.AuthStyleInParams, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		require.Equal(t, want, fault.CodeOf(o.Revoke(t.Context(), url.Values{"token": {"secret"}})), "status %d", status)
	}
}
