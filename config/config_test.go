package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	from := func(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }

	t.Run("every problem is named at once", func(t *testing.T) {
		t.Parallel()
		_, err := load(from(map[string]string{
			"REVARCH_TRUSTED_PROXIES": "10.0.0.0/8,nonsense", "REVARCH_LISTEN": "0.0.0.0:80",
			"REVARCH_CRM_A_TOKEN_URL": "ftp://x", "REVARCH_RATE_PER_SECOND": "no", "REVARCH_LOG_LEVEL": "loud",
		}),
			Need{Database: true, Temporal: true, Listen: true})
		require.Error(t, err)
		for _, want := range []string{
			"DATABASE_URL is not set", "TEMPORAL_ADDRESS is not set", `"nonsense"`, "PUBLIC_URL is required", "CRM_A_TOKEN_URL",
			"RATE_PER_SECOND", "LOG_LEVEL",
		} {
			require.ErrorContains(t, err, want)
		}
	})

	t.Run("what Env renders, Load reads back", func(t *testing.T) {
		t.Parallel()
		want, err := load(from(map[string]string{
			"REVARCH_DATABASE_URL": "postgres://a", "REVARCH_PUBLIC_URL": "https://x.example/",
			"REVARCH_CRM_A_SCOPES": "api refresh_token", "REVARCH_CRM_A_API_URL": "http://127.0.0.1:1/crm_a", "REVARCH_TRUSTED_PROXIES": "10.0.0.1",
		}), Need{})
		require.NoError(t, err)
		vars := map[string]string{}
		for _, kv := range want.Env() {
			k, v, _ := strings.Cut(kv, "=")
			vars[k] = v
		}
		got, err := load(from(vars), Need{})
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, "https://x.example", got.PublicURL)
	})
}
