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

// membersAPI is Settings > Members.
type membersAPI struct{ id *identity.Service }

// Member is a person in the organization.
type Member struct {
	UserID   uuid.UUID `json:"user_id" format:"uuid"`
	Email    string    `json:"email"`
	Name     string    `json:"name"`
	Role     string    `json:"role" enum:"viewer,rep,manager,admin,operator"`
	JoinedAt time.Time `json:"joined_at"`
}

// Invitation is an open invitation.
type Invitation struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	Email     string    `json:"email"`
	Role      string    `json:"role" enum:"viewer,rep,manager,admin,operator"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

type membersOutput struct {
	Body struct {
		Members     []Member     `json:"members"`
		Invitations []Invitation `json:"invitations" doc:"Open ones; only admins see them"`
	}
}

type roleInput struct {
	ID   uuid.UUID `path:"id" format:"uuid" doc:"User id"`
	Body struct {
		Role auth.Role `json:"role" enum:"viewer,rep,manager,admin"`
	}
}

type inviteInput struct {
	Body struct {
		Email string    `json:"email" minLength:"3" maxLength:"320"`
		Role  auth.Role `json:"role" enum:"viewer,rep,manager,admin"`
	}
}

type invitedOutput struct {
	Status int
	Body   struct {
		Invitation Invitation `json:"invitation"`
		Link       string     `json:"link" doc:"Path of the page that accepts it; shown this once"`
	}
}

func toInvitation(i models.Invitation) Invitation {
	return Invitation{i.ID, i.Email, i.Role, i.CreatedAt, i.ExpiresAt}
}

// Register adds the operations.
func (a *membersAPI) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-members", http.MethodGet, "/settings/members", "List members and open invitations", "Members", auth.PermRead), a.list)
	huma.Register(h, operation("set-member-role", http.MethodPatch, "/settings/members/{id}", "Change a member's role", "Members", auth.PermAdmin),
		func(ctx context.Context, in *roleInput) (*struct{}, error) {
			return nil, problem(a.id.SetRole(ctx, auth.From(ctx), in.ID, in.Body.Role))
		})
	huma.Register(h, operation("remove-member", http.MethodDelete, "/settings/members/{id}", "Remove a member", "Members", auth.PermAdmin),
		func(ctx context.Context, in *idInput) (*struct{}, error) {
			return nil, problem(a.id.RemoveMember(ctx, auth.From(ctx), in.ID))
		})
	invite := operation("invite-member", http.MethodPost, "/settings/members/invitations", "Invite someone by link", "Members", auth.PermAdmin)
	invite.DefaultStatus = http.StatusCreated
	huma.Register(h, invite, func(ctx context.Context, in *inviteInput) (*invitedOutput, error) {
		i, token, err := a.id.Invite(ctx, auth.From(ctx), in.Body.Email, in.Body.Role)
		if err != nil {
			return nil, problem(err)
		}
		out := &invitedOutput{Status: http.StatusCreated}
		out.Body.Invitation, out.Body.Link = toInvitation(i), "/invite/"+token
		return out, nil
	})
	huma.Register(h, operation("withdraw-invitation", http.MethodDelete, "/settings/members/invitations/{id}", "Withdraw an invitation", "Members", auth.PermAdmin),
		func(ctx context.Context, in *idInput) (*struct{}, error) {
			return nil, problem(a.id.WithdrawInvitation(ctx, auth.From(ctx), in.ID))
		})
}

func (a *membersAPI) list(ctx context.Context, _ *struct{}) (*membersOutput, error) {
	members, invitations, err := a.id.Members(ctx, auth.From(ctx))
	if err != nil {
		return nil, problem(err)
	}
	out := &membersOutput{}
	out.Body.Members, out.Body.Invitations = []Member{}, []Invitation{}
	for _, m := range members {
		out.Body.Members = append(out.Body.Members, toMember(m))
	}
	for _, i := range invitations {
		out.Body.Invitations = append(out.Body.Invitations, toInvitation(i))
	}
	return out, nil
}

func toMember(m identity.Member) Member { return Member{m.UserID, m.Email, m.Name, m.Role, m.JoinedAt} }
