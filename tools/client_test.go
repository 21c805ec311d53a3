package tools_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"revarch/auth"
)

// samples are arguments for tools whose required ones do not follow from their types.
var samples = map[string]map[string]any{
	"create_task": {"title": "Call the superintendent", "due_date": "2026-12-24", "priority": "HIGH"},
	"update_task": {"priority": "URGENT", "status": "IN_PROGRESS"},
}

// inputs are the arguments of a tool as a client reads them from its schema.
func inputs(tb testing.TB, tool mcp.Tool) (props map[string]map[string]any, required []string) {
	tb.Helper()
	raw, err := json.Marshal(tool)
	require.NoError(tb, err)
	var doc struct {
		InputSchema struct {
			Properties map[string]map[string]any
			Required   []string
		} `json:"inputSchema"`
	}
	require.NoError(tb, json.Unmarshal(raw, &doc))
	return doc.InputSchema.Properties, doc.InputSchema.Required
}

// isID tells an argument that takes the id of a record.
func isID(name string, prop map[string]any) bool {
	return prop["format"] == "uuid" || strings.HasSuffix(name, "_id")
}

// fitting compiles the output schema of a tool into a check.
func fitting(tb testing.TB, tool mcp.Tool) *jsonschema.Schema {
	tb.Helper()
	raw, err := json.Marshal(tool)
	require.NoError(tb, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	require.NoError(tb, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(tb, c.AddResource(tool.Name+".json", doc.(map[string]any)["outputSchema"]))
	s, err := c.Compile(tool.Name + ".json")
	require.NoError(tb, err)
	return s
}

func TestEveryToolAnswersAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	s := setup(t)
	full := s.tenant("Alpha", 60)
	empty := tenant{org: s.db.NewOrg(t, "Empty")}
	for _, x := range []tenant{full, empty} {
		_, secret := s.key(x.org, auth.Scopes...)
		c := s.connect(secret)
		list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
		require.NoError(t, err)
		require.NotEmpty(t, list.Tools)
		for _, tool := range list.Tools {
			props, required := inputs(t, tool)
			args := map[string]any{}
			for _, name := range required {
				if isID(name, props[name]) {
					args[name] = x.id(name)
				}
			}
			if len(args) > 0 && x.account == "" {
				continue // it needs a record, and there is none
			}
			maps.Copy(args, samples[tool.Name])
			got := call(t, c, tool.Name, args)
			require.False(t, got.IsError, "%s: %s", tool.Name, got.Text)
			require.NoError(t, fitting(t, tool).Validate(any(got.Data)), tool.Name)
			require.NotEmpty(t, got.Text, tool.Name)
			require.NotContains(t, got.Text, "{", "%s: the text is a sentence, not the answer again", tool.Name)
			raw, err := json.Marshal(got.Data)
			require.NoError(t, err)
			require.Less(t, len(raw), 32<<10, "%s: about 8,000 tokens", tool.Name)
			if strings.Contains(string(raw), "_cents") {
				require.Contains(t, string(raw), `"currency"`, "%s: money names its currency", tool.Name)
			}
		}
	}
}

func TestAnEmptyListSaysWhy(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, secret := s.key(s.db.NewOrg(t, "Empty"), auth.ScopeRead)
	c := s.connect(secret)
	for name, args := range map[string]map[string]any{
		"search_accounts": {}, "list_tasks": {}, "get_sync_log": {}, "get_affected_records": {},
		"list_connectors": {"kind": "support"}, "get_scoring_rules": {"model": "priority"}, "get_pipeline_summary": {}, "get_governance_log": {"tool": "x"},
	} {
		got := call(t, c, name, args)
		require.False(t, got.IsError, got.Text)
		require.NotEmpty(t, got.Data["note"], name)
	}
}

func TestScoresOfModelsThatAreNotBuilt(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 3)
	_, secret := s.key(org.org, auth.ScopeRead)
	c := s.connect(secret)
	health := call(t, c, "get_account_health", map[string]any{"account_id": org.account})
	require.False(t, health.IsError, health.Text)
	got := health.Data["models"].(map[string]any)
	priority := got["priority"].(map[string]any)
	require.Nil(t, priority["composite_score"])
	require.Equal(t, "not_available", priority["reason"])
	for _, model := range []string{"health", "risk"} {
		m := got[model].(map[string]any)
		require.NotNil(t, m["composite_score"], model)
		require.Len(t, m["category_scores"], 8)
		sum := 0.0
		for _, r := range m["rule_results"].([]any) {
			rule := r.(map[string]any)
			sum += rule["contribution"].(float64)
			require.Equal(t, rule["missing"], rule["value_text"] == nil, rule["rule_id"])
		}
		require.InDelta(t, m["composite_score"], sum, 0.05)
	}
	found := call(t, c, "search_accounts", map[string]any{"sort": "priority"})
	require.Equal(t, "risk", found.Data["sorted_by"])
	require.Equal(t, "not_available", found.Data["priority_reason"])
	require.Contains(t, found.Data["note"], "sorted by risk")
}

