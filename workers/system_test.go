package workers_test

import (
	"context"
	"crypto/rand"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"revarch/activities"
	"revarch/auth"
	"revarch/connectors"
	"revarch/connectors/crma"
	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/sandbox/salesforce"
	"revarch/services/connections"
	"revarch/services/datasets"
	"revarch/services/governance"
	"revarch/services/imports"
	"revarch/services/matching"
	"revarch/services/records"
	"revarch/services/runs"
	"revarch/services/scoring"
	"revarch/services/uploads"
	"revarch/services/vault"
	"revarch/store"
	"revarch/testkit"
	"revarch/workers"
	"revarch/workflows"
)

const redirect = "http://127.0.0.1/api/connectors/crm_a/callback"

// system is everything that a sync needs, real down to PostgreSQL, Temporal and the provider's dialect.
type system struct {
	tb       testing.TB
	db       testkit.DB
	box      *control.Client
	temporal client.Client
	prefix   string
	keyset   string

	address, sandboxURL string

	admin   auth.Principal
	process // the one that the test asks
}

// process is what one process of the product holds.
type process struct {
	runs        *runs.Service
	connections *connections.Service
	activities  workers.Activities
	schedules   *workers.Schedules
	starter     *workflows.Starter
	datasets    *datasets.Service
	matching    *matching.Service
	imports     *imports.Service
}

func setup(tb testing.TB, cfg sandbox.Config) *system {
	tb.Helper()
	s := &system{
		tb: tb, db: testkit.Database(tb, testkit.Product(tb)), prefix: "t" + strings.ToLower(rand.Text()[:8]) + "-",
		keyset: filepath.Join(tb.TempDir(), "keyset.json"),
	}
	box, err := sandbox.New(cfg)
	require.NoError(tb, err)
	server := httptest.NewServer(box.Handler())
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = box.Close()
	})
	s.box = control.New(server.URL, salesforce.Provider)
	s.address, s.sandboxURL = testkit.TemporalAddress(tb), server.URL
	s.temporal, err = client.Dial(client.Options{HostPort: s.address, Logger: quiet{}})
	require.NoError(tb, err)
	tb.Cleanup(s.temporal.Close)
	org := s.db.NewOrg(tb, "Org")
	s.admin = auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "ada@example.com", Role: auth.Admin, Surface: "rest", Session: []byte("session")}
	s.process = s.newProcess()
	return s
}

// newProcess builds the services as one process would, with pools, caches and a vault of its own.
func (s *system) newProcess() process {
	s.tb.Helper()
	p, err := build(testkit.OpenStore(s.tb, s.db.Worker, 12), s.temporal, s.prefix, s.keyset, s.sandboxURL)
	require.NoError(s.tb, err)
	return p
}

func build(st *store.Store, c client.Client, prefix, keyset, sandboxURL string) (p process, err error) {
	base := sandboxURL + "/" + salesforce.Provider
	provider, err := crma.New(connectors.Settings{
		AuthorizeURL: base + "/services/oauth2/authorize", TokenURL: base + "/services/oauth2/token", RevokeURL: base + "/services/oauth2/revoke",
		APIURL: base, ClientID: sandbox.DefaultClientID, ClientSecret: sandbox.DefaultClientSecret,
	}, crma.Options{})
	if err != nil {
		return p, err
	}
	v, err := vault.Open(keyset)
	if err != nil {
		return p, err
	}
	p.starter, p.schedules = workflows.NewStarter(c, prefix), workers.NewSchedules(c, prefix)
	p.runs = runs.New(st, p.starter, nil, nil)
	p.connections, err = connections.New(connections.Config{
		Store: st, Vault: v, Runs: p.runs, Schedules: p.schedules,
		Providers: map[models.Provider]connectors.Provider{models.CRMA: provider},
	})
	rec := &records.Service{Store: st, Clock: time.Now}
	p.activities = workers.Activities{
		Sync:        &activities.Sync{Connections: p.connections, Records: rec, Runs: p.runs},
		Remap:       &activities.Remap{Connections: p.connections, Records: rec, Runs: p.runs},
		Runs:        &activities.Runs{Runs: p.runs, Connections: p.connections},
		Connections: &activities.Connections{Connections: p.connections},
		Compute:     &activities.Compute{Runs: p.runs, Scorer: &scoring.Service{Store: st, Clock: time.Now}},
	}
	match := &matching.Service{Store: st, Runs: p.runs, Log: &governance.Service{Store: st, Clock: time.Now}}
	p.datasets = &datasets.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: p.runs, Log: match.Log}
	p.matching, p.activities.Compute.Matcher = match, match
	p.imports = &imports.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: p.runs, Log: match.Log}
	p.activities.Import = &activities.Import{Imports: p.imports, Runs: p.runs}
	p.activities.Ingest = &activities.Ingest{Datasets: p.datasets, Matching: match, Runs: p.runs}
	return p, err
}

