package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/config"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/identity"
	"revarch/services/runs"
	"revarch/testkit"
)

// logged is everything that the tests of this package make the product log.
var logged = &transcript{}

// transcript is a log that can be searched while it is written.
type transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *transcript) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *transcript) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	os.Exit(m.Run())
}

// system is the product as `revarch up` wires it, in one process: the API in the app's role, the workers in the worker's,
// and the sandbox behind HTTP.
type system struct {
	tb      testing.TB
	db      testkit.DB
	app     *app // the API's
	worker  *app
	srv     *api.Server
	url     string
	box     *control.Client
	boxURL  string
	ahead   atomic.Int64 // nanoseconds that the clock of the product is ahead
	started context.Context

	promised sync.Once
	promise  *contract
}

// setup starts a system. change may alter the configuration.
func setup(tb testing.TB, cfg sandbox.Config, change ...func(*config.Config)) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb))}
	box, err := sandbox.New(cfg)
	require.NoError(tb, err)
	boxServer := httptest.NewServer(box.Handler())
	tb.Cleanup(func() {
		boxServer.CloseClientConnections()
		boxServer.Close()
		_ = box.Close()
	})
	s.boxURL, s.box = boxServer.URL, control.New(boxServer.URL, "crm_a")

	web := httptest.NewUnstartedServer(nil)
	s.url = "http://" + web.Listener.Addr().String()
	c, err := config.Load(config.Need{})
	require.NoError(tb, err)
	c.TemporalAddress, c.TemporalNamespace, c.Listen = testkit.TemporalAddress(tb), "default", web.Listener.Addr().String()
	c.TemporalUIURL, c.KeysetPath, c.RatePerSecond = "http://temporal.example", filepath.Join(tb.TempDir(), "keys"), 1e6
	maps.Copy(c.Providers, sandboxProviders(s.boxURL))
	for _, f := range change {
		f(&c)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	s.started = ctx
	queues := "c" + strings.ToLower(rand.Text()[:8]) + "-"
	wire := func(database string) *app {
		a, err := (&app{cfg: c, clock: s.now, queues: queues}).wire(tb.Context(), database, nil)
		require.NoError(tb, err)
		return a
	}
	s.app, s.worker = wire(s.db.App), wire(s.db.Worker)
	s.srv, err = s.app.server(nil)
	require.NoError(tb, err)
	var background sync.WaitGroup
	background.Go(func() { s.app.hub.Run(ctx) })
	background.Go(func() { s.worker.hub.Run(ctx) })
	background.Go(func() {
		if err := s.worker.work(ctx, nil); err != nil && ctx.Err() == nil {
			tb.Errorf("workers: %v", err)
		}
	})
	web.Config.Handler = s.srv.Handler()
	web.Start()
	tb.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		cancel()
		background.Wait()
		s.app.close()
		s.worker.close()
	})
	return s
}

// now is the product's clock.
func (s *system) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *system) pass(d time.Duration) { s.ahead.Add(int64(d)) }

// password of everybody in these tests.
const password = "correct horse battery"

// org makes an organization with its first admin and returns both.
func (s *system) org(name string, system bool) (uuid.UUID, caller) {
	s.tb.Helper()
	role := auth.Admin
	if system {
		role = auth.Operator
	}
	email := "admin@" + strings.ToLower(name) + ".example.org"
	o, user, err := s.app.identity.CreateOrg(s.tb.Context(), name, system, email, name+" Admin", password, role)
	require.NoError(s.tb, err)
	return o.ID, s.session(o.ID, user)
}

// member adds a person to an organization, as if they had accepted an invitation.
func (s *system) member(org uuid.UUID, role auth.Role, email string) (string, caller) {
	s.tb.Helper()
	id := uuid.Must(uuid.NewV7())
	s.db.Exec(s.tb, "INSERT INTO users (id, email, name) VALUES ($1, $2, $3)", id, email, string(role)+" "+email)
	s.db.Exec(s.tb, "INSERT INTO memberships (org_id, user_id, role) VALUES ($1, $2, $3)", org, id, role)
	return id.String(), s.session(org, id)
}

// session makes a browser session without the cost of a password.
func (s *system) session(org, user uuid.UUID) caller {
	s.tb.Helper()
	token := auth.NewToken()
	s.db.Exec(s.tb, "INSERT INTO sessions (hash, org_id, user_id, expires_at) VALUES ($1, $2, $3, $4)", auth.HashSecret(token), org, user, s.now().Add(24*time.Hour))
	return caller{s: s, cookie: token}
}

