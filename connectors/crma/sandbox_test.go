package crma_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/connectors"
	"revarch/connectors/connectortest"
	"revarch/models"
	"revarch/sandbox/control"
)

// connect authorizes the provider in a harness and opens a session.
func connect(tb testing.TB, h *connectortest.Harness) connectors.Session {
	tb.Helper()
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	back := h.Remote.Consent(tb, h.Provider.Authorize("s", challenge, h.RedirectURI))
	g, err := h.Provider.Exchange(tb.Context(), back.Get("code"), verifier, h.RedirectURI)
	require.NoError(tb, err)
	return h.Provider.Open(connectortest.NewKeeper(h.Provider, g))
}

func TestSuggestedMappingsFillEveryCanonicalField(t *testing.T) {
	t.Parallel()
	h := start(t, 200)
	schema, err := connect(t, h).Discover(t.Context())
	require.NoError(t, err)
	mappings := h.Provider.DefaultMappings(schema)
	for _, spec := range h.Provider.Objects() {
		for _, f := range models.TargetFields {
			if f.Record == spec.Record && (spec.Name != "Product2" || f.Name != "list_price_cents") { // it is in price books
				require.True(t, slices.ContainsFunc(mappings, func(m models.FieldMapping) bool {
					return m.Object == spec.Name && m.TargetField == f.Name
				}), "%s.%s", spec.Name, f.Name)
			}
		}
	}
}

func TestAnyPageSizesReadEachRecordOnce(t *testing.T) {
	t.Parallel()
	h := start(t, 200)
	session, want := connect(t, h), slices.Sorted(slices.Values(h.Remote.Live(t, "Account")))
	rapid.Check(t, func(rt *rapid.T) {
		var got []string
		var cursor connectors.Cursor
		for done := false; !done; {
			page, err := session.Pull(t.Context(), connectors.PullRequest{
				Object: "Account", Fields: []string{"Name"}, After: cursor,
				Limit: rapid.SampledFrom([]int{0, 40, 77, 199, 200, 333, 5000}).Draw(rt, "limit"),
			})
			require.NoError(rt, err)
			require.NotEqual(rt, cursor, page.Next)
			for _, r := range page.Records {
				got = append(got, r.ExternalID)
			}
			cursor, done = page.Next, page.Done
		}
		slices.Sort(got)
		require.Equal(rt, want, got)
	})
}

func TestAFieldThatLosesItsPermissionIsDroppedMidRun(t *testing.T) {
	t.Parallel()
	h := start(t, 50)
	session := connect(t, h)
	req := connectors.PullRequest{Object: "Account", Fields: []string{"Name", "Seats__c"}, Limit: 50}
	page, err := session.Pull(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, string(page.Records[0].Payload), "Seats__c")
	_, err = h.Remote.(*org).Fail(t.Context(), control.Failure{Kind: control.HideField, Object: "Account", Field: "Seats__c"})
	require.NoError(t, err)
	req.After = page.Next
	page, err = session.Pull(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, page.Records, 50)
	require.NotContains(t, string(page.Records[0].Payload), "Seats__c")
	require.Len(t, page.Warnings, 1)
	require.Equal(t, "field_lost", page.Warnings[0].Code)
}

func TestUsersAreReadAndHaveNoDeletions(t *testing.T) {
	t.Parallel()
	h := start(t, 60)
	session := connect(t, h)
	page, err := session.Pull(t.Context(), connectors.PullRequest{Object: "User", Fields: []string{"Name", "Email", "IsActive"}})
	require.NoError(t, err)
	require.True(t, page.Done)
	require.NotEmpty(t, page.Records)
	require.Contains(t, string(page.Records[0].Payload), "@")
	first, err := session.Deletions(t.Context(), connectors.DeletionsRequest{Object: "User", Since: page.Records[0].UpdatedAt})
	require.NoError(t, err)
	require.True(t, first.Done)
	require.Empty(t, first.Records)
	again, err := session.Deletions(t.Context(), connectors.DeletionsRequest{Object: "User", After: first.Next})
	require.NoError(t, err)
	require.True(t, again.Done)
	require.NotEqual(t, first.Next, again.Next)
}

func BenchmarkPull(b *testing.B) {
	h := start(b, 0)
	session := connect(b, h)
	schema, err := session.Discover(b.Context())
	require.NoError(b, err)
	var fields []string
	for _, m := range h.Provider.DefaultMappings(schema) {
		if m.Object == "Account" {
			fields = append(fields, m.SourceField)
		}
	}
	records := 0
	for b.Loop() {
		page, err := session.Pull(b.Context(), connectors.PullRequest{Object: "Account", Fields: fields})
		require.NoError(b, err)
		records += len(page.Records)
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}
