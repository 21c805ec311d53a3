// Package config is the one struct read from the environment (REVARCH_*), validated with every problem at once. It is
// the only package that reads the environment.
package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Config is everything a process needs to know about where it runs.
type Config struct {
	DatabaseURL       string // as revarch_app
	DatabaseOwnerURL  string // as revarch_owner: migrations, backup
	DatabaseWorkerURL string // as revarch_worker

	TemporalAddress   string
	TemporalNamespace string
	TemporalUIURL     string // "" when operators have none

	Listen         string   // address of the API
	PublicURL      string   // scheme and host people use; required off loopback
	TrustedProxies []string // whose X-Forwarded-For counts
	MetricsAddr    string   // own listener for /metrics, "" for none
	KeysetPath     string   // Tink keyset, 0600
	OTLPEndpoint   string   // where traces go, "" for nowhere
	RatePerSecond  float64  // requests per principal
	LogLevel       string   // debug, info, warn, error
	OperatorKey    string   // API key that operator commands use, "" for the one of revarch up

	Providers map[string]Provider // by code, such as crm_a
}

// Provider is one provider's REVARCH_<CODE>_* settings.
type Provider struct {
	AuthorizeURL, TokenURL, RevokeURL, APIURL, ClientID, ClientSecret string
	Scopes                                                            []string
}

// Configured reports whether enough is set to connect the provider.
func (p Provider) Configured() bool {
	return p.AuthorizeURL != "" && p.TokenURL != "" && p.ClientID != ""
}

// ProviderCodes are the codes whose settings are read.
var ProviderCodes = []string{"crm_a", "crm_b", "crm_c", "workspace_a", "workspace_b", "district_intel"}

// Need says which parts a process uses and which must therefore be set.
type Need struct{ Database, Owner, Worker, Temporal, Listen, Keyset bool }

// Load reads the environment. The error names every problem, one per line.
func Load(need Need) (Config, error) { return load(os.Getenv, need) }

func load(env func(string) string, need Need) (Config, error) {
	get := func(name, fallback string) string {
		if v := strings.TrimSpace(env("REVARCH_" + name)); v != "" {
			return v
		}
		return fallback
	}
	c := Config{
		DatabaseURL: get("DATABASE_URL", ""), DatabaseOwnerURL: get("DATABASE_OWNER_URL", ""), DatabaseWorkerURL: get("DATABASE_WORKER_URL", ""),
		TemporalAddress: get("TEMPORAL_ADDRESS", ""), TemporalNamespace: get("TEMPORAL_NAMESPACE", "revarch"), TemporalUIURL: get("TEMPORAL_UI_URL", ""),
		Listen: get("LISTEN", "127.0.0.1:8080"), PublicURL: strings.TrimSuffix(get("PUBLIC_URL", ""), "/"), MetricsAddr: get("METRICS_ADDR", ""),
		KeysetPath: get("KEYSET", ""), OTLPEndpoint: get("OTLP_ENDPOINT", ""), LogLevel: get("LOG_LEVEL", "info"),
		OperatorKey: get("OPERATOR_KEY", ""), Providers: map[string]Provider{},
	}
	var bad []string
	problem := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	for p := range strings.SplitSeq(get("TRUSTED_PROXIES", ""), ",") {
		if p = strings.TrimSpace(p); p != "" {
			if _, _, err := net.ParseCIDR(p); err != nil && net.ParseIP(p) == nil {
				problem("REVARCH_TRUSTED_PROXIES: %q is neither an address nor a CIDR block", p)
			}
			c.TrustedProxies = append(c.TrustedProxies, p)
		}
	}
	rate, err := strconv.ParseFloat(get("RATE_PER_SECOND", "100"), 64)
	if err != nil || rate <= 0 {
		problem("REVARCH_RATE_PER_SECOND must be a number above 0")
	}
	c.RatePerSecond = rate
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		problem("REVARCH_LOG_LEVEL must be debug, info, warn or error")
	}
	for _, code := range ProviderCodes {
		prefix := strings.ToUpper(code) + "_"
		p := Provider{
			AuthorizeURL: get(prefix+"AUTHORIZE_URL", ""), TokenURL: get(prefix+"TOKEN_URL", ""), RevokeURL: get(prefix+"REVOKE_URL", ""),
			APIURL: get(prefix+"API_URL", ""), ClientID: get(prefix+"CLIENT_ID", ""), ClientSecret: get(prefix+"CLIENT_SECRET", ""),
			Scopes: strings.Fields(get(prefix+"SCOPES", "")),
		}
		for name, u := range map[string]string{"AUTHORIZE_URL": p.AuthorizeURL, "TOKEN_URL": p.TokenURL, "REVOKE_URL": p.RevokeURL, "API_URL": p.APIURL} {
			if u != "" && !isHTTPURL(u) {
				problem("REVARCH_%s%s must be an http(s) URL", prefix, name)
			}
		}
		c.Providers[code] = p
	}
	c.check(need, problem)
	if bad != nil {
		slices.Sort(bad)
		return c, fmt.Errorf("the configuration has %d problem(s):\n  %s", len(bad), strings.Join(bad, "\n  "))
	}
	return c, nil
}

