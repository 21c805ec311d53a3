package connectors_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

// tokens hands out secret-1, then secret-2 after a renewal.
type tokens struct{ renewals atomic.Int64 }

func (s *tokens) grant() connectors.Grant {
	n := s.renewals.Load()
	return connectors.Grant{AccessToken: "secret-" + strconv.FormatInt(n+1, 10), Version: n}
}

func (s *tokens) Grant(context.Context) (connectors.Grant, error) { return s.grant(), nil }

func (s *tokens) Renew(context.Context, connectors.Grant) (connectors.Grant, error) {
	s.renewals.Add(1)
	return s.grant(), nil
}

func setup(t *testing.T, handler http.HandlerFunc) (*connectors.Client, *tokens) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	hosts, err := connectors.NewHosts(connectors.Settings{APIURL: server.URL}, "vendor.com")
	require.NoError(t, err)
	source := &tokens{}
	return &connectors.Client{
		HTTP: connectors.NewHTTPClient(), Tokens: source, Hosts: hosts,
		BaseURL: func(connectors.Grant) string { return server.URL },
		Classify: func(a connectors.Answer) *connectors.Refusal {
			if a.Status == http.StatusUnauthorized {
				return &connectors.Refusal{Class: connectors.ClassTokenExpired}
			}
			return &connectors.Refusal{Class: connectors.ClassThrottled, Code: string(a.Body)}
		},
	}, source
}

func ok(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_, _ = io.WriteString(w, body)
}

type result struct {
	Value int `json:"value"`
}

// requireQuiet checks code and silence of an error.
func requireQuiet(t *testing.T, err error, code fault.Code) {
	t.Helper()
	require.Equal(t, code, fault.CodeOf(err), "%v", err)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "?")
}

var call = connectors.Call{Ref: "/data", Query: map[string][]string{"q": {"secret in a query"}}}

func TestClientSendsTheBearerAndDecodesCompressedJSON(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-1" || r.Header.Get("Accept-Encoding") != "gzip" || r.FormValue("q") != "secret in a query" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{"value":7}`)
		_ = z.Close()
	})
	var out result
	_, err := c.JSON(t.Context(), call, &out)
	require.NoError(t, err)
	require.Equal(t, 7, out.Value)
}

func TestClientSendsABodyAgainAfterRenewing(t *testing.T) {
	t.Parallel()
	c, source := setup(t, func(w http.ResponseWriter, r *http.Request) {
		var in result
		if r.Header.Get("Authorization") != "Bearer secret-2" {
			w.WriteHeader(http.StatusUnauthorized)
		} else if json.NewDecoder(r.Body).Decode(&in) == nil && r.Method == http.MethodPost {
			ok(w, `{"value":`+strconv.Itoa(in.Value)+`}`)
		}
	})
	var out result
	_, err := c.JSON(t.Context(), connectors.Call{Method: http.MethodPost, Ref: "/data", Body: result{Value: 9}}, &out)
	require.NoError(t, err)
	require.Equal(t, 9, out.Value)
	require.EqualValues(t, 1, source.renewals.Load())
}

func TestClientRenewsOnceWhenEveryTokenIsRefused(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	c, source := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	})
	_, err := c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.Unavailable)
	require.EqualValues(t, 1, source.renewals.Load())
	require.EqualValues(t, 2, requests.Load())
}

func TestClientRefusesAnswersThatAreNotCompleteJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, kind, length, body string
	}{
		{"a maintenance page", "text/html", "", "<html>secret</html>"},
		{"JSON that says it is HTML", "text/html", "", `{"value":1}`},
		{"no content type", "", "", `{"value":1}`},
		{"an empty body", "application/json", "", ""},
		{"half an object", "application/json", "", `{"value":"secret`},
		{"a body shorter than announced", "application/json", "100", `{"value":1}`},
		{"trailing text", "application/json", "", `{"value":1} secret`},
		{"another form", "application/json", "", `{"value":"secret"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if tc.kind != "" {
					w.Header().Set("Content-Type", tc.kind)
				}
				if tc.length != "" {
					w.Header().Set("Content-Length", tc.length)
				}
				_, _ = io.WriteString(w, tc.body)
			})
			_, err := c.JSON(t.Context(), call, &result{})
			requireQuiet(t, err, fault.Unavailable)
		})
	}
}

func TestClientFollowsNoRedirectToAnotherOrigin(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(foreign.Close)
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, foreign.URL+"?secret", http.StatusFound)
	})
	_, err := c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.Unavailable)
	require.False(t, reached.Load())
}

func TestClientFollowsARedirectWithinTheOrigin(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data" {
			http.Redirect(w, r, "/moved", http.StatusFound)
		} else if r.Header.Get("Authorization") == "Bearer secret-1" {
			ok(w, `{"value":3}`)
		}
	})
	var out result
	_, err := c.JSON(t.Context(), call, &out)
	require.NoError(t, err)
	require.Equal(t, 3, out.Value)
}

func TestClientSendsNothingToAForeignBaseOrLink(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) { ok(w, `{}`) })
	_, err := c.JSON(t.Context(), connectors.Call{Ref: "https://evil.example/next?secret"}, &result{})
	requireQuiet(t, err, fault.Denied)
	c.BaseURL = func(connectors.Grant) string { return "https://evil.example" }
	_, err = c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.Denied)
}

func TestClientHidesBodiesAndAddressesOfFailures(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "secret? body")
	})
	_, err := c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.Throttled)
	require.EqualValues(t, 7e9, fault.RetryAfter(err))
	c.BaseURL = func(connectors.Grant) string { return "http://127.0.0.1:1" }
	_, err = c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.Unavailable)
}

func TestClientReturnsCancellationAsItIs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := setup(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := c.JSON(ctx, call, &result{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestClientStopsReadingAtItsLimit(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		chunk := make([]byte, 1<<20)
		for range connectors.MaxBody/len(chunk) + 1 {
			if _, err := z.Write(chunk); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	_, err := c.JSON(t.Context(), call, &result{})
	requireQuiet(t, err, fault.TooLarge)
}
