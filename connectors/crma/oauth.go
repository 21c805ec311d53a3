package crma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"revarch/connectors"
	"revarch/fault"
)

// Exchange trades an authorization code for a grant and names the org and user behind it. Faults: Invalid for a
// refused code, ClientMisconfig, ScopeMissing without offline access, Denied for a foreign instance, Unavailable.
func (p *Provider) Exchange(ctx context.Context, code, verifier, redirectURI string) (connectors.Grant, error) {
	answer, err := p.oauth.Exchange(ctx, code, verifier, redirectURI)
	if err != nil {
		return connectors.Grant{}, fmt.Errorf("exchange code: %w", err)
	}
	if answer.RefreshToken == "" {
		return connectors.Grant{}, fault.New(fault.ScopeMissing,
			"The provider granted no offline access. Allow the refresh_token scope and connect again.")
	}
	g, err := p.grantFrom(answer, connectors.Grant{})
	if err != nil {
		return connectors.Grant{}, err
	}
	account, err := p.identify(ctx, p.client(fixedToken{g}, nil), g)
	if err != nil && (g.AccountID == "" || fault.Is(err, fault.Denied)) {
		return connectors.Grant{}, err
	}
	if err != nil { // the code is spent and the org is known: a missing label is no reason to lose the grant
		account = connectors.Account{ID: g.AccountID, Label: label(g, "")}
	}
	g.AccountID, g.AccountLabel = account.ID, account.Label
	return g, nil
}

// Refresh returns the grant that replaces g. Where refresh tokens rotate, g's is dead afterwards; where they do not,
// the answer has none and g's stays. Faults: ReauthRequired, Throttled while another refresh is being processed,
// ClientMisconfig, Denied when instance or org are foreign, Unavailable.
func (p *Provider) Refresh(ctx context.Context, g connectors.Grant) (connectors.Grant, error) {
	answer, err := p.oauth.Refresh(ctx, g.RefreshToken)
	if err != nil {
		return connectors.Grant{}, fmt.Errorf("refresh grant: %w", err)
	}
	return p.grantFrom(answer, g)
}

// Revoke ends the grant at the provider: the refresh token takes its access tokens along.
func (p *Provider) Revoke(ctx context.Context, g connectors.Grant) error {
	token := g.RefreshToken
	if token == "" {
		token = g.AccessToken
	}
	if token == "" {
		return nil
	}
	return p.oauth.Revoke(ctx, url.Values{"token": {token}})
}

// grantFrom builds a grant from a token answer on top of the one it replaces.
func (p *Provider) grantFrom(answer connectors.TokenAnswer, old connectors.Grant) (connectors.Grant, error) {
	var own struct {
		InstanceURL string `json:"instance_url"`
		ID          string `json:"id"`
	}
	if err := json.Unmarshal(answer.Raw, &own); err != nil {
		return connectors.Grant{}, fault.New(fault.Unavailable, "The provider's token answer is not in the expected form.")
	}
	g := old
	g.AccessToken = answer.AccessToken
	g.ExpiresAt = answer.ExpiresAt(p.opts.Clock())
	if answer.RefreshToken != "" {
		g.RefreshToken = answer.RefreshToken
	}
	if answer.Scope != "" {
		g.Scopes = strings.Fields(answer.Scope)
	}
	if own.InstanceURL != "" {
		instance, err := p.instance(own.InstanceURL)
		if err != nil {
			return connectors.Grant{}, err
		}
		g.InstanceURL = instance
	}
	if p.baseURL(g) == "" {
		return connectors.Grant{}, fault.New(fault.Unavailable, "The provider's token answer names no instance.")
	}
	if org, _ := orgAndUser(own.ID); org != "" {
		if old.AccountID != "" && org != old.AccountID {
			return connectors.Grant{}, fault.New(fault.Denied, "The provider answered for another organization than the connected one.")
		}
		g.AccountID = org
	}
	return g, nil
}

// identify names the org and user behind a grant. The org comes from the identity URL of the token answer when there
// is one; the labels need the userinfo endpoint, which some scopes do not open.
func (p *Provider) identify(ctx context.Context, c *connectors.Client, g connectors.Grant) (connectors.Account, error) {
	var info struct {
		OrganizationID    string `json:"organization_id"`
		PreferredUsername string `json:"preferred_username"`
	}
	_, err := c.JSON(ctx, connectors.Call{Ref: "/services/oauth2/userinfo"}, &info)
	if closed := fault.Is(err, fault.ScopeMissing) || fault.Is(err, fault.NotFound); closed && g.AccountID != "" {
		return connectors.Account{ID: g.AccountID, Label: label(g, "")}, p.reach(ctx, c)
	}
	if err != nil {
		return connectors.Account{}, fmt.Errorf("read identity: %w", err)
	}
	org := longID(info.OrganizationID)
	if org == "" {
		org = g.AccountID
	}
	if org == "" || (g.AccountID != "" && org != g.AccountID) {
		return connectors.Account{}, fault.New(fault.Denied, "The provider answered for another organization than the connected one.")
	}
	g.AccountID = org
	return connectors.Account{ID: org, Label: label(g, info.PreferredUsername)}, nil
}

// reach makes the cheapest call that needs API access.
func (p *Provider) reach(ctx context.Context, c *connectors.Client) error {
	_, err := c.JSON(ctx, connectors.Call{Ref: p.dataPath + "/limits"}, &struct{}{})
	if err != nil {
		return fmt.Errorf("reach the API: %w", err)
	}
	return nil
}

// label names an org for people: whose login, at which host.
func label(g connectors.Grant, username string) string {
	host := g.AccountID
	if u, err := url.Parse(g.InstanceURL); err == nil && u.Host != "" {
		host = u.Host
	}
	if username == "" {
		return host
	}
	return username + " at " + host
}

// classifyToken says what an error of the token endpoint means. A parallel refresh is refused in words only.
func classifyToken(e connectors.TokenError, refresh bool) *connectors.Refusal {
	if strings.Contains(strings.ToLower(e.Description), "already being processed") {
		return &connectors.Refusal{Class: connectors.ClassThrottled, Retry: 2 * time.Second}
	}
	switch e.Code {
	case "invalid_grant", "inactive_user", "inactive_org", "invalid_token":
		return &connectors.Refusal{Class: connectors.ClassGrantDead}
	case "invalid_client", "invalid_client_id", "invalid_client_credentials", "unauthorized_client",
		"unsupported_grant_type", "redirect_uri_mismatch":
		return &connectors.Refusal{Class: connectors.ClassClientBad}
	case "invalid_scope":
		return &connectors.Refusal{Class: connectors.ClassScopeMissing}
	case "rate_limit_exceeded", "login_rate_exceeded":
		return &connectors.Refusal{Class: connectors.ClassThrottled, Retry: 30 * time.Second}
	case "server_error", "temporarily_unavailable", "unknown_error":
		return &connectors.Refusal{Class: connectors.ClassTransient}
	}
	if refresh {
		return &connectors.Refusal{Class: connectors.ClassTransient}
	}
	return &connectors.Refusal{Class: connectors.ClassRejected}
}

// fixedToken serves the one grant that an exchange has just made, before anyone keeps it.
type fixedToken struct{ g connectors.Grant }

func (f fixedToken) Grant(context.Context) (connectors.Grant, error) { return f.g, nil }

func (f fixedToken) Renew(context.Context, connectors.Grant) (connectors.Grant, error) {
	return connectors.Grant{}, fault.New(fault.Unavailable, "The provider refuses an access token that it has just issued.")
}
