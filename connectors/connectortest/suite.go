package connectortest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
)

// Run checks a provider. start returns a fresh provider and account for each check.
func Run(t *testing.T, start func(t *testing.T) *Harness) {
	t.Helper()
	checks := []struct {
		name string
		run  func(*testing.T, *Harness)
	}{
		{"the consent page is asked for with state and PKCE", checkAuthorizeURL},
		{"a code becomes a grant that names its account", checkExchange},
		{"a replayed code is refused", checkReplayedCode},
		{"a wrong verifier is refused", checkWrongVerifier},
		{"a refused client is not a dead grant", checkBadClient},
		{"an answer with a foreign API address is refused", checkForeignInstance},
		{"a refresh replaces the grant", checkRefresh},
		{"a refresh in progress elsewhere is transient", checkBusyRefresh},
		{"an outage of the token endpoint is not a dead grant", checkTokenOutage},
		{"a dead grant asks for a person", checkDeadGrant},
		{"a revoked grant is dead", checkRevoke},
		{"validation names the account", checkValidate},
		{"discovery finds the synced objects", checkDiscover},
		{"suggested mappings fit the schema", checkMappings},
		{"a full run reads each record exactly once", checkFullRun},
		{"a run resumes from every cursor", checkResume},
		{"an incremental run reads changes and the overlap", checkIncremental},
		{"deletions and merges are listed", checkDeletions},
		{"throttling says when to come back", checkThrottle},
		{"an expired access token is renewed once", checkRenewOnce},
		{"sessions in parallel renew once", checkRenewParallel},
		{"a broken answer does not advance", checkBrokenAnswers},
		{"a link to a foreign host is not followed", checkForeignLink},
		{"a page that links to itself is not read for ever", checkSameLink},
		{"a forgotten cursor loses nothing", checkForgottenCursor},
		{"what is not a cursor is refused", checkBadCursor},
		{"canceling stops a read", checkCancel},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, start(t))
		})
	}
}

