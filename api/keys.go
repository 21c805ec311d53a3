package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/identity"
)

// keysAPI is Settings > Integrations: API keys.
type keysAPI struct{ id *identity.Service }

// APIKey is a key as people see it; its secret is shown once, when it is made.
type APIKey struct {
	ID         uuid.UUID  `json:"id" format:"uuid"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix" doc:"First characters of the secret"`
	Scopes     []string   `json:"scopes" enum:"read,write_safe,write_destructive,admin"`
	CreatedBy  *uuid.UUID `json:"created_by" format:"uuid"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

func toAPIKey(k models.APIKey) APIKey {
	return APIKey{k.ID, k.Name, k.Prefix, append([]string{}, k.Scopes...), k.CreatedBy, k.CreatedAt, k.LastUsedAt, k.ExpiresAt, k.RevokedAt}
}

type keysOutput struct {
	Body struct {
		APIKeys []APIKey `json:"api_keys"`
	}
}

type createKeyInput struct {
	Body struct {
		Name      string       `json:"name" minLength:"1" maxLength:"100"`
		Scopes    []auth.Scope `json:"scopes" minItems:"1" enum:"read,write_safe,write_destructive,admin"`
		ExpiresAt *time.Time   `json:"expires_at,omitempty"`
	}
}

type createdKeyOutput struct {
	Status int
	Body   struct {
		APIKey APIKey `json:"api_key"`
		Secret string `json:"secret" doc:"Shown this once"`
	}
}

type idInput struct {
	ID uuid.UUID `path:"id" format:"uuid"`
}

// Register adds the operations.
func (a *keysAPI) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-api-keys", http.MethodGet, "/settings/api-keys", "List API keys", "API keys", auth.PermAdmin),
		func(ctx context.Context, _ *struct{}) (*keysOutput, error) {
			keys, err := a.id.Keys(ctx, auth.From(ctx))
			out := &keysOutput{}
			out.Body.APIKeys = []APIKey{}
			for _, k := range keys {
				out.Body.APIKeys = append(out.Body.APIKeys, toAPIKey(k))
			}
			return out, problem(err)
		})
	create := operation("create-api-key", http.MethodPost, "/settings/api-keys", "Create an API key", "API keys", auth.PermAdmin)
	create.DefaultStatus = http.StatusCreated
	huma.Register(h, create, func(ctx context.Context, in *createKeyInput) (*createdKeyOutput, error) {
		k, secret, err := a.id.CreateKey(ctx, auth.From(ctx), identity.NewKeyInput{Name: in.Body.Name, Scopes: in.Body.Scopes, ExpiresAt: in.Body.ExpiresAt})
		if err != nil {
			return nil, problem(err)
		}
		out := &createdKeyOutput{Status: http.StatusCreated}
		out.Body.APIKey, out.Body.Secret = toAPIKey(k), secret
		return out, nil
	})
	huma.Register(h, operation("revoke-api-key", http.MethodDelete, "/settings/api-keys/{id}", "Revoke an API key", "API keys", auth.PermAdmin),
		func(ctx context.Context, in *idInput) (*struct{}, error) {
			return nil, problem(a.id.RevokeKey(ctx, auth.From(ctx), in.ID))
		})
}
