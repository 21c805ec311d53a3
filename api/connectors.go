package api

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/connections"
	"revarch/services/runs"
)

// Connectors is the ties to external providers: the interface's connector endpoints.
type Connectors struct {
	Connections *connections.Service
	Runs        *Runs
	BaseURL     string // what people reach the app under; redirect addresses start with it
}

type providerInput struct {
	Provider models.Provider `path:"provider" maxLength:"40" doc:"crm_a, crm_b, crm_c, workspace_a, workspace_b or district_intel"`
}

type statusOutput struct{ Body connections.Status }

type statusesOutput struct {
	Body struct {
		Connectors []connections.Status `json:"connectors"`
	}
}

// Discovery is the objects and fields of the connected account.
type Discovery struct {
	Provider     models.Provider      `json:"provider"`
	DiscoveredAt *time.Time           `json:"discovered_at"`
	Objects      []connections.Object `json:"objects"`
	Drift        connections.Drift    `json:"drift" doc:"What changed since the discovery before"`
}

type discoveryOutput struct{ Body Discovery }

// MappingTarget is a canonical field that a mapping may fill.
type MappingTarget struct {
	Object      string           `json:"object" doc:"Provider object whose records become the record of the field"`
	TargetField string           `json:"target_field"`
	Label       string           `json:"label"`
	Type        models.FieldKind `json:"type"`
	Required    bool             `json:"required"`
	Description string           `json:"description"`
}

// ProviderMappings is a provider's mapping with what it may map to and what we would suggest.
type ProviderMappings struct {
	Provider    models.Provider       `json:"provider"`
	Version     int64                 `json:"version"`
	Mappings    []models.FieldMapping `json:"mappings"`
	Targets     []MappingTarget       `json:"targets"`
	Suggestions []models.FieldMapping `json:"suggestions"`
	Run         *runs.View            `json:"run,omitempty" doc:"The run that maps the stored records anew"`
}

type mappingsOutput struct {
	ETag string `header:"ETag"`
	Body ProviderMappings
}

type allMappingsOutput struct {
	Body struct {
		Connectors []connections.MappingSet `json:"connectors"`
	}
}

type putMappingsInput struct {
	Provider models.Provider `path:"provider" maxLength:"40"`
	IfMatch  string          `header:"If-Match" doc:"The ETag that was read"`
	Body     struct {
		Mappings []models.FieldMapping `json:"mappings" maxItems:"2000"`
	}
}

type syncInput struct {
	Provider models.Provider `path:"provider" maxLength:"40"`
	Prefer   string          `header:"Prefer" doc:"wait=N waits up to N seconds, at most 60, for the end"`
	Body     *struct {
		Mode             string `json:"mode,omitempty" enum:"incremental,full" doc:"full enumerates everything again"`
		ConfirmDeletions bool   `json:"confirm_deletions,omitempty" doc:"With mode full: delete also when more than half of the stored records of an object are gone at the provider"`
	} `required:"false"`
}

// Authorization is where a connection begins.
type Authorization struct {
	AuthorizeURL string `json:"authorize_url" doc:"The provider's consent page"`
}

// Connected says that a connection was made.
type Connected struct {
	Connected bool `json:"connected"`
}

type validationOutput struct{ Body connections.Validation }

