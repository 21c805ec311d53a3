package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// AccountARR is an account's ARR at the last computation of scores.
type AccountARR struct {
	OrgID     uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID uuid.UUID `gorm:"type:uuid;primaryKey"`
	ARRCents  *int64    `gorm:"column:arr_cents"` // nil: no recurring line is known
	AsOf      time.Time `gorm:"type:date"`
}

// TableName keeps ARR one word.
func (AccountARR) TableName() string { return "account_arr" }

// AccountIssue is one thing that is wrong with the data of an account.
type AccountIssue struct {
	OrgID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Code        string    `gorm:"primaryKey"`
	Detail      string
	FirstSeenAt time.Time
}

// ReadinessTally keeps the counts of the last refresh of an organization's readiness.
type ReadinessTally struct {
	OrgID     uuid.UUID `gorm:"type:uuid;primaryKey"`
	CheckedAt time.Time
	Counts    json.RawMessage `gorm:"type:jsonb"`
}
