package identity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/models"
)

func TestReportingCurrency(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	org := models.Org{Name: "Alpha", TimeZone: "America/Chicago", WorkHours: models.WorkHours{Start: "08:00", End: "17:00", Days: []int{1}}}
	for _, code := range []string{"USD", "EUR", "MXN", "JPY", "CHF", "SLE", "XCG"} {
		org.ReportingCurrency = code
		require.NoError(t, validateOrg(org, now), code)
	}
	for _, code := range []string{"", "QQ1", "QQQ", "usd", "Usd", "US", "USDX", "US\u0000", "€€€", "DEM", "XXX", "XTS", "XAU"} {
		org.ReportingCurrency = code
		err := validateOrg(org, now)
		require.True(t, fault.Is(err, fault.Invalid), code)
		bad := fault.FieldsOf(err)
		require.Len(t, bad, 1, code)
		require.Equal(t, "reporting_currency", bad[0].Field)
		require.Contains(t, bad[0].Message, "such as USD")
	}
}
