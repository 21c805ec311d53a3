package connectors_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

func TestHostsAllowOnlyTheProviderAndTheConfiguredOrigins(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, api, target string
		want              bool
	}{
		{"a host of the provider", "", "https://x.my.vendor.com/a", true},
		{"the domain itself", "", "https://vendor.com", true},
		{"the default port in full", "", "https://x.vendor.com:443", true},
		{"a host with a trailing dot", "", "https://x.vendor.com.", true},
		{"plain http", "", "http://x.vendor.com", false},
		{"another port", "", "https://x.vendor.com:8443", false},
		{"a look-alike suffix", "", "https://evilvendor.com", false},
		{"the domain as a prefix", "", "https://vendor.com.evil.example", false},
		{"credentials in the address", "", "https://vendor.com@evil.example", false},
		{"user info on a good host", "", "https://u:p@x.vendor.com", false},
		{"a cloud metadata address", "", "http://169.254.169.254/latest", false},
		{"loopback without a loopback API", "https://api.own.example", "http://127.0.0.1:80", false},
		{"the configured API", "https://api.own.example/prefix", "https://api.own.example/other", true},
		{"the configured API on another port", "https://api.own.example", "https://api.own.example:444", false},
		{"loopback with a loopback API", "http://127.0.0.1:4000", "http://localhost:5000", true},
		{"IPv6 loopback with a loopback API", "http://127.0.0.1:4000", "http://[::1]:5000", true},
		{"a private address with a loopback API", "http://127.0.0.1:4000", "http://10.0.0.1:5000", false},
		{"another scheme", "http://127.0.0.1:4000", "ftp://127.0.0.1:4000", false},
		{"no host", "", "/path", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h, err := connectors.NewHosts(connectors.Settings{APIURL: tc.api}, "vendor.com")
			require.NoError(t, err)
			u, err := url.Parse(tc.target)
			require.NoError(t, err)
			require.Equal(t, tc.want, h.Allowed(u))
		})
	}
}

func TestJoinKeepsTheBaseAndItsOrigin(t *testing.T) {
	t.Parallel()
	h, err := connectors.NewHosts(connectors.Settings{APIURL: "http://127.0.0.1:4000/crm"}, "vendor.com")
	require.NoError(t, err)
	for _, tc := range []struct{ name, base, ref, want string }{
		{"a path", "https://x.vendor.com", "/services/data", "https://x.vendor.com/services/data"},
		{"a path with a query", "https://x.vendor.com", "/q?a=b%2Bc", "https://x.vendor.com/q?a=b%2Bc"},
		{"a base with a path", "http://127.0.0.1:4000/crm", "/services/data", "http://127.0.0.1:4000/crm/services/data"},
		{"a path that repeats the base's", "http://127.0.0.1:4000/crm", "/crm/services", "http://127.0.0.1:4000/crm/services"},
		{"an absolute link of the same origin", "https://x.vendor.com", "https://x.vendor.com/next", "https://x.vendor.com/next"},
		{"an escaped path", "https://x.vendor.com", "/a%2Fb", "https://x.vendor.com/a%2Fb"},
		{"another host of the provider", "https://x.vendor.com", "https://y.vendor.com/next", ""},
		{"a foreign host", "https://x.vendor.com", "https://evil.example/next", ""},
		{"a link without a scheme", "https://x.vendor.com", "//evil.example/next", ""},
		{"another scheme", "https://x.vendor.com", "file:///etc/passwd", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			base, err := h.Base(tc.base)
			require.NoError(t, err)
			got, err := h.Join(base, tc.ref)
			if tc.want == "" {
				require.Equal(t, fault.Denied, fault.CodeOf(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got.String())
		})
	}
}

func TestHostsRefuseSettingsThatAreNotURLs(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"vendor.com", "ftp://vendor.com", "https://", "http://[::1"} {
		_, err := connectors.NewHosts(connectors.Settings{APIURL: raw})
		require.Equal(t, fault.ClientMisconfig, fault.CodeOf(err), raw)
	}
}
