package identity

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/store"
)

// invitationLife is how long an invitation link works.
const invitationLife = 7 * 24 * time.Hour

// CreateOrg makes an organization with its first admin; the user is created unless the e-mail is known. It is for the
// command line and first start, not for a surface.
func (s *Service) CreateOrg(ctx context.Context, name string, system bool, email, userName, password string, role auth.Role) (models.Org, uuid.UUID, error) {
	email = FoldEmail(email)
	if err := checkEmail(email); err != nil {
		return models.Org{}, uuid.Nil, err
	}
	now := s.Clock()
	o := models.Org{
		ID: models.NewID(), Name: strings.TrimSpace(name), IsSystem: system, TimeZone: "America/New_York", FiscalYearStartMonth: 7,
		ReportingCurrency: "USD", RenewalGraceDays: 90, WorkHours: models.WorkHours{Start: "08:00", End: "17:00", Days: []int{1, 2, 3, 4, 5}},
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	u, found, err := s.Store.UserByEmail(ctx, email)
	if err != nil {
		return o, uuid.Nil, err
	}
	if !found {
		if err := checkPassword(password); err != nil {
			return o, uuid.Nil, err
		}
		u = models.User{ID: models.NewID(), Email: email, Name: userName, PasswordHash: auth.HashPassword(password), CreatedAt: now}
	}
	err = s.Store.AsUser(ctx, o.ID, u.ID, func(tx *store.Tx) error {
		if err := tx.CreateOrganization(&o); err != nil {
			return err
		}
		if !found {
			if err := tx.CreateUser(&u); err != nil {
				return err
			}
		}
		if err := tx.AddMember(&models.Membership{OrgID: o.ID, UserID: u.ID, Role: string(role), JoinedAt: now}); err != nil {
			return err
		}
		_, err := s.Log.Record(tx, auth.Engine(o.ID), governance.Entry{
			Tool: "create_organization", SubjectType: "organization", SubjectID: o.ID.String(),
			After: map[string]any{"settings": settings(o), "member": map[string]any{"email": u.Email, "role": role}},
		})
		return err
	})
	return o, u.ID, err
}

// NewKeyInput asks for an API key.
type NewKeyInput struct {
	Name      string
	Scopes    []auth.Scope
	ExpiresAt *time.Time
}

// Validate joins all field errors.
func (in NewKeyInput) Validate(now time.Time) error {
	var bad []fault.FieldError
	if n := strings.TrimSpace(in.Name); n == "" || len(n) > 100 {
		bad = append(bad, fault.FieldError{Field: "name", Message: "give the key a name of 1 to 100 characters"})
	}
	if len(in.Scopes) == 0 {
		bad = append(bad, fault.FieldError{Field: "scopes", Message: "choose at least one of read, write_safe, write_destructive, admin"})
	}
	for _, sc := range in.Scopes {
		if !slices.Contains(auth.Scopes, sc) {
			bad = append(bad, fault.FieldError{Field: "scopes", Message: "choose among read, write_safe, write_destructive, admin"})
		}
	}
	if in.ExpiresAt != nil && !in.ExpiresAt.After(now) {
		bad = append(bad, fault.FieldError{Field: "expires_at", Message: "the expiry must lie in the future"})
	}
	if bad != nil {
		return fault.WithFields("the key cannot be created as asked", bad...)
	}
	return nil
}

// CreateKey makes an API key and returns its secret, which is shown this once.
func (s *Service) CreateKey(ctx context.Context, p auth.Principal, in NewKeyInput) (models.APIKey, string, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return models.APIKey{}, "", err
	}
	now := s.Clock()
	if err := in.Validate(now); err != nil {
		return models.APIKey{}, "", err
	}
	secret := auth.NewKey()
	k := models.APIKey{
		OrgID: p.OrgID, ID: models.NewID(), Name: strings.TrimSpace(in.Name), Prefix: secret[:auth.DisplayPrefixLen],
		Hash: auth.HashSecret(secret), CreatedAt: now, ExpiresAt: in.ExpiresAt,
	}
	if p.Kind == "user" {
		k.CreatedBy = &p.ID
	}
	for _, sc := range in.Scopes {
		k.Scopes = append(k.Scopes, string(sc))
	}
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		if err := tx.CreateAPIKey(&k); err != nil {
			return err
		}
		_, err := s.Log.Record(tx, p, governance.Entry{
			Tool: "create_api_key", SubjectType: "api_key", SubjectID: k.ID.String(),
			Args:  map[string]any{"name": k.Name, "scopes": k.Scopes, "expires_at": k.ExpiresAt},
			After: map[string]any{"name": k.Name, "scopes": k.Scopes, "expires_at": k.ExpiresAt, "revoked_at": nil},
		})
		return err
	})
	return k, secret, err
}