// Register adds the operations.
func (a *Connectors) Register(h huma.API, g *gin.RouterGroup) {
	op := func(id, method, path, summary string, perm auth.Permission) huma.Operation {
		o := operation(id, method, path, summary, "Connectors", perm)
		o.Errors = []int{404, 409, 422}
		return o
	}
	huma.Register(h, op("list-connector-status", http.MethodGet, "/connectors/status", "Status of all providers", auth.PermRead),
		func(ctx context.Context, _ *struct{}) (*statusesOutput, error) {
			out := &statusesOutput{}
			var err error
			out.Body.Connectors, err = a.Connections.StatusAll(ctx, auth.From(ctx))
			return out, problem(err)
		})
	huma.Register(h, op("list-mappings", http.MethodGet, "/connectors/mappings", "All field mappings across providers", auth.PermRead),
		func(ctx context.Context, _ *struct{}) (*allMappingsOutput, error) {
			out := &allMappingsOutput{}
			sets, err := a.Connections.AllMappings(ctx, auth.From(ctx))
			out.Body.Connectors = append([]connections.MappingSet{}, sets...)
			return out, problem(err)
		})
	huma.Register(h, op("get-connector-status", http.MethodGet, "/connectors/{provider}/status", "Status of a provider", auth.PermRead),
		func(ctx context.Context, in *providerInput) (*statusOutput, error) {
			s, err := a.Connections.Status(ctx, auth.From(ctx), in.Provider)
			return &statusOutput{s}, problem(err)
		})
	huma.Register(h, op("discover", http.MethodGet, "/connectors/{provider}/discover", "Read the account's objects and fields anew", auth.PermRead),
		func(ctx context.Context, in *providerInput) (*discoveryOutput, error) {
			d, err := a.Connections.Discover(ctx, auth.From(ctx), in.Provider)
			return toDiscovery(in.Provider, d), problem(err)
		})
	huma.Register(h, op("get-schema", http.MethodGet, "/connectors/{provider}/schema", "The account's objects and fields as discovered last", auth.PermRead),
		func(ctx context.Context, in *providerInput) (*discoveryOutput, error) {
			d, err := a.Connections.Schema(ctx, auth.From(ctx), in.Provider)
			return toDiscovery(in.Provider, d), problem(err)
		})
	huma.Register(h, op("get-mappings", http.MethodGet, "/connectors/{provider}/mappings", "The field mapping of a provider", auth.PermRead),
		func(ctx context.Context, in *providerInput) (*mappingsOutput, error) {
			set, err := a.Connections.Mappings(ctx, auth.From(ctx), in.Provider)
			if err != nil {
				return nil, problem(err)
			}
			return a.mappings(ctx, set, nil)
		})
	put := op("put-mappings", http.MethodPut, "/connectors/{provider}/mappings", "Replace the field mapping of a provider and map stored records anew", auth.PermAdmin)
	put.Errors = append(put.Errors, 412, 428)
	huma.Register(h, put, a.putMappings)
	huma.Register(h, op("validate-connection", http.MethodPost, "/connectors/{provider}/validate", "Check connection, credentials and mappings", auth.PermOperate),
		func(ctx context.Context, in *providerInput) (*validationOutput, error) {
			v, err := a.Connections.Validate(ctx, auth.From(ctx), in.Provider)
			return &validationOutput{v}, problem(err)
		})
	huma.Register(h, op("disconnect", http.MethodPost, "/connectors/{provider}/disconnect", "Disconnect a provider and erase its credentials; data stays", auth.PermAdmin),
		func(ctx context.Context, in *providerInput) (*statusOutput, error) {
			s, err := a.Connections.Disconnect(ctx, auth.From(ctx), in.Provider)
			return &statusOutput{s}, problem(err)
		})
	sync := op("sync-connection", http.MethodPost, "/connectors/{provider}/sync", "Start a sync", auth.PermOperate)
	sync.DefaultStatus = http.StatusAccepted
	huma.Register(h, sync, func(ctx context.Context, in *syncInput) (*startedRun, error) {
		var o connections.SyncOptions
		if in.Body != nil {
			o = connections.SyncOptions{Full: in.Body.Mode == "full", ConfirmDeletions: in.Body.ConfirmDeletions}
		}
		r, already, err := a.Connections.Sync(ctx, auth.From(ctx), in.Provider, o)
		if err != nil {
			return nil, problem(err)
		}
		return a.Runs.started(ctx, r, already, in.Prefer)
	})

	begin := op("authorize", http.MethodGet, "/connectors/{provider}/auth", "Go to the provider's consent page (302), or get its address as JSON", auth.PermAdmin)
	begin.Responses = map[string]*huma.Response{
		"200": {Description: "The address, for who asks for JSON", Content: jsonContent(h, reflect.TypeFor[Authorization]())},
		"302": {Description: "To the consent page"},
	}
	document(h, begin, "provider")
	back := op("authorize-callback", http.MethodGet, "/connectors/{provider}/callback", "Where the provider sends people back", "")
	back.Responses = map[string]*huma.Response{
		"200": {Description: "Connected, for who asks for JSON", Content: jsonContent(h, reflect.TypeFor[Connected]())},
		"302": {Description: "To the connector's page"},
	}
	document(h, back, "provider")
	g.GET("/connectors/:provider/auth", mustAllow(auth.PermAdmin), noQuery, a.begin)
	g.GET("/connectors/:provider/callback", a.callback)
}

func toDiscovery(p models.Provider, d connections.Discovery) *discoveryOutput {
	out := &discoveryOutput{Discovery{Provider: p, DiscoveredAt: d.DiscoveredAt, Objects: []connections.Object{}, Drift: d.Drift}}
	for _, o := range d.Schema.Objects {
		o.Fields = append([]connections.Field{}, o.Fields...)
		for i := range o.Fields {
			f := &o.Fields[i]
			f.PicklistValues = append([]connections.PicklistValue{}, f.PicklistValues...)
			f.ReferenceTo = append([]string{}, f.ReferenceTo...)
		}
		out.Body.Objects = append(out.Body.Objects, o)
	}
	drift := &out.Body.Drift
	for _, list := range []*[]string{&drift.Added, &drift.Removed, &drift.Retyped, &drift.Unmapped} {
		*list = append([]string{}, *list...)
	}
	return out
}

