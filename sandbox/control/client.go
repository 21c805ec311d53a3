package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"revarch/sandbox/data"
)

// Client drives one provider of a sandbox.
type Client struct {
	base, provider string
	http           *http.Client
}

// New makes a client for the sandbox at base (scheme and host) and one of its providers, such as "crm_a".
func New(base, provider string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), provider: provider, http: &http.Client{}}
}

// Status says what every provider holds and was asked.
func (c *Client) Status(ctx context.Context) (ProviderStatus, error) {
	var all []ProviderStatus
	if err := c.call(ctx, http.MethodGet, "/status", nil, &all); err != nil {
		return ProviderStatus{}, err
	}
	for _, s := range all {
		if s.Provider == c.provider {
			return s, nil
		}
	}
	return ProviderStatus{}, fmt.Errorf("the sandbox has no provider %s", c.provider)
}

// Count returns how many live records of an object there are.
func (c *Client) Count(ctx context.Context, object string) (int, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return 0, err
	}
	for _, o := range s.Objects {
		if strings.EqualFold(o.Object, object) {
			return o.Live, nil
		}
	}
	return 0, fmt.Errorf("the sandbox has no object %s", object)
}

// SetRoster renames the institutions after real ones.
func (c *Client) SetRoster(ctx context.Context, entries []data.RosterEntry) (RosterResult, error) {
	var out RosterResult
	err := c.call(ctx, http.MethodPut, "/roster", RosterRequest{entries}, &out)
	return out, err
}

// IDs lists the live records of an object, the one changed last at the end.
func (c *Client) IDs(ctx context.Context, object string) ([]string, error) {
	var out struct {
		IDs []string `json:"ids"`
	}
	err := c.call(ctx, http.MethodGet, c.at("records", object), nil, &out)
	return out.IDs, err
}

// Get returns one record, also from the recycle bin.
func (c *Client) Get(ctx context.Context, object, id string) (Record, error) {
	var out Record
	err := c.call(ctx, http.MethodGet, c.at("records", object, id), nil, &out)
	return out, err
}

// Create makes a record; read-only fields may be set, and texts may be longer than the schema allows.
func (c *Client) Create(ctx context.Context, object string, f Fields) (Record, error) {
	var out Record
	err := c.call(ctx, http.MethodPost, c.at("records", object), f, &out)
	return out, err
}

// Update changes a record and moves its SystemModstamp.
func (c *Client) Update(ctx context.Context, object, id string, f Fields) (Record, error) {
	var out Record
	err := c.call(ctx, http.MethodPatch, c.at("records", object, id), f, &out)
	return out, err
}

// Delete moves a record to the recycle bin.
func (c *Client) Delete(ctx context.Context, object, id string) error {
	return c.call(ctx, http.MethodDelete, c.at("records", object, id), nil, nil)
}

// Purge removes a record for good: only the listing of deletions still tells of it.
func (c *Client) Purge(ctx context.Context, object, id string) error {
	return c.call(ctx, http.MethodDelete, c.at("records", object, id)+"?hard=true", nil, nil)
}

// Undelete takes a record out of the recycle bin.
func (c *Client) Undelete(ctx context.Context, object, id string) error {
	return c.call(ctx, http.MethodPost, c.at("records", object, id, "undelete"), nil, nil)
}

// Merge deletes the losers in favor of the winner.
func (c *Client) Merge(ctx context.Context, object, winner string, losers ...string) error {
	return c.call(ctx, http.MethodPost, c.at("records", object, winner, "merge"), map[string][]string{"losers": losers}, nil)
}

// Burst makes n random changes, the same for the same seed and state.
func (c *Client) Burst(ctx context.Context, n int, seed uint64) (BurstResult, error) {
	var out BurstResult
	err := c.call(ctx, http.MethodPost, c.at("burst"), map[string]any{"count": n, "seed": seed}, &out)
	return out, err
}

// Fail puts a failure in force and returns its id.
func (c *Client) Fail(ctx context.Context, f Failure) (string, error) {
	var out Failure
	err := c.call(ctx, http.MethodPost, c.at("failures"), f, &out)
	return out.ID, err
}

// Failures lists the failures in force and how often each struck.
func (c *Client) Failures(ctx context.Context) ([]Failure, error) {
	var out []Failure
	err := c.call(ctx, http.MethodGet, c.at("failures"), nil, &out)
	return out, err
}

// Lift ends one failure, or all with id "".
func (c *Client) Lift(ctx context.Context, id string) error {
	if id == "" {
		return c.call(ctx, http.MethodDelete, c.at("failures"), nil, nil)
	}
	return c.call(ctx, http.MethodDelete, c.at("failures", id), nil, nil)
}

// ExpireSessions ends every access token; refresh tokens go on working.
func (c *Client) ExpireSessions(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, c.at("sessions", "expire"), nil, nil)
}

// RevokeGrants ends every grant, as a user does who removes the application.
func (c *Client) RevokeGrants(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, c.at("grants", "revoke"), nil, nil)
}

func (c *Client) at(parts ...string) string {
	var out strings.Builder
	out.WriteString("/" + c.provider)
	for _, p := range parts {
		out.WriteString("/" + url.PathEscape(p))
	}
	return out.String()
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("sandbox %s: %w", path, err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/_sandbox"+path, body)
	if err != nil {
		return fmt.Errorf("sandbox %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("sandbox %s: %w", path, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("sandbox %s: %w", path, err)
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("sandbox %s %s: %s: %s", method, path, res.Status, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("sandbox %s: %w", path, err)
	}
	return nil
}

// Consent opens an authorization URL of the sandbox as a browser would, presses Allow (or Deny), and returns the
// callback URL that the browser is sent to, which it does not open.
func Consent(ctx context.Context, authorizeURL string, allow bool) (string, error) {
	u, err := url.Parse(authorizeURL)
	if err != nil {
		return "", fmt.Errorf("authorization URL: %w", err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method string, body io.Reader) (*http.Response, error) {
		target := *u
		if body != nil {
			target.RawQuery = ""
		}
		req, err := http.NewRequestWithContext(ctx, method, target.String(), body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		return res, res.Body.Close()
	}
	res, err := send(http.MethodGet, nil) //nolint:bodyclose // send closes it
	if err == nil && res.StatusCode == http.StatusOK {
		form := u.Query()
		form.Set("decision", map[bool]string{true: "allow", false: "deny"}[allow])
		res, err = send(http.MethodPost, strings.NewReader(form.Encode())) //nolint:bodyclose // send closes it
	}
	if err != nil {
		return "", fmt.Errorf("asking for consent: %w", err)
	}
	if res.StatusCode != http.StatusFound {
		return "", errors.New("the sandbox refused the authorization request: " + res.Status)
	}
	return res.Header.Get("Location"), nil
}
