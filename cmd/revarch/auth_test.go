package main

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/config"
	"revarch/sandbox"
)

func login(s *system, email, pass string) response {
	s.tb.Helper()
	return caller{s: s}.do(http.MethodPost, "/api/auth/login", map[string]string{"email": email, "password": pass})
}

// cookieOf returns the session cookie that an answer sets.
func cookieOf(tb testing.TB, got response) *http.Cookie {
	tb.Helper()
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		if c.Name == api.SessionCookie {
			return c
		}
	}
	require.Fail(tb, "no session cookie", "%d %s", got.Status, got.Body)
	return nil
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, _ := s.org("Alpha", false)
	const email = "admin@alpha.example.org"

	t.Run("sets a cookie that scripts and other sites do not get", func(t *testing.T) {
		got := login(s, " ADMIN@alpha.example.org ", password)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		c := cookieOf(t, got)
		require.True(t, c.HttpOnly)
		require.Equal(t, http.SameSiteLaxMode, c.SameSite)
		require.Equal(t, "/", c.Path)
		require.False(t, c.Secure, "loopback has no https")
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM sessions WHERE hash = convert_to($1, 'UTF8')", c.Value), "only the hash is stored")
		me := caller{s: s, cookie: c.Value}
		me.ok(http.MethodGet, "/api/auth/me", nil, nil)

		me.ok(http.MethodPost, "/api/auth/logout", nil, nil)
		me.refused(http.MethodGet, "/api/auth/me", nil, http.StatusUnauthorized, "unauthenticated")
		require.Equal(t, http.StatusOK, caller{s: s, cookie: c.Value}.do(http.MethodPost, "/api/auth/login", map[string]string{"email": email, "password": password}).Status,
			"a dead cookie does not keep anybody from signing in")
	})

	t.Run("is the same refusal for a wrong password and a person nobody knows", func(t *testing.T) {
		wrong, nobody := login(s, email, "wrong"), login(s, "nobody@alpha.example.org", "wrong")
		require.Equal(t, http.StatusUnauthorized, wrong.Status)
		require.Equal(t, wrong.Body, nobody.Body)
		s.db.Exec(t, "DELETE FROM login_failures")
	})

	t.Run("slows down by account and by client after five wrong passwords, and never locks out for good", func(t *testing.T) {
		for range 5 {
			problemOf(t, "wrong", login(s, email, "wrong password"), http.StatusUnauthorized, "unauthenticated")
		}
		got := login(s, email, password)
		problemOf(t, "right but too soon", got, http.StatusTooManyRequests, "throttled")
		wait, err := strconv.Atoi(got.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.InDelta(t, 1, wait, 1)
		problemOf(t, "the same client with another account", login(s, "other@alpha.example.org", "x"), http.StatusTooManyRequests, "throttled")
		s.pass(2 * time.Second)
		longest := 0
		for range 10 { // each failure doubles the pause, up to five minutes
			problemOf(t, "wrong", login(s, email, "wrong password"), http.StatusUnauthorized, "unauthenticated")
			again := login(s, email, "wrong password")
			require.Equal(t, http.StatusTooManyRequests, again.Status)
			wait, err := strconv.Atoi(again.Header.Get("Retry-After"))
			require.NoError(t, err)
			longest = max(longest, wait)
			s.pass(time.Duration(wait) * time.Second)
		}
		require.Equal(t, 300, longest)
		require.Equal(t, http.StatusOK, login(s, email, password).Status)
		s.pass(16 * time.Minute)
	})

	t.Run("is not faster for guessing in parallel", func(t *testing.T) {
		var mu sync.Mutex
		statuses := map[int]int{}
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				got := login(s, "victim@alpha.example.org", fmt.Sprint("guess ", i))
				mu.Lock()
				defer mu.Unlock()
				statuses[got.Status]++
			})
		}
		wg.Wait()
		require.LessOrEqual(t, statuses[http.StatusUnauthorized], 10, "%v", statuses)
		require.Equal(t, 24, statuses[http.StatusUnauthorized]+statuses[http.StatusTooManyRequests])
		s.pass(16 * time.Minute)
	})

	t.Run("counts the address of the connection and not what a header claims", func(t *testing.T) {
		for i := range 5 {
			forged := caller{s: s}.with("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)).with("X-Real-Ip", fmt.Sprintf("203.0.113.%d", i)).with("Forwarded", "for=203.0.113.9")
			forged.refused(http.MethodPost, "/api/auth/login", map[string]string{"email": fmt.Sprintf("guess%d@example.org", i), "password": "x"}, http.StatusUnauthorized, "unauthenticated")
		}
		caller{s: s}.with("X-Forwarded-For", "198.51.100.7").refused(http.MethodPost, "/api/auth/login", map[string]string{"email": "new@example.org", "password": "x"},
			http.StatusTooManyRequests, "throttled")
		s.pass(16 * time.Minute)
	})

	t.Run("ends by itself when the session is not used", func(t *testing.T) {
		c := caller{s: s, cookie: cookieOf(t, login(s, email, password)).Value}
		s.pass(13 * 24 * time.Hour)
		c.ok(http.MethodGet, "/api/auth/me", nil, nil) // use prolongs it
		s.pass(13 * 24 * time.Hour)
		c.ok(http.MethodGet, "/api/auth/me", nil, nil)
		s.pass(15 * 24 * time.Hour)
		c.refused(http.MethodGet, "/api/auth/me", nil, http.StatusUnauthorized, "unauthenticated")
	})

	t.Run("stops for people who are disabled, with their sessions", func(t *testing.T) {
		id, c := s.member(org, auth.Rep, "leaver@alpha.example.org")
		s.db.Exec(t, "UPDATE users SET password_hash = $2 WHERE id = $1", id, auth.HashPassword(password))
		c.ok(http.MethodGet, "/api/auth/me", nil, nil)
		s.db.Exec(t, "UPDATE users SET disabled_at = now() WHERE id = $1", id)
		c.refused(http.MethodGet, "/api/auth/me", nil, http.StatusUnauthorized, "unauthenticated")
		require.Equal(t, http.StatusUnauthorized, login(s, "leaver@alpha.example.org", password).Status)
	})
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, admin := s.org("Alpha", false)
	other, otherAdmin := s.org("Beta", false)
	adminID := s.me(admin)

	t.Run("a changed role counts at once", func(t *testing.T) {
		id, c := s.member(org, auth.Viewer, "climber@example.org")
		task := map[string]any{"title": "call"}
		c.refused(http.MethodPost, "/api/tasks", task, http.StatusForbidden, "denied")
		admin.ok(http.MethodPatch, "/api/settings/members/"+id, map[string]string{"role": "rep"}, nil)
		c.ok(http.MethodPost, "/api/tasks", task, nil)
		admin.ok(http.MethodPatch, "/api/settings/members/"+id, map[string]string{"role": "viewer"}, nil)
		c.refused(http.MethodPost, "/api/tasks", task, http.StatusForbidden, "denied")
	})

	t.Run("a removed member is out at once, in this organization alone", func(t *testing.T) {
		id, c := s.member(org, auth.Manager, "both@example.org")
		s.db.Exec(t, "INSERT INTO memberships (org_id, user_id, role) VALUES ($1, $2, 'rep')", other, id)
		elsewhere := s.session(other, uuid.MustParse(id))
		admin.ok(http.MethodDelete, "/api/settings/members/"+id, nil, nil)
		c.refused(http.MethodGet, "/api/auth/me", nil, http.StatusUnauthorized, "unauthenticated")
		elsewhere.ok(http.MethodGet, "/api/auth/me", nil, nil)
		admin.refused(http.MethodDelete, "/api/settings/members/"+id, nil, http.StatusNotFound, "not_found")
		otherAdmin.ok(http.MethodDelete, "/api/settings/members/"+id, nil, nil)
	})

	t.Run("the last admin stays, even when two admins remove each other at once", func(t *testing.T) {
		admin.refused(http.MethodDelete, "/api/settings/members/"+adminID, nil, http.StatusConflict, "conflict")
		admin.refused(http.MethodPatch, "/api/settings/members/"+adminID, map[string]string{"role": "rep"}, http.StatusConflict, "conflict")
		second, c := s.member(org, auth.Admin, "second@example.org")
		var wg sync.WaitGroup
		for _, x := range []struct {
			c  caller
			id string
		}{{admin, second}, {c, adminID}} {
			wg.Go(func() { x.c.do(http.MethodPatch, "/api/settings/members/"+x.id, map[string]string{"role": "viewer"}) })
		}
		wg.Wait()
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM memberships WHERE org_id = $1 AND role = 'admin'", org))
		s.db.Exec(t, "UPDATE memberships SET role = 'admin' WHERE org_id = $1 AND user_id = $2", org, adminID)
	})

	t.Run("nobody becomes an operator by a role", func(t *testing.T) {
		admin.refused(http.MethodPatch, "/api/settings/members/"+adminID, map[string]string{"role": "operator"}, http.StatusUnprocessableEntity, "invalid")
		admin.refused(http.MethodPost, "/api/settings/members/invitations", map[string]string{"email": "x@example.org", "role": "operator"}, http.StatusUnprocessableEntity, "invalid")
	})

	t.Run("the last operator stays one, since nobody could become one again", func(t *testing.T) {
		system, operator := s.org("Platform", true)
		s.member(system, auth.Admin, "helper@example.org")
		operator.refused(http.MethodPatch, "/api/settings/members/"+s.me(operator), map[string]string{"role": "admin"}, http.StatusConflict, "conflict")
		operator.refused(http.MethodDelete, "/api/settings/members/"+s.me(operator), nil, http.StatusConflict, "conflict")
		s.member(system, auth.Operator, "second@platform.example.org")
		operator.ok(http.MethodPatch, "/api/settings/members/"+s.me(operator), map[string]string{"role": "admin"}, nil)
	})

	invite := func(who caller, email string) string {
		var out struct{ Link string }
		who.ok(http.MethodPost, "/api/settings/members/invitations", map[string]string{"email": email, "role": "rep"}, &out)
		return "/api/auth/invitations/" + strings.TrimPrefix(out.Link, "/invite/")
	}
	nobody := caller{s: s}

	t.Run("an invitation is taken once, with a password good enough", func(t *testing.T) {
		link := invite(admin, "New.Person@example.org")
		var offer struct{ Email string }
		nobody.ok(http.MethodGet, link, nil, &offer)
		require.Equal(t, "new.person@example.org", offer.Email)
		nobody.refused(http.MethodPost, link+"/accept", map[string]string{"password": "short"}, http.StatusUnprocessableEntity, "invalid")
		got := nobody.ok(http.MethodPost, link+"/accept", map[string]string{"name": "New", "password": password}, nil)
		caller{s: s, cookie: cookieOf(t, got).Value}.ok(http.MethodPost, "/api/tasks", map[string]any{"title": "first"}, nil)
		nobody.refused(http.MethodPost, link+"/accept", map[string]string{"password": password}, http.StatusNotFound, "not_found")
		nobody.refused(http.MethodGet, link, nil, http.StatusNotFound, "not_found")
		require.Equal(t, http.StatusOK, login(s, "new.person@example.org", password).Status)
	})

	t.Run("a link serves one of many who use it at once", func(t *testing.T) {
		link := invite(admin, "race@example.org")
		var wg sync.WaitGroup
		var mu sync.Mutex
		good := 0
		for range 4 {
			wg.Go(func() {
				got := nobody.do(http.MethodPost, link+"/accept", map[string]string{"password": password})
				mu.Lock()
				defer mu.Unlock()
				if got.Status == http.StatusOK {
					good++
				} else if got.Status >= 500 {
					t.Errorf("%d: %s", got.Status, got.Body)
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, good)
	})

	t.Run("who is known must give the password, and guessing it here slows down too", func(t *testing.T) {
		link := invite(otherAdmin, "admin@alpha.example.org")
		s.db.Exec(t, "DELETE FROM login_failures")
		for range 5 {
			nobody.refused(http.MethodPost, link+"/accept", map[string]string{"password": "a guess that is long"}, http.StatusUnprocessableEntity, "invalid")
		}
		nobody.refused(http.MethodPost, link+"/accept", map[string]string{"password": password}, http.StatusTooManyRequests, "throttled")
		s.pass(2 * time.Second)
		got := nobody.ok(http.MethodPost, link+"/accept", map[string]string{"password": password}, nil)
		c := caller{s: s, cookie: cookieOf(t, got).Value}
		var me api.Me
		c.ok(http.MethodGet, "/api/auth/me", nil, &me)
		require.Equal(t, other, me.Organization.ID)
		require.Len(t, me.Organizations, 2)

		switched := c.ok(http.MethodPost, "/api/auth/switch", map[string]any{"organization_id": org}, nil)
		there := caller{s: s, cookie: cookieOf(t, switched).Value}
		there.ok(http.MethodGet, "/api/auth/me", nil, &me)
		require.Equal(t, org, me.Organization.ID)
		require.Equal(t, "admin", me.Role)
		c.refused(http.MethodGet, "/api/auth/me", nil, http.StatusUnauthorized, "unauthenticated")
		there.refused(http.MethodPost, "/api/auth/switch", map[string]any{"organization_id": uuid.New()}, http.StatusNotFound, "not_found")
		s.key(org, auth.Scopes...).refused(http.MethodPost, "/api/auth/switch", map[string]any{"organization_id": other}, http.StatusForbidden, "denied")
	})

	t.Run("invitations end by time and by being withdrawn", func(t *testing.T) {
		var out struct {
			Invitation struct{ ID string }
			Link       string
		}
		admin.ok(http.MethodPost, "/api/settings/members/invitations", map[string]string{"email": "gone@example.org", "role": "rep"}, &out)
		admin.ok(http.MethodDelete, "/api/settings/members/invitations/"+out.Invitation.ID, nil, nil)
		nobody.refused(http.MethodGet, "/api/auth/invitations/"+strings.TrimPrefix(out.Link, "/invite/"), nil, http.StatusNotFound, "not_found")
		late := invite(admin, "late@example.org")
		s.pass(8 * 24 * time.Hour)
		nobody.refused(http.MethodPost, late+"/accept", map[string]string{"password": password}, http.StatusNotFound, "not_found")
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, admin := s.org("Alpha", false)
	var made struct {
		APIKey struct{ ID string } `json:"api_key"`
		Secret string
	}
	create := func(body map[string]any) caller {
		admin.ok(http.MethodPost, "/api/settings/api-keys", body, &made)
		return caller{s: s, key: made.Secret}
	}
	c := create(map[string]any{"name": "one", "scopes": []string{"read"}})
	c.ok(http.MethodGet, "/api/accounts", nil, nil)
	list := admin.ok(http.MethodGet, "/api/settings/api-keys", nil, nil).Body
	require.NotContains(t, list, made.Secret, "shown once")
	admin.ok(http.MethodDelete, "/api/settings/api-keys/"+made.APIKey.ID, nil, nil)
	c.refused(http.MethodGet, "/api/accounts", nil, http.StatusUnauthorized, "unauthenticated")
	got := c.do(http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	require.Equal(t, http.StatusUnauthorized, got.Status)
	require.Contains(t, got.Header.Get("WWW-Authenticate"), "Bearer")

	c = create(map[string]any{"name": "short", "scopes": []string{"read"}, "expires_at": s.now().Add(time.Hour)})
	c.ok(http.MethodGet, "/api/accounts", nil, nil)
	s.pass(61 * time.Minute)
	c.refused(http.MethodGet, "/api/accounts", nil, http.StatusUnauthorized, "unauthenticated")
	admin = s.session(org, uuid.MustParse(s.adminOf(org)))
	admin.refused(http.MethodPost, "/api/settings/api-keys", map[string]any{"name": "past", "scopes": []string{"read"}, "expires_at": s.now().Add(-time.Hour)}, http.StatusUnprocessableEntity, "invalid")
	admin.refused(http.MethodPost, "/api/settings/api-keys", map[string]any{"name": "odd", "scopes": []string{"everything"}}, http.StatusUnprocessableEntity, "invalid")
	for _, header := range []string{"Basic abc", "Bearer", "Bearer ", "Bearer rk_unknown", "Bearer " + strings.Repeat("x", 5000), "bearer rk_x"} {
		p := caller{s: s}.with("Authorization", header).refused(http.MethodGet, "/api/accounts", nil, http.StatusUnauthorized, "unauthenticated")
		require.NotContains(t, p.Detail, "unknown")
	}
	admin.refused(http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.StatusUnauthorized, "unauthenticated")
}

// me returns the id of a caller.
func (s *system) me(c caller) string {
	s.tb.Helper()
	var me api.Me
	c.ok(http.MethodGet, "/api/auth/me", nil, &me)
	return me.User.ID.String()
}

func (s *system) adminOf(org uuid.UUID) string {
	s.tb.Helper()
	members, _, err := s.app.identity.Members(s.tb.Context(), auth.Engine(org))
	require.NoError(s.tb, err)
	for _, m := range members {
		if m.Role == "admin" {
			return m.UserID.String()
		}
	}
	require.Fail(s.tb, "no admin")
	return ""
}

func TestOtherSitesCannotUseTheSession(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, admin := s.org("Alpha", false)
	key := s.key(org, auth.Scopes...)
	body := map[string]any{"title": "planted"}
	for _, foreign := range []caller{
		admin.with("Sec-Fetch-Site", "cross-site").with("Origin", "https://evil.example"),
		admin.with("Sec-Fetch-Site", "same-site"),
		admin.with("Sec-Fetch-Site", "").with("Origin", "https://evil.example"),
		admin.with("Sec-Fetch-Site", "").with("Origin", "null"),
	} {
		foreign.refused(http.MethodPost, "/api/tasks", body, http.StatusForbidden, "denied")
		foreign.refused(http.MethodPost, "/api/auth/logout", nil, http.StatusForbidden, "denied")
		foreign.refused(http.MethodPost, "/api/tools/create_task", body, http.StatusForbidden, "denied")
		foreign.ok(http.MethodGet, "/api/tasks", nil, nil) // what it answers cannot be read from there
	}
	require.Empty(t, admin.list("/api/tasks", "tasks"))
	require.Len(t, admin.list("/api/governance-log?tool=POST+/api/tasks", "entries"), 4, "what was refused is logged")
	require.Len(t, admin.list("/api/governance-log?tool=POST+/api/tools/:name", "entries"), 4)
	key.with("Sec-Fetch-Site", "cross-site").with("Origin", "https://partner.example").ok(http.MethodPost, "/api/tasks", body, nil)

	for _, site := range []string{"cross-site", "same-site"} {
		admin.with("Sec-Fetch-Site", site).refused(http.MethodGet, "/api/connectors/crm_a/auth", nil, http.StatusForbidden, "denied")
	}
	require.Zero(t, s.db.Count(t, "SELECT count(*) FROM oauth_states"))
	for _, site := range []string{"same-origin", "none", ""} {
		admin.with("Sec-Fetch-Site", site).ok(http.MethodGet, "/api/connectors/crm_a/auth", nil, nil)
	}
	for _, accept := range []string{"text/html,*/*", "*/*", ""} { // whoever does not ask for JSON follows a redirect
		got := admin.with("Accept", accept).do(http.MethodGet, "/api/connectors/crm_a/auth", nil)
		require.Equal(t, http.StatusFound, got.Status, accept)
		require.Contains(t, got.Header.Get("Location"), "code_challenge_method=S256")
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	nonce := regexp.MustCompile(`'nonce-([^']+)'`)
	seen := map[string]bool{}
	for _, path := range []string{"/", "/", "/accounts", "/docs", "/openapi.json", "/api/auth/me", "/api/nothing", "/healthz"} {
		got := caller{s: s}.do(http.MethodGet, path, nil)
		csp := got.Header.Get("Content-Security-Policy")
		require.NotContains(t, csp, "unsafe", path)
		require.Contains(t, csp, "default-src 'none'", path)
		require.Contains(t, csp, "frame-ancestors 'none'", path)
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "DENY", got.Header.Get("X-Frame-Options"), path)
		require.Equal(t, "no-referrer", got.Header.Get("Referrer-Policy"), path)
		m := nonce.FindStringSubmatch(csp)
		require.Len(t, m, 2, path)
		require.False(t, seen[m[1]], "a nonce serves one answer")
		require.GreaterOrEqual(t, len(m[1]), 22)
		seen[m[1]] = true
		if strings.Contains(got.Header.Get("Content-Type"), "html") && path != "/docs" {
			require.Contains(t, got.Body, m[1], "%s: the page carries the nonce of its answer", path)
			require.NotContains(t, got.Body, "__CSP_NONCE__")
		}
		if strings.HasPrefix(path, "/api/") {
			require.Equal(t, "no-store", got.Header.Get("Cache-Control"), path)
		}
		require.Empty(t, got.Header.Get("Strict-Transport-Security"), "loopback has no https")
	}

	t.Run("behind https the cookie is secure and browsers are told to stay", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1}, func(c *config.Config) { c.PublicURL = "https://app.example.org" })
		s.org("Alpha", false)
		got := login(s, "admin@alpha.example.org", password)
		require.True(t, cookieOf(t, got).Secure)
		require.Contains(t, got.Header.Get("Strict-Transport-Security"), "max-age=")
	})
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1}, func(c *config.Config) { c.RatePerSecond = 0.5 })
	org, admin := s.org("Alpha", false)
	limited := func(c caller) response {
		var last response
		for range 6 {
			if last = c.do(http.MethodGet, "/api/auth/me", nil); last.Status == http.StatusTooManyRequests {
				break
			}
		}
		return last
	}
	got := limited(admin)
	problemOf(t, "the same person", got, http.StatusTooManyRequests, "throttled")
	wait, err := strconv.Atoi(got.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
	s.key(org, auth.ScopeRead).ok(http.MethodGet, "/api/auth/me", nil, nil) // another principal has its own
	problemOf(t, "guessing keys", limited(caller{s: s, key: "rk_guess"}), http.StatusTooManyRequests, "throttled")
	forged := caller{s: s}.with("X-Forwarded-For", "203.0.113.5").do(http.MethodGet, "/api/auth/me", nil)
	require.Equal(t, http.StatusTooManyRequests, forged.Status, "a claimed address has no bucket of its own")

	t.Run("a trusted proxy names its clients", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 1}, func(c *config.Config) { c.RatePerSecond, c.TrustedProxies = 0.5, []string{"127.0.0.1"} })
		one := caller{s: s}.with("X-Forwarded-For", "203.0.113.5")
		require.Equal(t, http.StatusTooManyRequests, limited(one).Status)
		require.Equal(t, http.StatusUnauthorized, caller{s: s}.with("X-Forwarded-For", "203.0.113.6").do(http.MethodGet, "/api/auth/me", nil).Status)
	})
}

