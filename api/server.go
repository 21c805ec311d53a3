// Package api is the REST surface: the gin engine with its middleware, one file of operations per resource over the
// services, problem documents, and the web app's shell. Handlers translate and nothing more: rules live in services.
package api

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/paging"
)

// Version is the version of the API in its OpenAPI document.
const Version = "1.0.0"

// Resource adds its operations to the API. huma operations go to h (below /api), plain gin routes (uploads, events) to g.
type Resource interface {
	Register(h huma.API, g *gin.RouterGroup)
}

// Options configure the server.
type Options struct {
	PublicURL      string   // scheme and host people use; "" on loopback
	TrustedProxies []string // addresses whose X-Forwarded-For counts; none by default
	RatePerSecond  float64  // requests per principal; 0: 100
	RateBurst      int      // 0: 400
	Web            fs.FS    // the built web app; nil serves none
	Ready          func(context.Context) error
	MCP            http.Handler // serves /api/mcp, nil for none
	Middleware     []gin.HandlerFunc
	Cursors        paging.Codec
}

// Server is the HTTP surface.
type Server struct {
	engine  *gin.Engine
	handler http.Handler // the engine behind compression
	api     huma.API
	id      *identity.Service
	log     *governance.Service
	opts    Options
	limits  *limiter
}

// New builds the server: every operation of the resources is mounted below /api behind the same middleware.
func New(id *identity.Service, log *governance.Service, opts Options, resources ...Resource) (*Server, error) {
	setupHuma()
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	if err := engine.SetTrustedProxies(opts.TrustedProxies); err != nil {
		return nil, err
	}
	engine.HandleMethodNotAllowed = true
	engine.ContextWithFallback = true
	s := &Server{engine: engine, id: id, log: log, opts: opts, limits: newLimiter(opts.RatePerSecond, opts.RateBurst)}
	engine.Use(requestID, recovered, s.securityHeaders, patient)
	engine.Use(opts.Middleware...)
	engine.NoMethod(func(c *gin.Context) {
		writeProblem(c, http.StatusMethodNotAllowed, "method_not_allowed", "this path does not know that method")
	})

	engine.GET("/healthz", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	engine.GET("/readyz", s.ready)

	engine.Use(s.authenticate, s.limits.limit, s.auditRefused, s.crossOrigin)
	if opts.MCP != nil {
		h := gin.WrapH(opts.MCP)
		engine.Any("/api/mcp", bearerOnly, h)
	}
	s.api = humagin.New(engine, humaConfig())
	group := huma.NewGroup(s.api, "/api")
	group.UseMiddleware(requirePermission(s.api), refuseBody(s.api))
	plain := engine.Group("/api")
	for _, r := range append([]Resource{&authAPI{id}, &keysAPI{id}, &membersAPI{id}, &organizationAPI{id}, &governanceAPI{log, opts.Cursors}}, resources...) {
		r.Register(group, plain)
	}
	documentToolServer(group)
	completeAnswers(s.api.OpenAPI())
	tellNulls(s.api.OpenAPI())
	engine.GET("/docs", s.docs)
	engine.GET("/docs.js", s.docsScript)
	engine.GET("/docs.css", s.docsStyle)
	engine.NoRoute(s.webApp())
	var err error
	s.handler, err = compress(engine)
	return s, err
}

// Handler serves everything.
func (s *Server) Handler() http.Handler { return s.handler }

// OpenAPI is the document, for the committed copy.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.api.OpenAPI() }

func humaConfig() huma.Config {
	c := huma.DefaultConfig("RevArch", Version)
	c.CreateHooks = nil // no $schema in bodies
	c.DocsPath = ""     // the default page loads scripts from elsewhere
	c.SchemasPath = ""
	c.RejectUnknownQueryParameters = true
	c.Info.Description = "Revenue operations for teams that sell to K-12 districts and higher-education institutions."
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: SessionCookie},
		"key":     {Type: "http", Scheme: "bearer", Description: "API key from Settings > Integrations"},
	}
	return c
}

// schemaName puts the package before the name of a service's type, since several services have a Status or a Check.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer { // or a type that is also pointed to would be in the document twice
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if pkg, ok := strings.CutPrefix(t.PkgPath(), "revarch/services/"); ok {
		return pkg + "." + name
	}
	return name
}

// operation describes an endpoint that needs a permission; perm "" makes it public.
func operation(id, method, path, summary, tag string, perm auth.Permission) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{tag},
		Metadata: map[string]any{"permission": perm}, MaxBodyBytes: 1 << 20,
	}
	if perm != "" {
		op.Security = []map[string][]string{{"session": {}}, {"key": {}}}
		op.Description = "Needs permission `" + string(perm) + "`."
	}
	return op
}

// next is the cursor of the page after a position.
func next(cursors paging.Codec, org uuid.UUID, list string, filters, position any) (*string, error) {
	c, err := cursors.Encode(org, list, filters, position)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func (s *Server) ready(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), 5*time.Second)
	defer cancel()
	if s.opts.Ready != nil {
		if err := s.opts.Ready(ctx); err != nil {
			slog.WarnContext(ctx, "not ready", "error", err)
			c.String(http.StatusServiceUnavailable, "not ready\n")
			return
		}
	}
	c.String(http.StatusOK, "ready\n")
}