func (c Config) check(need Need, problem func(string, ...any)) {
	for _, r := range []struct {
		needed bool
		name   string
		value  string
	}{
		{need.Database, "DATABASE_URL", c.DatabaseURL},
		{need.Owner, "DATABASE_OWNER_URL", c.DatabaseOwnerURL},
		{need.Worker, "DATABASE_WORKER_URL", c.DatabaseWorkerURL},
		{need.Temporal, "TEMPORAL_ADDRESS", c.TemporalAddress},
		{need.Keyset, "KEYSET", c.KeysetPath},
	} {
		if r.needed && r.value == "" {
			problem("REVARCH_%s is not set", r.name)
		}
	}
	if c.PublicURL != "" && !isHTTPURL(c.PublicURL) {
		problem("REVARCH_PUBLIC_URL must be an http(s) URL without a path")
	}
	if need.Listen {
		host, _, err := net.SplitHostPort(c.Listen)
		if err != nil {
			problem("REVARCH_LISTEN must be host:port")
		} else if ip := net.ParseIP(host); c.PublicURL == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			problem("REVARCH_PUBLIC_URL is required when REVARCH_LISTEN is not a loopback address")
		}
	}
	if c.MetricsAddr != "" {
		if _, _, err := net.SplitHostPort(c.MetricsAddr); err != nil {
			problem("REVARCH_METRICS_ADDR must be host:port")
		}
	}
}

func isHTTPURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Env renders the configuration as the variables that Load reads, for child processes.
func (c Config) Env() []string {
	vars := map[string]string{
		"DATABASE_URL": c.DatabaseURL, "DATABASE_OWNER_URL": c.DatabaseOwnerURL, "DATABASE_WORKER_URL": c.DatabaseWorkerURL,
		"TEMPORAL_ADDRESS": c.TemporalAddress, "TEMPORAL_NAMESPACE": c.TemporalNamespace, "TEMPORAL_UI_URL": c.TemporalUIURL,
		"LISTEN": c.Listen, "PUBLIC_URL": c.PublicURL, "TRUSTED_PROXIES": strings.Join(c.TrustedProxies, ","), "METRICS_ADDR": c.MetricsAddr,
		"KEYSET": c.KeysetPath, "OTLP_ENDPOINT": c.OTLPEndpoint, "LOG_LEVEL": c.LogLevel,
		"RATE_PER_SECOND": strconv.FormatFloat(c.RatePerSecond, 'g', -1, 64),
	}
	for code, p := range c.Providers {
		prefix := strings.ToUpper(code) + "_"
		for name, v := range map[string]string{
			"AUTHORIZE_URL": p.AuthorizeURL, "TOKEN_URL": p.TokenURL, "REVOKE_URL": p.RevokeURL,
			"API_URL": p.APIURL, "CLIENT_ID": p.ClientID, "CLIENT_SECRET": p.ClientSecret, "SCOPES": strings.Join(p.Scopes, " "),
		} {
			vars[prefix+name] = v
		}
	}
	var out []string
	for name, v := range vars {
		if v != "" {
			out = append(out, "REVARCH_"+name+"="+v)
		}
	}
	slices.Sort(out)
	return out
}
