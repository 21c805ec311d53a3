package tools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/connectors"
	"revarch/models"
	"revarch/services/accounts"
	"revarch/services/affinity"
	"revarch/services/connections"
	"revarch/services/dashboard"
	"revarch/services/expansion"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/paging"
	"revarch/services/readiness"
	"revarch/services/records"
	"revarch/services/runs"
	"revarch/services/scoring"
	"revarch/services/tasks"
	"revarch/services/vault"
	"revarch/store"
	"revarch/testkit"
	"revarch/tools"
)

// TestMain builds both surfaces once before tests do so side by side: each sets defaults of the schema generator, which
// are its process's.
func TestMain(m *testing.M) {
	registry, err := tools.New(tools.Deps{})
	if err == nil {
		_, err = api.New(nil, nil, api.Options{}, &api.Tools{Toolbox: registry})
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// system is the API server with every tool over a real database.
type system struct {
	tb       testing.TB
	db       testkit.DB
	worker   *store.Store
	id       *identity.Service
	deps     tools.Deps
	registry *tools.Registry
	api      *api.Server
	url      string
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, testkit.Product(tb))
	st := testkit.OpenStore(tb, db.App, 20)
	s := &system{tb: tb, db: db, worker: testkit.OpenStore(tb, db.Worker, 4)}
	log := &governance.Service{Store: st, Clock: time.Now}
	s.id = &identity.Service{Store: st, Log: log, Clock: time.Now}
	v, err := vault.Open(tb.TempDir() + "/keyset.json")
	require.NoError(tb, err)
	cursors := paging.New([]byte("secret"))
	conns, err := connections.New(connections.Config{Store: st, Vault: v, Runs: runs.New(st, nil, nil, nil)})
	require.NoError(tb, err)
	scores := &scoring.Service{Store: st, Clock: time.Now}
	ready := &readiness.Service{Store: st, Clock: time.Now, Cursors: cursors}
	s.deps = tools.Deps{
		Log: log, Cursors: cursors, Connections: conns, Readiness: ready, Scoring: scores,
		Accounts:  &accounts.Service{Store: st, Scores: scores, Clock: time.Now, Cursors: cursors},
		Dashboard: &dashboard.Service{Store: st, Readiness: ready, Clock: time.Now},
		Tasks:     &tasks.Service{Store: st, Log: log, Clock: time.Now, Cursors: cursors},
		Affinity:  &affinity.Service{Store: st, Clock: time.Now, Cursors: cursors},
		Expansion: &expansion.Service{Store: st, Log: log, Clock: time.Now, Cursors: cursors},
	}
	s.registry, err = tools.New(s.deps)
	require.NoError(tb, err)
	s.api, err = api.New(s.id, log, api.Options{MCP: s.registry.Handler("test"), Cursors: cursors, RatePerSecond: 1e6, RateBurst: 1e6}, &api.Tools{Toolbox: s.registry}, plain{s.deps.Accounts})
	require.NoError(tb, err)
	srv := httptest.NewServer(s.api.Handler())
	tb.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// key makes an API key and returns its id and secret.
func (s *system) key(org uuid.UUID, scopes ...auth.Scope) (uuid.UUID, string) {
	s.tb.Helper()
	k, secret, err := s.id.CreateKey(s.tb.Context(), auth.Engine(org), identity.NewKeyInput{Name: "assistant", Scopes: scopes})
	require.NoError(s.tb, err)
	return k.ID, secret
}

// connect returns an initialized client of the tool server.
func (s *system) connect(secret string) *client.Client {
	s.tb.Helper()
	c, err := client.NewStreamableHttpClient(s.url+"/api/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + secret}))
	require.NoError(s.tb, err)
	s.tb.Cleanup(func() { _ = c.Close() })
	require.NoError(s.tb, c.Start(s.tb.Context()))
	_, err = c.Initialize(s.tb.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: mcp.LATEST_PROTOCOL_VERSION,
		ClientInfo:      mcp.Implementation{Name: "test", Version: "1"},
	}})
	require.NoError(s.tb, err)
	return c
}

// answer is what a client got from a tool.
type answer struct {
	*mcp.CallToolResult
	Text string // of the text block
	Data map[string]any
}

// call calls a tool and requires that the protocol, not the tool, worked.
func call(tb testing.TB, c *client.Client, name string, args map[string]any) answer {
	tb.Helper()
	res, err := c.CallTool(tb.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: args}})
	require.NoError(tb, err, name)
	out := answer{CallToolResult: res}
	for _, block := range res.Content {
		text, ok := mcp.AsTextContent(block)
		require.True(tb, ok)
		out.Text += text.Text
	}
	raw, err := json.Marshal(res.StructuredContent)
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(raw, &out.Data))
	return out
}

