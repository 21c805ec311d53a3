package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// The kinds of runs about products.
const (
	KindAffinity  = "recompute_affinity"
	KindExpansion = "regenerate_expansion"
)

// AffinityMatrix says what the entries of an organization's affinity matrix were computed from.
type AffinityMatrix struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	RunID      uuid.UUID `gorm:"type:uuid"`
	ComputedAt time.Time
	AsOf       time.Time `gorm:"type:date"` // the organization's day
	Products   int64
	Accounts   int64 // owning accounts
	Records    int64 // products owned, lines of the same one counted once
}

// AffinityEntry is an unordered pair of products in one scope. The numbers are those of analytics/affinity.Pair.
type AffinityEntry struct {
	OrgID            uuid.UUID `gorm:"type:uuid;primaryKey"`
	Scope            int16     `gorm:"primaryKey"` // position in affinity.Scopes
	ProductA         uuid.UUID `gorm:"type:uuid;primaryKey"`
	ProductB         uuid.UUID `gorm:"type:uuid;primaryKey"`
	N                int64
	NA               int64 `gorm:"column:n_a"`
	NB               int64 `gorm:"column:n_b"`
	NAB              int64 `gorm:"column:n_ab"`
	FirstA, FirstB   int64
	SameDay, Bundled int64
	Method           int16
	SignificantAB    bool `gorm:"column:significant_ab"`
	SignificantBA    bool `gorm:"column:significant_ba"`
	P, Q             float64
	CrossAB          float64 `gorm:"column:cross_ab"`
	CrossBA          float64 `gorm:"column:cross_ba"`
}

// ExpansionRun says what a regeneration of expansion signals counted.
type ExpansionRun struct {
	OrgID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	RunID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	MatrixRunID uuid.UUID `gorm:"type:uuid"`
	ComputedAt  time.Time
	AsOf        time.Time       `gorm:"type:date"`
	Counts      json.RawMessage `gorm:"type:jsonb"`
	Whitespace  json.RawMessage `gorm:"type:jsonb"`
}

// ExpansionSignal is a product that an account may buy.
type ExpansionSignal struct {
	OrgID             uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID         uuid.UUID `gorm:"type:uuid"`
	ProductID         uuid.UUID `gorm:"type:uuid"`
	Status            string    // pending, pitched, won, dismissed
	Reason            *string
	Place             float64  // what lists are ordered by, highest first
	Priority          *float64 // 0 to 100
	PriorityBasis     int16
	Probability       float64
	EstimatedARRCents *int64 `gorm:"column:estimated_arr_cents"` // nil: unpriced
	ExpectedARRCents  *int64 `gorm:"column:expected_arr_cents"`
	PriceBasis        int16
	PriceScope        int16
	EvidenceScope     int16
	GateFailed        int16
	GateUnknown       int16
	DaysToRenewal     *int32
	Antecedents       []byte
	Version           int64
	StatusChangedBy   string
	StatusChangedAt   *time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
}
