package connections_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/connectors"
	"revarch/connectors/crma"
	"revarch/fault"
	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/sandbox/salesforce"
	"revarch/services/connections"
	"revarch/services/runs"
	"revarch/services/vault"
	"revarch/store"
	"revarch/testkit"
)

const redirect = "http://127.0.0.1/api/connectors/crm_a/callback"

type system struct {
	*connections.Service
	tb    testing.TB
	db    testkit.DB
	store *store.Store
	vault *vault.Vault
	runs  *runs.Service
	box   *control.Client
	base  string
	admin auth.Principal

	mu      sync.Mutex
	now     time.Time
	audited []connections.AuditEntry
	paused  []string
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	s := &system{tb: tb, db: db, store: testkit.OpenStore(tb, db.App, 6), now: time.Now().UTC()}
	var err error
	s.vault, err = vault.Open(filepath.Join(tb.TempDir(), "keyset.json"))
	require.NoError(tb, err)
	s.runs = runs.New(s.store, nil, nil, s.clock)
	s.base = newBox(tb, sandbox.Config{Accounts: 5})
	s.box = control.New(s.base, salesforce.Provider)
	s.admin = s.member(db.NewOrg(tb, "Org"), auth.Admin, "session")
	s.Service = s.service(s.base)
	return s
}

func (s *system) member(org uuid.UUID, role auth.Role, session string) auth.Principal {
	return auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: string(role) + "@example.com", Role: role, Surface: "rest", Session: []byte(session)}
}

func newBox(tb testing.TB, cfg sandbox.Config) string {
	tb.Helper()
	box, err := sandbox.New(cfg)
	require.NoError(tb, err)
	server := httptest.NewServer(box.Handler())
	tb.Cleanup(func() {
		server.Close()
		_ = box.Close()
	})
	return server.URL
}

// service is the product's, with crm_a at an address.
func (s *system) service(at string) *connections.Service {
	s.tb.Helper()
	base := at + "/" + salesforce.Provider
	p, err := crma.New(connectors.Settings{
		AuthorizeURL: base + "/services/oauth2/authorize", TokenURL: base + "/services/oauth2/token", RevokeURL: base + "/services/oauth2/revoke",
		APIURL: base, ClientID: sandbox.DefaultClientID, ClientSecret: sandbox.DefaultClientSecret,
	}, crma.Options{})
	require.NoError(s.tb, err)
	svc, err := connections.New(connections.Config{
		Store: s.store, Vault: s.vault, Runs: s.runs, Schedules: s, Clock: s.clock,
		Providers: map[models.Provider]connectors.Provider{models.CRMA: p},
		Audit: func(_ *store.Tx, _ auth.Principal, e connections.AuditEntry) error {
			s.audited = append(s.audited, e)
			return nil
		},
	})
	require.NoError(s.tb, err)
	return svc
}

func (s *system) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *system) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *system) EnsureSync(context.Context, uuid.UUID, models.Provider) error {
	s.paused = append(s.paused, "on")
	return nil
}

func (s *system) PauseSync(_ context.Context, _ uuid.UUID, _ models.Provider, why string) error {
	s.paused = append(s.paused, why)
	return nil
}

