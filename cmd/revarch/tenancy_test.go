package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/sandbox"
	"revarch/sandbox/control"
)

// passing is what differs between two answers that say the same: ids, instants, hashes, secrets shown once, durations.
var passing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)|` +
	`[0-9a-f]{64}|rk_[0-9A-Za-z]+|/invite/[0-9A-Za-z]+|"lag_minutes":\d+|(state|code_challenge)=[^&"\\]+`)

func same(body string) string { return passing.ReplaceAllString(body, "*") }

// tenant is an organization and what is in it, by the parameter that would take it.
type tenant struct {
	org                     uuid.UUID
	admin, viewer           caller
	key                     caller
	ids                     []any // of every kind of thing that has one
	account                 string
	email, keyName          string
	cursors                 map[string]string // by path of the list
	idempotency, invitation string
	secrets                 []string
}

// seedTenant fills an organization through every door there is.
func (s *system) seedTenant(name string) *tenant {
	s.tb.Helper()
	t := &tenant{cursors: map[string]string{}, email: "rep@" + strings.ToLower(name) + ".example.org", idempotency: "idem-" + name}
	t.org, t.admin = s.org(name, false)
	for range 2 { // records that cannot be taken
		_, err := s.box.Create(s.tb.Context(), "Account", control.Fields{"Name": nil})
		require.NoError(s.tb, err)
	}
	t.admin.connect()
	sync := t.admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")
	require.EqualValues(s.tb, 2, sync.Counts["failed"])
	match := t.admin.run("/api/accounts/matches", nil, "succeeded")
	score := t.admin.run("/api/scores/compute", nil, "succeeded")
	t.ids = append(t.ids, sync.ID.String(), match.ID.String(), score.ID.String(), t.org.String())

	accounts := t.admin.list("/api/accounts?limit=5", "accounts")
	t.account = accounts[0]["account_id"].(string)
	t.ids = append(t.ids, t.account)
	t.ids = append(t.ids, s.seedProducts(t.org, name)...)
	for _, path := range []string{"/api/expansion/affinity", "/api/expansion/signals"} {
		if item := s.srv.OpenAPI().Paths[path]; item != nil && item.Post != nil {
			t.ids = append(t.ids, t.admin.run(path, nil, "succeeded").ID.String())
		}
	}
	for range 2 { // twelve accounts are too few to find any
		t.ids = append(t.ids, s.seedSignal(t.org))
	}
	var task struct {
		Task struct {
			ID string `json:"task_id"`
		} `json:"task"`
	}
	for i := range 3 {
		t.admin.with("Idempotency-Key", fmt.Sprintf("%s%d", t.idempotency, i)).ok(http.MethodPost, "/api/tasks", map[string]any{
			"title": fmt.Sprintf("%s confidential call %d", name, i), "account_id": t.account, "assignee": t.email, "due_date": "2026-01-05",
		}, &task)
	}
	t.ids = append(t.ids, task.Task.ID)
	rep, _ := s.member(t.org, auth.Rep, t.email)
	_, t.viewer = s.member(t.org, auth.Viewer, "viewer@"+strings.ToLower(name)+".example.org")
	t.keyName = name + " confidential key"
	var key struct {
		APIKey struct {
			ID string `json:"id"`
		} `json:"api_key"`
		Secret string `json:"secret"`
	}
	t.admin.ok(http.MethodPost, "/api/settings/api-keys", map[string]any{"name": t.keyName, "scopes": auth.Scopes}, &key)
	t.key = caller{s: s, key: key.Secret}
	var invited struct {
		Invitation struct {
			ID string `json:"id"`
		} `json:"invitation"`
		Link string `json:"link"`
	}
	t.admin.ok(http.MethodPost, "/api/settings/members/invitations", map[string]any{"email": "invited@" + strings.ToLower(name) + ".example.org", "role": "rep"}, &invited)
	t.invitation = strings.TrimPrefix(invited.Link, "/invite/")
	t.ids = append(t.ids, rep, key.APIKey.ID, invited.Invitation.ID)
	t.secrets = s.everythingOf(t.org)
	return t
}

// seedProducts gives an organization three products that most of its accounts own, as a file or a CRM would.
func (s *system) seedProducts(org uuid.UUID, name string) (ids []any) {
	s.tb.Helper()
	for i := range 3 {
		id := uuid.Must(uuid.NewV7())
		ids = append(ids, id.String())
		s.db.Exec(s.tb, `INSERT INTO products (org_id, id, provider, external_id, name, list_price_cents, active, mapping_id) VALUES ($1, $2, 'csv', $3, $4, 100000, true, 1)`,
			org, id, fmt.Sprintf("%s-product-%d", name, i), fmt.Sprintf("%s Confidential Product %d", name, i))
		s.db.Exec(s.tb, `INSERT INTO account_products (org_id, id, provider, external_id, account_id, product_id, start_date, status, mapping_id)
			SELECT org_id, gen_random_uuid(), 'csv', $3 || n, id, $2, date '2024-01-01', 'active', 1
			FROM (SELECT org_id, id, row_number() OVER (ORDER BY id) AS n FROM accounts WHERE org_id = $1) a WHERE n % 4 >= $4`,
			org, id, fmt.Sprintf("%s-line-%d-", name, i), i)
	}
	return ids
}

// seedSignal gives an organization an expansion signal and returns its id.
func (s *system) seedSignal(org uuid.UUID) string {
	s.tb.Helper()
	id := uuid.Must(uuid.NewV7())
	s.db.Exec(s.tb, `INSERT INTO expansion_signals (org_id, id, account_id, product_id, place, priority, priority_basis, probability, price_basis, price_scope,
			evidence_scope, gate_failed, gate_unknown, antecedents, created_at, updated_at)
		SELECT a.org_id, $2, a.id, p.id, 50, 50, 0, 0.5, 0, 0, 0, 0, 0, '', now(), now() FROM accounts a JOIN products p USING (org_id)
		WHERE a.org_id = $1 AND NOT EXISTS (SELECT 1 FROM expansion_signals s WHERE s.account_id = a.id AND s.product_id = p.id) LIMIT 1`, org, id)
	return id.String()
}

// everythingOf collects the ids, names, addresses and external ids of an organization from every tenant table.
func (s *system) everythingOf(org uuid.UUID) []string {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.db.Superuser)
	require.NoError(s.tb, err)
	defer func() { _ = conn.Close(s.tb.Context()) }()
	rows, err := conn.Query(s.tb.Context(), `SELECT c.table_name, c.column_name FROM information_schema.columns c
		JOIN information_schema.columns o ON (o.table_schema, o.table_name, o.column_name) = (c.table_schema, c.table_name, 'org_id')
		WHERE c.table_schema = 'public' AND (c.data_type = 'uuid' OR c.column_name IN ('external_id', 'name', 'email', 'title', 'assignee', 'prefix', 'workflow_id', 'account_label')
			AND c.table_name NOT IN ('rule_sets'))`)
	require.NoError(s.tb, err)
	type column struct{ Table, Column string }
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	require.NoError(s.tb, err)
	require.Greater(s.tb, len(columns), 40)
	found := map[string]bool{org.String(): true}
	for _, c := range columns {
		rows, err := conn.Query(s.tb.Context(), fmt.Sprintf("SELECT DISTINCT %s::text FROM %s WHERE org_id = $1 AND %[1]s IS NOT NULL LIMIT 400",
			pgx.Identifier{c.Column}.Sanitize(), pgx.Identifier{c.Table}.Sanitize()), org)
		require.NoError(s.tb, err)
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(s.tb, err)
		for _, v := range values {
			if len(v) >= 8 && v != uuid.Nil.String() && v != "connector_sync" {
				found[v] = true
			}
		}
	}
	var out []string
	for v := range found {
		out = append(out, v)
	}
	slices.Sort(out)
	require.Greater(s.tb, len(out), 100)
	return out
}

