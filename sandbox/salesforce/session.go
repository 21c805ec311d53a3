package salesforce

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"revarch/sandbox/control"
	"revarch/sandbox/oauth"
)

func itoa(n int) string { return strconv.Itoa(n) }

// base is the mount point as the client reaches it.
func (s *Server) base(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return s.cfg.PublicURL
	}
	return "http://" + r.Host + "/" + Provider
}

func (s *Server) identityURL(r *http.Request) string {
	return s.base(r) + "/id/" + orgID + "/" + userID(0)
}

// tokenAnswer words a token answer: no expires_in, the time of issue in milliseconds as text.
func (s *Server) tokenAnswer(r *http.Request, t oauth.Tokens) any {
	id, issued, instance := s.identityURL(r), strconv.FormatInt(t.Issued.UnixMilli(), 10), s.base(r)
	if f, hit := s.chaos.Strikes(control.InstanceURL, r); hit {
		instance = f.URL
	}
	mac := hmac.New(sha256.New, []byte(s.cfg.Clients[0].Secret))
	mac.Write([]byte(id + issued))
	return struct {
		Access    string `json:"access_token"`
		Refresh   string `json:"refresh_token,omitempty"`
		Signature string `json:"signature"`
		Scope     string `json:"scope"`
		Instance  string `json:"instance_url"`
		ID        string `json:"id"`
		Type      string `json:"token_type"`
		Issued    string `json:"issued_at"`
	}{t.Access, t.Refresh, base64.StdEncoding.EncodeToString(mac.Sum(nil)), strings.Join(t.Scopes, " "), instance, id, "Bearer", issued}
}

// identity answers both the identity URL and userinfo.
func (s *Server) identity(w http.ResponseWriter, r *http.Request) *apiError {
	if org := r.PathValue("org"); org != "" && (org != orgID || r.PathValue("user") != userID(0)) {
		return fail(http.StatusForbidden, "FORBIDDEN", "Wrong_Org")
	}
	u := s.cfg.Generator.Users[0]
	writeJSON(w, http.StatusOK, map[string]any{
		"id": s.identityURL(r), "sub": s.identityURL(r), "asserted_user": true, "user_id": userID(0), "organization_id": orgID,
		"username": username, "preferred_username": username, "nick_name": "integration", "display_name": u.First + " " + u.Last,
		"name": u.First + " " + u.Last, "given_name": u.First, "family_name": u.Last, "email": "seller01@vendor.example", "email_verified": true,
		"active": true, "user_type": "STANDARD", "language": "en_US", "locale": "en_US", "zoneinfo": "America/New_York", "utcOffset": -18000000,
		"organization_name": "Vendor Sandbox", "is_app_installed": true,
		"urls": map[string]string{
			"rest":     s.base(r) + "/services/data/v{version}/",
			"sobjects": s.base(r) + "/services/data/v{version}/sobjects/",
			"query":    s.base(r) + "/services/data/v{version}/query/",
		},
	})
	return nil
}
