package models

import (
	"time"

	"github.com/google/uuid"
)

// NewID returns a UUIDv7: unique, and ascending in time.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Org is a tenant. The one system organization runs the platform itself.
type Org struct {
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Name                 string
	IsSystem             bool
	TimeZone             string // IANA name
	FiscalYearStartMonth int    // 1-12
	ReportingCurrency    string // ISO 4217
	DeriveSegment        bool
	RenewalGraceDays     int
	WorkHours            WorkHours `gorm:"serializer:json"`
	Version              int64
	CreatedAt, UpdatedAt time.Time
}

// WorkHours are the hours a team works, in the organization's time zone.
type WorkHours struct {
	Start string `json:"start"` // HH:MM
	End   string `json:"end"`   // HH:MM
	Days  []int  `json:"days"`  // ISO weekdays, 1 is Monday
}

// User is a person; users are global and belong to organizations through memberships.
type User struct {
	ID           uuid.UUID `gorm:"type:uuid;primaryKey"`
	Email        string    // case-folded
	Name         string
	PasswordHash string // argon2id, PHC string
	CreatedAt    time.Time
	DisabledAt   *time.Time
}

// Membership gives a user a role in an organization.
type Membership struct {
	OrgID    uuid.UUID `gorm:"type:uuid;primaryKey"`
	UserID   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Role     string
	JoinedAt time.Time
}

// Session is a browser session, bound to one organization.
type Session struct {
	Hash       []byte    `gorm:"primaryKey"` // SHA-256 of the cookie's token
	OrgID      uuid.UUID `gorm:"type:uuid"`
	UserID     uuid.UUID `gorm:"type:uuid"`
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// APIKey is a secret for programs; only its hash is stored.
type APIKey struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID         uuid.UUID `gorm:"type:uuid;primaryKey"`
	Name       string
	Prefix     string      // the first characters, for people to tell keys apart
	Hash       []byte      // SHA-256 of the secret
	Scopes     StringArray `gorm:"type:text[]"`
	CreatedBy  *uuid.UUID  `gorm:"type:uuid"`
	CreatedAt  time.Time
	LastUsedAt *time.Time
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
}

// Invitation lets a person join an organization by link.
type Invitation struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID         uuid.UUID `gorm:"type:uuid;primaryKey"`
	Email      string
	Role       string
	Hash       []byte     // SHA-256 of the link's token
	InvitedBy  *uuid.UUID `gorm:"type:uuid"`
	CreatedAt  time.Time
	ExpiresAt  time.Time
	AcceptedAt *time.Time
}

// OAuthState is one authorization in progress; it is taken once.
type OAuthState struct {
	Hash        []byte    `gorm:"primaryKey"` // SHA-256 of the state parameter
	OrgID       uuid.UUID `gorm:"type:uuid"`
	UserID      uuid.UUID `gorm:"type:uuid"`
	SessionHash []byte
	Provider    Provider
	RedirectURI string
	Verifier    []byte // PKCE verifier, encrypted
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// TableName keeps the two words of OAuth together.
func (OAuthState) TableName() string { return "oauth_states" }

// LoginFailure counts failed sign-ins in a row for an account or a client address.
type LoginFailure struct {
	Key          []byte `gorm:"primaryKey"` // SHA-256, tells nothing
	Failures     int
	LastFailedAt time.Time
}
