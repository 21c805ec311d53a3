// Package salesforce speaks the Salesforce REST dialect: OAuth answers, describe, SOQL, deletions, writes, limits and
// errors as the real API words them. What belongs here: everything that a client of that API can see, and the records
// behind it. Mounted under a prefix, it serves /services/oauth2, /services/data and /id below it.
//
// A token answer's instance_url is the mount point, and nextRecordsUrl is relative to it, without the mount's prefix:
// a client appends it to instance_url ("http://127.0.0.1:4000/crm_a" + "/services/data/v62.0/query/01g...-2000").
package salesforce

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"revarch/sandbox/chaos"
	"revarch/sandbox/control"
	"revarch/sandbox/data"
	"revarch/sandbox/journal"
	"revarch/sandbox/oauth"
)

// Provider is the code under which this dialect is mounted.
const Provider = "crm_a"

const (
	orgID    = "00D5g0000008sbxEAA"
	username = "integration@vendor.example.sandbox"
)

// Config is what the operator decides.
type Config struct {
	Generator   *data.Generator
	Clients     []oauth.Client
	AutoConsent bool
	AccessTTL   time.Duration // of access tokens
	RefreshTime time.Duration // how long a refresh takes
	DailyLimit  int           // API requests a day
	PublicURL   string        // the mount point as clients reach it; empty means http://<Host of the request>/crm_a
	Clock       func() time.Time
	Journal     *journal.Journal
	Entries     []journal.Entry // what the journal held
}

// Server is one org.
type Server struct {
	cfg      Config
	store    *store
	oauth    *oauth.Server
	chaos    *chaos.Injector
	locators *locators
	usage    usage
	schema   schemaClock
	rosterMu sync.Mutex
	rosters  int // that were set since the first start
}

// usage counts API requests of a UTC day.
type usage struct {
	mu   sync.Mutex
	day  string
	used int
}

// New generates the records, replays the journal and is then ready to serve.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, locators: newLocators(), chaos: &chaos.Injector{DataPath: "/services/data", TokenPath: "/services/oauth2/token", Error: writeStatus}}
	s.schema.at = cfg.Generator.Config().Anchor
	s.store = newStore(cfg.Generator, cfg.Clock, nil, s.hidden) // what is replayed is in the journal already
	for _, e := range cfg.Entries {
		if strings.HasPrefix(e.Key, rosterPrefix) {
			var r savedRoster
			if err := json.Unmarshal(e.Value, &r); err != nil {
				return nil, err
			}
			s.rosters++
			if _, err := s.store.setRoster(r.Entries, r.At); err != nil {
				return nil, err
			}
		}
	}
	if err := s.store.restore(cfg.Entries); err != nil {
		return nil, err
	}
	s.store.journal = cfg.Journal
	var err error
	s.oauth, err = oauth.New(oauth.Config{
		Product: "Salesforce sandbox", User: username, Clients: cfg.Clients, AutoConsent: cfg.AutoConsent, Rotate: true,
		Scopes: []oauth.Scope{
			{Name: "api", Text: "Read and change your records through the API"},
			{Name: "refresh_token", Text: "Keep access while you are away, until you revoke it"},
			{Name: "offline_access", Text: "Keep access while you are away"},
			{Name: "id", Text: "See who you are"},
			{Name: "openid", Text: "Sign in with your identity"},
		},
		RefreshScopes: []string{"refresh_token", "offline_access"}, AccessTTL: cfg.AccessTTL, IdleTTL: 30 * 24 * time.Hour,
		RefreshTime: cfg.RefreshTime, Clock: cfg.Clock, Journal: cfg.Journal, JournalPrefix: "crm_a/grant/", Chaos: s.chaos,
		TokenPrefix: orgID[:15] + "!AQ", Answer: s.tokenAnswer,
	}, cfg.Entries)
	return s, err
}

// Chaos returns the failures in force.
func (s *Server) Chaos() *chaos.Injector { return s.chaos }

// OAuth returns the authorization server.
func (s *Server) OAuth() *oauth.Server { return s.oauth }

