package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// ReleaseStatus is where a release of a dataset stands.
type ReleaseStatus string

// The statuses of a release. One release per dataset is current; the others that were loaded stay queryable by id.
const (
	ReleaseLoading    ReleaseStatus = "loading"
	ReleaseCurrent    ReleaseStatus = "current"
	ReleaseSuperseded ReleaseStatus = "superseded" // loaded, and a better or newer one is current
	ReleaseFailed     ReleaseStatus = "failed"     // nothing of it is kept but this row
)

// ReleaseScope is how much of the country a release covers.
type ReleaseScope string

// The scopes, widest first: a wider one is never displaced by a narrower one.
const (
	ScopeNational ReleaseScope = "national"
	ScopeState    ReleaseScope = "state"   // a whole directory of one state
	ScopePartial  ReleaseScope = "partial" // loaded as a part, without the checks of a whole
)

// EduRelease is one publication of an official dataset as it was loaded.
type EduRelease struct {
	ID           uuid.UUID `gorm:"type:uuid;primaryKey"`
	Dataset      string
	VintageYear  int
	VintageBasis string // school_year: the year it ends in; calendar_year: the year of the estimate
	VintageLabel string // the publisher's own
	Release      string // preliminary, provisional, final, revised
	ReleaseRank  int
	Token        string
	Scope        ReleaseScope
	Layout       string
	Encoding     string
	SourceName   string
	SHA256       []byte `gorm:"column:sha256"` // of the file as it was uploaded
	Rows         int64
	BadRows      int64
	Checks       json.RawMessage `gorm:"type:jsonb"`
	Status       ReleaseStatus
	Failure      string
	RunID        uuid.UUID `gorm:"type:uuid"`
	CreatedAt    time.Time
	LoadedAt     *time.Time
}

// TableName names the table in its schema.
func (EduRelease) TableName() string { return "edu.releases" }

// Better reports whether r should be read in place of other when nobody asks for one in particular: the wider scope, then
// the newer vintage, then the more final release; of equals the one that came later, which is r.
func (r EduRelease) Better(other EduRelease) bool {
	width := map[ReleaseScope]int{ScopeNational: 2, ScopeState: 1}
	switch {
	case r.Scope != other.Scope:
		return width[r.Scope] > width[other.Scope]
	case r.VintageYear != other.VintageYear:
		return r.VintageYear > other.VintageYear
	case r.ReleaseRank != other.ReleaseRank:
		return r.ReleaseRank > other.ReleaseRank
	}
	return r.Token >= other.Token
}

// EduInstitution is an institution in one release of the IPEDS directory.
type EduInstitution struct {
	ReleaseID            uuid.UUID `gorm:"type:uuid;primaryKey"`
	UNITID               string    `gorm:"column:unitid;primaryKey"` // 6 digits
	OPEID                string    `gorm:"column:opeid"`
	EIN                  string    `gorm:"column:ein"`
	Name, NormalizedName string
	Alias, Address, City string
	State                string // USPS code
	FIPS                 string `gorm:"column:fips"`
	ZIP                  string `gorm:"column:zip"`
	County               string
	CountyFIPS           string `gorm:"column:county_fips"`
	Website, SystemName  string
	Sector               *int
	ICLevel              *int `gorm:"column:ic_level"`
	Control              *int
	Carnegie             *int
	CarnegieEdition      string
	Locale, SizeClass    *int
	DegreeGranting       *bool
	HBCU                 *bool `gorm:"column:hbcu"`
	Tribal, CyActive     *bool
	ClosedAt             string     // as printed
	ClosedOn             *time.Time `gorm:"type:date"`
	DeathYear            *int
	NewID                string
	Latitude, Longitude  *float64
}

// TableName names the table in its schema.
func (EduInstitution) TableName() string { return "edu.institutions" }

// EduDistrict is a district in one release of a roster: all that the CCD directory tells, or name and state from SAIPE.
type EduDistrict struct {
	ReleaseID            uuid.UUID `gorm:"type:uuid;primaryKey"`
	LEAID                string    `gorm:"column:leaid;primaryKey"` // 7 digits
	StateLEAID           string    `gorm:"column:state_leaid"`
	Name, NormalizedName string
	Phone, Address, City string
	State                string // USPS code
	FIPS                 string `gorm:"column:fips"`
	ZIP                  string `gorm:"column:zip"`
	County               string
	CountyFIPS           string `gorm:"column:county_fips"`
	Website              string
	LEAType              *int `gorm:"column:lea_type"`
	Status               *int
	GradeLow, GradeHigh  string
	Charter              *bool
	Enrollment           *int
	Latitude, Longitude  *float64
}

// TableName names the table in its schema.
func (EduDistrict) TableName() string { return "edu.districts" }

// EduPoverty is the estimate of one district in one release of SAIPE.
type EduPoverty struct {
	ReleaseID         uuid.UUID `gorm:"type:uuid;primaryKey"`
	LEAID             string    `gorm:"column:leaid;primaryKey"`
	State             string
	Population        int64 // overlapping districts count people twice
	Children5to17     int64 `gorm:"column:children_5_17"`
	ChildrenInPoverty int64
	EstimateYear      int // calendar year
}

// TableName names the table in its schema.
func (EduPoverty) TableName() string { return "edu.poverty" }
