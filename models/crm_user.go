package models

import (
	"time"

	"github.com/google/uuid"
)

// CRMUser is a user of a CRM: accounts, deals and activities name one as their owner, by provider and external id.
type CRMUser struct {
	OrgID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider             Provider
	ExternalID           string
	Name                 string
	Email                *string
	Active               bool
	MappingID            int32
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

// TableName keeps the abbreviation whole.
func (CRMUser) TableName() string { return "crm_users" }
