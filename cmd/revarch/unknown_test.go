package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/sandbox"
)

// unpaged are the lists that come whole, and why they stay short.
var unpaged = map[string]string{
	"get-account": "one account; each list in it is cut and says so", "me": "organizations of one person", "get-readiness": "one entry for each check",
	"list-mappings": "one set for each provider", "list-connector-status": "one entry for each provider", "discover": "the objects that a connector reads",
	"get-schema": "the objects that a connector reads", "get-mappings": "the fields of those objects; the whole set is what is replaced",
	"get-pipeline": "the stages and categories of a pipeline", "list-datasets": "the datasets of the platform", "get-dataset": "one release a year",
	"get-run": "warnings of one run", "list-scoring-rules": "the rules of the models", "list-tools": "the tools of the catalogue",
	"list-api-keys": "keys are made one by one, by hand", "list-members": "people of one organization",
}

// takesAnything are the operations whose unknown parameters or fields are not ours to refuse, and why.
var takesAnything = map[string]string{
	"authorize-callback": "providers add parameters of their own", "call-tool-server": "the protocol's own messages", "discover-tool-server": "the protocol's own endpoint",
}

// TestListsHavePages holds every list of the document to limit, cursor and next_cursor.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	srv, err := (&app{}).server(nil)
	require.NoError(t, err)
	doc := srv.OpenAPI()
	paged := 0
	for _, op := range operations(doc) {
		r := op.Responses["200"]
		if op.Method != http.MethodGet || r == nil || r.Content["application/json"] == nil {
			continue
		}
		body := deref(doc, r.Content["application/json"].Schema)
		lists := false
		for _, p := range body.Properties {
			lists = lists || p.Type == huma.TypeArray
		}
		if !lists {
			continue
		}
		has := func(name string) bool {
			return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == name && p.In == "query" })
		}
		require.Equal(t, unpaged[op.OperationID] == "", has("cursor"), "%s: a list has pages, or it is said here why it stays short", op.OperationID)
		if !has("cursor") {
			continue
		}
		paged++
		require.True(t, has("limit"), op.OperationID)
		require.True(t, body.Properties["next_cursor"] != nil && body.Properties["next_cursor"].Nullable, "%s: null on the last page", op.OperationID)
		require.Contains(t, body.Required, "next_cursor", op.OperationID)
	}
	require.GreaterOrEqual(t, paged, 10)
}

// TestWhatIsUnknownIsRefused sends every operation of the document a query parameter and a field that it does not know.
func TestWhatIsUnknownIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	_, operator := s.org("Platform", true)
	known := strings.NewReplacer("{id}", uuid.NewString(), "{provider}", "crm_a", "{dataset}", "auto", "{token}", "x", "{name}", "list_tasks", "{resource}", "products")
	tried := 0
	for _, op := range operations(s.srv.OpenAPI()) {
		if takesAnything[op.OperationID] != "" {
			continue
		}
		path := known.Replace(op.Path)
		require.NotRegexp(t, `[{}]`, path, "a path parameter that this test does not know")
		who, name := operator, op.Method+" "+op.Path
		if op.Method != http.MethodGet {
			who = who.with("If-Match", `"1"`)
		}
		body := any(nil)
		if op.RequestBody != nil {
			body = "{}"
		}
		p := who.refused(op.Method, path+"?canary="+canary, body, http.StatusUnprocessableEntity, "invalid")
		require.Contains(t, errorsOf(p.Errors), "query.canary", name)
		require.NotContains(t, errorsOf(p), canary, name)
		tried++
		if op.Method == http.MethodGet || op.RequestBody != nil && op.RequestBody.Content["application/json"] == nil {
			continue
		}
		p = who.refused(op.Method, path, map[string]any{"canary": canary}, http.StatusUnprocessableEntity, "invalid")
		require.Contains(t, errorsOf(p.Errors), "canary", name)
		require.NotContains(t, errorsOf(p), canary, name)
		tried++
	}
	require.Greater(t, tried, 70)
	require.NotContains(t, logged.text(), "query.canary="+canary)
}
