package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"revarch/auth"
	"revarch/connectors"
	"revarch/sandbox"
	"revarch/sandbox/control"
	"revarch/services/runs"
	"revarch/services/vault"
	"revarch/store"
	"revarch/testkit"
)

// notLogged are the documented writes that leave no entry of their own, and why.
var notLogged = map[string]string{
	"login": "a session is no data of the organization", "logout": "a session is no data of the organization", "switch-organization": "a session is no data of the organization",
	"call-tool": "the tool logs its own write", "call-tool-server": "the tool logs its own write", "validate-connection": "it reads the provider and changes nothing anybody decided",
}

// write is one change that a person asks for and what the log says of it.
type write struct {
	operation     string // of the OpenAPI document
	tool          string
	before, after bool // whether the entry must have them
	do            func(c caller) response
}

func TestEveryWriteLeavesOneEntry(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 8})
	org, admin := s.org("Alpha", false)
	system, operator := s.org("Platform", true)
	key := s.key(org, auth.Scopes...)
	admin.connect()
	admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
	account := admin.list("/api/accounts?limit=1", "accounts")[0]["account_id"].(string)
	s.seedProducts(org, "Alpha")
	s.db.Exec(t, `INSERT INTO edu.releases (id, dataset, vintage_year, vintage_basis, vintage_label, release, release_rank, layout, encoding, source_name, sha256, status, run_id, created_at)
		VALUES ($1, 'ipeds_hd', 2024, 'school_year', '2023-24', 'final', 3, 'x', 'utf-8', 'x', '\x01', 'current', $2, now())`, uuid.New(), uuid.New())
	s.db.Exec(t, `INSERT INTO edu.institutions (release_id, unitid, name, normalized_name, state) SELECT id, '100654', 'Alabama A', 'alabama a', 'AL' FROM edu.releases`)

	member, _ := s.member(org, auth.Rep, "rep@alpha.example.org")
	field := func(path, name string) string { return path + "/" + name }
	var invitation, link, keyID, task, running string
	writes := []write{
		{"create-task", "create_task", false, true, func(c caller) response {
			var out struct {
				Task struct {
					ID string `json:"task_id"`
				}
			}
			got := c.ok("POST", "/api/tasks", map[string]any{"title": "call", "account_id": account}, &out)
			task = out.Task.ID
			return got
		}},
		{"update-task", "update_task", true, true, func(c caller) response {
			return c.do("PATCH", field("/api/tasks", task), map[string]any{"status": "DONE"})
		}},
		{"create-api-key", "create_api_key", false, true, func(c caller) response {
			var out struct {
				APIKey struct{ ID string } `json:"api_key"`
			}
			got := c.ok("POST", "/api/settings/api-keys", map[string]any{"name": "x", "scopes": []string{"read"}}, &out)
			keyID = out.APIKey.ID
			return got
		}},
		{"revoke-api-key", "revoke_api_key", true, true, func(c caller) response { return c.do("DELETE", field("/api/settings/api-keys", keyID), nil) }},
		{"invite-member", "invite_member", false, true, func(c caller) response {
			var out struct {
				Invitation struct{ ID string }
				Link       string
			}
			got := c.ok("POST", "/api/settings/members/invitations", map[string]any{"email": fmt.Sprintf("%s@example.org", uuid.NewString()), "role": "rep"}, &out)
			invitation, link = out.Invitation.ID, strings.TrimPrefix(out.Link, "/invite/")
			return got
		}},
		{"accept-invitation", "accept_invitation", false, true, func(caller) response {
			return caller{s: s}.do("POST", "/api/auth/invitations/"+link+"/accept", map[string]any{"password": password})
		}},
		{"withdraw-invitation", "withdraw_invitation", true, false, func(c caller) response {
			i, _, err := s.app.identity.Invite(t.Context(), auth.Engine(org), uuid.NewString()+"@example.org", auth.Rep)
			require.NoError(t, err)
			invitation = i.ID.String()
			return c.do("DELETE", field("/api/settings/members/invitations", invitation), nil)
		}},
		{"set-member-role", "set_member_role", true, true, func(c caller) response {
			return c.do("PATCH", field("/api/settings/members", member), map[string]any{"role": "manager"})
		}},
		{"update-organization", "update_organization", true, true, func(c caller) response {
			etag := c.do("GET", "/api/settings/organization", nil).Header.Get("Etag")
			return c.with("If-Match", etag).do("PUT", "/api/settings/organization", s.settings(c, map[string]any{"renewal_grace_days": 30}))
		}},
		{"put-mappings", "update_mappings", true, true, func(c caller) response {
			var set struct{ Mappings []any }
			etag := c.ok("GET", "/api/connectors/crm_a/mappings", nil, &set).Header.Get("Etag")
			return c.with("If-Match", etag).do("PUT", "/api/connectors/crm_a/mappings", map[string]any{"mappings": set.Mappings})
		}},
		{"match-account", "match-account", true, true, func(c caller) response {
			return c.do("POST", "/api/accounts/"+account+"/match", map[string]any{"official_id": "100654"})
		}},
		{"compute-scores", "start_run", false, true, func(c caller) response { return c.with("Prefer", "wait=60").do("POST", "/api/scores/compute", nil) }},
		{"start-matching", "start_run", false, true, func(c caller) response { return c.with("Prefer", "wait=60").do("POST", "/api/accounts/matches", nil) }},
		{"sync-connection", "start_run", false, true, func(c caller) response {
			_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Hang, Path: "/query", DelayMS: 60000})
			require.NoError(t, err)
			var out struct{ Run runs.View }
			got := c.ok("POST", "/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, &out)
			running = out.Run.ID.String()
			return got
		}},
		{"cancel-run", "cancel_run", true, true, func(c caller) response {
			got := c.do("POST", "/api/runs/"+running+"/cancel", nil)
			require.NoError(t, s.box.Lift(t.Context(), ""))
			require.Eventually(t, func() bool {
				var v runs.View
				c.ok("GET", "/api/runs/"+running, nil, &v)
				return !v.Status.Live()
			}, time.Minute, 50*time.Millisecond)
			return got
		}},
		{"disconnect", "disconnect_provider", true, true, func(c caller) response { return c.do("POST", "/api/connectors/crm_a/disconnect", nil) }},
		{"authorize-callback", "connect_provider", true, true, func(c caller) response { return c.do("GET", c.consent(), nil) }},
		{"remove-member", "remove_member", true, false, func(c caller) response {
			id, _ := s.member(org, auth.Viewer, uuid.NewString()+"@example.org")
			return c.do("DELETE", field("/api/settings/members", id), nil)
		}},
		{"recompute-affinity", "start_run", false, true, func(c caller) response { return c.with("Prefer", "wait=60").do("POST", "/api/expansion/affinity", nil) }},
		{"import-file", "import-file", false, true, func(c caller) response {
			return c.with("Prefer", "wait=30").with("Content-Type", "text/csv").do("POST", "/api/imports/products", "sku,name,list_price_usd,active\nRM-1,Reading,10.00,true\n")
		}},
		{"regenerate-expansion", "start_run", false, true, func(c caller) response { return c.with("Prefer", "wait=60").do("POST", "/api/expansion/signals", nil) }},
		{"move-expansion-signal", "move_expansion_signal", true, true, func(c caller) response {
			return c.do("PATCH", "/api/expansion/signals", map[string]any{"id": s.seedSignal(org), "status": "pitched"})
		}},
		{"tool create_task", "create_task", false, true, func(c caller) response {
			return c.do("POST", "/api/tools/create_task", map[string]any{"title": "by tool"})
		}},
		{"tool update_task", "update_task", true, true, func(c caller) response {
			return c.do("POST", "/api/tools/update_task", map[string]any{"task_id": task, "priority": "HIGH"})
		}},
	}
	ingest := write{"ingest-dataset", "ingest-dataset", false, true, func(c caller) response {
		return c.with("Prefer", "wait=1").do("POST", "/api/datasets/auto/ingest?name=hd2023.csv", "UNITID,INSTNM\n100654,Nowhere\n")
	}}

	documented := map[string]bool{}
	for _, op := range operations(s.srv.OpenAPI()) {
		documented[op.OperationID] = true
	}
	writes = slices.DeleteFunc(writes, func(w write) bool { return !documented[w.operation] && !strings.HasPrefix(w.operation, "tool ") })
	covered := map[string]bool{ingest.operation: true}
	for _, w := range writes {
		covered[w.operation] = true
	}
	for _, op := range operations(s.srv.OpenAPI()) {
		if op.Method != http.MethodGet {
			require.NotEqual(t, covered[op.OperationID], (notLogged[op.OperationID] != ""), "%s: say here how it is done and what the log says of it, or why it says nothing", op.OperationID)
		}
	}

	for name, who := range map[string]caller{"session": admin, "key": key} {
		for _, w := range writes {
			before := s.entries(org)
			got := w.do(who)
			require.Less(t, got.Status, 300, "%s by %s: %s", w.operation, name, got.Body)
			fresh := slices.DeleteFunc(s.entries(org), func(e entry) bool {
				return slices.ContainsFunc(before, func(b entry) bool { return b.Seq == e.Seq }) || e.Kind == "engine"
			})
			require.Len(t, fresh, 1, "%s by %s: %+v", w.operation, name, fresh)
			e := fresh[0]
			require.Equal(t, w.tool, e.Tool, w.operation)
			require.Equal(t, "ok", e.Outcome, w.operation)
			require.Equal(t, "rest", e.Surface, w.operation)
			require.Equal(t, w.before, e.Before != "null", "%s: before is %s", w.operation, e.Before)
			require.Equal(t, w.after, e.After != "null", "%s: after is %s", w.operation, e.After)
			require.NotEmpty(t, e.Subject, w.operation)
		}
	}

	t.Run("what is refused and what fails is logged as such", func(t *testing.T) {
		_, viewer := s.member(org, auth.Viewer, "viewer@alpha.example.org")
		reader := s.key(org, auth.ScopeRead)
		for _, op := range operations(s.srv.OpenAPI()) {
			perm := permission(op)
			if op.Method == http.MethodGet || perm == "" || perm == "read" {
				continue
			}
			path := strings.NewReplacer("{id}", uuid.NewString(), "{provider}", "crm_a", "{dataset}", "nothing", "{name}", "x").Replace(op.Path)
			for _, who := range []caller{viewer, reader} {
				before := len(s.entries(org))
				who.refused(op.Method, path, "{}", http.StatusForbidden, "denied")
				all := s.entries(org)
				require.Len(t, all, before+1, op.OperationID)
				require.Equal(t, "denied", all[len(all)-1].Outcome, op.OperationID)
			}
		}
		for _, do := range []func(){
			func() { admin.do("POST", "/api/tasks", `{"title": 7}`) }, func() { admin.do("POST", "/api/tasks", `{"title"`) },
			func() { admin.do("PATCH", "/api/tasks/"+uuid.NewString(), map[string]any{"status": "DONE"}) },
			func() { admin.do("DELETE", "/api/settings/members/"+s.me(admin), nil) },
			func() { key.do("POST", "/api/tools/create_task", map[string]any{"title": ""}) }, func() { key.do("POST", "/api/tools/create_task", `{"title"`) },
			func() {
				key.do("POST", "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_task","arguments":{"title":""}}}`)
			},
		} {
			before := len(s.entries(org))
			do()
			all := s.entries(org)
			require.Len(t, all, before+1)
			require.Equal(t, "failed", all[len(all)-1].Outcome)
		}
		before := len(s.entries(system))
		ingest.do(operator)
		all := s.entries(system)
		require.Len(t, all, before+1)
		require.Equal(t, "failed", all[len(all)-1].Outcome, "a file that is none")
	})

	t.Run("reading leaves nothing", func(t *testing.T) {
		before := len(s.entries(org))
		admin.ok("GET", "/api/governance-log", nil, nil)
		admin.ok("GET", "/api/exports/accounts", nil, nil)
		admin.do("GET", "/api/accounts/"+uuid.NewString(), nil)
		require.Len(t, s.entries(org), before)
	})

	t.Run("the chain checks while others write, and tells of every kind of tampering", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 8 {
					key.ok("POST", "/api/tasks", map[string]any{"title": "busy"}, nil)
				}
			})
		}
		for range 25 {
			v, err := s.app.log.Verify(t.Context(), org)
			require.NoError(t, err)
			require.True(t, v.OK, "%+v", v)
		}
		wg.Wait()
		var page struct {
			ChainOK bool `json:"chain_ok"`
		}
		admin.ok("GET", "/api/governance-log", nil, &page)
		require.True(t, page.ChainOK)
		for _, x := range []struct{ tamper, mend string }{
			{"UPDATE governance_log SET outcome = 'denied' WHERE org_id = $1 AND seq = 2", "UPDATE governance_log SET outcome = 'ok' WHERE org_id = $1 AND seq = 2"},
			{`UPDATE governance_log SET after = after || '{"x": 1}' WHERE org_id = $1 AND seq = 3`, "UPDATE governance_log SET after = after - 'x' WHERE org_id = $1 AND seq = 3"},
			{"UPDATE governance_log SET actor_label = actor_label || 'x' WHERE org_id = $1 AND seq = 2", "UPDATE governance_log SET actor_label = left(actor_label, -1) WHERE org_id = $1 AND seq = 2"},
			{"UPDATE governance_log SET at = at + interval '1 microsecond' WHERE org_id = $1 AND seq = 2", "UPDATE governance_log SET at = at - interval '1 microsecond' WHERE org_id = $1 AND seq = 2"},
			{"UPDATE governance_log SET seq = 1000000 WHERE org_id = $1 AND seq = 2", "UPDATE governance_log SET seq = 2 WHERE org_id = $1 AND seq = 1000000"},
			{"UPDATE governance_heads SET seq = seq + 1 WHERE org_id = $1", "UPDATE governance_heads SET seq = seq - 1 WHERE org_id = $1"},
			{`UPDATE governance_heads SET hash = hash || '\x00' WHERE org_id = $1`, "UPDATE governance_heads SET hash = substr(hash, 1, 32) WHERE org_id = $1"},
		} {
			s.db.Exec(t, x.tamper, org)
			v, err := s.app.log.Verify(t.Context(), org)
			require.NoError(t, err)
			require.False(t, v.OK, x.tamper)
			require.Positive(t, v.BadSeq, x.tamper)
			s.db.Exec(t, x.mend, org)
			v, err = s.app.log.Verify(t.Context(), org)
			require.NoError(t, err)
			require.True(t, v.OK, "after %s", x.mend)
		}
		s.db.Exec(t, "DELETE FROM governance_log WHERE org_id = $1 AND seq = (SELECT max(seq) FROM governance_log WHERE org_id = $1)", org)
		v, err := s.app.log.Verify(t.Context(), org)
		require.NoError(t, err)
		require.False(t, v.OK, "the newest entry is missing")
		admin.ok("GET", "/api/governance-log", nil, &page)
		require.False(t, page.ChainOK)
	})

	t.Run("the service itself cannot rewrite it", func(t *testing.T) {
		for _, role := range []string{s.db.App, s.db.Worker} {
			conn, err := pgx.Connect(t.Context(), role)
			require.NoError(t, err)
			for _, sql := range []string{"UPDATE governance_log SET tool = 'x'", "DELETE FROM governance_log", "TRUNCATE governance_log"} {
				_, err := conn.Exec(t.Context(), sql)
				require.ErrorContains(t, err, "permission denied", sql)
			}
			require.NoError(t, conn.Close(t.Context()))
		}
	})
}

// TestVerifyLog runs the operator's command; it sets the environment and so runs before the others.
func TestVerifyLog(t *testing.T) { //nolint:paralleltest // the environment is the process's
	db := testkit.Database(t, testkit.Product(t))
	keyset := filepath.Join(t.TempDir(), "keys")
	_, err := vault.Open(keyset)
	require.NoError(t, err)
	t.Setenv("REVARCH_DATABASE_URL", db.App)
	t.Setenv("REVARCH_KEYSET", keyset)
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	command := func(args ...string) (string, error) {
		var out strings.Builder
		c := root()
		c.SetArgs(args)
		c.SetOut(&out)
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := command("admin", "create-org", "--name", "Alpha", "--email", "ada@example.org", "--password", password)
	require.NoError(t, err, out)
	out, err = command("admin", "verify-log")
	require.NoError(t, err, out)
	require.Contains(t, out, "ok, 1 entries")
	db.Exec(t, "UPDATE governance_log SET tool = 'nothing'")
	out, err = command("admin", "verify-log")
	require.ErrorContains(t, err, "1 log(s) do not check")
	require.Contains(t, out, "BROKEN at entry 1")
}

// entry is what tests look at of an entry of the log.
type entry struct {
	Seq                                                  int64
	Kind, Tool, Outcome, Surface, Before, After, Subject string
}

func (s *system) entries(org uuid.UUID) []entry {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.db.Superuser)
	require.NoError(s.tb, err)
	defer func() { _ = conn.Close(context.WithoutCancel(s.tb.Context())) }()
	r, err := conn.Query(s.tb.Context(), "SELECT seq, actor_kind, tool, outcome, surface, before::text, after::text, subject_id FROM governance_log WHERE org_id = $1 ORDER BY seq", org)
	require.NoError(s.tb, err)
	out, err := pgx.CollectRows(r, pgx.RowToStructByPos[entry])
	require.NoError(s.tb, err)
	return out
}

// TestSecretsStayWhereTheyBelong looks for every secret that the product has seen in every table, in the histories of
// workflows and in the log.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 5})
	org, admin := s.org("Alpha", false)
	key := s.key(org, auth.Scopes...)
	var invited struct{ Link string }
	admin.ok("POST", "/api/settings/members/invitations", map[string]any{"email": "new@example.org", "role": "rep"}, &invited)
	invitation := strings.TrimPrefix(invited.Link, "/invite/")
	accepted := caller{s: s}.ok("POST", "/api/auth/invitations/"+invitation+"/accept", map[string]any{"password": "another secret passphrase"}, nil)
	signedIn := login(s, "admin@alpha.example.org", password)
	path := key.connect()
	callback, err := url.Parse(path)
	require.NoError(t, err)
	v := admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
	require.NoError(t, s.box.ExpireSessions(t.Context()))
	admin.run("/api/connectors/crm_a/sync", map[string]any{"mode": "full"}, "succeeded")
	login(s, "admin@alpha.example.org", "a wrong guess of it")
	secrets := map[string]string{
		"API key": key.key, "password": password, "password of an invited person": "another secret passphrase", "wrong guess": "a wrong guess of it",
		"invitation": invitation, "session": admin.cookie, "session of sign-in": cookieOf(t, signedIn).Value, "session of an invitation": cookieOf(t, accepted).Value,
		"state": callback.Query().Get("state"), "code": callback.Query().Get("code"), "client secret": sandbox.DefaultClientSecret,
	}
	maps.Copy(secrets, s.tokens(org))
	require.Contains(t, secrets, "access token")
	require.Contains(t, secrets, "refresh token")

	look := func(where, text string) {
		t.Helper()
		require.NotEmpty(t, text, where)
		for name, secret := range secrets {
			require.GreaterOrEqual(t, len(secret), 8, name)
			for _, form := range []string{secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
				require.NotContains(t, text, form, "%s holds the %s", where, name)
			}
		}
		require.NotRegexp(t, `rk_[0-9A-Za-z]{20,}`, text, where)
	}
	t.Run("tables", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), s.db.Superuser)
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
		names, err := conn.Query(t.Context(), "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('public', 'edu')")
		require.NoError(t, err)
		tables, err := pgx.CollectRows(names, pgx.RowTo[string])
		require.NoError(t, err)
		require.Greater(t, len(tables), 35)
		filled := 0
		for _, table := range tables {
			var text *string
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT string_agg(x::text, E'\n') FROM "+table+" x").Scan(&text))
			if text != nil {
				filled++
				look(table, *text)
			}
		}
		require.Greater(t, filled, 20)
	})
	t.Run("histories of workflows", func(t *testing.T) {
		list, err := s.app.temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "OrgId = '" + org.String() + "'"})
		require.NoError(t, err)
		require.NotEmpty(t, list.GetExecutions())
		require.NotEmpty(t, v.WorkflowID)
		for _, x := range list.GetExecutions() {
			events := s.app.temporal.GetWorkflowHistory(t.Context(), x.GetExecution().GetWorkflowId(), x.GetExecution().GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				require.NoError(t, err)
				raw, err := protojson.Marshal(event)
				require.NoError(t, err)
				look("history of "+x.GetType().GetName(), readable(string(raw)))
			}
		}
	})
	t.Run("the log", func(t *testing.T) { look("the log", logged.text()) })
}

// readable adds what the base64 payloads of a history hold.
func readable(raw string) string {
	out := raw
	for _, m := range regexp.MustCompile(`"data":"([A-Za-z0-9+/=]+)"`).FindAllStringSubmatch(raw, -1) {
		if plain, err := base64.StdEncoding.DecodeString(m[1]); err == nil {
			out += string(plain)
		}
	}
	return out
}

// tokens opens the sealed grant as the worker does.
func (s *system) tokens(org uuid.UUID) map[string]string {
	s.tb.Helper()
	out := map[string]string{}
	require.NoError(s.tb, s.worker.store.InOrg(s.tb.Context(), org, func(tx *store.Tx) error {
		c, _, err := tx.Connection("crm_a")
		if err != nil {
			return err
		}
		row, _, err := tx.Grant(c.ID)
		if err != nil {
			return err
		}
		raw, err := s.worker.vault.Unseal(row.Sealed, vault.AD(org.String(), "crm_a", "grant"))
		if err != nil {
			return err
		}
		var g connectors.Grant
		if err := json.Unmarshal(raw, &g); err != nil {
			return err
		}
		out["access token"], out["refresh token"] = g.AccessToken, g.RefreshToken
		return nil
	}))
	return out
}
