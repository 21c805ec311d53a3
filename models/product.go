package models

import (
	"time"

	"github.com/google/uuid"
)

// Product is something an organization sells.
type Product struct {
	Canonical
	SKU            *string `gorm:"column:sku"`
	Name           string
	ListPriceCents *int64
	Active         bool
	OfferedTo      *string // buyer types, by commas; nil for all
	OfferedIn      *string // states, by commas; nil for all
}

// AccountProduct is a line of what an account bought. Its recurring revenue stands in the subscription line of the same
// id.
type AccountProduct struct {
	Canonical
	AccountID         *uuid.UUID `gorm:"type:uuid"`
	AccountExternalID *string
	ProductID         *uuid.UUID `gorm:"type:uuid"`
	ProductExternalID *string
	Name              *string
	ARRCents          *int64 `gorm:"column:arr_cents"`
	Quantity          *float64
	StartDate         *time.Time `gorm:"type:date"`
	EndDate           *time.Time `gorm:"type:date"`
	Status            *string    // active, ended
	Bundle            *string    // lines of one order with the same bundle were sold together
}

// ProductPrice is an entry of a price book.
type ProductPrice struct {
	Canonical
	ProductID         *uuid.UUID `gorm:"type:uuid"`
	ProductExternalID *string
	PriceCents        *int64
	Active            bool
}

// OrderLine is a product in a deal.
type OrderLine struct {
	Canonical
	OpportunityID         *uuid.UUID `gorm:"type:uuid"`
	OpportunityExternalID *string
	ProductID             *uuid.UUID `gorm:"type:uuid"`
	ProductExternalID     *string
	Quantity              *float64
	TotalCents            *int64
	OnDate                *time.Time `gorm:"type:date"`
}

// Import is how far the file of an import is read.
type Import struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	RunID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	ByteOffset int64     // what is before it in the file is staged
	Lines      int64     // line breaks before it
	Rows       int64     // read, bad ones included
	Bad        int64
	ReadAt     *time.Time // when the file came to its end
	MergedAt   *time.Time
}
