package connectors_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

func TestEveryClassHasItsFault(t *testing.T) {
	t.Parallel()
	for class, want := range map[connectors.Class]fault.Code{
		connectors.ClassTokenExpired: fault.Unavailable,
		connectors.ClassGrantDead:    fault.ReauthRequired,
		connectors.ClassClientBad:    fault.ClientMisconfig,
		connectors.ClassScopeMissing: fault.ScopeMissing,
		connectors.ClassThrottled:    fault.Throttled,
		connectors.ClassQuotaDay:     fault.QuotaDay,
		connectors.ClassCursorDead:   fault.CursorDead,
		connectors.ClassSchemaDrift:  fault.SchemaDrift,
		connectors.ClassNotFound:     fault.NotFound,
		connectors.ClassRejected:     fault.Invalid,
		connectors.ClassTransient:    fault.Unavailable,
		"":                           fault.Unavailable,
	} {
		err := (&connectors.Refusal{Class: class, Status: 400, Code: "<secret?>", Message: "secret?", Retry: time.Minute}).Fault()
		requireQuiet(t, err, want)
		if want == fault.Throttled || want == fault.QuotaDay {
			require.Equal(t, time.Minute, fault.RetryAfter(err))
		}
	}
}

func TestRetryAfterReadsSecondsAndDates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for raw, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "soon": 0, "1e99": 0, "NaN": 0,
		"Fri, 01 May 2026 12:05:00 GMT": 5 * time.Minute, "Fri, 01 May 2026 11:00:00 GMT": 0,
		"Sat, 01 May 2027 12:00:00 GMT": 24 * time.Hour,
	} {
		require.Equal(t, want, connectors.RetryAfter(http.Header{"Retry-After": {raw}}, now), "Retry-After: %s", raw)
	}
}
