// Package connectors is the port to external providers: the small interfaces every provider implements, the neutral
// records and schemas they exchange, and the shared HTTP client with its guards. One sub-package per provider imports
// this one and never another provider; the registry map is built in cmd.
package connectors

import (
	"context"
	"encoding/json"
	"time"

	"revarch/models"
)

// Settings is a provider's configuration, from REVARCH_<CODE>_*.
type Settings struct {
	AuthorizeURL, TokenURL, RevokeURL string
	APIURL                            string // what comes before the documented path; a path prefix in it is kept
	ClientID, ClientSecret            string
	Scopes                            []string
	APIVersion                        string // "" is the version the provider's package was written against
}

// Provider makes OAuth requests and opens sessions for one external product. It is safe for concurrent use.
type Provider interface {
	Code() models.Provider
	// Authorize returns the URL of the provider's consent page. challenge is the PKCE S256 challenge.
	Authorize(state, challenge, redirectURI string) string
	// Exchange trades an authorization code for a grant. Faults: Invalid for a refused code, ClientMisconfig, Unavailable.
	Exchange(ctx context.Context, code, verifier, redirectURI string) (Grant, error)
	// Refresh returns the grant that replaces g. Faults: ReauthRequired when the grant is dead, Throttled when the
	// provider is already processing a refresh (transient), ClientMisconfig, Unavailable.
	Refresh(ctx context.Context, g Grant) (Grant, error)
	// Revoke ends the grant at the provider, best effort and bounded in time.
	Revoke(ctx context.Context, g Grant) error
	// Open returns a session that takes its credentials from tokens at the moment of each request.
	Open(tokens TokenSource) Session
	// Objects lists what the provider syncs, in the order in which references are best resolved (parents first).
	Objects() []ObjectSpec
	// DefaultMappings suggests a mapping for the discovered schema.
	DefaultMappings(Schema) []models.FieldMapping
}

// Grant is what a provider gave us: credentials and where they are valid. It never leaves memory unencrypted.
type Grant struct {
	AccessToken, RefreshToken string
	ExpiresAt                 time.Time // zero when the provider does not say
	InstanceURL               string    // base of the API for this account, validated against the provider's hosts; "" when fixed
	AccountID, AccountLabel   string    // the remote account: never swapped silently
	Scopes                    []string
	Version                   int64 // counts rotations; set by the keeper of the grant
}

// TokenSource hands out the grant in force and replaces it when it was refused. Implementations serialize refreshes
// across processes and commit a rotated grant before anyone uses it.
type TokenSource interface {
	// Grant returns the stored grant.
	Grant(ctx context.Context) (Grant, error)
	// Renew returns a grant newer than the refused one, refreshing at most once for all callers.
	Renew(ctx context.Context, refused Grant) (Grant, error)
}

// Session reads one connected account. It is safe for concurrent use.
type Session interface {
	// Validate checks connection and credentials with the cheapest call and names the account.
	Validate(ctx context.Context) (Account, error)
	// Discover reads the objects and fields that the account may read.
	Discover(ctx context.Context) (Schema, error)
	// Pull reads the page after a cursor. A zero cursor starts a full enumeration. Page.Next is the cursor to commit
	// together with the page's records.
	Pull(ctx context.Context, req PullRequest) (Page, error)
	// Deletions lists records deleted or merged since a moment, page by page.
	Deletions(ctx context.Context, req DeletionsRequest) (DeletionsPage, error)
	// Count returns how many live records of the object the account holds, -1 if the provider cannot say.
	Count(ctx context.Context, object string) (int64, error)
}

// Account identifies the remote account behind a grant.
type Account struct{ ID, Label string }

// ObjectSpec names a remote object and the canonical record it becomes.
type ObjectSpec struct {
	Name   string            // the provider's name, such as Account
	Record models.RecordType // the canonical record, such as account
	After  []string          // objects that should be complete before this one starts; empty: may run in parallel
}

// Schema is what an account may read, as discovered.
type Schema struct {
	Objects []Object `json:"objects"`
}

// Object is a remote object with its fields.
type Object struct {
	Name      string  `json:"name"`
	Label     string  `json:"label"`
	Custom    bool    `json:"custom"`
	Supported bool    `json:"supported"` // whether RevArch syncs it
	Fields    []Field `json:"fields"`
}

// FieldType is a neutral field type (providers.md, types).
type FieldType string

// The neutral field types.
const (
	TypeString        FieldType = "string"
	TypeNumber        FieldType = "number"
	TypeCurrency      FieldType = "currency"
	TypeBoolean       FieldType = "boolean"
	TypeDate          FieldType = "date"
	TypeDatetime      FieldType = "datetime"
	TypePicklist      FieldType = "picklist"
	TypeMultiPicklist FieldType = "multi_picklist"
	TypeReference     FieldType = "reference"
	TypeEmail         FieldType = "email"
	TypePhone         FieldType = "phone"
	TypeURL           FieldType = "url"
)

// Field is one field of a remote object.
type Field struct {
	Name           string          `json:"name"`
	Label          string          `json:"label"`
	Type           FieldType       `json:"type"`
	SourceType     string          `json:"source_type"` // the provider's own name of the type
	Custom         bool            `json:"custom"`
	Nullable       bool            `json:"nullable"`
	PicklistValues []PicklistValue `json:"picklist_values"`
	ReferenceTo    []string        `json:"reference_to"`
}

// PicklistValue is a stored value and its label.
type PicklistValue struct {
	Value  string `json:"value"`
	Label  string `json:"label"`
	Active bool   `json:"active"`
}

// Cursor is a position in one object's stream, opaque outside the provider's package. The zero value is the start.
type Cursor string

// PullRequest asks for the next page of an object.
type PullRequest struct {
	Object string
	Fields []string // provider field names to read beside the system ones; nil reads every readable field
	After  Cursor
	Limit  int // rows wanted; 0 is the provider's best page size
}

// Record is one remote record as it came.
type Record struct {
	ExternalID string
	UpdatedAt  time.Time
	Deleted    bool
	MergedInto string          // external id of the winner of a merge, "" otherwise
	Payload    json.RawMessage // a JSON object: provider field name to value
}

// Page is a batch of records in the provider's order and where to go on.
type Page struct {
	Object   string
	Records  []Record
	Next     Cursor // commit with the records; never equal to After: no progress is an error
	Done     bool   // the stream is at its end for now; Next is where an incremental run starts
	Total    int64  // size of the whole enumeration when the provider tells, -1 otherwise
	Warnings []Warning
}

// Warning is something a person should know about a run that goes on.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Count   int64  `json:"count"`
}

// DeletionsRequest asks for deletions of an object since a moment.
type DeletionsRequest struct {
	Object string
	Since  time.Time
	After  Cursor
}

// DeletionsPage lists deleted and merged ids (Record.Deleted, Record.MergedInto; no payload).
type DeletionsPage struct {
	Records []Record
	Next    Cursor
	Done    bool
}
