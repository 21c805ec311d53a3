package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"revarch/fault"
	"revarch/models"
)

// Organization returns the transaction's organization.
func (tx *Tx) Organization() (models.Org, error) {
	var o models.Org
	err := tx.db.First(&o, "id = ?", tx.org).Error
	return o, notFound(err, "organization not found")
}

// CreateOrganization writes the transaction's organization.
func (tx *Tx) CreateOrganization(o *models.Org) error {
	if o.ID != tx.org {
		return fault.New(fault.Internal, "an organization is created inside itself")
	}
	if err := tx.db.Create(o).Error; err != nil {
		return fmt.Errorf("create organization: %w", err)
	}
	return nil
}

// UpdateOrganization replaces the settings if the version is still the given one and counts it up.
func (tx *Tx) UpdateOrganization(o *models.Org, version int64) error {
	o.Version = version + 1
	res := tx.db.Model(&models.Org{}).Where("id = ? AND version = ?", tx.org, version).
		Select("name", "time_zone", "fiscal_year_start_month", "reporting_currency", "derive_segment", "renewal_grace_days", "work_hours", "version", "updated_at").
		Updates(o)
	if res.Error != nil {
		return fmt.Errorf("update organization: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return fault.New(fault.Stale, "the settings were changed by someone else; reload them and apply your change again")
	}
	return nil
}

// CreateUser writes a user; the transaction must act as that user (AsUser).
func (tx *Tx) CreateUser(u *models.User) error {
	err := tx.db.Create(u).Error
	if isUnique(err) {
		return fault.New(fault.Conflict, "a user with this e-mail exists already")
	}
	if err != nil {
		return fmt.Errorf("create user: %w", err)
	}
	return nil
}

// SetPassword changes the password hash of the user the transaction acts as.
func (tx *Tx) SetPassword(user uuid.UUID, hash string) error {
	res := tx.db.Model(&models.User{}).Where("id = ?", user).Update("password_hash", hash)
	if res.Error != nil {
		return fmt.Errorf("set password: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return fault.New(fault.NotFound, "user not found")
	}
	return nil
}

// Member is a user in the transaction's organization.
type Member struct {
	UserID     uuid.UUID
	Email      string
	Name       string
	Role       string
	JoinedAt   time.Time
	DisabledAt *time.Time // of the user, everywhere
}

// Members lists the members by e-mail.
func (tx *Tx) Members() ([]Member, error) {
	var out []Member
	err := tx.db.Raw(`SELECT m.user_id, u.email, u.name, m.role, m.joined_at, u.disabled_at FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = ? ORDER BY u.email, m.user_id`, tx.org).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return out, nil
}

// MemberByID returns one member.
func (tx *Tx) MemberByID(user uuid.UUID) (Member, error) {
	var out []Member
	err := tx.db.Raw(`SELECT m.user_id, u.email, u.name, m.role, m.joined_at, u.disabled_at FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.org_id = ? AND m.user_id = ?`, tx.org, user).Scan(&out).Error
	if err != nil {
		return Member{}, fmt.Errorf("load member: %w", err)
	}
	if len(out) == 0 {
		return Member{}, fault.New(fault.NotFound, "member not found")
	}
	return out[0], nil
}

// AddMember writes a membership; one that exists keeps its role.
func (tx *Tx) AddMember(m *models.Membership) error {
	if err := tx.db.Clauses(clause.OnConflict{DoNothing: true}).Create(m).Error; err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	return nil
}

// SetRole changes a member's role. It locks the admins first, so that two changes cannot remove the last one.
func (tx *Tx) SetRole(user uuid.UUID, role string) error {
	if err := tx.keepAnAdmin(user, role); err != nil {
		return err
	}
	return touched(tx.db.Model(&models.Membership{}).Where("user_id = ?", user).Update("role", role), "member not found")
}

// RemoveMember ends a membership and, through it, the member's sessions in the organization.
func (tx *Tx) RemoveMember(user uuid.UUID) error {
	if err := tx.keepAnAdmin(user, ""); err != nil {
		return err
	}
	return touched(tx.db.Where("user_id = ?", user).Delete(&models.Membership{}), "member not found")
}

// keepAnAdmin refuses to let a user become what would leave nobody to manage the organization, or, in the system's, no
// operator: that role cannot be given back by any surface.
func (tx *Tx) keepAnAdmin(user uuid.UUID, becomes string) error {
	var admins []models.Membership
	err := tx.db.Raw("SELECT user_id, role FROM memberships WHERE role IN ('admin', 'operator') ORDER BY user_id FOR UPDATE").Scan(&admins).Error
	if err != nil {
		return fmt.Errorf("lock admins: %w", err)
	}
	had, others, operators := "", 0, 0
	for _, m := range admins {
		switch {
		case m.UserID == user:
			had = m.Role
		case m.Role == "operator":
			operators++
			others++
		default:
			others++
		}
	}
	switch {
	case had == "operator" && operators == 0:
		return fault.New(fault.Conflict, "this is the platform's last operator")
	case had != "" && becomes != "admin" && others == 0:
		return fault.New(fault.Conflict, "this is the organization's last admin; make someone else admin first")
	}
	return nil
}

// touched returns a NotFound fault when a statement changed no row.
func touched(res *gorm.DB, text string) error {
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected == 0 {
		return fault.New(fault.NotFound, "%s", text)
	}
	return nil
}

// CreateSession writes a browser session.
func (tx *Tx) CreateSession(s *models.Session) error {
	if err := tx.db.Create(s).Error; err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	return nil
}

// TouchSession moves the session's last use and expiry, at most once a minute.
func (tx *Tx) TouchSession(hash []byte, now, expires time.Time) error {
	return tx.db.Exec("UPDATE sessions SET last_seen_at = ?, expires_at = ? WHERE hash = ? AND last_seen_at < ?",
		now, expires, hash, now.Add(-time.Minute)).Error
}

// DeleteSession ends a session; one that is gone is no error. Expired sessions of the organization go with it.
func (tx *Tx) DeleteSession(hash []byte, now time.Time) error {
	return tx.db.Exec("DELETE FROM sessions WHERE hash = ? OR expires_at < ?", hash, now).Error
}

// CreateAPIKey writes a key.
func (tx *Tx) CreateAPIKey(k *models.APIKey) error {
	if err := tx.db.Create(k).Error; err != nil {
		return fmt.Errorf("create API key: %w", err)
	}
	return nil
}

// APIKeys lists the keys, newest first, revoked ones too.
func (tx *Tx) APIKeys() ([]models.APIKey, error) {
	var out []models.APIKey
	if err := tx.db.Order("created_at DESC, id DESC").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return out, nil
}

// APIKeyByID returns one key.
func (tx *Tx) APIKeyByID(id uuid.UUID) (models.APIKey, error) {
	var k models.APIKey
	err := tx.db.First(&k, "id = ?", id).Error
	return k, notFound(err, "API key not found")
}

// RevokeAPIKey ends a key; a revoked one stays as it is.
func (tx *Tx) RevokeAPIKey(id uuid.UUID, at time.Time) error {
	return tx.db.Exec("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", at, id).Error
}

// TouchAPIKey notes the use of a key, at most once a minute.
func (tx *Tx) TouchAPIKey(id uuid.UUID, at time.Time) error {
	return tx.db.Exec("UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
		at, id, at.Add(-time.Minute)).Error
}

// CreateInvitation writes an invitation.
func (tx *Tx) CreateInvitation(i *models.Invitation) error {
	if err := tx.db.Create(i).Error; err != nil {
		return fmt.Errorf("create invitation: %w", err)
	}
	return nil
}

// Invitations lists those that are open, newest first.
func (tx *Tx) Invitations(now time.Time) ([]models.Invitation, error) {
	var out []models.Invitation
	err := tx.db.Where("accepted_at IS NULL AND expires_at > ?", now).Order("created_at DESC, id DESC").Find(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return out, nil
}

// LockInvitation returns an invitation and keeps others from accepting it at once.
func (tx *Tx) LockInvitation(id uuid.UUID) (models.Invitation, error) {
	var i models.Invitation
	err := tx.db.Clauses(clause.Locking{Strength: "UPDATE"}).First(&i, "id = ?", id).Error
	return i, notFound(err, "invitation not found")
}

// AcceptInvitation marks an invitation as used.
func (tx *Tx) AcceptInvitation(id uuid.UUID, at time.Time) error {
	return tx.db.Exec("UPDATE invitations SET accepted_at = ? WHERE id = ?", at, id).Error
}

// DeleteInvitation withdraws an invitation.
func (tx *Tx) DeleteInvitation(id uuid.UUID) error {
	return touched(tx.db.Where("id = ? AND accepted_at IS NULL", id).Delete(&models.Invitation{}), "invitation not found")
}
