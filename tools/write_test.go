package tools_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
)

// outcomes lists surface and outcome of a tool's entries in the log, oldest first.
func (s *system) outcomes(c *client.Client, tool string) (out []string) {
	s.tb.Helper()
	entries := call(s.tb, c, "get_governance_log", map[string]any{"tool": tool}).Data["entries"].([]any)
	for _, x := range slices.Backward(entries) {
		e := x.(map[string]any)
		out = append(out, e["surface"].(string)+" "+e["outcome"].(string))
	}
	return out
}

func TestWritesAreRepeatableAndLogged(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 1)
	_, secret := s.key(org.org, auth.ScopeRead, auth.ScopeWriteSafe)
	c := s.connect(secret)
	args := map[string]any{"title": "Call", "account_id": org.account, "idempotency_key": "k-1"}

	first := call(t, c, "create_task", args)
	require.False(t, first.IsError, first.Text)
	again := call(t, c, "create_task", args)
	require.Equal(t, first.Data, again.Data)
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM tasks WHERE org_id = $1 AND title = 'Call'", org.org))

	t.Run("another request under the same key is a conflict", func(t *testing.T) {
		got := call(t, c, "create_task", map[string]any{"title": "Write", "idempotency_key": "k-1"})
		require.True(t, got.IsError)
		require.Equal(t, "conflict", failure(t, got).Code)
	})
	t.Run("an update shows before and after, and an empty text clears", func(t *testing.T) {
		id := first.Data["task"].(map[string]any)["task_id"]
		got := call(t, c, "update_task", map[string]any{"task_id": id, "due_date": "2027-02-01", "assignee": "ann@example.org"})
		require.False(t, got.IsError, got.Text)
		require.Nil(t, got.Data["before"].(map[string]any)["due_date"])
		require.Equal(t, "2027-02-01", got.Data["after"].(map[string]any)["due_date"])
		got = call(t, c, "update_task", map[string]any{"task_id": id, "due_date": "", "assignee": "", "status": nil})
		require.False(t, got.IsError, got.Text)
		require.Nil(t, got.Data["task"].(map[string]any)["due_date"])
		require.Nil(t, got.Data["task"].(map[string]any)["assignee"])
	})
	t.Run("the log has one entry of the two equal requests", func(t *testing.T) {
		require.Equal(t, []string{"engine ok", "mcp ok", "mcp failed"}, s.outcomes(c, "create_task"))
		got := call(t, c, "get_governance_log", map[string]any{"tool": "create_task"})
		require.Equal(t, true, got.Data["chain_ok"])
	})
}

func TestRefusedWritesAreLogged(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 1)
	_, read := s.key(org.org, auth.ScopeRead)
	c := s.connect(read)

	got := call(t, c, "create_task", map[string]any{"title": "Call"})
	require.True(t, got.IsError)
	require.Equal(t, "denied", failure(t, got).Code)
	require.Contains(t, failure(t, got).Message, "write_safe")

	_, write := s.key(org.org, auth.ScopeWriteSafe)
	w := s.connect(write)
	got = call(t, w, "create_task", map[string]any{"title": "Call", "account_id": models.NewID().String()})
	require.Equal(t, "not_found", failure(t, got).Code)
	require.NotEmpty(t, failure(t, got).Hint)
	got = call(t, w, "create_task", map[string]any{"due_date": "soon"})
	require.Equal(t, "invalid", failure(t, got).Code)
	status, _, _ := s.rest(read, http.MethodPost, "/api/tools/create_task", `{"title":"Call"}`)
	require.Equal(t, http.StatusForbidden, status)
	status, _, _ = s.rest(write, http.MethodPost, "/api/tools/create_task", `["Call"]`)
	require.Equal(t, http.StatusUnprocessableEntity, status)

	require.Equal(t, []string{"engine ok", "mcp denied", "mcp failed", "mcp failed", "rest denied", "rest failed"}, s.outcomes(c, "create_task"))
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM tasks WHERE org_id = $1", org.org), "the seeded one alone")
}

func TestErrorsNameWhatToDo(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org := s.tenant("Alpha", 1)
	_, secret := s.key(org.org, auth.Scopes...)
	c := s.connect(secret)
	for name, x := range map[string]struct {
		tool, field, hint string
		args              map[string]any
	}{
		"a required argument that is missing": {"get_account_health", "account_id", "required", map[string]any{}},
		"an unknown argument":                 {"search_accounts", "name", "query", map[string]any{"name": "x"}},
		"a value outside an enumeration":      {"search_accounts", "segment", "Mid-Market", map[string]any{"segment": "Huge"}},
		"a limit above the highest":           {"list_tasks", "limit", "200", map[string]any{"limit": 201}},
		"a broken id":                         {"get_account_360", "account_id", "uuid", map[string]any{"account_id": "7"}},
		"a day in the future":                 {"get_dashboard", "as_of", "today", map[string]any{"as_of": "2999-01-01"}},
		"a quarter that is none":              {"get_pipeline_summary", "period", "2026-Q3", map[string]any{"period": "2026-Q5"}},
		"a cursor of another list":            {"list_tasks", "cursor", "next_cursor", map[string]any{"cursor": "bm8"}},
	} {
		got := call(t, c, x.tool, x.args)
		require.True(t, got.IsError, name)
		f := failure(t, got)
		require.Equal(t, "invalid", f.Code, name)
		require.Equal(t, x.field, f.Field, name)
		require.Contains(t, f.Hint, x.hint, name)
		require.False(t, f.Retryable, name)
	}
}

// told is an error as a model reads it.
type told struct {
	Code, Message, Field, Hint string
	Retryable                  bool
}

func failure(tb testing.TB, a answer) (f told) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal([]byte(a.Text), &f), a.Text)
	return f
}
