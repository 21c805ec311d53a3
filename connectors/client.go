package connectors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"revarch/fault"
)

// MaxBody is the largest answer that is read, in bytes after decompression.
const MaxBody = 64 << 20

// Client sends requests to one connected account with the credentials of the moment. It is safe for concurrent use.
type Client struct {
	HTTP   *http.Client
	Tokens TokenSource
	Hosts  Hosts
	// BaseURL is where the API is for a grant, such as its instance URL.
	BaseURL func(Grant) string
	// Classify says what an answer with an error status means. The client fills Status and Retry when they are zero.
	Classify func(Answer) *Refusal
	// Seen is told of every answer, refusals included; nil for nobody.
	Seen func(Answer)
	// Clock is the time for Retry-After dates; nil is time.Now.
	Clock func() time.Time
}

// Call is one request. Ref is a path below the base of the API, or a link from one of its answers.
type Call struct {
	Method string // "" is GET
	Ref    string
	Query  url.Values
	Header http.Header
	Body   any // sent as JSON when not nil
}

// Answer is a provider's complete answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON sends a call and decodes the answer into out when the status is 2xx and the body is complete, well-formed JSON.
// A refused access token is renewed once and the call replayed once. Faults: as Refusal.Fault, Denied for a foreign
// link, TooLarge, Unavailable for what is not JSON or cut short. errors.As finds the *Refusal.
func (c *Client) JSON(ctx context.Context, call Call, out any) (Answer, error) {
	grant, err := c.Tokens.Grant(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("load grant: %w", err)
	}
	ans, err := c.send(ctx, grant, call)
	if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.Class == ClassTokenExpired {
		if grant, err = c.Tokens.Renew(ctx, grant); err != nil {
			return Answer{}, fmt.Errorf("renew grant: %w", err)
		}
		ans, err = c.send(ctx, grant, call)
	}
	if err != nil {
		return ans, err
	}
	if out == nil {
		return ans, nil
	}
	return ans, DecodeJSON(ans, out)
}

// send makes one attempt with one grant.
func (c *Client) send(ctx context.Context, grant Grant, call Call) (Answer, error) {
	req, err := c.request(ctx, grant, call)
	if err != nil {
		return Answer{}, err
	}
	ans, err := roundTrip(guardRedirects(c.HTTP), req, MaxBody)
	if err != nil {
		return ans, err
	}
	if c.Seen != nil {
		c.Seen(ans)
	}
	if ans.Status >= 200 && ans.Status < 300 {
		return ans, nil
	}
	refusal := c.Classify(ans)
	if refusal.Status == 0 {
		refusal.Status = ans.Status
	}
	if refusal.Retry == 0 {
		refusal.Retry = RetryAfter(ans.Header, c.now())
	}
	return ans, refusal.Fault()
}

// request builds the request; the bearer is attached only after the address passed the allow list.
func (c *Client) request(ctx context.Context, grant Grant, call Call) (*http.Request, error) {
	base, err := c.Hosts.Base(c.BaseURL(grant))
	if err != nil {
		return nil, err
	}
	u, err := c.Hosts.Join(base, call.Ref)
	if err != nil {
		return nil, err
	}
	if len(call.Query) > 0 {
		u.RawQuery = call.Query.Encode()
	}
	method, body := call.Method, io.Reader(nil)
	if method == "" {
		method = http.MethodGet
	}
	if call.Body != nil {
		raw, err := json.Marshal(call.Body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("build request: %w", redacted(err))
	}
	maps.Copy(req.Header, call.Header)
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+grant.AccessToken)
	return req, nil
}

func (c *Client) now() time.Time {
	if c.Clock != nil {
		return c.Clock()
	}
	return time.Now()
}

// roundTrip sends a request and reads the whole answer, up to limit bytes.
func roundTrip(client *http.Client, req *http.Request, limit int64) (Answer, error) {
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, transportFault(req, err)
	}
	defer resp.Body.Close()
	buf := bytes.NewBuffer(make([]byte, 0, 512+min(max(resp.ContentLength, 0), limit)))
	if _, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1)); err != nil {
		return Answer{}, transportFault(req, fmt.Errorf("read answer: %w", err))
	}
	if int64(buf.Len()) > limit {
		return Answer{}, fault.New(fault.TooLarge, "The provider's answer is larger than %d MiB.", limit>>20)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: buf.Bytes()}, nil
}

// DecodeJSON decodes a successful answer. A maintenance page with status 200 or a body that was cut short is
// Unavailable, so it never counts as a result.
func DecodeJSON(ans Answer, out any) error {
	kind, _, err := mime.ParseMediaType(ans.Header.Get("Content-Type"))
	if err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return fault.Wrap(fmt.Errorf("content type %q with status %d", safeCode(strings.ReplaceAll(kind, "/", ".")), ans.Status),
			fault.Unavailable, "The provider answered with something that is not data; it may be under maintenance.")
	}
	if err := json.Unmarshal(ans.Body, out); err != nil {
		return fault.Wrap(fmt.Errorf("body of %d bytes is not the expected JSON: %w", len(ans.Body), jsonCause(err)),
			fault.Unavailable, "The provider's answer was incomplete or not in the expected form.")
	}
	return nil
}

// jsonCause describes a JSON error without the value that caused it.
func jsonCause(err error) error {
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("syntax error at byte %d", se.Offset)
	}
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("wrong type at byte %d for %s", te.Offset, te.Field)
	}
	return errors.New("wrong form")
}