// rest sends a request with a key and returns status and body.
func (s *system) rest(secret, method, path, body string) (int, http.Header, string) {
	s.tb.Helper()
	req := httptest.NewRequestWithContext(s.tb.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	rec := httptest.NewRecorder()
	s.api.Handler().ServeHTTP(rec, req)
	return rec.Code, rec.Header(), rec.Body.String()
}

// tenant is an organization with data of every kind that tools show.
type tenant struct {
	org                 uuid.UUID
	name                string
	account, task       string
	run, contact, entry string
}

var objects = []connectors.ObjectSpec{
	{Name: "Account", Record: models.RecordAccount},
	{Name: "Contact", Record: models.RecordContact, After: []string{"Account"}},
	{Name: "Opportunity", Record: models.RecordOpportunity},
	{Name: "Task", Record: models.RecordActivity},
}

func mappings() []models.FieldMapping {
	var out []models.FieldMapping
	for object, pairs := range map[string]string{
		"Account": "name=Name domain=Website state=BillingState status=Type segment=Segment__c territory=Territory__c arr_cents=ARR__c renewal_date=Renewal_Date__c " +
			"seats=Seats__c active_28d=Active_Users_28d__c active_prior_28d=Active_Users_Prior_28d__c products_owned=Products_Owned__c products_live=Products_Live__c " +
			"tickets_open=Open_Tickets__c p1_open=Open_P1__c tickets_90d=Tickets_90d__c csat_90d=CSAT_90d__c overdue_days=Overdue_Days__c competitor=Competitor__c",
		"Contact":     "account_external_id=AccountId name=Name email=Email title=Title champion=Champion__c left_on=Left_Date__c",
		"Opportunity": "account_external_id=AccountId name=Name stage=StageName amount_cents=Amount close_date=CloseDate is_closed=IsClosed is_won=IsWon forecast_category=ForecastCategoryName probability=Probability",
		"Task":        "account_external_id=AccountId contact_external_id=WhoId type=TaskSubtype subject=Subject on_date=ActivityDate",
	} {
		for pair := range strings.FieldsSeq(pairs) {
			target, source, _ := strings.Cut(pair, "=")
			out = append(out, models.FieldMapping{Object: object, TargetField: target, SourceField: source})
		}
	}
	return out
}

// tenant seeds an organization as a sync and a scoring do: n accounts, their children, a task and a connection.
func (s *system) tenant(name string, n int) tenant {
	s.tb.Helper()
	ctx := s.tb.Context()
	t := tenant{org: s.db.NewOrg(s.tb, name), name: name}
	run := models.NewID()
	t.run = run.String()
	s.db.Exec(s.tb, `INSERT INTO runs (org_id, id, kind, subject, workflow_id, status, counts, started_by, started_at, finished_at)
		VALUES ($1, $2, 'connector_sync', 'crm_a', 'w', 'succeeded', '{"read":7,"created":7}', $3, now(), now())`, t.org, run, name)
	s.db.Exec(s.tb, `INSERT INTO connections (org_id, id, provider, status, account_label, connected_at, last_sync_at) VALUES ($1, $2, 'crm_a', 'connected', $3, now(), now())`,
		t.org, models.NewID(), name)
	svc := &records.Service{Store: s.worker, Clock: time.Now}
	for _, object := range objects {
		m, err := records.Compile(objects, object.Name, mappings())
		require.NoError(s.tb, err)
		page := connectors.Page{Object: object.Name, Next: "end", Done: true, Total: -1}
		for i := range n {
			page.Records = append(page.Records, connectors.Record{
				ExternalID: fmt.Sprintf("%s-%s-%d", object.Name, name, i),
				UpdatedAt:  time.Now().Add(-time.Hour), Payload: payload(object.Name, name, i),
			})
		}
		_, err = svc.StorePage(ctx, records.StorePageInput{OrgID: t.org, RunID: run, Provider: models.CRMA, Mapping: m, Page: page, Full: true})
		require.NoError(s.tb, err)
	}
	_, _, err := svc.ResolveLinks(ctx, t.org, models.CRMA)
	require.NoError(s.tb, err)
	scorer := readiness.Scorer{Scoring: &scoring.Service{Store: s.worker, Clock: time.Now}, Readiness: &readiness.Service{Store: s.worker, Clock: time.Now}}
	_, err = scorer.ScoreOrg(ctx, t.org, run, nil)
	require.NoError(s.tb, err)

	p := auth.Engine(t.org)
	found, err := s.deps.Accounts.Search(ctx, p, accounts.SearchInput{Filter: accounts.Filter{Query: name + " District 0", Sort: "name"}})
	require.NoError(s.tb, err)
	require.NotEmpty(s.tb, found.Accounts)
	t.account = found.Accounts[0].AccountID.String()
	detail, err := s.deps.Accounts.Get(ctx, p, found.Accounts[0].AccountID)
	require.NoError(s.tb, err)
	require.NotEmpty(s.tb, detail.Contacts)
	t.contact = detail.Contacts[0].ContactID.String()
	made, err := s.deps.Tasks.Create(ctx, p, tasks.CreateInput{Title: name + " call", AccountID: &found.Accounts[0].AccountID, Assignee: name + "@example.org", DueDate: "2026-01-05"})
	require.NoError(s.tb, err)
	s.sell(t.org, name)
	t.task, t.entry = made.Task.TaskID.String(), made.GovernanceEntryID.String()
	return t
}

// payload is a provider's record; every text in it carries the organization's name.
func payload(object, org string, i int) json.RawMessage {
	account := fmt.Sprintf("Account-%s-%d", org, i)
	switch object {
	case "Account":
		return fmt.Appendf(nil, `{"Name":"%[1]s District %[2]d","Website":"%[1]s%[2]d.example.org","BillingState":"TX","Type":"Customer","Segment__c":"SMB",
			"Territory__c":"%[1]s West","ARR__c":%[3]d.50,"Seats__c":100,"Active_Users_28d__c":%[4]d,"Active_Users_Prior_28d__c":60,"Products_Owned__c":4,
			"Products_Live__c":2,"Open_Tickets__c":3,"Open_P1__c":%[5]d,"Tickets_90d__c":9,"CSAT_90d__c":3.1,"Overdue_Days__c":12,"Competitor__c":"%[1]s Rival",
			"Renewal_Date__c":"2027-03-01"}`, org, i, 1000+i, 10+i%80, i%3)
	case "Contact":
		return fmt.Appendf(nil, `{"AccountId":%[3]q,"Name":"%[1]s Person %[2]d","Email":"p%[2]d@%[1]s.org","Title":"Superintendent","Champion__c":true}`, org, i, account)
	case "Opportunity":
		return fmt.Appendf(nil, `{"AccountId":%[3]q,"Name":"%[1]s Deal %[2]d","StageName":"%[1]s stage","Amount":2500.25,"CloseDate":"2027-01-01","IsClosed":false,"IsWon":false,
			"ForecastCategoryName":"Commit","Probability":60}`, org, i, account)
	}
	return fmt.Appendf(nil, `{"AccountId":%[3]q,"Subject":"%[1]s meeting %[2]d","TaskSubtype":"Call","ActivityDate":"2026-11-01"}`, org, i, account)
}

// id answers which of the tenant's ids an argument takes.
func (t tenant) id(argument string) string {
	switch argument {
	case "task_id", "subject_id":
		return t.task
	case "run_id":
		return t.run
	case "contact_id", "source_id":
		return t.contact
	}
	return t.account
}

// inSession sends a POST with a session cookie, as the web app does, and returns the status.
func (s *system) inSession(token, path, body string) int {
	s.tb.Helper()
	req := httptest.NewRequestWithContext(s.tb.Context(), http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: token})
	rec := httptest.NewRecorder()
	s.api.Handler().ServeHTTP(rec, req)
	return rec.Code
}