// Keys lists the organization's keys.
func (s *Service) Keys(ctx context.Context, p auth.Principal) (out []models.APIKey, err error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return nil, err
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		out, err = tx.APIKeys()
		return err
	})
	return out, err
}

// RevokeKey ends a key at once; revoking it again changes nothing.
func (s *Service) RevokeKey(ctx context.Context, p auth.Principal, id uuid.UUID) error {
	e := governance.Entry{Tool: "revoke_api_key", SubjectType: "api_key", SubjectID: id.String()}
	return s.change(ctx, p, &e, func(tx *store.Tx) error {
		k, err := tx.APIKeyByID(id)
		if err != nil {
			return err
		}
		now := s.Clock()
		e.Before = map[string]any{"name": k.Name, "revoked_at": k.RevokedAt}
		if k.RevokedAt == nil {
			k.RevokedAt = &now
		}
		e.After = map[string]any{"name": k.Name, "revoked_at": k.RevokedAt}
		return tx.RevokeAPIKey(id, now)
	})
}

// Members lists members and open invitations.
func (s *Service) Members(ctx context.Context, p auth.Principal) (members []Member, invitations []models.Invitation, err error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, nil, err
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		if members, err = tx.Members(); err != nil || !p.Can(auth.PermAdmin) {
			return err
		}
		invitations, err = tx.Invitations(s.Clock())
		return err
	})
	return members, invitations, err
}

// SetRole changes a member's role; the last admin keeps theirs.
func (s *Service) SetRole(ctx context.Context, p auth.Principal, user uuid.UUID, role auth.Role) error {
	if err := p.Require(auth.PermAdmin); err != nil {
		return err
	}
	if err := checkRole(role); err != nil {
		return err
	}
	e := governance.Entry{Tool: "set_member_role", SubjectType: "member", SubjectID: user.String(), After: map[string]any{"role": role}}
	return s.change(ctx, p, &e, func(tx *store.Tx) error {
		m, err := tx.MemberByID(user)
		if err != nil {
			return err
		}
		e.Before = map[string]any{"role": m.Role}
		return tx.SetRole(user, string(role))
	})
}

// RemoveMember takes a member out of the organization, with their sessions there.
func (s *Service) RemoveMember(ctx context.Context, p auth.Principal, user uuid.UUID) error {
	e := governance.Entry{Tool: "remove_member", SubjectType: "member", SubjectID: user.String()}
	return s.change(ctx, p, &e, func(tx *store.Tx) error {
		m, err := tx.MemberByID(user)
		if err != nil {
			return err
		}
		e.Before = map[string]any{"email": m.Email, "role": m.Role}
		return tx.RemoveMember(user)
	})
}

