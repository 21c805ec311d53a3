package main

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// contract holds answers against an OpenAPI document: the status must be documented, and so must the media type, and a
// JSON body must fit its schema, with an independent validator.
type contract struct {
	doc      *huma.OpenAPI
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

func newContract(tb testing.TB, doc *huma.OpenAPI) *contract {
	tb.Helper()
	raw, err := json.Marshal(doc)
	require.NoError(tb, err)
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	require.NoError(tb, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(tb, c.AddResource("openapi.json", parsed))
	return &contract{doc: doc, compiler: c, compiled: map[string]*jsonschema.Schema{}}
}

// check says how an answer differs from what is documented, "" when it does not.
func (c *contract) check(method, path string, got response) string {
	path, _, _ = strings.Cut(path, "?")
	media, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type"))
	template, op := c.operation(method, path)
	if op == nil {
		if !strings.HasPrefix(path, "/api/") || got.Status == http.StatusNotFound || got.Status == http.StatusMethodNotAllowed {
			return "" // pages, and what is no operation
		}
		return fmt.Sprintf("no operation is documented, yet the answer is %d", got.Status)
	}
	status := strconv.Itoa(got.Status)
	r := op.Responses[status]
	if r == nil && got.Status >= 400 {
		status, r = "default", op.Responses["default"]
	}
	switch {
	case r == nil:
		return "status " + status + " is not documented"
	case got.Status >= 300 && got.Status < 400:
		return "" // where to go is in the header
	case len(r.Content) == 0 && got.Body != "":
		return "status " + status + " is documented without a body"
	case len(r.Content) == 0:
		return ""
	case r.Content[media] == nil:
		return fmt.Sprintf("status %s is not documented with %q", status, media)
	case !strings.HasSuffix(media, "json"):
		return ""
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(got.Body))
	if err != nil {
		return err.Error()
	}
	schema, err := c.schema("openapi.json#/paths/" + pointer(template) + "/" + strings.ToLower(method) + "/responses/" + status + "/content/" + pointer(media) + "/schema")
	if err == nil {
		err = schema.Validate(body)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// schema compiles the schema at an address once.
func (c *contract) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.compiled[at]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(at)
	if err == nil {
		c.compiled[at] = s
	}
	return s, err
}

// operation finds what is documented for a path; one without parameters goes before one with.
func (c *contract) operation(method, path string) (template string, op *huma.Operation) {
	for t, item := range c.doc.Paths {
		if !fits(t, path) || op != nil && strings.Count(t, "{") > strings.Count(template, "{") {
			continue
		}
		if found := map[string]*huma.Operation{"GET": item.Get, "PUT": item.Put, "POST": item.Post, "DELETE": item.Delete, "PATCH": item.Patch}[method]; found != nil {
			template, op = t, found
		}
	}
	return template, op
}

func fits(template, path string) bool {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// pointer escapes a part of a JSON pointer in a URL's fragment.
func pointer(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B").Replace(part)
}

func TestTheContractIsHeld(t *testing.T) {
	t.Parallel()
	srv, err := (&app{}).server(nil)
	require.NoError(t, err)
	c := newContract(t, srv.OpenAPI())
	answer := func(status int, media, body string) response {
		return response{status, http.Header{"Content-Type": {media}}, body}
	}
	const run = `{"id":"01970000-0000-7000-8000-000000000000","kind":"k","subject":"s","status":"queued","phase":"","progress":{"done":0,"total":null,"unit":""},` +
		`"counts":{},"warnings":[],"error":null,"started_by":"x","started_at":null,"finished_at":null,"workflow_id":"w"}`
	_, op := c.operation(http.MethodGet, "/api/runs/x")
	require.Equal(t, "get-run", op.OperationID)
	for name, bad := range map[string]response{
		"a field too many":        answer(200, "application/json", `{"runs":[],"next_cursor":null,"more":1}`),
		"a field too few":         answer(200, "application/json", `{}`),
		"a null for a list":       answer(200, "application/json", `{"runs":null,"next_cursor":null}`),
		"a status that is none":   answer(200, "application/json", `{"runs":[`+strings.Replace(run, "queued", "odd", 1)+`],"next_cursor":null}`),
		"an id that is none":      answer(200, "application/json", `{"runs":[`+strings.Replace(run, "01970000-", "", 1)+`],"next_cursor":null}`),
		"an unknown status":       answer(201, "application/json", `{"runs":[],"next_cursor":null}`),
		"another media type":      answer(200, "text/plain", "ok"),
		"an error as plain text":  answer(500, "text/plain", "oops"),
		"an error without a code": answer(404, "application/problem+json", `{"type":"about:blank","title":"x","status":404,"detail":"x"}`),
	} {
		require.NotEmpty(t, c.check(http.MethodGet, "/api/runs?limit=1", bad), name)
	}
	require.Empty(t, c.check(http.MethodGet, "/api/runs?limit=1", answer(200, "application/json; charset=utf-8", `{"runs":[],"next_cursor":null}`)))
}