// consent goes to the consent page and returns what the browser brings back.
func (s *system) consent(svc *connections.Service, allow bool) connections.Callback {
	s.tb.Helper()
	page, err := svc.BeginAuth(s.tb.Context(), s.admin, models.CRMA, redirect)
	require.NoError(s.tb, err)
	back, err := control.Consent(s.tb.Context(), page, allow)
	require.NoError(s.tb, err)
	u, err := url.Parse(back)
	require.NoError(s.tb, err)
	q := u.Query()
	return connections.Callback{Provider: models.CRMA, State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error"), RedirectURI: redirect, Principal: s.admin}
}

func (s *system) connect() connections.Status {
	s.tb.Helper()
	st, err := s.CompleteAuth(s.tb.Context(), s.consent(s.Service, true))
	require.NoError(s.tb, err)
	return st
}

func (s *system) status() connections.Status {
	s.tb.Helper()
	st, err := s.Status(s.tb.Context(), s.admin, models.CRMA)
	require.NoError(s.tb, err)
	return st
}

func (s *system) grants() int64 {
	return s.db.Count(s.tb, "SELECT count(*) FROM connection_grants")
}

func TestAuthorization(t *testing.T) {
	t.Parallel()

	t.Run("connecting stores a sealed grant, the schema and suggested mappings", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		page, err := s.BeginAuth(t.Context(), s.admin, models.CRMA, redirect)
		require.NoError(t, err)
		u, err := url.Parse(page)
		require.NoError(t, err)
		require.Equal(t, "S256", u.Query().Get("code_challenge_method"))
		require.GreaterOrEqual(t, len(u.Query().Get("state")), 43)
		st := s.connect()
		require.Equal(t, models.ConnConnected, st.Status)
		require.NotEmpty(t, st.AccountLabel)
		require.Equal(t, "admin@example.com", st.ConnectedBy)
		require.NotNil(t, st.NextSyncAt)
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM connection_grants WHERE encode(sealed, 'escape') ILIKE '%token%'"))
		set, err := s.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.EqualValues(t, 1, set.Version)
		require.Greater(t, len(set.Mappings), 40)
		d, err := s.Schema(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.NotEmpty(t, d.Schema.Objects)
		require.GreaterOrEqual(t, len(u.Query().Get("code_challenge")), 43)
		require.Equal(t, "connect_provider", s.audited[0].Action)
		require.Equal(t, []string{"on"}, s.paused)
	})

	t.Run("a callback that is not the one that was started is refused and changes nothing", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		good := s.consent(s.Service, true)
		for name, c := range map[string]struct {
			change func(*connections.Callback)
			want   fault.Code
		}{
			"no state":         {func(c *connections.Callback) { c.State = "" }, fault.Invalid},
			"unknown state":    {func(c *connections.Callback) { c.State = strings.Repeat("x", 43) }, fault.Invalid},
			"another session":  {func(c *connections.Callback) { c.Principal.Session = []byte("other") }, fault.Denied},
			"no session":       {func(c *connections.Callback) { c.Principal = auth.Principal{} }, fault.Denied},
			"another address":  {func(c *connections.Callback) { c.RedirectURI = "http://evil.example/callback" }, fault.Invalid},
			"no code":          {func(c *connections.Callback) { c.Code = "" }, fault.Invalid},
			"wrong code":       {func(c *connections.Callback) { c.Code = "nonsense" }, fault.Invalid},
			"unknown provider": {func(c *connections.Callback) { c.Provider = "crm_z" }, fault.NotFound},
			"not configured":   {func(c *connections.Callback) { c.Provider = models.CRMB }, fault.NotConfigured},
		} {
			cb := s.consent(s.Service, true)
			c.change(&cb)
			_, err := s.CompleteAuth(t.Context(), cb)
			require.Equal(t, c.want, fault.CodeOf(err), name)
			require.Zero(t, s.grants(), name)
		}
		_, err := s.CompleteAuth(t.Context(), good)
		require.NoError(t, err)
		_, err = s.CompleteAuth(t.Context(), good)
		require.Equal(t, fault.Invalid, fault.CodeOf(err), "a callback serves once")
		require.Equal(t, models.ConnConnected, s.status().Status)
	})

	t.Run("an authorization that took too long is refused", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		cb := s.consent(s.Service, true)
		s.pass(11 * time.Minute)
		_, err := s.CompleteAuth(t.Context(), cb)
		require.Equal(t, fault.Invalid, fault.CodeOf(err))
	})

	t.Run("declining leaves the old connection untouched", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		before := s.db.Count(t, "SELECT version FROM connection_grants")
		_, err := s.CompleteAuth(t.Context(), s.consent(s.Service, false))
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		require.Equal(t, before, s.db.Count(t, "SELECT version FROM connection_grants"))
		v, err := s.Validate(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.True(t, v.OK, "%+v", v)
	})

	t.Run("another remote account than before is refused and its grant ended", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		s.db.Exec(t, "UPDATE connections SET account_id = '00D000000000001EAA', account_label = 'The first one'")
		before, err := s.box.Status(t.Context())
		require.NoError(t, err)
		_, err = s.CompleteAuth(t.Context(), s.consent(s.Service, true))
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
		require.Contains(t, fault.Public(err), "The first one")
		after, err := s.box.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, before.Grants, after.Grants)
		require.Len(t, s.audited, 1)
	})

	t.Run("only admins connect and only managers sync", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		manager, viewer := s.member(s.admin.OrgID, auth.Manager, "m"), s.member(s.admin.OrgID, auth.Viewer, "v")
		_, err := s.BeginAuth(t.Context(), manager, models.CRMA, redirect)
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		_, err = s.Disconnect(t.Context(), manager, models.CRMA)
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		_, _, err = s.Sync(t.Context(), viewer, models.CRMA, connections.SyncOptions{})
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		_, err = s.StatusAll(t.Context(), viewer)
		require.NoError(t, err)
	})
}

