package tools_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/tools"
)

func TestToolsOverREST(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 2)
	_, read := s.key(org.org, auth.ScopeRead)

	t.Run("the catalogue lists what the caller may use", func(t *testing.T) {
		t.Parallel()
		status, _, body := s.rest(read, http.MethodGet, "/api/tools", "")
		require.Equal(t, http.StatusOK, status, body)
		var got struct{ Tools []tools.Info }
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		require.Equal(t, "get_dashboard", got.Tools[0].Name)
		for _, tool := range got.Tools {
			require.Equal(t, "read", tool.Effect, tool.Name)
			require.True(t, json.Valid(tool.InputSchema) && json.Valid(tool.OutputSchema), tool.Name)
		}
	})
	t.Run("a call answers what the tool server answers", func(t *testing.T) {
		t.Parallel()
		status, _, body := s.rest(read, http.MethodPost, "/api/tools/get_account_health", `{"account_id":"`+org.account+`"}`)
		require.Equal(t, http.StatusOK, status, body)
		want, err := json.Marshal(call(t, s.connect(read), "get_account_health", map[string]any{"account_id": org.account}).Data)
		require.NoError(t, err)
		require.JSONEq(t, string(want), body)
		status, _, body = s.rest(read, http.MethodPost, "/api/tools/list_connectors", "")
		require.Equal(t, http.StatusOK, status, body)
	})
	t.Run("a person in a session calls by role", func(t *testing.T) {
		t.Parallel()
		_, _, err := s.id.CreateOrg(t.Context(), "Gamma", false, "ann@example.org", "Ann", "a long enough password", auth.Viewer)
		require.NoError(t, err)
		in, err := s.id.SignIn(t.Context(), "ann@example.org", "a long enough password", "127.0.0.1")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, s.inSession(in.Token, "/api/tools/search_accounts", `{}`))
		require.Equal(t, http.StatusForbidden, s.inSession(in.Token, "/api/tools/create_task", `{"title":"x"}`))
	})
	t.Run("errors are problem documents", func(t *testing.T) {
		t.Parallel()
		for _, x := range []struct {
			secret, path, body, code string
			status                   int
		}{
			{read, "/api/tools/get_nothing", "{}", "not_found", 404},
			{read, "/api/tools/search_accounts", `{"segment":"Huge"}`, "invalid", 422},
			{read, "/api/tools/search_accounts", `{"segment":`, "invalid", 400},
			{read, "/api/tools/search_accounts", `{"query":"` + strings.Repeat("x", 1<<20) + `"}`, "too_large", 413},
			{read, "/api/tools/create_task", `{"title":"x"}`, "denied", 403},
			{"", "/api/tools/search_accounts", `{}`, "unauthenticated", 401},
		} {
			status, header, body := s.rest(x.secret, http.MethodPost, x.path, x.body)
			require.Equal(t, x.status, status, body)
			require.Equal(t, "application/problem+json", header.Get("Content-Type"), x.path)
			require.Contains(t, body, `"code":"`+x.code+`"`, x.path)
		}
		_, _, body := s.rest(read, http.MethodPost, "/api/tools/search_accounts", `{"segment":"Huge"}`)
		require.Contains(t, body, `"location":"segment"`)
	})
	t.Run("both are in the OpenAPI document", func(t *testing.T) {
		t.Parallel()
		doc := s.api.OpenAPI()
		require.NotNil(t, doc.Paths["/api/tools"].Get)
		require.NotNil(t, doc.Paths["/api/tools/{name}"].Post)
	})
}

func TestTheToolServerReadsTenMebibytes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, secret := s.key(s.db.NewOrg(t, "Alpha"), auth.ScopeRead)
	body := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_accounts","arguments":{"query":"` + strings.Repeat("x", n) + `"}}}`
	}
	status, _, got := s.rest(secret, http.MethodPost, "/api/mcp", body(2<<20))
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, got, "expected length", "read, and refused by its own limit")
	status, _, got = s.rest(secret, http.MethodPost, "/api/mcp", body(tools.MaxBody))
	require.Equal(t, http.StatusRequestEntityTooLarge, status, got[:min(len(got), 300)])
}