// Invite makes an invitation and returns the token of its link, which is shown this once.
func (s *Service) Invite(ctx context.Context, p auth.Principal, email string, role auth.Role) (models.Invitation, string, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return models.Invitation{}, "", err
	}
	email = FoldEmail(email)
	if err := checkEmail(email); err != nil {
		return models.Invitation{}, "", err
	}
	if err := checkRole(role); err != nil {
		return models.Invitation{}, "", err
	}
	token, now := auth.NewToken(), s.Clock()
	i := models.Invitation{
		OrgID: p.OrgID, ID: models.NewID(), Email: email, Role: string(role), Hash: auth.HashSecret(token),
		CreatedAt: now, ExpiresAt: now.Add(invitationLife),
	}
	if p.Kind == "user" {
		i.InvitedBy = &p.ID
	}
	e := governance.Entry{
		Tool: "invite_member", SubjectType: "invitation", SubjectID: i.ID.String(), Args: map[string]any{"email": email, "role": role},
		After: map[string]any{"email": email, "role": role, "expires_at": i.ExpiresAt},
	}
	err := s.change(ctx, p, &e, func(tx *store.Tx) error { return tx.CreateInvitation(&i) })
	return i, token, err
}

// WithdrawInvitation makes an invitation's link worthless.
func (s *Service) WithdrawInvitation(ctx context.Context, p auth.Principal, id uuid.UUID) error {
	e := governance.Entry{Tool: "withdraw_invitation", SubjectType: "invitation", SubjectID: id.String()}
	return s.change(ctx, p, &e, func(tx *store.Tx) error {
		i, err := tx.LockInvitation(id)
		if err != nil {
			return err
		}
		e.Before = map[string]any{"email": i.Email, "role": i.Role, "expires_at": i.ExpiresAt}
		return tx.DeleteInvitation(id)
	})
}

// Invitation tells the holder of a link what it offers.
func (s *Service) Invitation(ctx context.Context, token string) (models.Invitation, string, error) {
	gone := fault.New(fault.NotFound, "this invitation is not valid any more; ask for a new one")
	org, id, ok, err := s.Store.InvitationByHash(ctx, auth.HashSecret(token))
	if err != nil {
		return models.Invitation{}, "", err
	}
	if !ok {
		return models.Invitation{}, "", gone
	}
	var i models.Invitation
	var orgName string
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		if i, err = tx.LockInvitation(id); err != nil {
			return gone
		}
		o, err := tx.Organization()
		orgName = o.Name
		return err
	})
	if err == nil && (i.AcceptedAt != nil || s.Clock().After(i.ExpiresAt)) {
		err = gone
	}
	return i, orgName, err
}

// Accept makes the invited person a member and signs them in. Who is known already must give their password, and wrong
// ones slow down as at sign-in; who is not chooses one.
func (s *Service) Accept(ctx context.Context, token, name, password, client string) (SignedIn, error) {
	i, _, err := s.Invitation(ctx, token)
	if err != nil {
		return SignedIn{}, err
	}
	u, found, err := s.Store.UserByEmail(ctx, i.Email)
	if err != nil {
		return SignedIn{}, err
	}
	now := s.Clock()
	if found {
		err := s.prove(ctx, u, found, password, client)
		if fault.Is(err, fault.Unauthenticated) {
			err = fault.WithFields("you have an account already; give its password",
				fault.FieldError{Field: "password", Message: "this is not the password of " + i.Email})
		}
		if err != nil {
			return SignedIn{}, err
		}
	} else {
		if err := checkPassword(password); err != nil {
			return SignedIn{}, err
		}
		u = models.User{ID: models.NewID(), Email: i.Email, Name: strings.TrimSpace(name), PasswordHash: auth.HashPassword(password), CreatedAt: now}
	}
	err = s.Store.AsUser(ctx, i.OrgID, u.ID, func(tx *store.Tx) error {
		locked, err := tx.LockInvitation(i.ID)
		if err != nil || locked.AcceptedAt != nil {
			return fault.New(fault.NotFound, "this invitation is not valid any more; ask for a new one")
		}
		if !found {
			if err := tx.CreateUser(&u); err != nil {
				return err
			}
		}
		if err := tx.AddMember(&models.Membership{OrgID: i.OrgID, UserID: u.ID, Role: i.Role, JoinedAt: now}); err != nil {
			return err
		}
		if err := tx.AcceptInvitation(i.ID, now); err != nil {
			return err
		}
		p := auth.Principal{OrgID: i.OrgID, Kind: "user", ID: u.ID, Label: u.Email, Surface: "rest"}
		_, err = s.Log.Record(tx, p, governance.Entry{
			Tool: "accept_invitation", SubjectType: "member", SubjectID: u.ID.String(),
			After: map[string]any{"email": u.Email, "role": i.Role},
		})
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return s.session(ctx, u.ID, i.OrgID)
}

// Organization returns the settings of the caller's organization.
func (s *Service) Organization(ctx context.Context, p auth.Principal) (o models.Org, err error) {
	if err := p.Require(auth.PermRead); err != nil {
		return o, err
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		o, err = tx.Organization()
		return err
	})
	return o, err
}

// UpdateOrganization replaces the settings if nobody changed them since the given version.
func (s *Service) UpdateOrganization(ctx context.Context, p auth.Principal, o models.Org, version int64) (models.Org, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return o, err
	}
	if err := validateOrg(o, s.Clock()); err != nil {
		return o, err
	}
	o.ID, o.UpdatedAt = p.OrgID, s.Clock()
	e := governance.Entry{Tool: "update_organization", SubjectType: "organization", SubjectID: p.OrgID.String(), After: settings(o)}
	err := s.change(ctx, p, &e, func(tx *store.Tx) error {
		before, err := tx.Organization()
		if err != nil {
			return err
		}
		e.Before = settings(before)
		return tx.UpdateOrganization(&o, version)
	})
	return o, err
}