// TestWhoMayDoWhat holds every operation of the document against the table of roles and scopes.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, admin := s.org("Alpha", false)
	system, operator := s.org("Platform", true)
	_, viewer := s.member(org, auth.Viewer, "v@example.org")
	_, rep := s.member(org, auth.Rep, "r@example.org")
	_, manager := s.member(org, auth.Manager, "m@example.org")
	may := map[string]map[string]bool{
		"read":     {"viewer": true, "rep": true, "manager": true, "admin": true, "operator": true, "key read": true},
		"write":    {"rep": true, "manager": true, "admin": true, "operator": true, "key write_safe": true},
		"operate":  {"manager": true, "admin": true, "operator": true, "key write_destructive": true, "key admin": true},
		"export":   {"manager": true, "admin": true, "operator": true, "key read": true, "operator key read": true},
		"admin":    {"admin": true, "operator": true, "key admin": true},
		"platform": {"operator": true, "operator key admin": true},
	}
	callers := map[string]caller{
		"nobody": {s: s}, "viewer": viewer, "rep": rep, "manager": manager, "admin": admin, "operator": operator,
		"operator key admin": s.key(system, auth.ScopeAdmin), "operator key read": s.key(system, auth.ScopeRead),
	}
	for _, scope := range auth.Scopes {
		callers["key "+string(scope)] = s.key(org, scope)
	}
	may["admin"]["operator key admin"], may["operate"]["operator key admin"], may["read"]["operator key read"] = true, true, true
	public := []string{
		"POST /api/auth/login", "POST /api/auth/logout", "GET /api/auth/invitations/{token}", "POST /api/auth/invitations/{token}/accept",
		"GET /api/connectors/{provider}/callback", "GET /api/tools", "POST /api/tools/{name}",
	} // tools: by the permission of each
	path := func(p string) string {
		return regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(p, func(name string) string {
			known := map[string]string{"{id}": uuid.NewString(), "{provider}": "crm_a", "{dataset}": "nothing", "{token}": "x", "{name}": "x", "{resource}": "accounts"}[name]
			require.NotEmpty(t, known, "a path parameter that this test does not know: %s", name)
			return known
		})
	}
	seen := 0
	for _, op := range operations(s.srv.OpenAPI()) {
		perm := permission(op)
		name := op.Method + " " + op.Path
		require.Equal(t, (perm == ""), slices.Contains(public, name), "%s: an operation without a permission must be listed here, and one that is listed has none", name)
		if perm == "" || op.Path == "/api/mcp" {
			continue
		}
		require.Contains(t, may, perm, name)
		for _, who := range slices.Sorted(maps.Keys(callers)) {
			c := callers[who]
			body := any(nil)
			if op.Method != http.MethodGet {
				body = "{}"
			}
			seen++
			got := c.do(op.Method, path(op.Path), body)
			switch {
			case who == "nobody":
				problemOf(t, name, got, http.StatusUnauthorized, "unauthenticated")
			case may[perm][who]:
				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.Status, "%s as %s: %s", name, who, got.Body)
				require.Less(t, got.Status, 500, "%s as %s: %s", name, who, got.Body)
			default:
				problemOf(t, name+" as "+who, got, http.StatusForbidden, "denied")
			}
		}
	}
	require.Greater(t, seen, 400)
}