// fetchCursors asks the owner for the cursor of every list that has one.
func (t *tenant) fetchCursors(tb testing.TB, doc *huma.OpenAPI, failed string) {
	tb.Helper()
	for _, op := range operations(doc) {
		if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "cursor" }) {
			continue
		}
		path := strings.ReplaceAll(op.Path, "{id}", failed)
		var page struct {
			Next string `json:"next_cursor"`
		}
		t.admin.ok(op.Method, path+"?limit=1", nil, &page)
		require.NotEmpty(tb, page.Next, "%s: seed at least two rows, so that there is a cursor to steal", op.Path)
		t.cursors[op.Path] = page.Next
	}
	require.GreaterOrEqual(tb, len(t.cursors), 7)
}

// knows is the table of what parameters take, by name. other is whose things are tried by somebody else.
func (other *tenant) knows(me caller) knowledge {
	nobody := func() any { return uuid.Must(uuid.NewV7()).String() }
	someID := value{theirs: other.ids, none: nobody()}
	plain := func(v any) value { return value{plain: v} }
	text := func(theirs string) value { return value{theirs: []any{theirs}, none: "nobody-of-that-name"} }
	table := map[string]value{
		"path id": someID, "path provider": plain("crm_a"), "path dataset": plain("ipeds_hd"), "path name": plain("get_dashboard"),
		"path token": {theirs: append([]any{other.invitation[:len(other.invitation)-1] + "_"}, other.ids...), none: strings.Repeat("x", 43)},

		"query account_id": {theirs: []any{other.account}, none: nobody()}, "query subject_id": {theirs: other.ids, none: nobody()},
		"query query": text(other.secretNamed("District", "School", "College", "University")), "query territory": text("Confidential"), "query owner": text(other.ids[0].(string)),
		"query assignee": text(other.email), "query actor": text(other.email), "query subject": text(other.ids[0].(string)),
		"query segment": plain("SMB"), "query state": plain("TX"), "query status": {}, "query sort": plain("name"), "query limit": plain("200"),
		"query as_of": {}, "query period": plain("current"), "query open": plain("true"), "query priority": {}, "query source_type": {}, "query overdue": {},
		"query tool": plain("create_task"), "query since": plain("2020-01-01T00:00:00Z"), "query until": plain("2099-01-01T00:00:00Z"),
		"query issue_code": {}, "query kind": {}, "query model": {}, "query category": {},
		"query name": {}, "query partial": {}, "query release": {}, "query year": {},

		"query product_id": {theirs: other.ids, none: nobody()}, "query min_lift": {}, "query significant": {}, "query include_zero": {}, "query min_priority": {},
		"path resource": plain("accounts"), "query dry_run": plain("true"), "body id": someID, "body reason": {},

		"header Prefer": plain("wait=1"), "header Idempotency-Key": {theirs: []any{other.idempotency + "0"}, none: nobody()},

		"body email": {theirs: []any{other.email}, none: "nobody-of-that-name@example.org"}, "body password": plain("not the password of anybody"), "body organization_id": {theirs: []any{other.org.String()}, none: nobody()},
		"body account_id": {theirs: []any{other.account}, none: nobody()}, "body source_id": {theirs: []any{other.ids[0], other.account}, none: nobody()},
		"body role": plain("viewer"), "body name": plain("A plain name"), "body title": plain("A plain title"), "body official_id": plain("100654"),
		"body mappings": plain([]any{}), "body mode": plain("full"), "body confirm_deletions": plain(true), "body assignee": {theirs: []any{other.email}, none: "nobody-of-that-name"}, "body due_date": {}, "body priority": {}, "body source_type": {},
		"body status": {}, "body version": {}, "body scopes": plain([]string{"read"}), "body expires_at": {},
		"body time_zone": plain("America/Chicago"), "body fiscal_year_start_month": plain(7), "body reporting_currency": plain("USD"), "body derive_segment": plain(false),
		"body renewal_grace_days": plain(90), "body work_hours": plain(map[string]any{"start": "08:00", "end": "17:00", "days": []int{1, 2, 3}}),
	}
	// The arguments of tools that REST has under another name or not at all.
	for name, v := range map[string]value{
		"task_id": someID, "subject_id": someID, "run_id": someID, "contact_id": someID, "id": someID,
		"idempotency_key": {theirs: []any{other.idempotency + "0"}, none: nobody()}, "cursor": {}, "query": table["query query"], "segment": {}, "territory": text("Confidential"),
		"sort": {}, "limit": plain(200), "as_of": {}, "period": {}, "owner": text(other.ids[0].(string)), "model": {}, "category": {}, "sections": {},
		"provider": {}, "connector": {}, "kind": {}, "since": {}, "until": {}, "issue_code": {}, "overdue": {}, "tool": {}, "actor": text(other.email), "state": {}, "min_score": {}, "models": {},
		"product_id": someID, "signal_id": someID, "min_lift": {}, "significant": {}, "include_zero": {}, "min_priority": {}, "reason": {}, "severity": {}, "family": {},
	} {
		table["argument "+name] = v
	}
	return func(op *huma.Operation, in, name string) (value, bool) {
		switch {
		case in == "query" && name == "cursor":
			return value{theirs: []any{other.cursors[op.Path]}, none: "bWFkZSB1cCBieSBub2JvZHkgYXQgYWxs"}, true
		case in == "header" && name == "If-Match":
			got := me.do(http.MethodGet, strings.ReplaceAll(op.Path, "{provider}", "crm_a"), nil)
			return value{plain: got.Header.Get("Etag")}, true
		case in == "argument":
			if v, ok := table[in+" "+name]; ok {
				return v, true
			}
			in = "body"
		}
		v, ok := table[in+" "+name]
		return v, ok
	}
}