// settings is what the log keeps of an organization.
func settings(o models.Org) map[string]any {
	return map[string]any{
		"name": o.Name, "time_zone": o.TimeZone, "fiscal_year_start_month": o.FiscalYearStartMonth, "reporting_currency": o.ReportingCurrency,
		"derive_segment": o.DeriveSegment, "renewal_grace_days": o.RenewalGraceDays, "work_hours": o.WorkHours,
	}
}

func validateOrg(o models.Org, now time.Time) error {
	var bad []fault.FieldError
	add := func(field, message string) { bad = append(bad, fault.FieldError{Field: field, Message: message}) }
	if n := strings.TrimSpace(o.Name); n == "" || len(n) > 200 {
		add("name", "give a name of 1 to 200 characters")
	}
	if _, err := time.LoadLocation(o.TimeZone); err != nil || o.TimeZone == "" || o.TimeZone == "Local" {
		add("time_zone", "use an IANA name such as America/Chicago")
	}
	if !isCurrency(o.ReportingCurrency, now) {
		add("reporting_currency", "use the ISO 4217 code of a currency in use, in capitals, such as USD")
	}
	start, err1 := time.Parse("15:04", o.WorkHours.Start)
	end, err2 := time.Parse("15:04", o.WorkHours.End)
	if err1 != nil || err2 != nil || !start.Before(end) {
		add("work_hours", "give start and end as HH:MM, start before end")
	}
	if len(o.WorkHours.Days) == 0 || slices.ContainsFunc(o.WorkHours.Days, func(d int) bool { return d < 1 || d > 7 }) {
		add("work_hours.days", "list the working days, 1 for Monday to 7 for Sunday")
	}
	if bad != nil {
		return fault.WithFields("the settings cannot be saved as given", bad...)
	}
	return nil
}

// change is an admin's write with its log entry, in one transaction; fn may add to the entry what it replaced.
func (s *Service) change(ctx context.Context, p auth.Principal, e *governance.Entry, fn func(*store.Tx) error) error {
	if err := p.Require(auth.PermAdmin); err != nil {
		return err
	}
	return s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		_, err := s.Log.Record(tx, p, *e)
		return err
	})
}

func checkRole(r auth.Role) error {
	if slices.Contains([]auth.Role{auth.Viewer, auth.Rep, auth.Manager, auth.Admin}, r) {
		return nil
	}
	return fault.WithFields("unknown role", fault.FieldError{Field: "role", Message: "choose viewer, rep, manager or admin"})
}
