// Package control is the typed client of the sandbox's own administration interface: changing records behind a
// client's back, setting the roster of real institutions, and making the provider fail. What belongs here: the client
// and the shapes that both sides exchange.
package control

import (
	"encoding/json"
	"time"

	"revarch/sandbox/data"
)

// Kind names a way to fail.
type Kind string

// The kinds. Unless Path says otherwise those from Status to SlowBody strike requests for data, and those from
// InvalidClient to TokenBusy the token endpoint.
const (
	Status     Kind = "status"      // answer Status (default 503) with the provider's error body
	Hang       Kind = "hang"        // keep silent for Delay, then cut the connection
	Latency    Kind = "latency"     // wait Delay, then answer as always
	Truncate   Kind = "truncate"    // answer 200 with the first half of the body
	HTML       Kind = "html"        // answer 200 with a maintenance page
	Redirect   Kind = "redirect"    // answer 302 to URL
	SlowBody   Kind = "slow_body"   // send the answer bit by bit over Delay
	Limit      Kind = "limit"       // allow Budget requests, then refuse all with the provider's limit error
	DeadCursor Kind = "dead_cursor" // do not know the cursor of a next page

	InvalidClient Kind = "invalid_client" // refuse the client's credentials
	InstanceURL   Kind = "instance_url"   // name URL as the API's address in token answers
	TokenBusy     Kind = "token_busy"     // say that the refresh is already being processed

	HideField Kind = "hide_field" // Object.Field loses its permission: not described, unknown to queries
)

// Failure makes the provider fail. Skip matching requests pass first; then every Every-th one fails (default: each),
// Times times (0: until cleared).
type Failure struct {
	ID      string `json:"id,omitempty"`     // given by the sandbox
	Kind    Kind   `json:"kind"`             //
	Path    string `json:"path,omitempty"`   // strike only paths that contain this
	Method  string `json:"method,omitempty"` // strike only this method
	Skip    int    `json:"skip,omitempty"`
	Times   int    `json:"times,omitempty"`
	Every   int    `json:"every,omitempty"`
	Status  int    `json:"status,omitempty"`
	DelayMS int    `json:"delay_ms,omitempty"`
	Budget  int    `json:"budget,omitempty"`
	URL     string `json:"url,omitempty"`
	Object  string `json:"object,omitempty"`
	Field   string `json:"field,omitempty"`
	Hits    int    `json:"hits"` // how often it struck
}

// Fields are a record's values by field name, as JSON.
type Fields map[string]any

// Record is one record with all its fields, and the state of its life.
type Record struct {
	ID     string          `json:"id"`
	Fields json.RawMessage `json:"fields"`
}

// ObjectCount says how many records of an object there are.
type ObjectCount struct {
	Object        string    `json:"object"`
	Live          int       `json:"live"`
	Deleted       int       `json:"deleted"`        // in the recycle bin
	LatestChanged time.Time `json:"latest_changed"` // newest SystemModstamp
}

// ProviderStatus is what the sandbox says about one provider.
type ProviderStatus struct {
	Provider      string        `json:"provider"`
	Objects       []ObjectCount `json:"objects"`
	APIUsed       int           `json:"api_used"`
	APILimit      int           `json:"api_limit"`
	Grants        int           `json:"grants"` // alive
	TokenRequests int           `json:"token_requests"`
	Failures      []Failure     `json:"failures"`
}

// BurstResult counts what a burst of random changes did.
type BurstResult struct {
	Created int `json:"created"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
}

// RosterRequest replaces the roster of real institutions.
type RosterRequest struct {
	Entries []data.RosterEntry `json:"entries"`
}

// RosterResult says how many records changed with a new roster.
type RosterResult struct {
	Changed int `json:"changed"`
}
