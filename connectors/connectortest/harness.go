// Package connectortest is the conformance suite that every provider passes. What belongs here: the suite, the remote
// account it needs to control, and a keeper of grants for tests. Nothing in it knows a particular provider.
package connectortest

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

// Harness is one provider against one account that nobody else uses.
type Harness struct {
	Provider    connectors.Provider
	Remote      Remote
	RedirectURI string
	Object      string // has several pages of records at PageSize, most of them stamped long ago
	PageSize    int    // rows wanted per page
	Merges      string // an object whose records can be merged, "" if the provider knows no merges
	Rotates     bool   // whether a refresh ends the refresh token it used
}

// Remote is the account on the provider's side: what is in it, and ways to change and disturb it.
type Remote interface {
	// Consent plays the person on the consent page and returns the query of the callback.
	Consent(t testing.TB, authorizeURL string) url.Values
	// Live lists the ids of the live records of an object.
	Live(t *testing.T, object string) []string
	// Create, Update and Delete change one record; Merge deletes the loser in favor of the winner.
	Create(t *testing.T, object string) (id string)
	Update(t *testing.T, object, id string)
	Delete(t *testing.T, object, id string)
	Merge(t *testing.T, object, winner, loser string)
	// Inject arranges a disturbance.
	Inject(t *testing.T, d Disturbance)
}

// Disturbance is something that goes wrong at a provider.
type Disturbance string

// The disturbances. Those about the next answer happen once.
const (
	ExpireAccess    Disturbance = "expire_access"    // access tokens given out so far are refused
	KillGrant       Disturbance = "kill_grant"       // access and refresh tokens given out so far are refused
	BusyRefresh     Disturbance = "busy_refresh"     // the next refresh is refused as already being processed
	BadClient       Disturbance = "bad_client"       // the next token request is refused for our credentials
	TokenOutage     Disturbance = "token_outage"     // the next token request meets a server error
	ForeignInstance Disturbance = "foreign_instance" // the next token answer names an API on a foreign host
	Throttle        Disturbance = "throttle"         // the next read is refused as one too many
	Quota           Disturbance = "quota"            // the next read is refused until the day is over
	MaintenancePage Disturbance = "maintenance_page" // the next read is answered with HTML and status 200
	CutShort        Disturbance = "cut_short"        // the next read's body ends early
	ServerError     Disturbance = "server_error"     // the next read meets a server error
	ForeignLink     Disturbance = "foreign_link"     // the next read links to a page on a foreign host
	SameLink        Disturbance = "same_link"        // the next page links to itself
	ForgetCursors   Disturbance = "forget_cursors"   // positions given out so far are not known any more
)

// Keeper is a TokenSource that keeps one grant in memory and counts how often it was renewed.
type Keeper struct {
	Provider connectors.Provider

	mu    sync.Mutex
	grant connectors.Grant
	count int
}

// NewKeeper keeps a grant for a provider.
func NewKeeper(p connectors.Provider, g connectors.Grant) *Keeper {
	return &Keeper{Provider: p, grant: g}
}

// Grant returns the grant in force.
func (k *Keeper) Grant(context.Context) (connectors.Grant, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.grant, nil
}

// Renew refreshes the grant unless someone else already replaced the refused one.
func (k *Keeper) Renew(ctx context.Context, refused connectors.Grant) (connectors.Grant, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.grant.Version > refused.Version {
		return k.grant, nil
	}
	k.count++
	next, err := k.Provider.Refresh(ctx, k.grant)
	if err != nil {
		return connectors.Grant{}, err
	}
	next.Version = k.grant.Version + 1
	k.grant = next
	return next, nil
}

// Renewals returns how many refreshes were attempted.
func (k *Keeper) Renewals() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.count
}

// connection is a connected account in a test.
type connection struct {
	*Harness
	keeper  *Keeper
	session connectors.Session
}

const verifier = "conformance-verifier-0123456789-abcdefghijklmnop" // within 43 to 128 characters

// connect goes through the whole authorization.
func connect(t *testing.T, h *Harness) *connection {
	t.Helper()
	g, err := h.Provider.Exchange(t.Context(), authorize(t, h), verifier, h.RedirectURI)
	require.NoError(t, err)
	k := NewKeeper(h.Provider, g)
	return &connection{Harness: h, keeper: k, session: h.Provider.Open(k)}
}

// authorize has a person consent and returns the code.
func authorize(t *testing.T, h *Harness) string {
	t.Helper()
	back := h.Remote.Consent(t, h.Provider.Authorize("state-1", challenge(verifier), h.RedirectURI))
	require.Equal(t, "state-1", back.Get("state"), "the provider returns the state")
	require.NotEmpty(t, back.Get("code"))
	return back.Get("code")
}

// run reads one run of the harness's object from a cursor to its end, over a new session as after a restart.
func (c *connection) run(t *testing.T, from connectors.Cursor) (ids []string, cursors []connectors.Cursor) {
	t.Helper()
	session := c.Provider.Open(c.keeper)
	for range 10_000 {
		page, err := session.Pull(t.Context(), connectors.PullRequest{Object: c.Object, After: from, Limit: c.PageSize})
		require.NoError(t, err)
		require.NotEqual(t, from, page.Next, "the cursor moves on every page")
		for _, r := range page.Records {
			requireRecord(t, r)
			ids = append(ids, r.ExternalID)
		}
		cursors = append(cursors, page.Next)
		if from = page.Next; page.Done {
			return ids, cursors
		}
	}
	require.Fail(t, "the run does not end")
	return nil, nil
}

// first reads the first page.
func (c *connection) first(t *testing.T) connectors.Page {
	t.Helper()
	page, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: c.Object, Limit: c.PageSize})
	require.NoError(t, err)
	require.False(t, page.Done, "the object must have more than one page")
	return page
}

// pull reads the page after a cursor and expects it to fail.
func (c *connection) fail(t *testing.T, after connectors.Cursor, want fault.Code) error {
	t.Helper()
	page, err := c.session.Pull(t.Context(), connectors.PullRequest{Object: c.Object, After: after, Limit: c.PageSize})
	c.requireFault(t, err, want)
	require.Empty(t, page.Records, "a failed page has no records")
	require.Empty(t, page.Next, "a failed page does not advance")
	return err
}

// requireFault checks the code of an error and that its text gives no credential away.
func (c *connection) requireFault(t *testing.T, err error, want fault.Code) {
	t.Helper()
	g, gerr := c.keeper.Grant(t.Context())
	require.NoError(t, gerr)
	requireFault(t, err, want, g.AccessToken, g.RefreshToken)
}

func requireFault(t *testing.T, err error, want fault.Code, secrets ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, fault.CodeOf(err), "error: %v", err)
	for _, secret := range append(secrets, verifier) {
		if secret != "" {
			require.NotContains(t, err.Error(), secret, "errors hold no secrets")
		}
	}
	require.NotContains(t, err.Error(), "?", "errors hold no URL queries")
}

func (c *connection) requireAll(t *testing.T, got []string) {
	t.Helper()
	requireSame(t, c.Remote.Live(t, c.Object), got)
}

// requireSame compares ids as multisets, so that a loss and a double both show.
func requireSame(t *testing.T, want, got []string) {
	t.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	require.Len(t, got, len(want), "number of records")
	require.Equal(t, want, got)
}