func challenge(v string) string {
	sum := sha256.Sum256([]byte(v))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func checkAuthorizeURL(t *testing.T, h *Harness) {
	u, err := url.Parse(h.Provider.Authorize("state & more", challenge(verifier), h.RedirectURI))
	require.NoError(t, err)
	q := u.Query()
	require.Equal(t, "code", q.Get("response_type"))
	require.NotEmpty(t, q.Get("client_id"))
	require.Equal(t, h.RedirectURI, q.Get("redirect_uri"))
	require.Equal(t, "state & more", q.Get("state"))
	require.Equal(t, challenge(verifier), q.Get("code_challenge"))
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.NotContains(t, u.RawQuery, verifier)
	require.NotContains(t, u.RawQuery, "client_secret")
}

func checkExchange(t *testing.T, h *Harness) {
	g, err := h.Provider.Exchange(t.Context(), authorize(t, h), verifier, h.RedirectURI)
	require.NoError(t, err)
	require.NotEmpty(t, g.AccessToken)
	require.NotEmpty(t, g.RefreshToken)
	require.NotEmpty(t, g.AccountID)
	require.NotEmpty(t, g.AccountLabel)
}

func checkReplayedCode(t *testing.T, h *Harness) {
	code := authorize(t, h)
	_, err := h.Provider.Exchange(t.Context(), code, verifier, h.RedirectURI)
	require.NoError(t, err)
	_, err = h.Provider.Exchange(t.Context(), code, verifier, h.RedirectURI)
	requireFault(t, err, fault.Invalid, code)
}

func checkWrongVerifier(t *testing.T, h *Harness) {
	code := authorize(t, h)
	_, err := h.Provider.Exchange(t.Context(), code, "another-"+verifier, h.RedirectURI)
	requireFault(t, err, fault.Invalid, code)
}

func checkBadClient(t *testing.T, h *Harness) {
	c := connect(t, h)
	g, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	h.Remote.Inject(t, BadClient)
	_, err = h.Provider.Refresh(t.Context(), g)
	c.requireFault(t, err, fault.ClientMisconfig)
	_, err = h.Provider.Refresh(t.Context(), g)
	require.NoError(t, err, "the grant is still alive")
}

func checkForeignInstance(t *testing.T, h *Harness) {
	code := authorize(t, h)
	h.Remote.Inject(t, ForeignInstance)
	_, err := h.Provider.Exchange(t.Context(), code, verifier, h.RedirectURI)
	requireFault(t, err, fault.Denied, code)
}

func checkRefresh(t *testing.T, h *Harness) {
	c := connect(t, h)
	old, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	renewed, err := h.Provider.Refresh(t.Context(), old)
	require.NoError(t, err)
	require.NotEqual(t, old.AccessToken, renewed.AccessToken)
	require.NotEmpty(t, renewed.RefreshToken)
	require.Equal(t, old.AccountID, renewed.AccountID)
	require.Equal(t, old.AccountLabel, renewed.AccountLabel)
	_, err = h.Provider.Open(NewKeeper(h.Provider, renewed)).Validate(t.Context())
	require.NoError(t, err, "the new grant works")
	if !h.Rotates {
		return
	}
	require.NotEqual(t, old.RefreshToken, renewed.RefreshToken)
	_, err = h.Provider.Refresh(t.Context(), old)
	requireFault(t, err, fault.ReauthRequired, old.RefreshToken, renewed.RefreshToken)
}

func checkBusyRefresh(t *testing.T, h *Harness) {
	c := connect(t, h)
	g, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	h.Remote.Inject(t, BusyRefresh)
	_, err = h.Provider.Refresh(t.Context(), g)
	c.requireFault(t, err, fault.Throttled)
	require.Positive(t, fault.RetryAfter(err))
	_, err = h.Provider.Refresh(t.Context(), g)
	require.NoError(t, err)
}

func checkTokenOutage(t *testing.T, h *Harness) {
	c := connect(t, h)
	g, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	h.Remote.Inject(t, TokenOutage)
	_, err = h.Provider.Refresh(t.Context(), g)
	c.requireFault(t, err, fault.Unavailable)
	_, err = h.Provider.Refresh(t.Context(), g)
	require.NoError(t, err)
}

func checkDeadGrant(t *testing.T, h *Harness) {
	c := connect(t, h)
	h.Remote.Inject(t, KillGrant)
	require.Error(t, c.fail(t, "", fault.ReauthRequired))
	require.Equal(t, 1, c.keeper.Renewals(), "the token endpoint is asked once")
}

func checkRevoke(t *testing.T, h *Harness) {
	c := connect(t, h)
	g, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	require.NoError(t, h.Provider.Revoke(t.Context(), g))
	_, err = c.session.Validate(t.Context())
	c.requireFault(t, err, fault.ReauthRequired)
	require.NoError(t, h.Provider.Revoke(t.Context(), g), "what is gone may be revoked again")
}

func checkValidate(t *testing.T, h *Harness) {
	c := connect(t, h)
	g, err := c.keeper.Grant(t.Context())
	require.NoError(t, err)
	account, err := c.session.Validate(t.Context())
	require.NoError(t, err)
	require.Equal(t, g.AccountID, account.ID)
	require.Equal(t, g.AccountLabel, account.Label)
}

func checkDiscover(t *testing.T, h *Harness) {
	schema, err := connect(t, h).session.Discover(t.Context())
	require.NoError(t, err)
	for _, spec := range h.Provider.Objects() {
		i := slices.IndexFunc(schema.Objects, func(o connectors.Object) bool { return o.Name == spec.Name })
		require.GreaterOrEqual(t, i, 0, "object %s", spec.Name)
		require.True(t, schema.Objects[i].Supported)
		require.NotEmpty(t, schema.Objects[i].Fields)
		for _, f := range schema.Objects[i].Fields {
			require.NotEmpty(t, f.Name)
			require.NotEmpty(t, f.Type)
			require.NotNil(t, f.PicklistValues, "field %s", f.Name)
			require.NotNil(t, f.ReferenceTo, "field %s", f.Name)
		}
	}
}

func checkMappings(t *testing.T, h *Harness) {
	schema, err := connect(t, h).session.Discover(t.Context())
	require.NoError(t, err)
	records := map[string]models.RecordType{}
	for _, spec := range h.Provider.Objects() {
		records[spec.Name] = spec.Record
	}
	seen := map[[2]string]bool{}
	for _, m := range h.Provider.DefaultMappings(schema) {
		key := [2]string{m.Object, m.TargetField}
		require.False(t, seen[key], "%v is mapped twice", key)
		seen[key] = true
		require.True(t, slices.ContainsFunc(models.TargetFields, func(f models.TargetField) bool {
			return f.Record == records[m.Object] && f.Name == m.TargetField
		}), "%v is a canonical field", key)
		require.True(t, slices.ContainsFunc(schema.Objects, func(o connectors.Object) bool {
			return o.Name == m.Object && slices.ContainsFunc(o.Fields, func(f connectors.Field) bool {
				return f.Name == m.SourceField && string(f.Type) == m.SourceType
			})
		}), "%s.%s is in the schema", m.Object, m.SourceField)
	}
	for object, record := range records {
		for _, f := range models.TargetFields {
			if f.Record == record && f.Required {
				require.True(t, seen[[2]string{object, f.Name}], "%s.%s is suggested", object, f.Name)
			}
		}
	}
	require.Empty(t, h.Provider.DefaultMappings(connectors.Schema{}))
}

func requireRecord(t *testing.T, r connectors.Record) {
	t.Helper()
	require.NotEmpty(t, r.ExternalID)
	require.False(t, r.UpdatedAt.IsZero())
	require.Equal(t, time.UTC, r.UpdatedAt.Location())
	require.False(t, r.Deleted)
	var object map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.Payload, &object))
	require.NotEmpty(t, object)
}