// Handler serves the dialect; the mount's prefix must be stripped before.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /services/oauth2/authorize", s.oauth.Authorize)
	mux.HandleFunc("POST /services/oauth2/authorize", s.oauth.Authorize)
	mux.HandleFunc("POST /services/oauth2/token", s.oauth.Token)
	mux.HandleFunc("POST /services/oauth2/revoke", s.oauth.Revoke)
	mux.HandleFunc("POST /services/oauth2/introspect", s.oauth.Introspect)
	mux.Handle("GET /services/oauth2/userinfo", s.signedIn(s.identity))
	mux.Handle("GET /id/{org}/{user}", s.signedIn(s.identity))
	mux.HandleFunc("GET /services/data", s.versions)
	mux.HandleFunc("GET /services/data/{$}", s.versions)
	for pattern, h := range map[string]handler{
		"GET /services/data/{v}/sobjects":                          s.listObjects,
		"GET /services/data/{v}/sobjects/{object}/describe":        s.describe,
		"GET /services/data/{v}/sobjects/{object}/deleted":         s.deletions,
		"GET /services/data/{v}/sobjects/{object}/deleted/{$}":     s.deletions,
		"POST /services/data/{v}/sobjects/{object}":                s.post,
		"POST /services/data/{v}/sobjects/{object}/{$}":            s.post,
		"GET /services/data/{v}/sobjects/{object}/{id}":            s.get,
		"PATCH /services/data/{v}/sobjects/{object}/{id}":          s.patch,
		"DELETE /services/data/{v}/sobjects/{object}/{id}":         s.delete,
		"PATCH /services/data/{v}/sobjects/{object}/{ext}/{value}": s.upsert,
		"GET /services/data/{v}/limits":                            s.limits,
		"GET /services/data/{v}/query":                             s.query,
		"GET /services/data/{v}/query/{$}":                         s.query,
		"GET /services/data/{v}/queryAll":                          s.query,
		"GET /services/data/{v}/queryAll/{$}":                      s.query,
		"GET /services/data/{v}/query/{locator}":                   s.more,
		"GET /services/data/{v}/queryAll/{locator}":                s.more,
	} {
		mux.Handle(pattern, s.api(h))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, fail(http.StatusNotFound, "NOT_FOUND", "The requested resource does not exist"))
	})
	return s.chaos.Wrap(mux)
}

// handler answers an API request or says what is wrong with it.
type handler func(w http.ResponseWriter, r *http.Request) *apiError

// signedIn lets only requests with a working access token through.
func (s *Server) signedIn(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if _, ok := s.oauth.Check(token); !ok {
			writeError(w, fail(http.StatusUnauthorized, "INVALID_SESSION_ID", "Session expired or invalid"))
			return
		}
		if failure := h(w, r); failure != nil {
			writeError(w, failure)
		}
	})
}

var version = regexp.MustCompile(`^v(5[89]|6[0-6])\.0$`)

// api is signedIn with scope, version, request limit and its header.
func (s *Server) api(h handler) http.Handler {
	return s.signedIn(func(w http.ResponseWriter, r *http.Request) *apiError {
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if scopes, _ := s.oauth.Check(token); !contains(scopes, "api") {
			return fail(http.StatusForbidden, "INSUFFICIENT_ACCESS", "The access token does not have the api scope")
		}
		if !version.MatchString(r.PathValue("v")) {
			return fail(http.StatusNotFound, "NOT_FOUND", "The requested resource does not exist")
		}
		used, ok := s.count()
		if _, hit := s.chaos.Strikes(control.Limit, r); hit {
			used, ok = s.cfg.DailyLimit, false
		}
		w.Header().Set("Sforce-Limit-Info", "api-usage="+itoa(used)+"/"+itoa(s.cfg.DailyLimit))
		if !ok {
			return fail(http.StatusForbidden, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")
		}
		return h(w, r)
	})
}

// count takes one request from the day's allowance.
func (s *Server) count() (used int, ok bool) {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	if today := s.cfg.Clock().UTC().Format(dateLayout); today != s.usage.day {
		s.usage.day, s.usage.used = today, 0
	}
	if s.usage.used >= s.cfg.DailyLimit {
		return s.usage.used, false
	}
	s.usage.used++
	return s.usage.used, true
}

func writeError(w http.ResponseWriter, e *apiError) { writeJSON(w, e.Status, []*apiError{e}) }

// writeStatus words an injected status.
func writeStatus(w http.ResponseWriter, status int) {
	e := fail(status, "UNKNOWN_EXCEPTION", "An unexpected error occurred. Please include this ErrorId if you contact support: 1234567890-12345 (-1234567890)")
	if status == http.StatusServiceUnavailable {
		e = fail(status, "SERVER_UNAVAILABLE", "Server Unavailable")
	}
	writeError(w, e)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache,must-revalidate,max-age=0,no-store,private")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone away
}
