package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
)

// Toolbox is the registry of tools, the same that the tool server uses.
type Toolbox interface {
	// Catalogue lists the tools a principal may use, as a JSON array of Tool.
	Catalogue(p auth.Principal) (json.RawMessage, error)
	// Call runs a tool for the principal in ctx and returns its answer and a sentence about it. It checks the permission,
	// and logs writes that it refuses. Faults: NotFound for an unknown tool, Denied, Invalid and those of the tool.
	Call(ctx context.Context, name string, args json.RawMessage) (answer any, summary string, err error)
}

// Tools is the tools for the web app and for people with curl: what the tool server does, without its protocol.
type Tools struct{ Toolbox Toolbox }

// Tool is a tool as the catalogue lists it.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Category     string          `json:"category"`
	Effect       string          `json:"effect" enum:"read,add,set,overwrite" doc:"What it does to stored data"`
	Permission   string          `json:"permission" doc:"What a caller needs"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema" doc:"JSON Schema of the arguments"`
	OutputSchema json.RawMessage `json:"output_schema" doc:"JSON Schema of the answer"`
}

type listToolsOutput struct {
	Body struct {
		Tools []Tool `json:"tools"`
	}
}

type callToolInput struct {
	Name string           `path:"name" maxLength:"100"`
	Body *json.RawMessage `doc:"The arguments, as the tool's input_schema says; nothing at all when it needs none"`
}

type callToolOutput struct {
	Body any `doc:"The answer, as the tool's output_schema says"`
}

// Register adds the operations. Their permission is that of each tool, so they ask for a caller here and the rest is
// checked where the tool runs.
func (a *Tools) Register(h huma.API, _ *gin.RouterGroup) {
	security := []map[string][]string{{"session": {}}, {"key": {}}}
	list := operation("list-tools", http.MethodGet, "/tools", "List the tools you may use", "Tools", "")
	list.Security, list.Errors = security, []int{http.StatusUnauthorized}
	huma.Register(h, list, a.list)
	call := operation("call-tool", http.MethodPost, "/tools/{name}", "Call a tool with its arguments as the body", "Tools", "")
	call.Security, call.Errors = security, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict}
	call.Description = "Needs the permission that the catalogue names for the tool."
	huma.Register(h, call, a.call)
}

func (a *Tools) list(ctx context.Context, _ *struct{}) (*listToolsOutput, error) {
	if err := someone(ctx); err != nil {
		return nil, err
	}
	raw, err := a.Toolbox.Catalogue(auth.From(ctx))
	if err != nil {
		return nil, problem(err)
	}
	out := &listToolsOutput{}
	return out, problem(json.Unmarshal(raw, &out.Body.Tools))
}

func (a *Tools) call(ctx context.Context, in *callToolInput) (*callToolOutput, error) {
	if err := someone(ctx); err != nil {
		return nil, err
	}
	var args json.RawMessage
	if in.Body != nil {
		args = *in.Body
	}
	answer, _, err := a.Toolbox.Call(ctx, in.Name, args)
	if err != nil {
		return nil, problem(err)
	}
	return &callToolOutput{answer}, nil
}

// someone refuses callers without a session or a key.
func someone(ctx context.Context) error {
	if auth.From(ctx).Kind == "" {
		return huma.Error401Unauthorized("sign in, or send an API key as: Authorization: Bearer rk_…")
	}
	return nil
}

// documentToolServer describes the tool server, which speaks a protocol of its own over HTTP.
func documentToolServer(h huma.API) {
	message := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}}
	call := operation("call-tool-server", http.MethodPost, "/mcp", "Tool calls in the Model Context Protocol; an API key only", "Tools", auth.PermRead)
	call.Responses = map[string]*huma.Response{
		"200": {Description: "The answer, a JSON-RPC message", Content: message}, "202": {Description: "Taken; a notification has no answer"},
		"default": {Description: "Error: a problem, or one in the protocol's words", Content: textContent("text/plain")},
	}
	maps.Copy(call.Responses["default"].Content, message)
	document(h, call)
	discover := operation("discover-tool-server", http.MethodGet, "/mcp", "What the tool server is and how to connect", "Tools", auth.PermRead)
	discover.Responses = map[string]*huma.Response{"200": {Description: "Name, version, protocol versions, and the tools that this key may use", Content: message}}
	document(h, discover)
}
