package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
	"revarch/sandbox/control"
)

const (
	verifier = "a-verifier-that-is-long-enough-for-the-rules-of-pkce"
	callback = "http://127.0.0.1:4242/api/connectors/crm_a/callback"
	rest     = "/services/data/v62.0"
)

var anchor = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// clock is a time that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// system is a running sandbox with a signed-in client.
type system struct {
	t      testing.TB
	url    string
	admin  *control.Client
	clock  *clock
	tokens tokens
	http   *http.Client
}

type tokens struct {
	Access   string `json:"access_token"`
	Refresh  string `json:"refresh_token"`
	Instance string `json:"instance_url"`
	ID       string `json:"id"`
	Issued   string `json:"issued_at"`
	Sig      string `json:"signature"`
	Expires  *int   `json:"expires_in"`
	Error    string `json:"error"`
	Text     string `json:"error_description"`
}

// setup starts a sandbox and signs in through the consent page.
func setup(tb testing.TB, change ...func(*sandbox.Config)) *system {
	tb.Helper()
	s := start(tb, change...)
	s.signIn()
	return s
}

func start(tb testing.TB, change ...func(*sandbox.Config)) *system {
	tb.Helper()
	c := &clock{now: anchor.Add(10 * time.Hour)}
	cfg := sandbox.Config{Accounts: 60, Anchor: anchor, Clock: c.Now, RefreshTime: time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	server, err := sandbox.New(cfg)
	require.NoError(tb, err)
	ts := httptest.NewServer(server.Handler())
	tb.Cleanup(func() {
		ts.Close()
		require.NoError(tb, server.Close())
	})
	noFollow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &system{t: tb, url: ts.URL, admin: control.New(ts.URL, "crm_a"), clock: c, http: noFollow}
}

func challenge(v string) string {
	sum := sha256.Sum256([]byte(v))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// authorizeURL is what a client sends its user to.
func (s *system) authorizeURL(change ...func(url.Values)) string {
	q := url.Values{
		"client_id": {sandbox.DefaultClientID}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"st&te"},
		"scope": {"api refresh_token id"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"},
	}
	for _, f := range change {
		f(q)
	}
	return s.url + "/crm_a/services/oauth2/authorize?" + q.Encode()
}

func (s *system) code() string {
	s.t.Helper()
	back, err := control.Consent(context.Background(), s.authorizeURL(), true)
	require.NoError(s.t, err)
	u, err := url.Parse(back)
	require.NoError(s.t, err)
	require.Equal(s.t, "st&te", u.Query().Get("state"))
	return u.Query().Get("code")
}

func (s *system) signIn() {
	s.t.Helper()
	got, status := s.token(url.Values{"grant_type": {"authorization_code"}, "code": {s.code()}, "redirect_uri": {callback}, "code_verifier": {verifier}})
	require.Equal(s.t, http.StatusOK, status, got.Text)
	s.tokens = got
}

// token asks the token endpoint with the client's credentials.
func (s *system) token(form url.Values) (tokens, int) {
	s.t.Helper()
	if !form.Has("client_id") {
		form.Set("client_id", sandbox.DefaultClientID)
		form.Set("client_secret", sandbox.DefaultClientSecret)
	}
	res, err := s.http.PostForm(s.url+"/crm_a/services/oauth2/token", form)
	require.NoError(s.t, err)
	defer res.Body.Close()
	var out tokens
	require.NoError(s.t, json.NewDecoder(res.Body).Decode(&out))
	return out, res.StatusCode
}

func (s *system) refresh(refresh string) (tokens, int) {
	s.t.Helper()
	return s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request to the API as the signed-in client; path is relative to instance_url.
func (s *system) do(method, path string, body any, headers ...string) (response, error) {
	s.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(s.t, err)
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+"/crm_a"+path, in)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+s.tokens.Access)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.http.Do(req)
	if err != nil {
		return response{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return response{res.StatusCode, res.Header, b}, err
}

func (s *system) get(path string, headers ...string) response {
	s.t.Helper()
	res, err := s.do(http.MethodGet, path, nil, headers...)
	require.NoError(s.t, err)
	return res
}

// errorCode returns the errorCode of an error answer.
func (r response) errorCode(tb testing.TB) string {
	tb.Helper()
	var list []struct{ Message, ErrorCode string }
	require.NoError(tb, json.Unmarshal(r.body, &list), string(r.body))
	require.Len(tb, list, 1)
	require.NotEmpty(tb, list[0].Message)
	return list[0].ErrorCode
}

type page struct {
	TotalSize      int
	Done           bool
	NextRecordsURL string `json:"nextRecordsUrl"`
	Records        []map[string]any
}

func queryPath(kind, soql string) string { return rest + "/" + kind + "?q=" + url.QueryEscape(soql) }

// query runs a statement and follows its pages to the end.
func (s *system) query(kind, soql string) []map[string]any {
	s.t.Helper()
	var out []map[string]any
	for next := queryPath(kind, soql); next != ""; {
		res := s.get(next)
		require.Equal(s.t, http.StatusOK, res.status, string(res.body))
		var p page
		require.NoError(s.t, json.Unmarshal(res.body, &p))
		out = append(out, p.Records...)
		next = p.NextRecordsURL
		require.Equal(s.t, p.Done, next == "")
		require.True(s.t, next == "" || strings.HasPrefix(next, rest+"/query/01g"))
	}
	return out
}

func ids(rows []map[string]any) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r["Id"].(string))
	}
	return out
}
