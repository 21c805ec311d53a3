package tools

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
)

// catalogued returns the rows of catalogue.csv by tool name.
func catalogued(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open("catalogue.csv")
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	out := map[string][]string{}
	for _, r := range rows[1:] {
		out[r[0]] = r
	}
	require.Len(t, out, 129)
	return out
}

func TestEveryToolIsAsTheCatalogueSays(t *testing.T) {
	t.Parallel()
	known := catalogued(t)
	r, err := New(Deps{})
	require.NoError(t, err)
	for _, tool := range r.tools {
		row := known[tool.Name]
		require.NotNil(t, row, "%s is not in the catalogue", tool.Name)
		require.Equal(t, row[1], string(tool.Category), tool.Name)
		require.Equal(t, row[3] == "write", tool.Effect != Read, tool.Name)
		require.Equal(t, effectOf(tool.Name, row[3]), tool.Effect, tool.Name)
		require.LessOrEqual(t, len(tool.Description), 240, tool.Name)
		require.NotEmpty(t, tool.Title, tool.Name)
		for arg := range strings.SplitSeq(row[5], ", ") {
			if name, _, ok := strings.Cut(arg, ":"); ok {
				require.Contains(t, string(tool.InputSchema), `"`+name+`"`, "%s takes %s", tool.Name, name)
			}
		}
		if tool.Effect != Read {
			require.Contains(t, string(tool.InputSchema), `"idempotency_key"`, tool.Name)
		}
	}
}

// effectOf says what design.md decides about writes; every other tool reads.
func effectOf(name, kind string) Effect {
	switch {
	case kind != "write":
		return Read
	case name == "create_play" || name == "create_task":
		return Add
	case name == "set_renewal_disposition" || name == "opt_in_benchmarks" || name == "complete_play":
		return Overwrite
	}
	return Set
}

// built are the tools that exist; the list grows with them, so that none is lost unseen.
var built = []string{
	"get_dashboard", "get_pipeline_summary", "search_accounts", "get_account_360", "get_account_health", "get_scoring_rules",
	"create_task", "update_task", "get_governance_log", "get_data_readiness", "get_affected_records", "list_tasks",
	"get_expansion_summary", "get_expansion_signals", "get_expansion_affinity", "list_connectors", "get_sync_log",
}

func TestTheToolsThatAreBuiltAreListedInOrder(t *testing.T) {
	t.Parallel()
	r, err := New(Deps{})
	require.NoError(t, err)
	var names []string
	for _, tool := range r.tools {
		names = append(names, tool.Name)
	}
	require.Equal(t, built, names)
}

// TestTokenBudget holds the list to its share of 25,000 tokens for 129 tools, at four characters a token.
func TestTokenBudget(t *testing.T) {
	t.Parallel()
	r, err := New(Deps{})
	require.NoError(t, err)
	total, core := 0, 0
	for _, tool := range r.tools {
		n := (len(tool.Name) + len(tool.Description) + len(tool.InputSchema)) / 4
		total += n
		if tool.Category == "core" || tool.Category == "write" {
			core += n
		}
	}
	t.Logf("%d tools: about %d tokens, core and write %d", len(r.tools), total, core)
	require.LessOrEqual(t, total, 25000)
	require.LessOrEqual(t, core, 6000)
}

func TestArgumentsAreCheckedInWords(t *testing.T) {
	t.Parallel()
	r, err := New(Deps{})
	require.NoError(t, err)
	s := r.byName["get_governance_log"].input

	accept := func(args string) (json.RawMessage, error) {
		in, err := decodeArguments(json.RawMessage(args))
		if err != nil {
			return nil, err
		}
		return s.accept(in)
	}
	clean, err := accept(`{"tool": null}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"limit": 50}`, string(clean), "nulls go, defaults come")

	for name, args := range map[string]string{
		"an unknown argument": `{"tol": "secret-value"}`, "a limit out of range": `{"limit": 500}`, "a number for a text": `{"tool": 5}`,
		"a bad time": `{"since": "yesterday"}`, "no object": `[1]`,
	} {
		_, err := accept(args)
		require.True(t, fault.Is(err, fault.Invalid), name)
		require.NotContains(t, FailureOf(err).Hint+FailureOf(err).Message, "secret-value", name)
	}
	_, err = accept(`{"tol": 1}`)
	require.Contains(t, FailureOf(err).Hint, "valid ones: actor, cursor, limit")
}

// post sends one JSON-RPC message as a principal and returns the answer.
func post(t *testing.T, h http.Handler, p auth.Principal, query, body string, header ...string) map[string]any {
	t.Helper()
	req := httptest.NewRequestWithContext(auth.With(context.Background(), p), http.MethodPost, "/api/mcp"+query, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	var out map[string]any
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &out), rec.Body.String())
	return out
}

