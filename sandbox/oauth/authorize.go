package oauth

import (
	"html/template"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Authorize is the authorization endpoint: GET shows the consent page, its form posts the decision back to the same
// address with every parameter of the request and decision=allow or decision=deny.
func (s *Server) Authorize(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		s.refuse(w, "invalid_request", "The request cannot be read.")
		return
	}
	q := r.Form
	client := s.client(q.Get("client_id"))
	if client == nil {
		s.refuse(w, "invalid_client_id", "client identifier invalid")
		return
	}
	if !client.allows(q.Get("redirect_uri")) {
		s.refuse(w, "redirect_uri_mismatch", "redirect_uri must match configuration")
		return
	}
	scopes, code, text := s.check(q)
	switch {
	case code != "":
		redirect(w, r, q, url.Values{"error": {code}, "error_description": {text}})
	case r.Method == http.MethodPost && q.Get("decision") == "deny":
		redirect(w, r, q, url.Values{"error": {"access_denied"}, "error_description": {"end-user denied authorization"}})
	case r.Method == http.MethodPost && q.Get("decision") == "allow", s.cfg.AutoConsent:
		redirect(w, r, q, url.Values{"code": {s.newCode(client.ID, q, scopes)}})
	default:
		s.page(w, client, q, scopes)
	}
}

// check validates what may be answered to the client; error text is empty when all is well.
func (s *Server) check(q url.Values) (scopes []string, code, text string) {
	if q.Get("response_type") != "code" {
		return nil, "unsupported_response_type", "response type not supported"
	}
	challenge := q.Get("code_challenge")
	if challenge == "" {
		return nil, "invalid_request", "missing required code challenge"
	}
	if q.Get("code_challenge_method") != "S256" || len(challenge) != 43 {
		return nil, "invalid_request", "code challenge must use S256"
	}
	if scopes = strings.Fields(q.Get("scope")); len(scopes) == 0 {
		for _, x := range s.cfg.Scopes {
			scopes = append(scopes, x.Name)
		}
	}
	for _, x := range scopes {
		if !slices.ContainsFunc(s.cfg.Scopes, func(k Scope) bool { return k.Name == x }) {
			return nil, "invalid_scope", "the requested scope is invalid, unknown, or malformed"
		}
	}
	return scopes, "", ""
}

func (s *Server) newCode(client string, q url.Values, scopes []string) string {
	c := secret("aPrx", 36) + "==" // the provider's codes contain what must be form-encoded
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock()
	for k, old := range s.codes {
		if old.expires.Before(now) {
			delete(s.codes, k)
		}
	}
	s.codes[hash(c)] = &code{client, q.Get("redirect_uri"), q.Get("code_challenge"), scopes, now.Add(CodeTTL)}
	return c
}

// allows reports whether uri is one of the client's own: the same to the letter, but for the port of a loopback host.
func (c *Client) allows(uri string) bool {
	got, err := url.Parse(uri)
	if err != nil || got.Host == "" || got.Fragment != "" || got.User != nil {
		return false
	}
	return slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		if uri == registered {
			return true
		}
		want, err := url.Parse(registered)
		return err == nil && loopback(want.Hostname()) && got.Hostname() == want.Hostname() && got.Scheme == want.Scheme &&
			got.EscapedPath() == want.EscapedPath() && got.RawQuery == want.RawQuery
	})
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// redirect sends the browser back to the client with the answer and the client's state.
func redirect(w http.ResponseWriter, r *http.Request, q, answer url.Values) {
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	u, err := url.Parse(q.Get("redirect_uri"))
	if err != nil { // checked before
		http.Error(w, "bad redirect_uri", http.StatusBadRequest)
		return
	}
	merged := u.Query()
	maps.Copy(merged, answer)
	u.RawQuery = merged.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound) //nolint:gosec // G710: registered for the client, checked before
}

type pageData struct {
	Product, User, Client, Host string
	Scopes                      []Scope
	Hidden                      []struct{ Name, Value string }
	Code, Text                  string
}

func (s *Server) page(w http.ResponseWriter, c *Client, q url.Values, scopes []string) {
	d := pageData{Product: s.cfg.Product, User: s.cfg.User, Client: c.Name}
	if u, err := url.Parse(q.Get("redirect_uri")); err == nil {
		d.Host = u.Host
	}
	for _, x := range s.cfg.Scopes {
		if slices.Contains(scopes, x.Name) {
			d.Scopes = append(d.Scopes, x)
		}
	}
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method"} {
		if q.Has(name) {
			d.Hidden = append(d.Hidden, struct{ Name, Value string }{name, q.Get(name)})
		}
	}
	render(w, http.StatusOK, d)
}

// refuse shows an error to the user, because the client cannot be trusted with it.
func (s *Server) refuse(w http.ResponseWriter, code, text string) {
	render(w, http.StatusBadRequest, pageData{Product: s.cfg.Product, Code: code, Text: text})
}

func render(w http.ResponseWriter, status int, d pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// No form-action: browsers apply it to the redirect that answers the form, which leads to the client.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_ = consent.Execute(w, d) // the client has gone away
}

var consent = template.Must(template.New("consent").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{if .Code}}Cannot continue{{else}}Allow access?{{end}} - {{.Product}}</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --page: #f3f5f7; --card: #fff; --line: #d0d7de; --accent: #0b57a4; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --page: #0e1217; --card: #171c23; --line: #3a434e; --accent: #7cb8f5; --on: #0b1320 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 460px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 28px }
.product { color: var(--soft); margin: 0 0 8px; font-size: 14px }
h1 { font-size: 22px; line-height: 1.3; margin: 0 0 12px }
h2 { font-size: 16px; margin: 20px 0 8px }
ul { margin: 0; padding-left: 20px }
li { margin: 4px 0 }
.note { color: var(--soft); font-size: 14px; margin: 20px 0 0; overflow-wrap: anywhere }
.actions { display: flex; gap: 12px; margin-top: 24px }
button { flex: 1; min-height: 44px; font: inherit; font-weight: 600; border-radius: 6px; border: 1px solid var(--accent); cursor: pointer; background: transparent; color: var(--accent) }
button.allow { background: var(--accent); color: var(--on) }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
</style>
</head>
<body>
<main>
<p class="product">{{.Product}}</p>
{{if .Code}}<h1>We cannot authorize this application</h1>
<p>{{.Text}}</p>
<p class="note">error={{.Code}}</p>
{{else}}<h1>Allow {{.Client}} to use your data?</h1>
<p>You are signed in as <strong>{{.User}}</strong>.</p>
<h2>{{.Client}} asks to:</h2>
<ul>{{range .Scopes}}<li>{{.Text}} <code>({{.Name}})</code></li>{{end}}</ul>
<form method="post" action="authorize">
{{range .Hidden}}<input type="hidden" name="{{.Name}}" value="{{.Value}}">
{{end}}<div class="actions">
<button type="submit" name="decision" value="deny">Deny</button>
<button type="submit" name="decision" value="allow" class="allow">Allow</button>
</div>
</form>
<p class="note">You will return to {{.Host}}. This is a sandbox: its records are generated.</p>
{{end}}</main>
</body>
</html>
`))
