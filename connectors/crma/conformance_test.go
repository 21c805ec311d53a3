package crma_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/connectors/connectortest"
	"revarch/connectors/crma"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/sandbox/salesforce"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	connectortest.Run(t, func(t *testing.T) *connectortest.Harness {
		t.Helper()
		return start(t, 200)
	})
}

// start opens a sandbox org of its own with 700 accounts.
func start(tb testing.TB, pageSize int) *connectortest.Harness {
	tb.Helper()
	box, err := sandbox.New(sandbox.Config{Accounts: 700, ContactsPerAccount: 0.5, OpportunitiesPerAccount: -1, TasksPerAccount: -1})
	require.NoError(tb, err)
	server := httptest.NewServer(box.Handler())
	tb.Cleanup(func() {
		server.Close()
		require.NoError(tb, box.Close())
	})
	wire := &wire{next: http.DefaultTransport}
	base := server.URL + "/" + salesforce.Provider
	p, err := crma.New(connectors.Settings{
		AuthorizeURL: base + "/services/oauth2/authorize", TokenURL: base + "/services/oauth2/token",
		RevokeURL: base + "/services/oauth2/revoke", APIURL: base,
		ClientID: sandbox.DefaultClientID, ClientSecret: sandbox.DefaultClientSecret,
	}, crma.Options{HTTP: &http.Client{Transport: wire}})
	require.NoError(tb, err)
	return &connectortest.Harness{
		Provider: p, Remote: &org{control.New(server.URL, salesforce.Provider), wire},
		RedirectURI: "http://127.0.0.1/api/connectors/crm_a/callback", Object: "Account", PageSize: pageSize, Merges: "Account", Rotates: true,
	}
}

// org is a sandbox org as the suite wants to control it.
type org struct {
	*control.Client
	wire *wire
}

func (o *org) Consent(tb testing.TB, authorizeURL string) url.Values {
	tb.Helper()
	back, err := control.Consent(tb.Context(), authorizeURL, true)
	require.NoError(tb, err)
	u, err := url.Parse(back)
	require.NoError(tb, err)
	return u.Query()
}

func (o *org) Live(t *testing.T, object string) []string {
	t.Helper()
	ids, err := o.IDs(t.Context(), object)
	require.NoError(t, err)
	return ids
}

func (o *org) Create(t *testing.T, object string) string {
	t.Helper()
	rec, err := o.Client.Create(t.Context(), object, control.Fields{"Name": "Made by a test"})
	require.NoError(t, err)
	return rec.ID
}

func (o *org) Update(t *testing.T, object, id string) {
	t.Helper()
	_, err := o.Client.Update(t.Context(), object, id, control.Fields{"Name": "Changed by a test"})
	require.NoError(t, err)
}

func (o *org) Delete(t *testing.T, object, id string) {
	t.Helper()
	require.NoError(t, o.Client.Delete(t.Context(), object, id))
}

func (o *org) Merge(t *testing.T, object, winner, loser string) {
	t.Helper()
	require.NoError(t, o.Client.Merge(t.Context(), object, winner, loser))
}

// onceOnly are the sandbox's own failures for the disturbances of one answer.
var onceOnly = map[connectortest.Disturbance]control.Failure{
	connectortest.BusyRefresh:     {Kind: control.TokenBusy},
	connectortest.BadClient:       {Kind: control.InvalidClient},
	connectortest.TokenOutage:     {Kind: control.Status, Path: "/services/oauth2/token", Status: http.StatusServiceUnavailable},
	connectortest.ForeignInstance: {Kind: control.InstanceURL, URL: "https://salesforce.com.evil.example"},
	connectortest.Quota:           {Kind: control.Limit, Path: "/query"},
	connectortest.MaintenancePage: {Kind: control.HTML, Path: "/query"},
	connectortest.CutShort:        {Kind: control.Truncate, Path: "/query"},
	connectortest.ServerError:     {Kind: control.Status, Path: "/query"},
	connectortest.ForgetCursors:   {Kind: control.DeadCursor},
}

func (o *org) Inject(t *testing.T, d connectortest.Disturbance) {
	t.Helper()
	switch d {
	case connectortest.ExpireAccess:
		require.NoError(t, o.ExpireSessions(t.Context()))
	case connectortest.KillGrant:
		require.NoError(t, o.RevokeGrants(t.Context()))
	case connectortest.Throttle, connectortest.ForeignLink, connectortest.SameLink:
		o.wire.disturb(d)
	default:
		f, ok := onceOnly[d]
		require.True(t, ok, "the sandbox knows %s", d)
		f.Times = 1
		_, err := o.Fail(t.Context(), f)
		require.NoError(t, err)
	}
}

// wire changes answers between the sandbox and the provider where the sandbox itself is too well-behaved.
type wire struct {
	next http.RoundTripper

	mu   sync.Mutex
	once connectortest.Disturbance
}

func (w *wire) disturb(d connectortest.Disturbance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.once = d
}

// take returns the disturbance in force if the request is for a page, and ends it.
func (w *wire) take(r *http.Request) connectortest.Disturbance {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.Contains(r.URL.Path, "/query") {
		return ""
	}
	d := w.once
	w.once = ""
	return d
}

var nextLink = regexp.MustCompile(`"nextRecordsUrl":"[^"]*"`)

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	d := w.take(r)
	resp, err := w.next.RoundTrip(r)
	if err != nil || d == "" {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	switch d {
	case connectortest.Throttle:
		resp.StatusCode = http.StatusForbidden
		body = []byte(`[{"message":"ConcurrentRequests (Concurrent API Requests) Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`)
	case connectortest.ForeignLink:
		body = nextLink.ReplaceAll(body, []byte(`"nextRecordsUrl":"https://evil.example/services/data/v60.0/query/01g-200"`))
	case connectortest.SameLink:
		own := strings.TrimPrefix(r.URL.Path, "/"+salesforce.Provider)
		body = nextLink.ReplaceAll(body, []byte(`"nextRecordsUrl":"`+own+`"`))
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, nil
}
