// Package tools is the MCP surface: the registry of tools, one definition each over the same services as REST, their
// schemas, and the HTTP handler. One file per category; all.go lists every tool once. Only registry.go, schema.go and
// http.go know the protocol library and the schema generator.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/governance"
)

// Effect is what a tool does to stored data; permission, scope and protocol hints follow from it.
type Effect string

// The effects.
const (
	Read      Effect = "read"
	Add       Effect = "add"       // creates; repeating creates again
	Set       Effect = "set"       // sets a value; repeating changes nothing
	Overwrite Effect = "overwrite" // overwrites what someone decided
)

// Permission is what a caller needs to use a tool of this effect.
func (e Effect) Permission() auth.Permission {
	switch e {
	case Read:
		return auth.PermRead
	case Overwrite:
		return auth.PermWriteDestructive
	}
	return auth.PermWrite
}

// Category groups tools; the order of Categories is the order of tools/list.
type Category string

// Categories lists the fourteen categories in listing order.
var Categories = []Category{
	"core", "write", "data_readiness", "plays", "tasks", "expansion", "connector_observability", "flywheel",
	"benchmarks", "financial_cascade", "market_intelligence", "ai_orchestration", "scoring_transparency", "vertical_intelligence",
}

// Spec describes a tool to clients.
type Spec struct {
	Name, Title string
	Category    Category
	Effect      Effect
	Description string // at most two sentences and 240 characters: what it returns, then when to use another tool
	OpenWorld   bool   // talks to the outside
}

// Tool is a defined tool.
type Tool struct {
	Spec
	InputSchema, OutputSchema json.RawMessage
	input                     *schema
	call                      func(ctx context.Context, d Deps, args json.RawMessage) (summarized, error)
}

// summarized is every tool's output: structured content that can say in a sentence what it holds.
type summarized interface{ Summary() string }

// define makes a tool of a typed handler. Schemas come from the types; a type that cannot be described panics at start.
func define[In any, Out summarized](spec Spec, handle func(context.Context, Deps, In) (Out, error)) func() Tool {
	return func() Tool {
		in, out := newSchema(reflect.TypeFor[In](), true), newSchema(reflect.TypeFor[Out](), false)
		t := Tool{Spec: spec, InputSchema: in.document(spec.Name), OutputSchema: out.document(spec.Name), input: in}
		t.call = func(ctx context.Context, d Deps, args json.RawMessage) (summarized, error) {
			var v In
			if err := json.Unmarshal(args, &v); err != nil {
				return nil, fault.Wrap(err, fault.Invalid, "the arguments do not fit the tool's input schema")
			}
			return handle(ctx, d, v)
		}
		return t
	}
}

// Registry holds the tools that are built.
type Registry struct {
	deps   Deps
	tools  []Tool
	byName map[string]*Tool
	log    *governance.Service
}

// New makes the registry of every built tool.
func New(d Deps) (*Registry, error) {
	r := &Registry{deps: d, byName: map[string]*Tool{}, log: d.Log}
	for _, make := range all {
		r.tools = append(r.tools, make())
	}
	rank := map[Category]int{}
	for i, c := range Categories {
		rank[c] = i
	}
	slices.SortStableFunc(r.tools, func(a, b Tool) int { return rank[a.Category] - rank[b.Category] })
	for i := range r.tools {
		t := &r.tools[i]
		if _, known := rank[t.Category]; !known || r.byName[t.Name] != nil {
			return nil, fmt.Errorf("tool %s: its category is unknown or its name is taken", t.Name)
		}
		r.byName[t.Name] = t
	}
	return r, nil
}

// Selection narrows the registry: to a principal's permissions, to categories, to reads.
type Selection struct {
	Categories []Category // empty: all
	ReadOnly   bool
}

// Visible lists the tools a principal may use, in listing order. It is the one filter of every transport.
func (r *Registry) Visible(p auth.Principal, sel Selection) []*Tool {
	var out []*Tool
	for i := range r.tools {
		t := &r.tools[i]
		if !p.Can(t.Effect.Permission()) || sel.ReadOnly && t.Effect != Read ||
			len(sel.Categories) > 0 && !slices.Contains(sel.Categories, t.Category) {
			continue
		}
		out = append(out, t)
	}
	return out
}