func TestSectionsAndTheSizeOfAnswers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 400)
	s.db.Exec(t, "UPDATE contacts SET account_id = $2, account_external_id = 'Account-Alpha-0' WHERE org_id = $1", org.org, org.account)
	_, secret := s.key(org.org, auth.ScopeRead)
	c := s.connect(secret)

	t.Run("narrow the answer", func(t *testing.T) {
		got := call(t, c, "get_account_360", map[string]any{"account_id": org.account, "sections": []string{"contacts", "signals"}})
		require.Contains(t, got.Data, "contacts")
		require.NotContains(t, got.Data, "scores")
		require.Equal(t, map[string]any{"signals": "not_available"}, got.Data["unavailable"])
		bad := call(t, c, "get_account_360", map[string]any{"account_id": org.account, "sections": []string{"gossip"}})
		require.True(t, bad.IsError)
	})
	t.Run("long lists are cut, said so, and seen in full on demand", func(t *testing.T) {
		got := call(t, c, "get_account_360", map[string]any{"account_id": org.account})
		require.Equal(t, true, got.Data["truncated"])
		require.Equal(t, []any{"contacts"}, got.Data["truncated_sections"])
		require.Contains(t, got.Data["next"], "contacts")
		more := call(t, c, "get_account_360", map[string]any{"account_id": org.account, "sections": []string{"contacts"}})
		require.Greater(t, len(more.Data["contacts"].([]any)), len(got.Data["contacts"].([]any)))
		require.Contains(t, more.Data["next"], "web app", "asking again would show no more")
	})
	t.Run("pages that do not fit go on exactly after the last row", func(t *testing.T) {
		seen, cursor := map[any]bool{}, any(nil)
		for range 20 {
			got := call(t, c, "search_accounts", map[string]any{"sort": "name", "limit": 200, "cursor": cursor})
			require.False(t, got.IsError, got.Text)
			for _, row := range got.Data["accounts"].([]any) {
				id := row.(map[string]any)["account_id"]
				require.False(t, seen[id], "a row came twice")
				seen[id] = true
			}
			if cursor = got.Data["next_cursor"]; cursor == nil {
				break
			}
			require.Equal(t, true, got.Data["truncated"], "200 rows are too many for an answer")
		}
		require.Len(t, seen, 400)
	})
}

func TestARevokedKeyFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.db.NewOrg(t, "Alpha")
	id, secret := s.key(org, auth.ScopeRead)
	c := s.connect(secret)
	call(t, c, "list_connectors", nil)
	require.NoError(t, s.id.RevokeKey(t.Context(), auth.Engine(org), id))
	_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "list_connectors"}})
	require.Error(t, err)
	status, header, _ := s.rest(secret, http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, header.Get("WWW-Authenticate"), "Bearer")
}
