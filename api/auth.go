package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/identity"
)

// authAPI is sign-in, sign-out and joining by invitation.
type authAPI struct{ id *identity.Service }

// Me describes the caller.
type Me struct {
	User          MeUser  `json:"user"`
	Organization  OrgRef  `json:"organization"`
	Role          string  `json:"role" enum:"viewer,rep,manager,admin,operator," doc:"Empty for an API key"`
	Organizations []MeOrg `json:"organizations" doc:"Every organization the user may switch to"`
}

// MeUser is the person, or the key, that calls.
type MeUser struct {
	ID    uuid.UUID `json:"id" format:"uuid"`
	Email string    `json:"email"`
	Name  string    `json:"name"`
}

// OrgRef names an organization.
type OrgRef struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

// MeOrg is one of the caller's organizations.
type MeOrg struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
	Role string    `json:"role" enum:"viewer,rep,manager,admin,operator"`
}

func toMe(m identity.Me) Me {
	out := Me{User: MeUser{m.UserID, m.Email, m.Name}, Organization: OrgRef{m.OrgID, m.OrgName}, Role: string(m.Role), Organizations: []MeOrg{}}
	for _, o := range m.Organizations {
		out.Organizations = append(out.Organizations, MeOrg{o.OrgID, o.OrgName, o.Role})
	}
	return out
}

type loginInput struct {
	client string
	Body   struct {
		Email    string `json:"email" minLength:"3" maxLength:"320"`
		Password string `json:"password" minLength:"1" maxLength:"1024"`
	}
}

// Resolve takes the client's address from the connection, or from a trusted proxy.
func (in *loginInput) Resolve(ctx huma.Context) []error {
	in.client = humagin.Unwrap(ctx).ClientIP()
	return nil
}

// Resolve takes the client's address as at sign-in.
func (in *acceptInput) Resolve(ctx huma.Context) []error {
	in.client = humagin.Unwrap(ctx).ClientIP()
	return nil
}

type signedInOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

type meOutput struct{ Body Me }

type signedOutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type switchInput struct {
	Body struct {
		OrganizationID uuid.UUID `json:"organization_id" format:"uuid"`
	}
}

type invitationInput struct {
	Token string `path:"token" maxLength:"100"`
}

type invitationOutput struct {
	Body struct {
		OrganizationName string    `json:"organization_name"`
		Email            string    `json:"email"`
		Role             string    `json:"role" enum:"viewer,rep,manager,admin,operator"`
		ExpiresAt        time.Time `json:"expires_at"`
	}
}

type acceptInput struct {
	client string
	Token  string `path:"token" maxLength:"100"`
	Body   struct {
		Name     string `json:"name,omitempty" maxLength:"200"`
		Password string `json:"password" minLength:"1" maxLength:"1024"`
	}
}

// Register adds the operations.
func (a *authAPI) Register(h huma.API, _ *gin.RouterGroup) {
	login := operation("login", http.MethodPost, "/auth/login", "Sign in with e-mail and password", "Sign-in", "")
	login.Errors = []int{401, 429}
	huma.Register(h, login, func(ctx context.Context, in *loginInput) (*signedInOutput, error) {
		return signedIn(ctx, func() (identity.SignedIn, error) { return a.id.SignIn(ctx, in.Body.Email, in.Body.Password, in.client) })
	})
	huma.Register(h, operation("logout", http.MethodPost, "/auth/logout", "End the session", "Sign-in", ""), a.logout)
	huma.Register(h, operation("me", http.MethodGet, "/auth/me", "Who am I", "Sign-in", auth.PermRead),
		func(ctx context.Context, _ *struct{}) (*meOutput, error) {
			m, err := a.id.Me(ctx, auth.From(ctx))
			return &meOutput{toMe(m)}, problem(err)
		})
	huma.Register(h, operation("switch-organization", http.MethodPost, "/auth/switch", "Go on in another organization", "Sign-in", auth.PermRead),
		func(ctx context.Context, in *switchInput) (*signedInOutput, error) {
			return signedIn(ctx, func() (identity.SignedIn, error) { return a.id.Switch(ctx, auth.From(ctx), in.Body.OrganizationID) })
		})
	huma.Register(h, operation("get-invitation", http.MethodGet, "/auth/invitations/{token}", "What an invitation offers", "Sign-in", ""), a.invitation)
	huma.Register(h, operation("accept-invitation", http.MethodPost, "/auth/invitations/{token}/accept", "Join an organization", "Sign-in", ""),
		func(ctx context.Context, in *acceptInput) (*signedInOutput, error) {
			return signedIn(ctx, func() (identity.SignedIn, error) {
				return a.id.Accept(ctx, in.Token, in.Body.Name, in.Body.Password, in.client)
			})
		})
}

func (a *authAPI) logout(ctx context.Context, _ *struct{}) (*signedOutOutput, error) {
	if p := auth.From(ctx); p.Session != nil {
		if err := a.id.SignOut(ctx, p); err != nil {
			return nil, problem(err)
		}
	}
	c := sessionCookie(ctx, "") //nolint:gosec // G124: Secure off loopback, which has no https
	c.MaxAge = -1
	return &signedOutOutput{c}, nil
}

func (a *authAPI) invitation(ctx context.Context, in *invitationInput) (*invitationOutput, error) {
	i, org, err := a.id.Invitation(ctx, in.Token)
	if err != nil {
		return nil, problem(err)
	}
	out := &invitationOutput{}
	out.Body.OrganizationName, out.Body.Email, out.Body.Role, out.Body.ExpiresAt = org, i.Email, i.Role, i.ExpiresAt
	return out, nil
}

func signedIn(ctx context.Context, do func() (identity.SignedIn, error)) (*signedInOutput, error) {
	s, err := do()
	if err != nil {
		return nil, problem(err)
	}
	c := sessionCookie(ctx, s.Token) //nolint:gosec // G124: Secure off loopback, which has no https
	c.Expires = s.ExpiresAt
	return &signedInOutput{c, toMe(s.Me)}, nil
}

// sessionCookie is Secure wherever people come through https.
func sessionCookie(ctx context.Context, token string) http.Cookie {
	return http.Cookie{Name: SessionCookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secureCookies(ctx)} //nolint:gosec // G124: loopback has no https
}

type secureKey struct{}

func secureCookies(ctx context.Context) bool {
	secure, _ := ctx.Value(secureKey{}).(bool)
	return secure
}

// errPrecondition asks for If-Match.
var errPrecondition = fault.New(fault.PreconditionNeeded, "send If-Match with the version you read (its ETag)")