// key makes an API key.
func (s *system) key(org uuid.UUID, scopes ...auth.Scope) caller {
	s.tb.Helper()
	_, secret, err := s.app.identity.CreateKey(s.tb.Context(), auth.Engine(org), identity.NewKeyInput{Name: "key of " + strings.ToLower(rand.Text()[:6]), Scopes: scopes})
	require.NoError(s.tb, err)
	return caller{s: s, key: secret}
}

// caller is somebody who uses the API: a browser, a program, or nobody.
type caller struct {
	s           *system
	cookie, key string
	headers     map[string]string
}

// with adds a header to every request.
func (c caller) with(name, value string) caller {
	h := map[string]string{name: value}
	for k, v := range c.headers {
		if k != name {
			h[k] = v
		}
	}
	c.headers = h
	return c
}

// response is an answer, read to its end.
type response struct {
	Status int
	Header http.Header
	Body   string
}

var noRedirects = &http.Client{Timeout: 90 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a request. body is sent as it is when it is text, as JSON otherwise.
func (c caller) do(method, path string, body any) response {
	c.s.tb.Helper()
	var in io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(c.s.tb, err)
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(c.s.tb.Context(), method, c.s.url+path, in)
	require.NoError(c.s.tb, err)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cookie != "" {
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: c.cookie})
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for k, v := range c.headers {
		req.Header.Set(k, v)
	}
	res, err := noRedirects.Do(req)
	require.NoError(c.s.tb, err, "%s %s", method, path)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.s.tb, err, "%s %s", method, path)
	got := response{res.StatusCode, res.Header, string(raw)}
	if differs := c.s.contract().check(method, path, got); differs != "" {
		c.s.tb.Errorf("%s %s is not as documented: %s\n%s", method, path, differs, got.Body)
	}
	return got
}

// contract is what the system's document promises.
func (s *system) contract() *contract {
	s.promised.Do(func() { s.promise = newContract(s.tb, s.srv.OpenAPI()) })
	return s.promise
}

// ok requires a success and reads the answer into out.
func (c caller) ok(method, path string, body, out any) response {
	c.s.tb.Helper()
	got := c.do(method, path, body)
	require.Less(c.s.tb, got.Status, 300, "%s %s: %s", method, path, got.Body)
	if out != nil {
		require.NoError(c.s.tb, json.Unmarshal([]byte(got.Body), out), got.Body)
	}
	return got
}

// refused requires a problem document with a status and a code, and returns it.
func (c caller) refused(method, path string, body any, status int, code string) api.Problem {
	c.s.tb.Helper()
	return problemOf(c.s.tb, fmt.Sprintf("%s %s", method, path), c.do(method, path, body), status, code)
}

func problemOf(tb testing.TB, what string, got response, status int, code string) api.Problem {
	tb.Helper()
	var p api.Problem
	require.Equal(tb, status, got.Status, "%s: %s", what, got.Body)
	require.Equal(tb, "application/problem+json", got.Header.Get("Content-Type"), what)
	require.NoError(tb, json.Unmarshal([]byte(got.Body), &p), "%s: %s", what, got.Body)
	require.Equal(tb, code, p.Code, "%s: %s", what, got.Body)
	require.Equal(tb, status, p.Status, what)
	require.NotEmpty(tb, p.Detail, what)
	require.NotEmpty(tb, p.Title, what)
	return p
}

// connect goes through the consent page as a browser does and returns the path of the callback, which has been used.
func (c caller) connect() string {
	c.s.tb.Helper()
	path := c.consent()
	got := c.do(http.MethodGet, path, nil)
	require.Equal(c.s.tb, http.StatusOK, got.Status, got.Body)
	return path
}

// consent is connect up to the callback, which is returned unused.
func (c caller) consent() string {
	c.s.tb.Helper()
	var begin struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	c.ok(http.MethodGet, "/api/connectors/crm_a/auth", nil, &begin)
	back, err := control.Consent(c.s.tb.Context(), begin.AuthorizeURL, true)
	require.NoError(c.s.tb, err)
	u, err := url.Parse(back)
	require.NoError(c.s.tb, err)
	return u.RequestURI()
}

// run starts a run and waits for its end, which must be the given one.
func (c caller) run(path string, body any, want string) runs.View {
	c.s.tb.Helper()
	var started struct{ Run runs.View }
	c.with("Prefer", "wait=60").ok(http.MethodPost, path, body, &started)
	v := started.Run
	require.Equal(c.s.tb, want, string(v.Status), "%s: %+v %+v", path, v.Error, v)
	return v
}

// list reads the rows of a list.
func (c caller) list(path, name string) []map[string]any {
	c.s.tb.Helper()
	var out map[string]json.RawMessage
	c.ok(http.MethodGet, path, nil, &out)
	var rows []map[string]any
	require.NoError(c.s.tb, json.Unmarshal(out[name], &rows), "%s has no %s", path, name)
	return rows
}
