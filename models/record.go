package models

import (
	"time"

	"github.com/google/uuid"
)

// FieldSource says where a canonical field's value came from.
type FieldSource struct {
	Provider Provider `json:"provider"`
	Object   string   `json:"object"`
	Field    string   `json:"field"`
}

// Canonical is what every record has that was made from a provider's.
type Canonical struct {
	OrgID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider             Provider
	ExternalID           string
	MappingID            int32 // mapping_versions: where each field comes from
	CreatedAt, UpdatedAt time.Time
	DeletedAt            *time.Time
}

// Account is a district, an institution or a company as one organization knows it. Its domain is not unique.
type Account struct {
	Canonical
	Name                              string
	NormalizedName                    string
	Domain, City, State               *string
	Status                            *string // customer, prospect, former_customer
	Segment                           *string // Enterprise, Mid-Market, SMB
	SegmentDerived                    bool
	Territory                         *string
	BuyerType                         *string // k12, higher_ed
	NCESID                            *string `gorm:"column:nces_id"`
	UNITID                            *string `gorm:"column:unitid"`
	Enrollment                        *int64
	OwnerExternalID, ParentExternalID *string
	ARRCents                          *int64     `gorm:"column:arr_cents"`
	RenewalDate                       *time.Time `gorm:"type:date"`
	Seats                             *int64
	Active28d                         *int64 `gorm:"column:active_28d"`
	ActivePrior28d                    *int64 `gorm:"column:active_prior_28d"`
	ProductsOwned, ProductsLive       *int64
	TicketsOpen                       *int64
	P1Open                            *int64   `gorm:"column:p1_open"`
	Tickets90d                        *int64   `gorm:"column:tickets_90d"`
	CSAT90d                           *float64 `gorm:"column:csat_90d"`
	OverdueDays                       *int64
	OnboardingPct, GoalsMetPct        *float64 // share, 0-1
	Competitor                        *string
	ExpansionOptOut                   *bool // asked not to be offered more
	SourceCreatedAt                   *time.Time
	MergedInto                        *uuid.UUID `gorm:"type:uuid"`
}

// Contact is a person at an account.
type Contact struct {
	Canonical
	AccountID           *uuid.UUID `gorm:"type:uuid"`
	AccountExternalID   *string
	FirstName, LastName *string
	Name                string
	Email, Phone, Title *string
	Champion            *bool
	LeftOn              *time.Time `gorm:"type:date"`
	OwnerExternalID     *string
}

// Opportunity is a deal.
type Opportunity struct {
	Canonical
	AccountID         *uuid.UUID `gorm:"type:uuid"`
	AccountExternalID *string
	Name              string
	Stage             string
	AmountCents       *int64
	CloseDate         *time.Time `gorm:"type:date"`
	IsClosed, IsWon   bool
	Type              *string // new_business, renewal, expansion
	ForecastCategory  *string
	Probability       *float64 // share, 0-1
	OwnerExternalID   *string
	StageChangedAt    *time.Time
	CreatedOn         *time.Time
}

// Activity is an e-mail, a call, a meeting or a task with an account.
type Activity struct {
	Canonical
	AccountID         *uuid.UUID `gorm:"type:uuid"`
	AccountExternalID *string
	ContactID         *uuid.UUID `gorm:"type:uuid"`
	ContactExternalID *string
	OwnerExternalID   *string
	Type              *string // email, call, meeting, task
	Subject, Status   *string
	OnDate            *time.Time `gorm:"type:date"`
	CompletedAt       *time.Time
}

// SubscriptionLine is recurring revenue; the one source of ARR. A line of source account_total is ignored while the
// account has product lines.
type SubscriptionLine struct {
	OrgID                uuid.UUID  `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID  `gorm:"type:uuid;primaryKey"`
	AccountID            uuid.UUID  `gorm:"type:uuid"`
	ProductID            *uuid.UUID `gorm:"type:uuid"`
	Source               string     // account_total or product
	Provider             Provider
	ExternalID           string
	ARRCents             int64      `gorm:"column:arr_cents"`
	Quantity             *float64   `gorm:"type:numeric"`
	StartDate, EndDate   *time.Time `gorm:"type:date"`
	Ended                bool       // the source says it is over: it does not wait for a renewal
	CreatedAt, UpdatedAt time.Time
}

// FeatureFact is one change of one feature of an account. Value nil: it became unknown.
type FeatureFact struct {
	OrgID     uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID uuid.UUID `gorm:"type:uuid;primaryKey"`
	Feature   string    `gorm:"primaryKey"`
	KnownAt   time.Time `gorm:"primaryKey"`
	ValidAt   time.Time
	Value     *float64
	SourceRef string
}

// RuleSet is the configuration scores were computed with, kept so that old scores render by their own rules.
type RuleSet struct {
	OrgID        uuid.UUID `gorm:"type:uuid;primaryKey"`
	ModelVersion string    `gorm:"primaryKey"`
	Definition   []byte    `gorm:"type:jsonb"`
	CreatedAt    time.Time
}

// Score is the latest score of an account by one model, compact.
type Score struct {
	OrgID        uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID    uuid.UUID `gorm:"type:uuid;primaryKey"`
	Model        string    `gorm:"primaryKey"`
	Composite    *float32  // nil: insufficient data
	Coverage     float32
	ModelVersion string
	ComputedAt   time.Time
	TookUS       int `gorm:"column:took_us"` // how long computing took, microseconds
	Body         []byte
}

// AccountMatch ties an account to the official record of a district (LEAID) or an institution (UNITID).
type AccountMatch struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	AccountID  uuid.UUID `gorm:"type:uuid;primaryKey"`
	Kind       string    // district, institution
	Status     string    // matched, ambiguous
	OfficialID *string
	Method     string      // exact_id, name_state, manual
	Candidates StringArray `gorm:"type:text[]"`
	MatchedAt  time.Time
}

// CRMUser is a user of a CRM: accounts, deals and activities name one as their owner, by provider and external id.
type CRMUser struct {
	Canonical
	Name   string
	Email  *string
	Active bool
}
