package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"revarch/sandbox/control"
)

// tokenError is an error answer of the token endpoint.
type tokenError struct {
	Code string `json:"error"`
	Text string `json:"error_description"`
}

func (e *tokenError) Error() string { return e.Code + ": " + e.Text }

func bad(code, text string) *tokenError { return &tokenError{code, text} }

// maxUsed is how many rotated refresh tokens of a grant are remembered.
const maxUsed = 500

// Token is the token endpoint.
func (s *Server) Token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
	client, failure := s.authenticate(w, r)
	if failure != nil {
		answer(w, http.StatusBadRequest, failure)
		return
	}
	var t Tokens
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		t, failure = s.exchange(client, r)
	case "refresh_token":
		t, failure = s.refresh(client, r)
	case "":
		failure = bad("invalid_request", "missing required parameter: grant_type")
	default:
		failure = bad("unsupported_grant_type", "grant type not supported")
	}
	if failure != nil {
		answer(w, http.StatusBadRequest, failure)
		return
	}
	answer(w, http.StatusOK, s.cfg.Answer(r, t))
}

// authenticate reads the form and checks the client's credentials, in the form or by Basic authentication.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (*Client, *tokenError) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		return nil, bad("invalid_request", "the form cannot be read")
	}
	if _, hit := s.cfg.Chaos.Strikes(control.InvalidClient, r); hit {
		return nil, bad("invalid_client", "invalid client credentials")
	}
	id, key, basic := r.BasicAuth()
	if !basic {
		id, key = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	c := s.client(id)
	if c == nil {
		return nil, bad("invalid_client_id", "client identifier invalid")
	}
	if subtle.ConstantTimeCompare([]byte(key), []byte(c.Secret)) != 1 {
		return nil, bad("invalid_client", "invalid client credentials")
	}
	return c, nil
}

// exchange trades a code for tokens. The code is gone whether or not the trade succeeds.
func (s *Server) exchange(client *Client, r *http.Request) (Tokens, *tokenError) {
	h, now := hash(r.PostForm.Get("code")), s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.codes[h]
	delete(s.codes, h)
	switch {
	case c == nil, c.client != client.ID:
		return Tokens{}, bad("invalid_grant", "expired authorization code")
	case now.After(c.expires):
		return Tokens{}, bad("invalid_grant", "expired authorization code")
	case c.redirect != r.PostForm.Get("redirect_uri"):
		return Tokens{}, bad("redirect_uri_mismatch", "redirect_uri must match configuration")
	}
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge {
		return Tokens{}, bad("invalid_grant", "invalid code verifier")
	}
	g := &Grant{ID: secret("", 12), Client: client.ID, Scopes: c.scopes, Access: map[string]int64{}}
	return s.issue(g, now, s.grantsRefresh(c.scopes))
}

// issue gives a grant a new access token, and a new refresh token if asked to. The grant is saved before the tokens are
// known to anyone; the caller holds the lock.
func (s *Server) issue(g *Grant, now time.Time, withRefresh bool) (Tokens, *tokenError) {
	t := Tokens{Access: secret(s.cfg.TokenPrefix, 60), Scopes: g.Scopes, Issued: now}
	for h, expires := range g.Access {
		if expires <= now.Unix() {
			delete(g.Access, h)
			delete(s.byHash, h)
		}
	}
	g.Access[hash(t.Access)] = now.Add(s.cfg.AccessTTL).Unix()
	if withRefresh {
		if g.Refresh != "" {
			g.Used = append(g.Used, g.Refresh)
			g.Used = g.Used[max(0, len(g.Used)-maxUsed):]
		}
		t.Refresh = secret("5Aep861", 60)
		g.Refresh = hash(t.Refresh)
	}
	g.Issued, g.Touched = now.Unix(), now.Unix()
	s.index(g)
	if s.save(g) != nil {
		return Tokens{}, bad("server_error", "the grant cannot be stored")
	}
	return t, nil
}

// refresh trades a refresh token. Reuse of one that was rotated away kills the grant, for whoever holds it stole it.
func (s *Server) refresh(client *Client, r *http.Request) (Tokens, *tokenError) {
	dead := bad("invalid_grant", "expired access/refresh token")
	if _, hit := s.cfg.Chaos.Strikes(control.TokenBusy, r); hit {
		return Tokens{}, bad("invalid_grant", "token request is already being processed")
	}
	h := hash(r.PostForm.Get("refresh_token"))
	s.mu.Lock()
	defer s.mu.Unlock()
	g, now := s.byHash[h], s.cfg.Clock()
	switch {
	case g == nil, g.Client != client.ID, g.Revoked:
		return Tokens{}, dead
	case slices.Contains(g.Used, h):
		g.Revoked = true
		if s.save(g) != nil {
			return Tokens{}, bad("server_error", "the grant cannot be stored")
		}
		return Tokens{}, dead
	case h != g.Refresh, now.Unix()-g.Touched > int64(s.cfg.IdleTTL/time.Second):
		return Tokens{}, dead
	case g.busy:
		return Tokens{}, bad("invalid_grant", "token request is already being processed")
	}
	g.busy = true
	s.mu.Unlock()
	timer := time.NewTimer(s.cfg.RefreshTime)
	<-timer.C // not cut short when the client goes away: the provider rotates all the same
	s.mu.Lock()
	g.busy = false
	if g.Revoked {
		return Tokens{}, dead
	}
	return s.issue(g, s.cfg.Clock(), s.cfg.Rotate)
}

// Revoke ends the grant of an access or refresh token; an unknown token is an error, as at the provider.
func (s *Server) Revoke(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		answer(w, http.StatusBadRequest, bad("invalid_request", "the form cannot be read"))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.byHash[hash(r.Form.Get("token"))]
	if g == nil || g.Revoked {
		answer(w, http.StatusBadRequest, bad("unsupported_token_type", "this token is not supported"))
		return
	}
	g.Revoked = true
	if err := s.save(g); err != nil {
		answer(w, http.StatusInternalServerError, bad("server_error", "the grant cannot be stored"))
		return
	}
	w.WriteHeader(http.StatusOK)
}

// Introspection is the state of a token.
type Introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Username  string `json:"username,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
	Issued    int64  `json:"iat,omitempty"`
	NotBefore int64  `json:"nbf,omitempty"`
}

// Introspect tells a client about its own token.
func (s *Server) Introspect(w http.ResponseWriter, r *http.Request) {
	client, failure := s.authenticate(w, r)
	if failure != nil {
		answer(w, http.StatusUnauthorized, failure)
		return
	}
	h, now := hash(r.PostForm.Get("token")), s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.byHash[h]
	if g == nil || g.Revoked || g.Client != client.ID || slices.Contains(g.Used, h) {
		answer(w, http.StatusOK, Introspection{})
		return
	}
	out := Introspection{
		Active: true, Scope: strings.Join(g.Scopes, " "), ClientID: g.Client, Username: s.cfg.User,
		TokenType: "access_token", Expires: g.Access[h], Issued: g.Issued, NotBefore: g.Issued,
	}
	if h == g.Refresh {
		out.TokenType, out.Expires = "refresh_token", g.Touched+int64(s.cfg.IdleTTL/time.Second)
	}
	if out.Expires <= now.Unix() {
		out = Introspection{}
	}
	answer(w, http.StatusOK, out)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone away
}
