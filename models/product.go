package models

import (
	"time"

	"github.com/google/uuid"
)

// Product is something an organization sells.
type Product struct {
	OrgID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider             Provider
	ExternalID           string
	SKU                  *string `gorm:"column:sku"`
	Name                 string
	ListPriceCents       *int64
	Active               bool
	MappingID            int32
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

// AccountProduct is a line of what an account bought. Its recurring revenue stands in the subscription line of the same
// id.
type AccountProduct struct {
	OrgID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider             Provider
	ExternalID           string
	AccountID            *uuid.UUID `gorm:"type:uuid"`
	AccountExternalID    *string
	ProductID            *uuid.UUID `gorm:"type:uuid"`
	ProductExternalID    *string
	Name                 *string
	ARRCents             *int64 `gorm:"column:arr_cents"`
	Quantity             *float64
	StartDate            *time.Time `gorm:"type:date"`
	EndDate              *time.Time `gorm:"type:date"`
	Status               *string    // active, ended
	Bundle               *string    // lines of one order with the same bundle were sold together
	MappingID            int32
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}