// secretNamed returns a name of the tenant that holds one of the words.
func (t *tenant) secretNamed(words ...string) string {
	for _, s := range t.secrets {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) }) {
			return s
		}
	}
	panic("the seed has no such name")
}

// leaks returns what of a tenant an answer holds that the request did not send.
func (t *tenant) leaks(got response, sent []string) string {
	text := got.Body
	for k, v := range got.Header {
		text += "\n" + k + ": " + strings.Join(v, " ")
	}
	for _, secret := range t.secrets {
		if strings.Contains(text, secret) && !slices.ContainsFunc(sent, func(s string) bool { return strings.Contains(s, secret) }) {
			return secret
		}
	}
	return ""
}

// TestNothingLeaksBetweenOrganizations drives every endpoint of the OpenAPI document and every tool of the registry as
// one organization with ids, names and cursors of another. What comes back must be just what made-up ones bring.
func TestNothingLeaksBetweenOrganizations(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 12})
	doc := s.srv.OpenAPI()
	beta := &tenant{}
	beta.org, beta.admin = s.org("Beta", false)
	_, beta.viewer = s.member(beta.org, auth.Viewer, "viewer@beta.example.org")
	beta.key = s.key(beta.org, auth.Scopes...)
	betaAccount := uuid.Must(uuid.NewV7())
	s.db.Exec(t, `INSERT INTO accounts (org_id, id, provider, external_id, name, mapping_id) VALUES ($1, $2, 'csv', 'b-1', 'Beta only', 1)`, beta.org, betaAccount)
	beta.admin.ok(http.MethodPost, "/api/tasks", map[string]any{"title": "Beta's own", "account_id": betaAccount}, nil)

	lists := func() map[string]string {
		out := map[string]string{}
		for _, op := range operations(doc) {
			if op.Method == http.MethodGet && !strings.Contains(op.Path, "{") && op.Path != "/api/mcp" {
				out[op.Path] = same(beta.admin.do(http.MethodGet, op.Path, nil).Body)
			}
		}
		require.Greater(t, len(out), 15)
		return out
	}
	before := lists()
	alpha := s.seedTenant("Alpha")
	alpha.fetchCursors(t, doc, alpha.ids[0].(string))
	require.Equal(t, before, lists(), "what Beta sees does not depend on what Alpha has")

	// What is written below may hold the foreign ids that were sent, so everything is read first.
	tried := 0
	endpoints := func(t *testing.T, reads bool) {
		t.Helper()
		for _, op := range operations(doc) {
			if (op.Method == http.MethodGet) != reads {
				continue
			}
			for name, who := range map[string]caller{"admin": beta.admin, "viewer": beta.viewer, "key": beta.key} {
				for _, pair := range attempts(t, doc, op, alpha.knows(beta.admin)) {
					s.db.Exec(t, "DELETE FROM login_failures")
					who := who
					if op.Path == "/api/auth/logout" && name != "key" {
						continue // ends the session that the rest needs, and takes nothing
					}
					what := fmt.Sprintf("%s %s as %s", pair[0].method, pair[0].path, name)
					got := who.try(pair[0])
					tried++
					require.Less(t, got.Status, 500, "%s: %s", what, got.Body)
					require.Empty(t, alpha.leaks(got, pair[0].sent), "%s: %s", what, got.Body)
					if pair[1] == nil {
						continue
					}
					want := who.try(pair[1])
					require.Equal(t, want.Status, got.Status, "%s\n%s\n%s", what, got.Body, want.Body)
					require.Equal(t, normal(want, pair[1]), normal(got, pair[0]), what)
					if pair[0].cursor && want.Status != http.StatusForbidden {
						require.Equal(t, http.StatusUnprocessableEntity, got.Status, what)
					}
				}
			}
		}
	}
	t.Run("no endpoint that reads tells anything", func(t *testing.T) { endpoints(t, true) })

	t.Run("no tool tells anything", func(t *testing.T) {
		var catalogue struct {
			Tools []struct {
				Name        string          `json:"name"`
				Effect      string          `json:"effect"`
				InputSchema json.RawMessage `json:"input_schema"`
			} `json:"tools"`
		}
		beta.admin.ok(http.MethodGet, "/api/tools", nil, &catalogue)
		require.GreaterOrEqual(t, len(catalogue.Tools), 13)
		slices.SortStableFunc(catalogue.Tools, func(a, b struct {
			Name        string          `json:"name"`
			Effect      string          `json:"effect"`
			InputSchema json.RawMessage `json:"input_schema"`
		},
		) int {
			return strings.Compare(strings.Replace(a.Effect, "read", "", 1), strings.Replace(b.Effect, "read", "", 1))
		})
		for _, tool := range catalogue.Tools {
			op := &huma.Operation{Method: http.MethodPost, Path: "/api/tools/" + tool.Name, RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{
				"application/json": {Schema: schemaOf(t, tool.InputSchema)},
			}}}
			know := func(op *huma.Operation, _, name string) (value, bool) {
				return alpha.knows(beta.admin)(op, "argument", name)
			}
			for name, who := range map[string]caller{"admin": beta.admin, "viewer": beta.viewer, "key": beta.key} {
				for _, pair := range attempts(t, doc, op, know) {
					what := fmt.Sprintf("%s %v as %s", tool.Name, pair[0].body, name)
					got := who.try(pair[0])
					require.Less(t, got.Status, 500, "%s: %s", what, got.Body)
					require.Empty(t, alpha.leaks(got, pair[0].sent), "%s: %s", what, got.Body)
					if pair[1] != nil {
						want := who.try(pair[1])
						require.Equal(t, want.Status, got.Status, "%s\n%s\n%s", what, got.Body, want.Body)
						require.Equal(t, normal(want, pair[1]), normal(got, pair[0]), what)
					}
					if name == "key" { // the same over the protocol
						call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool.Name, "arguments": pair[0].body}})
						require.NoError(t, err)
						got := who.with("Accept", "application/json, text/event-stream").do(http.MethodPost, "/api/mcp", string(call))
						require.Equal(t, http.StatusOK, got.Status, "%s: %s", what, got.Body)
						require.Empty(t, alpha.leaks(got, pair[0].sent), "%s: %s", what, got.Body)
					}
				}
			}
		}
	})

	t.Run("no endpoint that writes tells anything", func(t *testing.T) { endpoints(t, false) })
	require.Greater(t, tried, 500)

	t.Run("a callback with another organization's state is refused, whoever started it", func(t *testing.T) {
		for name, starter := range map[string]caller{"a session": alpha.admin, "a key": alpha.key} {
			path := starter.consent()
			u, err := url.Parse(path)
			require.NoError(t, err)
			u.RawQuery = url.Values{"state": {strings.Repeat("A", 43)}, "code": {u.Query().Get("code")}}.Encode()
			want := beta.admin.do(http.MethodGet, u.RequestURI(), nil)
			got := beta.admin.do(http.MethodGet, path, nil)
			require.GreaterOrEqual(t, got.Status, 400, "%s: %s", name, got.Body)
			require.Less(t, got.Status, 500)
			require.Equal(t, want.Body, got.Body, name)
			require.Empty(t, alpha.leaks(got, nil), got.Body)
		}
		require.EqualValues(t, 0, s.db.Count(t, "SELECT count(*) FROM connections WHERE org_id = $1 AND status = 'connected'", beta.org))
	})

	t.Run("nothing of theirs was changed", func(t *testing.T) {
		require.Len(t, alpha.admin.list("/api/tasks", "tasks"), 3)
		require.EqualValues(t, 3, s.db.Count(t, "SELECT count(*) FROM tasks WHERE org_id = $1 AND version = 1 AND status = 'OPEN'", alpha.org))
		require.EqualValues(t, 0, s.db.Count(t, "SELECT count(*) FROM api_keys WHERE org_id = $1 AND revoked_at IS NOT NULL", alpha.org))
		require.EqualValues(t, 3, s.db.Count(t, "SELECT count(*) FROM memberships WHERE org_id = $1", alpha.org))
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM invitations WHERE org_id = $1 AND accepted_at IS NULL", alpha.org))
		require.EqualValues(t, 0, s.db.Count(t, "SELECT count(*) FROM runs WHERE org_id = $1 AND cancel_requested_at IS NOT NULL", alpha.org))
		var st struct{ Status string }
		alpha.admin.ok(http.MethodGet, "/api/connectors/crm_a/status", nil, &st)
		require.Equal(t, "connected", st.Status)
	})
}