func TestMappings(t *testing.T) {
	t.Parallel()

	t.Run("a mapping is checked entry by entry and replaced as a whole", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		_, _, err := s.PutMappings(t.Context(), s.admin, models.CRMA, nil, 0)
		require.Equal(t, fault.Conflict, fault.CodeOf(err), "nothing discovered yet")
		s.connect()
		set, err := s.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		bad := append([]models.FieldMapping{}, set.Mappings...)
		bad[0].SourceField, bad[2].TargetField = "No_Such__c", "no_such"
		_, _, err = s.PutMappings(t.Context(), s.admin, models.CRMA, bad, set.Version)
		require.Equal(t, fault.Invalid, fault.CodeOf(err))
		require.Len(t, fault.FieldsOf(err), 2)
		after, err := s.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, set, after)
		next, run, err := s.PutMappings(t.Context(), s.admin, models.CRMA, set.Mappings, set.Version)
		require.NoError(t, err)
		require.EqualValues(t, 2, next.Version)
		require.Equal(t, models.KindRemap, run.Kind)
		_, _, err = s.PutMappings(t.Context(), s.admin, models.CRMA, set.Mappings, set.Version)
		require.Equal(t, fault.Stale, fault.CodeOf(err))
		all, err := s.AllMappings(t.Context(), s.admin)
		require.NoError(t, err)
		require.Len(t, all, 1)
	})

	t.Run("an object that came later is mapped as suggested, and what people mapped stays", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		full, err := s.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		of := func(object string, set []models.FieldMapping) (out []models.FieldMapping) {
			for _, m := range set {
				if m.Object == object {
					out = append(out, m)
				}
			}
			return out
		}
		// An installation from before users were read, whose people gave up the segment and all of the products.
		var chosen []models.FieldMapping
		for _, m := range full.Mappings {
			if m.TargetField != "segment" && m.Object != "Product2" && m.Object != "User" {
				chosen = append(chosen, m)
			}
		}
		_, _, err = s.PutMappings(t.Context(), s.admin, models.CRMA, chosen, full.Version)
		require.NoError(t, err)
		s.db.Exec(t, `UPDATE connections SET schema = jsonb_set(schema, '{objects}',
			(SELECT jsonb_agg(o) FROM jsonb_array_elements(schema->'objects') o WHERE o->>'name' <> 'User'))`)
		for range 2 {
			_, err = s.Discover(t.Context(), s.admin, models.CRMA)
			require.NoError(t, err)
			got, err := s.Mappings(t.Context(), s.admin, models.CRMA)
			require.NoError(t, err)
			require.ElementsMatch(t, append(chosen, of("User", full.Mappings)...), got.Mappings)
			require.Equal(t, full.Version+2, got.Version, "once")
		}
	})

	t.Run("a field that is gone shows as drift and fails validation", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.HideField, Object: "Account", Field: "Segment__c"})
		require.NoError(t, err)
		d, err := s.Discover(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, []string{"Account.Segment__c"}, d.Drift.Removed)
		require.Equal(t, []string{"Account.Segment__c"}, d.Drift.Unmapped)
		v, err := s.Validate(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.False(t, v.OK)
		require.Contains(t, v.Checks[len(v.Checks)-1].Message, "Account.Segment__c")
	})
}

