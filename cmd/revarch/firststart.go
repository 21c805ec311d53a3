package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/config"
	"revarch/models"
	"revarch/sandbox"
)

// credentials are what revarch up keeps in DATA/credentials.json.
type credentials struct {
	AppURL         string  `json:"app_url"`
	AdminEmail     string  `json:"admin_email"`
	AdminPassword  *string `json:"admin_password"` // nil once the file was lost
	APIKey         string  `json:"api_key"`
	OperatorAPIKey string  `json:"operator_api_key"`
	DemoAPIKey     string  `json:"demo_api_key,omitempty"`
}

// The names of what first start makes.
const (
	adminEmail = "admin@revarch.local"
	firstOrg   = "My organization"
	systemOrg  = "Platform"
	demoOrg    = "Demo organization"
)

func readCredentials(data string) (credentials, error) {
	var c credentials
	raw, err := os.ReadFile(filepath.Join(data, "credentials.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read credentials.json: %w", err)
	}
	return c, nil
}

// firstStart sees to the organizations, the admin and the keys. Each part is looked for before it is made, so a start
// that was cut off is completed by the next.
func (s *stack) firstStart(ctx context.Context) error {
	cred, err := readCredentials(s.sup.Data())
	if err != nil {
		return err
	}
	a, err := newApp(ctx, s.cfg, s.cfg.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer a.close()
	path := filepath.Join(s.sup.Data(), "credentials.json")
	cred.AdminEmail = adminEmail
	if _, known, err := a.store.UserByEmail(ctx, adminEmail); err != nil {
		return err
	} else if known && cred.APIKey == "" {
		cred.AdminPassword = nil // the file was lost, and the password with it
	} else if !known {
		password := newPassword()
		cred.AdminPassword = &password
	}
	if err := writeSecret(path, cred); err != nil { // before the password is the admin's
		return err
	}
	password := ""
	if cred.AdminPassword != nil {
		password = *cred.AdminPassword
	}
	orgs := []struct {
		name   string
		system bool
		role   auth.Role
		key    *string
	}{{firstOrg, false, auth.Admin, &cred.APIKey}, {systemOrg, true, auth.Operator, &cred.OperatorAPIKey}}
	if s.o.demo {
		orgs = append(orgs, struct {
			name   string
			system bool
			role   auth.Role
			key    *string
		}{demoOrg, false, auth.Admin, &cred.DemoAPIKey})
	}
	for _, o := range orgs {
		id, err := s.ensureOrg(ctx, a, o.name, o.system, o.role, password)
		if err != nil {
			return err
		}
		if *o.key != "" {
			if _, err := a.identity.ByKey(ctx, *o.key); err == nil {
				continue
			}
		}
		if *o.key, err = a.newKey(ctx, id, "revarch up"); err != nil {
			return err
		}
		if err := writeSecret(path, cred); err != nil {
			return err
		}
	}
	s.cred = cred
	return nil
}

// ensureOrg returns the organization of first start, making it when it is missing. People may rename theirs: the first
// one that is not the demo's counts.
func (s *stack) ensureOrg(ctx context.Context, a *app, name string, system bool, role auth.Role, password string) (uuid.UUID, error) {
	o, ok, err := a.orgNamed(ctx, func(o models.Org) bool {
		switch name {
		case systemOrg:
			return o.IsSystem
		case firstOrg:
			return !o.IsSystem && o.Name != demoOrg
		}
		return o.Name == name
	})
	if err != nil || ok {
		return o.ID, err
	}
	o, _, err = a.identity.CreateOrg(ctx, name, system, adminEmail, "Admin", password, role)
	return o.ID, err
}

// sandboxProviders points providers at the sandbox's dialects.
func sandboxProviders(base string) map[string]config.Provider {
	crma := base + "/crm_a"
	return map[string]config.Provider{
		"crm_a": {
			AuthorizeURL: crma + "/services/oauth2/authorize", TokenURL: crma + "/services/oauth2/token", RevokeURL: crma + "/services/oauth2/revoke",
			APIURL: crma, ClientID: sandbox.DefaultClientID, ClientSecret: sandbox.DefaultClientSecret, Scopes: []string{"api", "refresh_token"},
		},
	}
}
