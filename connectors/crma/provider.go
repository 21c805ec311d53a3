// Package crma is the connector for crm_a, which speaks the Salesforce REST dialect. What belongs here: its OAuth
// particulars, describe, the SOQL it sends, its cursors and error codes, and the suggested field mappings. Records
// leave it as they came; turning them into canonical ones is done elsewhere.
package crma

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
)

// DefaultAPIVersion is the version of the REST API that this package was written against.
const DefaultAPIVersion = "v60.0"

// Overlap is how far an incremental run reads back behind the start of the last complete run: commits become visible
// after their stamp, by at most the length of a transaction at the provider.
const Overlap = 10 * time.Minute

const (
	defaultQuotaShare = 0.9
	maxPage           = 2000 // rows a page of a query holds at most
	minBatch          = 200  // smallest batchSize the provider accepts; smaller pages use LIMIT
	maxCustomObjects  = 20   // custom objects described on discovery
)

// providerDomains own the hosts that instance URLs may name.
var providerDomains = []string{"salesforce.com", "force.com", "salesforce.mil", "cloudforce.com"}

// Options tune a Provider; the zero value is right for production.
type Options struct {
	HTTP       *http.Client     // nil: connectors.NewHTTPClient
	Clock      func() time.Time // nil: time.Now
	QuotaShare float64          // share of the org's daily requests after which reading stops; 0: 0.9
}

// Provider implements connectors.Provider for the Salesforce REST dialect.
type Provider struct {
	settings connectors.Settings
	hosts    connectors.Hosts
	oauth    *connectors.OAuth
	opts     Options
	dataPath string // such as /services/data/v60.0
}

// New checks the settings and returns the provider. Faults: ClientMisconfig.
func New(s connectors.Settings, opts Options) (*Provider, error) {
	if s.ClientID == "" || s.AuthorizeURL == "" || s.TokenURL == "" {
		return nil, fault.New(fault.ClientMisconfig, "crm_a needs a client id, an authorize URL and a token URL.")
	}
	hosts, err := connectors.NewHosts(s, providerDomains...)
	if err != nil {
		return nil, err
	}
	if s.APIVersion == "" {
		s.APIVersion = DefaultAPIVersion
	}
	if len(s.Scopes) == 0 {
		s.Scopes = []string{"api", "refresh_token"}
	}
	if opts.HTTP == nil {
		opts.HTTP = connectors.NewHTTPClient()
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.QuotaShare <= 0 || opts.QuotaShare > 1 {
		opts.QuotaShare = defaultQuotaShare
	}
	return &Provider{
		settings: s, hosts: hosts, opts: opts, dataPath: "/services/data/" + s.APIVersion,
		oauth: &connectors.OAuth{Settings: s, HTTP: opts.HTTP, AuthStyle: oauth2.AuthStyleInParams, Classify: classifyToken},
	}, nil
}

// Code returns crm_a.
func (p *Provider) Code() models.Provider { return models.CRMA }

// Authorize returns the URL of the consent page.
func (p *Provider) Authorize(state, challenge, redirectURI string) string {
	return p.oauth.AuthorizeURL(state, challenge, redirectURI)
}

// Objects lists the synced objects. None waits for another: references are resolved when the run ends.
func (p *Provider) Objects() []connectors.ObjectSpec { return slices.Clone(objects) }

var objects = []connectors.ObjectSpec{
	{Name: "Account", Record: models.RecordAccount},
	{Name: "Contact", Record: models.RecordContact},
	{Name: "Opportunity", Record: models.RecordOpportunity},
	{Name: "Task", Record: models.RecordActivity},
	{Name: "Product2", Record: models.RecordProduct},
	{Name: "PricebookEntry", Record: models.RecordProductPrice},
	{Name: "OpportunityLineItem", Record: models.RecordOrderLine},
	{Name: "Asset", Record: models.RecordAccountProduct},
	{Name: "User", Record: models.RecordCRMUser},
}

func supported(object string) bool {
	return slices.ContainsFunc(objects, func(o connectors.ObjectSpec) bool { return o.Name == object })
}

// Open returns a session on the account behind tokens.
func (p *Provider) Open(tokens connectors.TokenSource) connectors.Session {
	s := &session{p: p, tokens: tokens, objects: map[string]*objectState{}}
	s.client = p.client(tokens, s.budget.seen)
	s.budget.share, s.budget.clock = p.opts.QuotaShare, p.opts.Clock
	return s
}

func (p *Provider) client(tokens connectors.TokenSource, seen func(connectors.Answer)) *connectors.Client {
	return &connectors.Client{
		HTTP: p.opts.HTTP, Tokens: tokens, Hosts: p.hosts, BaseURL: p.baseURL, Clock: p.opts.Clock, Seen: seen,
		Classify: func(a connectors.Answer) *connectors.Refusal { return classify(a, p.opts.Clock()) },
	}
}

// baseURL is the instance of the grant, else the configured API.
func (p *Provider) baseURL(g connectors.Grant) string {
	if g.InstanceURL != "" {
		return g.InstanceURL
	}
	return p.settings.APIURL
}

// instance checks an instance URL of a token answer and returns it in its stored form.
func (p *Provider) instance(raw string) (string, error) {
	u, err := p.hosts.Base(raw)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// orgAndUser reads the two ids out of an identity URL such as https://login.salesforce.com/id/00D.../005....
func orgAndUser(identity string) (org, user string) {
	u, err := url.Parse(identity)
	if err != nil {
		return "", ""
	}
	_, rest, ok := strings.Cut(u.Path, "/id/")
	if !ok {
		return "", ""
	}
	org, user, _ = strings.Cut(rest, "/")
	return longID(org), longID(user)
}