// Info is a tool as the catalogue lists it.
type Info struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Category     string          `json:"category"`
	Effect       string          `json:"effect"`
	Permission   string          `json:"permission"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

// Catalogue lists the tools a principal may use, as a JSON array of Info.
func (r *Registry) Catalogue(p auth.Principal) (json.RawMessage, error) {
	out := []Info{}
	for _, t := range r.Visible(p, Selection{}) {
		out = append(out, Info{t.Name, t.Title, string(t.Category), string(t.Effect), string(t.Effect.Permission()), t.Description, t.InputSchema, t.OutputSchema})
	}
	return json.Marshal(out)
}

// ErrUnknown is returned for a tool that is not built.
var ErrUnknown = fault.New(fault.NotFound, "there is no tool of this name; GET /api/tools lists those you may use")

// Call checks permission and arguments and runs a tool for the principal in ctx. It returns the structured answer, which
// encodes to JSON, and a sentence about it. Refused and failed writes are logged.
func (r *Registry) Call(ctx context.Context, name string, args json.RawMessage) (answer any, summary string, err error) {
	values, err := decodeArguments(args)
	if err != nil {
		if t := r.byName[name]; t != nil {
			r.failed(ctx, t, err)
		}
		return nil, "", err
	}
	return r.call(ctx, name, values)
}

// call is Call for arguments that are decoded already; it may change them.
func (r *Registry) call(ctx context.Context, name string, args map[string]any) (any, string, error) {
	t := r.byName[name]
	if t == nil {
		return nil, "", ErrUnknown
	}
	out, err := r.run(ctx, t, args)
	if err != nil {
		r.failed(ctx, t, err)
		return nil, "", err
	}
	return out, out.Summary(), nil
}

// failed logs an error that a caller is about to be told.
func (r *Registry) failed(ctx context.Context, t *Tool, err error) {
	p := auth.From(ctx)
	if t.Effect != Read && p.OrgID != uuid.Nil {
		r.log.RecordRefused(ctx, p, governance.Entry{Tool: t.Name, Args: map[string]any{"code": fault.CodeOf(err)}}, fault.Is(err, fault.Denied))
	}
	if fault.Is(err, fault.Internal) {
		slog.ErrorContext(ctx, "tool failed", "tool", t.Name, "org_id", p.OrgID, "request_id", p.RequestID, "error", err)
	}
}

// run keeps a panic of one tool from ending the request without an answer, and from being told to the caller.
func (r *Registry) run(ctx context.Context, t *Tool, args map[string]any) (out summarized, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("panic in tool: %v\n%s", v, debug.Stack())
		}
	}()
	if err := auth.From(ctx).Require(t.Effect.Permission()); err != nil {
		return nil, err
	}
	clean, err := t.input.accept(args)
	if err != nil {
		return nil, err
	}
	return t.call(ctx, r.deps, clean)
}

// Failure is the error a model can act on.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Field     string `json:"field,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
}

// text is the failure as JSON that is kind to read: no escapes where there is no HTML.
func (f Failure) text() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(f) // strings and a flag always encode
	return strings.TrimSpace(b.String())
}

// FailureOf turns an error into what a model may see.
func FailureOf(err error) Failure {
	code := fault.CodeOf(err)
	f := Failure{Code: string(code), Message: fault.Public(err)}
	switch code {
	case fault.Throttled, fault.Unavailable, fault.QuotaDay:
		f.Retryable = true
	}
	var hints []string
	for i, fe := range fault.FieldsOf(err) {
		if i == 0 {
			f.Field = fe.Field
		}
		hints = append(hints, fe.Field+": "+fe.Message)
	}
	if f.Hint = strings.Join(hints, "; "); f.Hint == "" {
		f.Hint = hintOf(code)
	}
	return f
}

func hintOf(code fault.Code) string {
	switch code {
	case fault.NotFound:
		return "look the id up with a search_ or list_ tool"
	case fault.Denied:
		return "use an API key with the scope that is named, or ask an admin"
	case fault.Internal, fault.Unavailable:
		return "try again in a moment; if it stays, tell an operator"
	}
	return ""
}