// normal is an answer without what passes and without what the request brought.
func normal(got response, a *attempt) string {
	body := same(got.Body)
	for _, x := range append(slices.Clone(a.sent), "nobody-of-that-name@example.org", "nobody-of-that-name") {
		body = strings.ReplaceAll(body, x, "*")
	}
	return body
}

// TestARunOfAnotherOrganizationCannotBeWatched covers what a stream would tell before it ends.
func TestARunOfAnotherOrganizationCannotBeWatched(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 10})
	_, alpha := s.org("Alpha", false)
	_, beta := s.org("Beta", false)
	alpha.connect()
	_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Latency, Path: "/query", DelayMS: 2000})
	require.NoError(t, err)
	var started struct {
		Run struct{ ID string }
	}
	alpha.ok(http.MethodPost, "/api/connectors/crm_a/sync", map[string]any{}, &started)
	path := "/api/runs/" + started.Run.ID + "/events"
	beta.refused(http.MethodGet, path, nil, http.StatusNotFound, "not_found")
	beta.refused(http.MethodPost, "/api/runs/"+started.Run.ID+"/cancel", nil, http.StatusNotFound, "not_found")

	began := time.Now()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Cookie", "revarch_session="+alpha.cookie)
	res, err := noRedirects.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	first := make([]byte, 11)
	_, err = res.Body.Read(first)
	require.NoError(t, err)
	require.Equal(t, "event: run\n", string(first), "a snapshot comes first")
	require.Less(t, time.Since(began), 5*time.Second)
	require.NoError(t, s.box.Lift(t.Context(), ""))
}