func TestLife(t *testing.T) {
	t.Parallel()

	t.Run("disconnecting erases the grant even when the provider is down, and keeps the rest", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		run, _, err := s.Sync(t.Context(), s.admin, models.CRMA, connections.SyncOptions{})
		require.NoError(t, err)
		require.Equal(t, models.ConnSyncing, s.status().Status)
		_, err = s.box.Fail(t.Context(), control.Failure{Kind: control.Status, Path: "/oauth2/revoke", Status: 503})
		require.NoError(t, err)
		st, err := s.Disconnect(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, models.ConnDisconnected, st.Status)
		require.Zero(t, s.grants())
		got, err := s.runs.Get(t.Context(), s.admin.OrgID, run.ID)
		require.NoError(t, err)
		require.NotNil(t, got.CancelRequestedAt)
		require.NoError(t, s.runs.Finish(t.Context(), run.OrgID, run.ID, runs.End{Status: models.RunCancelled}))
		set, err := s.Mappings(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.NotEmpty(t, set.Mappings)
		_, err = s.Disconnect(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err, "twice is no error")
		_, err = s.Open(t.Context(), s.admin.OrgID, models.CRMA)
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
		require.Equal(t, models.ConnConnected, s.connect().Status, "the same account connects again")
	})

	t.Run("idle grants are refreshed and busy ones are not", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		refreshed, dead, err := s.KeepAlive(t.Context())
		require.NoError(t, err)
		require.Zero(t, refreshed+dead)
		s.pass(21 * time.Hour)
		refreshed, dead, err = s.KeepAlive(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int{1, 0}, []int{refreshed, dead})
		require.NoError(t, s.box.RevokeGrants(t.Context()))
		s.pass(21 * time.Hour)
		refreshed, dead, err = s.KeepAlive(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int{0, 1}, []int{refreshed, dead})
		require.Equal(t, models.ConnReauthorize, s.status().Status)
		require.Equal(t, string(fault.ReauthRequired), s.status().Error.Code)
		list, err := s.List(t.Context(), s.admin, models.KindCRM)
		require.NoError(t, err)
		require.Equal(t, connections.Down, list[0].Health)
	})

	t.Run("resealing after a rotation rids the keyset of old keys", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		require.NoError(t, s.vault.Rotate())
		n, err := s.Reseal(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, s.vault.DropOldKeys())
		v, err := s.Validate(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.True(t, v.OK)
	})

	t.Run("a lost keyset asks for a new authorization and does not call the provider", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		var err error
		s.vault, err = vault.Open(filepath.Join(t.TempDir(), "another.json"))
		require.NoError(t, err)
		lost := s.service(s.base)
		v, err := lost.Validate(t.Context(), s.admin, models.CRMA)
		require.NoError(t, err)
		require.False(t, v.OK)
		require.Equal(t, string(fault.ReauthRequired), v.Checks[0].Code)
		require.Equal(t, models.ConnReauthorize, s.status().Status)
	})

	t.Run("connections of one organization are nothing to another", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		s.connect()
		other := s.member(s.db.NewOrg(t, "Other"), auth.Admin, "o")
		st, err := s.Status(t.Context(), other, models.CRMA)
		require.NoError(t, err)
		require.Equal(t, models.ConnDisconnected, st.Status)
		require.Empty(t, st.AccountLabel)
		all, err := s.StatusAll(t.Context(), other)
		require.NoError(t, err)
		require.Len(t, all, len(models.Providers))
		_, err = s.Schema(t.Context(), other, models.CRMA)
		require.Equal(t, fault.NotFound, fault.CodeOf(err))
		_, _, err = s.Sync(t.Context(), other, models.CRMA, connections.SyncOptions{})
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
	})
}
