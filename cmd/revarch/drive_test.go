package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
)

// This file turns the OpenAPI document and the registry of tools into requests, so that tests meet new endpoints, tools
// and parameters without being told. A parameter that nothing here knows fails the test: say what it takes.

// value is what a parameter is given: something that belongs to another organization, the same kind of thing that
// belongs to nobody, and what anybody may send.
type value struct {
	theirs []any // empty: the parameter names nothing that could belong to anybody
	none   any
	plain  any // sent while other parameters are tried; nil leaves an optional one out
}

// operations lists the documented operations, reads first, in a fixed order.
func operations(doc *huma.OpenAPI) []*huma.Operation {
	var out []*huma.Operation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch, item.Head, item.Options, item.Trace} {
			if op != nil {
				out = append(out, op)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *huma.Operation) int {
		return strings.Compare(readsFirst(a), readsFirst(b))
	})
	return out
}

func readsFirst(op *huma.Operation) string {
	if op.Method == http.MethodGet {
		return "0"
	}
	return "1"
}

// permission is what the document says an operation needs, "" for none.
func permission(op *huma.Operation) string {
	_, rest, ok := strings.Cut(op.Description, "Needs permission `")
	if !ok {
		return ""
	}
	p, _, _ := strings.Cut(rest, "`")
	return p
}

// attempt is one request built from an operation.
type attempt struct {
	method, path string
	headers      map[string]string
	body         any
	sent         []string // what of another organization is in it
	cursor       bool     // it brings another organization's cursor
}

// deref follows a reference to the components.
func deref(doc *huma.OpenAPI, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// knowledge says what each parameter, by its name, takes.
type knowledge func(op *huma.Operation, in, name string) (value, bool)

// attempts builds the requests of an operation: pairs of one with something of another organization and one with nothing
// of anybody, one parameter at a time; and, first, the plain one, paired with nil.
func attempts(tb testing.TB, doc *huma.OpenAPI, op *huma.Operation, know knowledge) (out [][2]*attempt) {
	tb.Helper()
	type slot struct {
		in, name string
		v        value
	}
	var slots []slot
	learn := func(in, name string) value {
		v, ok := know(op, in, name)
		require.True(tb, ok, "%s %s has the %s parameter %q, which this test does not know: add what it takes to the table", op.Method, op.Path, in, name)
		return v
	}
	for _, p := range op.Parameters {
		slots = append(slots, slot{p.In, p.Name, learn(p.In, p.Name)})
	}
	var body *huma.Schema
	raw := false
	if op.RequestBody != nil {
		if media, ok := op.RequestBody.Content["application/json"]; ok {
			body = deref(doc, media.Schema)
		} else {
			raw = true
		}
	}
	if body != nil {
		for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
			v := learn("body", name)
			if v.plain == nil && slices.Contains(body.Required, name) {
				v.plain = v.none
			}
			slots = append(slots, slot{"body", name, v})
		}
	}
	build := func(tried int, x any) *attempt {
		a := &attempt{method: op.Method, path: op.Path, headers: map[string]string{}}
		query, fields := url.Values{}, map[string]any{}
		for i, s := range slots {
			use := s.v.plain
			if s.in == "path" && use == nil {
				use = s.v.none
			}
			if i == tried {
				use = x
			}
			if use == nil {
				continue
			}
			text, _ := use.(string)
			switch s.in {
			case "path":
				a.path = strings.ReplaceAll(a.path, "{"+s.name+"}", url.PathEscape(text))
			case "query":
				query.Set(s.name, text)
				if s.name == "cursor" {
					query.Set("limit", "1")
				}
			case "header":
				a.headers[s.name] = text
			case "body":
				fields[s.name] = use
			}
		}
		if len(query) > 0 {
			a.path += "?" + query.Encode()
		}
		switch {
		case raw:
			a.body = "LEAID,NAME\n4800001,Nowhere\n"
		case body != nil:
			a.body = fields
		}
		return a
	}
	out = append(out, [2]*attempt{build(-1, nil), nil})
	for i, s := range slots {
		for _, theirs := range s.v.theirs {
			with, without := build(i, theirs), build(i, s.v.none)
			if text, ok := theirs.(string); ok {
				with.sent = []string{text}
			}
			with.cursor = s.name == "cursor"
			out = append(out, [2]*attempt{with, without})
		}
	}
	return out
}

func (c caller) try(a *attempt) response {
	c.s.tb.Helper()
	for k, v := range a.headers {
		c = c.with(k, v)
	}
	if !strings.Contains(a.path, "/events") {
		return c.do(a.method, a.path, a.body)
	}
	done := make(chan response, 1)
	go func() { done <- c.do(a.method, a.path, a.body) }()
	select {
	case got := <-done:
		return got
	case <-time.After(20 * time.Second):
		c.s.tb.Fatalf("%s streams without end", a.path)
		return response{}
	}
}

// schemaOf reads the JSON schema of a tool's arguments as the catalogue gives it.
func schemaOf(tb testing.TB, raw json.RawMessage) *huma.Schema {
	tb.Helper()
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	require.NoError(tb, json.Unmarshal(raw, &s))
	out := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}, Required: s.Required}
	for name := range s.Properties {
		out.Properties[name] = &huma.Schema{}
	}
	return out
}
