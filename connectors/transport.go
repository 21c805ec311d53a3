package connectors

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"revarch/fault"
)

// errForeignRedirect is what CheckRedirect returns; it ends in an Unavailable fault, since maintenance pages are often
// reached by a redirect.
var errForeignRedirect = errors.New("redirect to another origin refused")

// NewHTTPClient returns the HTTP client that all providers share: bounded in every phase, gzip and HTTP/2 where the
// server offers them, and no redirect leaves the origin of its request.
func NewHTTPClient() *http.Client {
	return guardRedirects(&http.Client{
		Timeout: 2 * time.Minute,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           100,
			MaxIdleConnsPerHost:    16,
			MaxConnsPerHost:        64,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  90 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		},
	})
}

// guardRedirects returns a copy of c that follows redirects of reading requests inside one origin only. A token
// request is never redirected: its body holds the secret.
func guardRedirects(c *http.Client) *http.Client {
	guarded := *c
	guarded.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if Origin(req.URL) != Origin(first.URL) || first.Method != http.MethodGet {
			return errForeignRedirect
		}
		if len(via) >= 5 {
			return errors.New("more than five redirects")
		}
		return nil
	}
	return &guarded
}

// transportFault classifies a failure to get an answer at all. Cancellation stays what it is.
func transportFault(req *http.Request, err error) error {
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return fmt.Errorf("call provider: %w", ctxErr)
	}
	cause := fmt.Errorf("%s %s: %w", req.Method, req.URL.Host, redacted(err))
	if errors.Is(err, errForeignRedirect) {
		return fault.Wrap(cause, fault.Unavailable, "The provider answered with a redirect to another address, which was not followed.")
	}
	return fault.Wrap(cause, fault.Unavailable, "The provider cannot be reached at the moment.")
}

// redacted passes only errors whose texts hold no more than host names and reasons. The URL of a *url.Error may hold
// credentials in its query, and the HTTP library quotes malformed answers.
func redacted(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	_, network := errors.AsType[net.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	if network || certificate || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errForeignRedirect) {
		return err
	}
	return fmt.Errorf("transport failed with %T", err)
}