// listed are the names that tools/list gives a principal.
func listed(t *testing.T, h http.Handler, p auth.Principal, query string) (names []string) {
	t.Helper()
	got := post(t, h, p, query, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	for _, x := range got["result"].(map[string]any)["tools"].([]any) {
		names = append(names, x.(map[string]any)["name"].(string))
	}
	return names
}

// TestShare checks what an answer's lists are cut to: never more than the room there is, and nothing when all fits.
func TestShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 500).Draw(t, "room")
		var lists []*list
		kept, total := map[int]int{}, 0
		for i := range rapid.IntRange(1, 5).Draw(t, "lists") {
			l := &list{sizes: rapid.SliceOfN(rapid.IntRange(1, 60), 0, 8).Draw(t, "sizes"), keep: func(n int) { kept[i] = n }}
			for _, n := range l.sizes {
				l.total += n
			}
			total += l.total
			lists = append(lists, l)
		}
		share(lists, room)
		used := 0
		for i, l := range lists {
			for _, n := range l.sizes[:kept[i]] {
				used += n
			}
			require.Equal(t, kept[i] < len(l.sizes), l.more)
			require.False(t, total <= room && l.more, "all would have fitted")
		}
		require.LessOrEqual(t, used, room)
	})
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	r, err := New(Deps{})
	require.NoError(t, err)
	h := r.Handler("test")
	p := auth.Principal{OrgID: models.NewID(), Kind: "key", Scopes: []auth.Scope{auth.ScopeRead}}

	t.Run("an initialize-based client lists tools without a session", func(t *testing.T) {
		t.Parallel()
		got := post(t, h, p, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		require.NotNil(t, got["result"])
		got = post(t, h, p, "", `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
		tools := got["result"].(map[string]any)["tools"].([]any)
		require.Len(t, tools, len(r.Visible(p, Selection{})))
		for i, x := range tools {
			require.Equal(t, r.Visible(p, Selection{})[i].Name, x.(map[string]any)["name"], "the order is ours")
			ann := x.(map[string]any)["annotations"].(map[string]any)
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				require.Contains(t, ann, hint)
			}
		}
	})
	t.Run("a connection may be narrowed, and a key never sees what it may not use", func(t *testing.T) {
		t.Parallel()
		all := auth.Principal{OrgID: models.NewID(), Kind: "key", Scopes: auth.Scopes}
		for query, want := range map[string][]string{
			"?categories=write":                       {"create_task", "update_task", "get_governance_log"},
			"?categories=write,tasks&read_only=true":  {"get_governance_log", "list_tasks"},
			"?categories=data_readiness, nonexistent": {"get_data_readiness", "get_affected_records"},
		} {
			require.Equal(t, want, listed(t, h, all, strings.ReplaceAll(query, " ", "%20")), query)
		}
		require.NotContains(t, listed(t, h, p, ""), "create_task")
		got := post(t, h, p, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_dashboard"}}`)
		text := got["result"].(map[string]any)["content"].([]any)[0].(map[string]any)["text"].(string)
		require.Contains(t, text, `"code":"internal"`, "a service that is not there panics")
		require.NotContains(t, text, "nil pointer", "what went wrong is for the log")
	})
	t.Run("a stateless client discovers and lists", func(t *testing.T) {
		t.Parallel()
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		got := post(t, h, p, "", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
		require.NotNil(t, got["result"], got)
		got = post(t, h, p, "", `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+meta+`}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		require.NotNil(t, got["result"], got)
	})
	t.Run("an unknown tool is a protocol error", func(t *testing.T) {
		t.Parallel()
		got := post(t, h, p, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_nothing","arguments":{}}}`)
		require.NotNil(t, got["error"])
	})
	t.Run("a wrong argument is a result the model can act on", func(t *testing.T) {
		t.Parallel()
		got := post(t, h, p, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_governance_log","arguments":{"limit":0}}}`)
		res := got["result"].(map[string]any)
		require.Equal(t, true, res["isError"])
		require.Contains(t, res["content"].([]any)[0].(map[string]any)["text"], `"code":"invalid"`)
	})
	t.Run("a GET describes the server, an event stream is refused", func(t *testing.T) {
		t.Parallel()
		req := httptest.NewRequestWithContext(auth.With(context.Background(), p), http.MethodGet, "/api/mcp", http.NoBody)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), `"tool_count"`)
		req.Header.Set("Accept", "text/event-stream")
		rec = httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		require.Equal(t, http.StatusMethodNotAllowed, rec.Code)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
		require.Equal(t, "POST", rec.Header().Get("Allow"))
	})
}
