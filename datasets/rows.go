package datasets

import (
	"fmt"
	"time"
)

// Row is one row of a file; exactly one of the three pointers is set, by the file's format.
type Row struct {
	Line        int // where the row starts, counted from 1: a line of text or a row of the worksheet
	Institution *Institution
	District    *District
	Poverty     *Poverty
}

// Key returns the row's natural key: UNITID or LEAID.
func (r Row) Key() string {
	switch {
	case r.Institution != nil:
		return r.Institution.UNITID
	case r.District != nil:
		return r.District.LEAID
	case r.Poverty != nil:
		return r.Poverty.LEAID
	}
	return ""
}

// Institution is a row of the IPEDS directory. What the file does not tell is nil or "".
type Institution struct {
	UNITID          string // 6 digits
	OPEID           string // 8 digits
	EIN             string
	Name            string
	Alias           string // as printed; several are divided by "|"
	Address         string
	City            string
	State           string // USPS code
	FIPS            string // 2 digits
	ZIP             string // 5 digits or ZIP+4
	County          string
	CountyFIPS      string // 5 digits
	Website         string
	SystemName      string // the multi-campus system it belongs to
	Sector          *int   // 0 administrative unit, 1-9, 99 unknown
	ICLevel         *int   // 1 four years or more, 2 two years, 3 less
	Control         *int   // 1 public, 2 private nonprofit, 3 for-profit
	Carnegie        *int   // basic classification of the newest edition in the file
	CarnegieEdition string // its column, such as C21BASIC
	Locale          *int
	SizeClass       *int
	DegreeGranting  *bool
	HBCU            *bool
	Tribal          *bool
	CyActive        *bool      // active in the current year
	ClosedAt        string     // as printed
	ClosedOn        *time.Time // ClosedAt where it can be read; the first day if only month or year is told
	DeathYear       *int       // left IPEDS in this year
	NewID           string     // UNITID it merged into
	Latitude        *float64
	Longitude       *float64
}

// District is a row of the CCD directory of local education agencies. What the file does not tell is nil or "".
type District struct {
	LEAID      string // 7 digits
	StateLEAID string
	Name       string
	Phone      string
	Address    string
	City       string
	State      string // USPS code of the state the agency belongs to, which its address need not be in
	FIPS       string // 2 digits; 58-63 are federal agencies
	ZIP        string // 5 digits or ZIP+4
	County     string
	CountyFIPS string // 5 digits
	Website    string
	LEAType    *int // 1 regular, 2 component of a supervisory union, 3 union, 4 service, 5 state, 6 federal, 7 charter, 8 other
	Status     *int // 1 open, 2 closed, 3 new, 4 added, 5 changed boundary, 6 inactive, 7 future, 8 reopened
	GradeLow   string
	GradeHigh  string
	Charter    *bool
	Enrollment *int // only where the layout carries membership
	Latitude   *float64
	Longitude  *float64
}

// Poverty is a row of the SAIPE school-district file. Population counts overlapping districts twice; the two columns of
// children are grade-relevant and do not.
type Poverty struct {
	LEAID             string // 7 digits: FIPS and DistrictID
	State             string // USPS code
	FIPS              string // 2 digits
	DistrictID        string // 5 digits
	Name              string
	Population        int
	Children5to17     int
	ChildrenInPoverty int
	EstimateYear      int // calendar year
}

// RowError is a row that could not be used. It does not end the file.
type RowError struct {
	Line   int
	Column string // "" when the row as a whole is wrong
	Reason string
}

// Error says where and why, in a form that may be shown.
func (e *RowError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("line %d, column %s: %s", e.Line, e.Column, e.Reason)
}
