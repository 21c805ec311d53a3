package crma

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

// idp answers token requests and userinfo as a test dictates; %s in a body becomes its own address.
type idp struct {
	token, userinfo             string
	tokenStatus, userinfoStatus int
	revoked                     string
}

func openIDP(t *testing.T, s *idp) (*Provider, string) {
	t.Helper()
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(max(status, 200))
		_, _ = io.WriteString(w, body)
	}
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) { write(w, s.tokenStatus, s.token) })
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) { s.revoked = r.FormValue("token") })
	mux.HandleFunc("GET /services/oauth2/userinfo", func(w http.ResponseWriter, _ *http.Request) { write(w, s.userinfoStatus, s.userinfo) })
	mux.HandleFunc("GET /services/data/v60.0/limits", func(w http.ResponseWriter, _ *http.Request) { write(w, 200, `{}`) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p, err := New(connectors.Settings{
		AuthorizeURL: server.URL + "/authorize", TokenURL: server.URL + "/token",
		RevokeURL: server.URL + "/revoke", APIURL: server.URL, ClientID: "client", ClientSecret: "s3cret",
	}, Options{})
	require.NoError(t, err)
	return p, server.URL
}

const (
	orgID    = "00D000000000001EAA"
	identity = `"id":"https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA"`
)

func TestExchangeNamesOrgAndUser(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		token          string
		userinfo       string
		userinfoStatus int
		want           fault.Code
		user           string
	}{
		{"from both", identity, `{"organization_id":"00D000000000001","preferred_username":"ann@x.example"}`, 200, "", "ann@x.example at "},
		{"from userinfo alone", `"x":1`, `{"organization_id":"00D000000000001EAA","preferred_username":"ann@x.example"}`, 200, "", "ann@x.example at "},
		{"from the identity address when userinfo is closed", identity, `[{"errorCode":"INSUFFICIENT_ACCESS"}]`, 403, "", ""},
		{"from the identity address when userinfo is down", identity, ``, 503, "", ""},
		{"from nowhere", `"x":1`, ``, 503, fault.Unavailable, ""},
		{"from two that disagree", identity, `{"organization_id":"00D000000000002EAA"}`, 200, fault.Denied, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, base := openIDP(t, &idp{
				token:    `{"access_token":"a","refresh_token":"r","scope":"api refresh_token",` + tc.token + `}`,
				userinfo: tc.userinfo, userinfoStatus: tc.userinfoStatus,
			})
			g, err := p.Exchange(t.Context(), "code", "verifier", "https://app.example/callback")
			require.Equal(t, tc.want, fault.CodeOf(err), "%v", err)
			if tc.want != "" {
				return
			}
			require.Equal(t, orgID, g.AccountID)
			require.Contains(t, g.AccountLabel, tc.user)
			require.Equal(t, []string{"api", "refresh_token"}, g.Scopes)
			require.True(t, g.ExpiresAt.IsZero(), "the provider does not say")
			require.Equal(t, base, p.baseURL(g))
		})
	}
}

func TestExchangeNeedsOfflineAccess(t *testing.T) {
	t.Parallel()
	p, _ := openIDP(t, &idp{token: `{"access_token":"a",` + identity + `}`})
	_, err := p.Exchange(t.Context(), "code", "verifier", "https://app.example/callback")
	require.Equal(t, fault.ScopeMissing, fault.CodeOf(err))
}

func TestRefreshKeepsWhatTheAnswerDoesNotRepeat(t *testing.T) {
	t.Parallel()
	old := connectors.Grant{
		AccessToken: "a1", RefreshToken: "r1", InstanceURL: "https://old.my.salesforce.com", AccountID: orgID,
		AccountLabel: "label", Scopes: []string{"api"}, Version: 7,
	}
	for _, tc := range []struct {
		name, answer string
		want         connectors.Grant
		code         fault.Code
	}{
		{"nothing but a token", `{"access_token":"a2"}`, connectors.Grant{
			AccessToken: "a2", RefreshToken: "r1",
			InstanceURL: "https://old.my.salesforce.com", AccountID: orgID, AccountLabel: "label", Scopes: []string{"api"}, Version: 7,
		}, ""},
		{
			"rotation and a move", `{"access_token":"a2","refresh_token":"r2","instance_url":"https://new.my.salesforce.com/","scope":"api id",` + identity + `}`,
			connectors.Grant{
				AccessToken: "a2", RefreshToken: "r2", InstanceURL: "https://new.my.salesforce.com", AccountID: orgID,
				AccountLabel: "label", Scopes: []string{"api", "id"}, Version: 7,
			},
			"",
		},
		{"a foreign instance", `{"access_token":"a2","instance_url":"https://salesforce.com.evil.example"}`, connectors.Grant{}, fault.Denied},
		{"an instance over http", `{"access_token":"a2","instance_url":"http://x.salesforce.com"}`, connectors.Grant{}, fault.Denied},
		{"another org", `{"access_token":"a2","id":"https://login.salesforce.com/id/00D000000000002EAA/005000000000001AAA"}`, connectors.Grant{}, fault.Denied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, _ := openIDP(t, &idp{token: tc.answer})
			got, err := p.Refresh(t.Context(), old)
			require.Equal(t, tc.code, fault.CodeOf(err), "%v", err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestTokenErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answer string
		status       int
		want         fault.Code
	}{
		{"a dead grant", `{"error":"invalid_grant","error_description":"expired access/refresh token"}`, 400, fault.ReauthRequired},
		{"an inactive user", `{"error":"inactive_user"}`, 400, fault.ReauthRequired},
		{"a parallel refresh", `{"error":"invalid_grant","error_description":"Token request is already being processed"}`, 400, fault.Throttled},
		{"a wrong client", `{"error":"invalid_client_id"}`, 400, fault.ClientMisconfig},
		{"a wrong secret", `{"error":"invalid_client"}`, 401, fault.ClientMisconfig},
		{"a login limit", `{"error":"rate_limit_exceeded"}`, 400, fault.Throttled},
		{"an unknown error", `{"error":"something_new"}`, 400, fault.Unavailable},
		{"an outage", `{"error":"invalid_grant"}`, 503, fault.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, _ := openIDP(t, &idp{token: tc.answer, tokenStatus: tc.status})
			_, err := p.Refresh(t.Context(), connectors.Grant{RefreshToken: "r"})
			require.Equal(t, tc.want, fault.CodeOf(err), "%v", err)
		})
	}
}

func TestRevokeEndsTheRefreshToken(t *testing.T) {
	t.Parallel()
	s := &idp{}
	p, _ := openIDP(t, s)
	require.NoError(t, p.Revoke(t.Context(), connectors.Grant{}))
	require.Empty(t, s.revoked)
	require.NoError(t, p.Revoke(t.Context(), connectors.Grant{AccessToken: "a", RefreshToken: "r"}))
	require.Equal(t, "r", s.revoked)
}

func TestNewRefusesIncompleteSettings(t *testing.T) {
	t.Parallel()
	_, err := New(connectors.Settings{}, Options{})
	require.Equal(t, fault.ClientMisconfig, fault.CodeOf(err))
	_, err = New(connectors.Settings{ClientID: "c", AuthorizeURL: "nonsense", TokenURL: "https://login.salesforce.com/t"}, Options{})
	require.Equal(t, fault.ClientMisconfig, fault.CodeOf(err))
}

func TestUntilResetWaitsForMidnight(t *testing.T) {
	t.Parallel()
	require.Equal(t, 12*time.Hour+5*time.Minute, untilReset(noon))
	require.Equal(t, 15*time.Minute, untilReset(noon.Add(12*time.Hour-time.Minute)))
}