func TestOnlyOperatorsAreLedToTheTemporalUI(t *testing.T) {
	t.Parallel()
	s := setup(t, sandbox.Config{Accounts: 1})
	org, admin := s.org("Alpha", false)
	system, _ := s.org("Platform", true)
	key := s.key(org, auth.ScopeRead, auth.ScopeAdmin)
	admin.connect()
	run := admin.run("/api/connectors/crm_a/sync", map[string]any{}, "succeeded")

	id, operator := s.member(org, auth.Viewer, "both@alpha.example.org")
	link := func(c caller) []any {
		var one map[string]any
		c.ok(http.MethodGet, "/api/runs/"+run.ID.String(), nil, &one)
		return []any{one["temporal_url"], c.list("/api/runs", "runs")[0]["temporal_url"]}
	}
	for _, who := range []caller{admin, key, operator} {
		require.Equal(t, []any{nil, nil}, link(who))
	}
	s.db.Exec(t, "INSERT INTO memberships (org_id, user_id, role) VALUES ($1, $2, 'operator')", system, id)
	for _, url := range link(operator) {
		require.Contains(t, url, "http://temporal.example/namespaces/", "an operator is one in every organization")
	}
	require.Contains(t, operator.do(http.MethodGet, "/api/runs/"+run.ID.String()+"/events", nil).Body, "http://temporal.example/")
	require.Equal(t, []any{nil, nil}, link(admin))
}