// work starts workers of a process and returns what stops them.
func (s *system) work(p process) (stop func()) {
	s.tb.Helper()
	set, err := workers.Start(s.temporal, s.prefix, workers.Queues(p.activities), func(error) {})
	require.NoError(s.tb, err)
	var stopped atomic.Bool
	stop = func() {
		if stopped.CompareAndSwap(false, true) {
			set.Stop()
		}
	}
	s.tb.Cleanup(stop)
	return stop
}

// connect goes through the whole authorization, as a browser would.
func (s *system) connect() {
	s.tb.Helper()
	page, err := s.connections.BeginAuth(s.tb.Context(), s.admin, models.CRMA, redirect)
	require.NoError(s.tb, err)
	back, err := control.Consent(s.tb.Context(), page, true)
	require.NoError(s.tb, err)
	u, err := url.Parse(back)
	require.NoError(s.tb, err)
	st, err := s.connections.CompleteAuth(s.tb.Context(), connections.Callback{
		Provider: models.CRMA, State: u.Query().Get("state"),
		Code: u.Query().Get("code"), RedirectURI: redirect, Principal: s.admin,
	})
	require.NoError(s.tb, err)
	require.Equal(s.tb, models.ConnConnected, st.Status)
}

// sync starts a sync.
func (s *system) sync(full bool) models.Run {
	s.tb.Helper()
	run, already, err := s.connections.Sync(s.tb.Context(), s.admin, models.CRMA, connections.SyncOptions{Full: full})
	require.NoError(s.tb, err)
	require.False(s.tb, already)
	return run
}

// ended waits for the end of a run.
func (s *system) ended(run models.Run) models.Run {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), 2*time.Minute)
	defer cancel()
	got, err := s.runs.Wait(ctx, run.OrgID, run.ID, 110*time.Second)
	require.NoError(s.tb, err)
	require.False(s.tb, got.Status.Live(), "the run has not ended: %+v", got)
	c := got.Counts
	require.Equal(s.tb, c["read"], c["created"]+c["updated"]+c["unchanged"]+c["deleted"]+c["failed"], "counts add up: %v", c)
	return got
}

func (s *system) succeeded(run models.Run) models.Run {
	s.tb.Helper()
	got := s.ended(run)
	if got.ErrorMessage != nil {
		require.Equal(s.tb, models.RunSucceeded, got.Status, "%s: %s", *got.ErrorCode, *got.ErrorMessage)
	}
	require.Equal(s.tb, models.RunSucceeded, got.Status)
	return got
}

// tableOf are the provider's objects and where their records are kept.
var tableOf = map[string]string{
	"Account": "accounts", "Contact": "contacts", "Opportunity": "opportunities", "Task": "activities", "Product2": "products",
	"PricebookEntry": "product_prices", "OpportunityLineItem": "order_lines", "Asset": "account_products", "User": "crm_users",
}

// held is how many records of all objects the provider holds.
func (s *system) held() (n int) {
	s.tb.Helper()
	for object := range tableOf {
		k, err := s.box.Count(s.tb.Context(), object)
		require.NoError(s.tb, err)
		n += k
	}
	return n
}

// sameRecords compares what is stored with what the provider holds.
func (s *system) sameRecords() {
	s.tb.Helper()
	for object, table := range tableOf {
		want, err := s.box.Count(s.tb.Context(), object)
		require.NoError(s.tb, err)
		require.EqualValues(s.tb, want, s.db.Count(s.tb, "SELECT count(*) FROM "+table+" WHERE org_id = $1 AND deleted_at IS NULL", s.org()), object)
		require.EqualValues(s.tb, want, s.db.Count(s.tb, "SELECT count(*) FROM raw_records WHERE org_id = $1 AND object = $2 AND deleted_at IS NULL", s.org(), object), object)
	}
}

func (s *system) org() uuid.UUID { return s.admin.OrgID }

// until waits for a condition.
func (s *system) until(what string, ok func() bool) {
	s.tb.Helper()
	require.Eventually(s.tb, ok, time.Minute, 20*time.Millisecond, what)
}

// quiet keeps the SDK from writing to the test's output.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
