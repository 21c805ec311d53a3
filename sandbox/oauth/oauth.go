// Package oauth is the authorization server that all dialects of the sandbox share: consent page, codes with PKCE,
// refresh tokens with rotation, revocation and introspection. What belongs here: the protocol and the grants. How a
// provider words its answers comes from the dialect through Config.
package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"revarch/sandbox/chaos"
	"revarch/sandbox/journal"
)

// Client is an application registered with the provider. A redirect URI on a loopback host is registered without a
// port and matches any.
type Client struct {
	ID, Secret, Name string
	RedirectURIs     []string
}

// Scope is what a client may ask for, with the words of the consent page.
type Scope struct{ Name, Text string }

// Config is what a dialect and the operator decide.
type Config struct {
	Product       string // name of the provider on the consent page
	User          string // who is signed in there
	Clients       []Client
	Scopes        []Scope
	RefreshScopes []string // any of these gives a refresh token
	AutoConsent   bool     // answer authorization requests without showing the page
	Rotate        bool     // each refresh token works once
	AccessTTL     time.Duration
	IdleTTL       time.Duration // a refresh token unused this long dies
	RefreshTime   time.Duration // how long one refresh takes, and another at once is refused
	Clock         func() time.Time
	Journal       *journal.Journal
	JournalPrefix string
	Chaos         *chaos.Injector
	TokenPrefix   string // of access tokens
	// Answer makes the body of a successful token answer.
	Answer func(r *http.Request, t Tokens) any
}

// Tokens is what a token request gave out. Refresh is empty when none is given.
type Tokens struct {
	Access, Refresh string
	Scopes          []string
	Issued          time.Time
}

// CodeTTL is how long an authorization code works.
const CodeTTL = 10 * time.Minute

// Server holds the grants of one provider.
type Server struct {
	cfg      Config
	mu       sync.Mutex
	codes    map[string]*code
	grants   map[string]*Grant
	byHash   map[string]*Grant // hash of every access and refresh token ever given out, to its grant
	requests int
}

// code is an authorization that waits to be exchanged.
type code struct {
	client, redirect, challenge string
	scopes                      []string
	expires                     time.Time
}

// Grant is what a user allowed a client. Only hashes of tokens are kept.
type Grant struct {
	ID      string           `json:"id"`
	Client  string           `json:"client"`
	Scopes  []string         `json:"scopes"`
	Refresh string           `json:"refresh,omitempty"` // hash of the one that works
	Used    []string         `json:"used,omitempty"`    // hashes of those that were rotated away
	Access  map[string]int64 `json:"access"`            // hash to expiry in Unix seconds
	Issued  int64            `json:"issued"`            // Unix seconds
	Touched int64            `json:"touched"`           // last use of a refresh token, Unix seconds
	Revoked bool             `json:"revoked,omitempty"`
	busy    bool
}

// New makes a server and restores its grants from journal entries.
func New(cfg Config, entries []journal.Entry) (*Server, error) {
	s := &Server{cfg: cfg, codes: map[string]*code{}, grants: map[string]*Grant{}, byHash: map[string]*Grant{}}
	for _, e := range entries {
		if !strings.HasPrefix(e.Key, cfg.JournalPrefix) {
			continue
		}
		g := &Grant{}
		if err := json.Unmarshal(e.Value, g); err != nil {
			return nil, fmt.Errorf("restoring %s: %w", e.Key, err)
		}
		s.index(g)
	}
	return s, nil
}

func (s *Server) index(g *Grant) {
	s.grants[g.ID] = g
	for h := range g.Access {
		s.byHash[h] = g
	}
	for _, h := range g.Used {
		s.byHash[h] = g
	}
	if g.Refresh != "" {
		s.byHash[g.Refresh] = g
	}
}

// save writes the grant; the caller holds the lock.
func (s *Server) save(g *Grant) error { return s.cfg.Journal.Put(s.cfg.JournalPrefix+g.ID, g) }

// Check returns the scopes of an access token, or false when it does not work (any more).
func (s *Server) Check(token string) ([]string, bool) {
	h := hash(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.byHash[h]
	if g == nil || g.Revoked || g.Access[h] <= s.cfg.Clock().Unix() {
		return nil, false
	}
	return g.Scopes, true
}

// ExpireSessions ends every access token; refresh tokens go on working.
func (s *Server) ExpireSessions() error {
	return s.each(func(g *Grant) {
		for h := range g.Access {
			g.Access[h] = 0
		}
	})
}

// RevokeAll kills every grant.
func (s *Server) RevokeAll() error { return s.each(func(g *Grant) { g.Revoked = true }) }

func (s *Server) each(do func(*Grant)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		do(g)
		if err := s.save(g); err != nil {
			return err
		}
	}
	return nil
}

// Counts returns how many grants are alive and how many token requests there were since the start.
func (s *Server) Counts() (grants, tokenRequests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		if !g.Revoked {
			grants++
		}
	}
	return grants, s.requests
}

func (s *Server) client(id string) *Client {
	i := slices.IndexFunc(s.cfg.Clients, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &s.cfg.Clients[i]
}

// grantsRefresh reports whether these scopes come with a refresh token.
func (s *Server) grantsRefresh(scopes []string) bool {
	return slices.ContainsFunc(scopes, func(x string) bool { return slices.Contains(s.cfg.RefreshScopes, x) })
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func secret(prefix string, bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return prefix + base64.RawURLEncoding.EncodeToString(b)
}
