package connectors

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"revarch/fault"
)

// Hosts is the list of places that may see a provider's credentials: hosts under the provider's own domains, over
// https, and the origins that the operator configured. Loopback is among them only when the configured API is itself
// on loopback, so that a provider's answer cannot point the service at itself.
type Hosts struct {
	suffixes []string
	origins  []string
	loopback bool
}

// NewHosts builds the list for a provider from its domains (such as "salesforce.com") and its settings.
func NewHosts(s Settings, domains ...string) (Hosts, error) {
	h := Hosts{suffixes: domains}
	for _, raw := range []string{s.APIURL, s.AuthorizeURL} {
		if raw == "" {
			continue
		}
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return Hosts{}, fault.New(fault.ClientMisconfig, "a configured provider address is not an absolute http(s) URL")
		}
		h.origins = append(h.origins, Origin(u))
		if raw == s.APIURL {
			h.loopback = isLoopback(u.Hostname())
		}
	}
	return h, nil
}

// Allowed reports whether credentials may be sent to u.
func (h Hosts) Allowed(u *url.URL) bool {
	if u == nil || u.Host == "" || u.User != nil {
		return false
	}
	if slices.Contains(h.origins, Origin(u)) {
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if isLoopback(host) {
		return h.loopback && (u.Scheme == "http" || u.Scheme == "https")
	}
	if u.Scheme != "https" || (u.Port() != "" && u.Port() != "443") {
		return false
	}
	return slices.ContainsFunc(h.suffixes, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) })
}

// Base parses an address that a provider's answer named as the base of its API. Faults: Denied for a foreign host.
func (h Hosts) Base(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, fault.New(fault.Denied, "The provider named an API address that is not a URL.")
	}
	if !h.Allowed(u) {
		return nil, fault.Wrap(fmt.Errorf("host %q is not on the allow list", u.Hostname()), fault.Denied,
			"The provider named an API address on a host that does not belong to it. Nothing was sent there.")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}, nil
}

// Join resolves a reference from our own code or from a provider's answer against the base of its API. A path is
// appended to the base, whose own path is kept; an absolute URL must have the origin of the base. Faults: Denied.
func (h Hosts) Join(base *url.URL, ref string) (*url.URL, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, fault.New(fault.Denied, "The provider named a next page that is not a URL.")
	}
	if u.Host == "" && u.Scheme == "" {
		joined := *base
		joined.Path, joined.RawPath = base.Path+"/"+strings.TrimPrefix(u.Path, "/"), ""
		if u.RawPath != "" {
			joined.RawPath = base.EscapedPath() + "/" + strings.TrimPrefix(u.RawPath, "/")
		}
		if base.Path != "" && (u.Path == base.Path || strings.HasPrefix(u.Path, base.Path+"/")) {
			joined.Path, joined.RawPath = u.Path, u.RawPath
		}
		joined.RawQuery = u.RawQuery
		u = &joined
	}
	if Origin(u) != Origin(base) || !h.Allowed(u) {
		return nil, fault.Wrap(fmt.Errorf("link to host %q", u.Hostname()), fault.Denied,
			"The provider's answer points to another host. The link was not followed.")
	}
	return u, nil
}

// Origin returns scheme, host and port of u with the default port left out.
func Origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || (u.Scheme == "https" && port == "443") || (u.Scheme == "http" && port == "80") {
		return strings.ToLower(u.Scheme) + "://" + host
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(host, port)
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