// mappings completes a mapping with its possible targets and, once something was discovered, our suggestions.
func (a *Connectors) mappings(ctx context.Context, set connections.MappingSet, run *models.Run) (*mappingsOutput, error) {
	out := &mappingsOutput{ETag: etag(set.Version), Body: ProviderMappings{
		Provider: set.Provider, Version: set.Version,
		Mappings: append([]models.FieldMapping{}, set.Mappings...), Targets: []MappingTarget{}, Suggestions: []models.FieldMapping{},
	}}
	specs, err := a.Connections.Objects(set.Provider)
	if err != nil && !fault.Is(err, fault.NotConfigured) {
		return nil, problem(err)
	}
	for _, spec := range specs {
		for _, t := range models.TargetFields {
			if t.Record == spec.Record {
				out.Body.Targets = append(out.Body.Targets, MappingTarget{spec.Name, t.Name, t.Label, t.Kind, t.Required, t.Description})
			}
		}
	}
	d, err := a.Connections.Schema(ctx, auth.From(ctx), set.Provider)
	switch {
	case err == nil:
		out.Body.Suggestions = append(out.Body.Suggestions, d.Suggested...)
	case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.NotConfigured):
		return nil, problem(err)
	}
	if run != nil {
		v := a.Runs.view(ctx, *run)
		out.Body.Run = &v
	}
	return out, nil
}

func (a *Connectors) putMappings(ctx context.Context, in *putMappingsInput) (*mappingsOutput, error) {
	version, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, problem(err)
	}
	set, run, err := a.Connections.PutMappings(ctx, auth.From(ctx), in.Provider, in.Body.Mappings, version)
	if err != nil {
		return nil, problem(err)
	}
	return a.mappings(ctx, set, &run)
}

// redirectURI is where the provider sends people back: exactly this, one path per provider.
func (a *Connectors) redirectURI(p models.Provider) string {
	return a.BaseURL + "/api/connectors/" + string(p) + "/callback"
}

// begin changes state although it is a GET, so a page elsewhere must not be able to cause it.
func (a *Connectors) begin(c *gin.Context) {
	switch c.GetHeader("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		abortWith(c, fault.New(fault.Denied, "start the connection from RevArch itself"))
		return
	}
	p := models.Provider(c.Param("provider"))
	target, err := a.Connections.BeginAuth(c.Request.Context(), auth.From(c.Request.Context()), p, a.redirectURI(p))
	if err != nil {
		a.finish(c, p, err)
		return
	}
	if asksForJSON(c) {
		c.JSON(http.StatusOK, Authorization{target})
		return
	}
	c.Redirect(http.StatusFound, target)
}

// callback ends the flow on the connector's page, or answers JSON to whoever asks for it.
func (a *Connectors) callback(c *gin.Context) {
	p := models.Provider(c.Param("provider"))
	q := c.Request.URL.Query()
	_, err := a.Connections.CompleteAuth(c.Request.Context(), connections.Callback{
		Provider: p, State: q.Get("state"), Code: q.Get("code"),
		Error: q.Get("error"), RedirectURI: a.redirectURI(p), Principal: auth.From(c.Request.Context()),
	})
	a.finish(c, p, err)
}

func (a *Connectors) finish(c *gin.Context, p models.Provider, err error) {
	_, known := p.Info()
	switch {
	case err != nil && (!asksForHTML(c) || !known):
		abortWith(c, err)
	case err != nil:
		_ = problem(err) // logs what deserves it
		c.Redirect(http.StatusFound, "/settings/connectors/"+string(p)+"?error="+url.QueryEscape(string(fault.CodeOf(err))))
	case asksForJSON(c):
		c.JSON(http.StatusOK, Connected{true})
	default:
		c.Redirect(http.StatusFound, "/settings/connectors/"+string(p)+"?connected=1")
	}
}

// asksForHTML tells browsers, which ask for it when they navigate, from programs, which read a problem document better.
func asksForHTML(c *gin.Context) bool {
	return strings.Contains(c.GetHeader("Accept"), "text/html")
}

// asksForJSON reports whether the caller wants an address to read instead of a redirect to follow.
func asksForJSON(c *gin.Context) bool {
	return strings.Contains(c.GetHeader("Accept"), "json") && !asksForHTML(c)
}
