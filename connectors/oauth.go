package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"revarch/fault"
)

// maxTokenBody bounds the answers of token endpoints, in bytes.
const maxTokenBody = 1 << 20

// OAuth makes the OAuth 2.0 requests that all providers have in common. Every token request goes through one path, so
// that answers are bounded, checked and redacted in one place; the x/oauth2 token source is not used, because it
// neither persists a rotated refresh token nor serializes refreshes across processes.
type OAuth struct {
	Settings Settings
	HTTP     *http.Client
	// AuthStyle says where the client secret goes; never the auto-detecting zero value, which costs a failed call.
	AuthStyle oauth2.AuthStyle
	// AuthorizeParams are extra parameters of the consent page, such as access_type=offline.
	AuthorizeParams map[string]string
	// Classify says what a refusal of the token endpoint means. refresh tells a refresh from a code exchange.
	Classify func(e TokenError, refresh bool) *Refusal
}

// TokenError is an error answer of a token endpoint (RFC 6749, section 5.2). Description is for classifying only.
type TokenError struct {
	Status      int    `json:"-"`
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// TokenAnswer is a successful answer of a token endpoint. Raw is the whole body, for fields only one provider has.
type TokenAnswer struct {
	AccessToken  string          `json:"access_token"`
	RefreshToken string          `json:"refresh_token"`
	TokenType    string          `json:"token_type"`
	ExpiresIn    json.Number     `json:"expires_in"`
	Scope        string          `json:"scope"`
	Raw          json.RawMessage `json:"-"`
}

// ExpiresAt returns when the access token ends, zero when the provider does not say.
func (a TokenAnswer) ExpiresAt(now time.Time) time.Time {
	s, err := a.ExpiresIn.Int64()
	if err != nil || s <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(s, 10*365*86400)) * time.Second).UTC()
}

// AuthorizeURL returns the consent page with PKCE S256. challenge is the S256 challenge, never the verifier.
func (o *OAuth) AuthorizeURL(state, challenge, redirectURI string) string {
	cfg := oauth2.Config{
		ClientID: o.Settings.ClientID, RedirectURL: redirectURI, Scopes: o.Settings.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: o.Settings.AuthorizeURL},
	}
	opts := []oauth2.AuthCodeOption{
		oauth2.SetAuthURLParam("code_challenge", challenge), oauth2.SetAuthURLParam("code_challenge_method", "S256"),
	}
	for k, v := range o.AuthorizeParams {
		opts = append(opts, oauth2.SetAuthURLParam(k, v))
	}
	return cfg.AuthCodeURL(state, opts...)
}

// Exchange trades a code for tokens. Faults: Invalid for a refused code, as Classify says otherwise.
func (o *OAuth) Exchange(ctx context.Context, code, verifier, redirectURI string) (TokenAnswer, error) {
	return o.token(ctx, false, url.Values{
		"grant_type": {"authorization_code"}, "code": {code},
		"code_verifier": {verifier}, "redirect_uri": {redirectURI},
	})
}

// Refresh trades a refresh token for new tokens; the answer's refresh token may be empty when it did not change.
func (o *OAuth) Refresh(ctx context.Context, refreshToken string) (TokenAnswer, error) {
	if refreshToken == "" {
		return TokenAnswer{}, fault.New(fault.ReauthRequired, "The connection has no refresh token. Connect it again.")
	}
	return o.token(ctx, true, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken}})
}

// Revoke ends a token at the provider within ten seconds. A token that the provider no longer knows counts as ended.
func (o *OAuth) Revoke(ctx context.Context, form url.Values) error {
	if o.Settings.RevokeURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ans, err := o.post(ctx, o.Settings.RevokeURL, form)
	if err != nil {
		return err
	}
	if ans.Status < 300 || (ans.Status >= 400 && ans.Status < 500 && ans.Status != http.StatusTooManyRequests) {
		return nil
	}
	return (&Refusal{Class: ClassTransient, Status: ans.Status}).Fault()
}

func (o *OAuth) token(ctx context.Context, refresh bool, form url.Values) (TokenAnswer, error) {
	ans, err := o.post(ctx, o.Settings.TokenURL, form)
	if err != nil {
		return TokenAnswer{}, err
	}
	if ans.Status != http.StatusOK {
		return TokenAnswer{}, o.refused(ans, refresh)
	}
	var tok TokenAnswer
	if err := DecodeJSON(ans, &tok); err != nil {
		return TokenAnswer{}, err
	}
	if tok.AccessToken == "" {
		return TokenAnswer{}, fault.New(fault.Unavailable, "The provider's token answer holds no access token.")
	}
	tok.Raw = ans.Body
	return tok, nil
}

// refused classifies an error answer. Without a well-formed OAuth error, or with a server error, it is a disturbance
// and never a dead grant.
func (o *OAuth) refused(ans Answer, refresh bool) error {
	retry := RetryAfter(ans.Header, time.Now())
	e := TokenError{Status: ans.Status}
	if ans.Status == http.StatusTooManyRequests {
		return (&Refusal{Class: ClassThrottled, Status: ans.Status, Retry: retry}).Fault()
	}
	if ans.Status >= 500 || json.Unmarshal(ans.Body, &e) != nil || e.Code == "" {
		return (&Refusal{Class: ClassTransient, Status: ans.Status, Retry: retry}).Fault()
	}
	refusal := o.Classify(e, refresh)
	refusal.Status, refusal.Code = e.Status, e.Code
	if refusal.Retry == 0 {
		refusal.Retry = retry
	}
	if refusal.Class == ClassGrantDead && !refresh {
		return fault.Wrap(refusal, fault.Invalid, "The provider refused the authorization code. Start connecting again.")
	}
	return refusal.Fault()
}

func (o *OAuth) post(ctx context.Context, endpoint string, form url.Values) (Answer, error) {
	if o.AuthStyle == oauth2.AuthStyleInParams {
		form.Set("client_id", o.Settings.ClientID)
		if o.Settings.ClientSecret != "" {
			form.Set("client_secret", o.Settings.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, fault.Wrap(errors.New("endpoint is not a URL"), fault.ClientMisconfig, "A configured provider address is not a URL.")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if o.AuthStyle == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(o.Settings.ClientID), url.QueryEscape(o.Settings.ClientSecret))
	}
	return roundTrip(guardRedirects(o.HTTP), req, maxTokenBody)
}
