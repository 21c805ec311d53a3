package data

import "time"

// Status is where an account stands with the seller.
type Status string

// The statuses, spelled as the CRMs show them.
const (
	Customer Status = "Customer"
	Prospect Status = "Prospect"
	Former   Status = "Former Customer"
)

// Stamps say when a record was made and changed, in whole seconds UTC. Modified is the last change by a person,
// System also moves with changes by the system: Created <= Modified <= System.
type Stamps struct{ Created, Modified, System time.Time }

// Story is one account with everything that hangs on it.
type Story struct {
	Account       Account
	Contacts      []Contact
	Opportunities []Opportunity
	Tasks         []Task
	Assets        []Asset
}

// Account is an institution as the CRM knows it. Index identifies it, Parent and Owner are indexes (-1 for none), money
// is cents, percentages are 0-100, dates are UTC midnights.
type Account struct {
	Stamps
	Index, Parent, Owner                     int
	Sector                                   Sector
	Status                                   Status
	Name, Domain, City, State                string
	LastActivity                             Null[time.Time]
	Segment, Territory, BuyerType            Null[string]
	NCESID, UNITID                           Null[string]
	Enrollment                               Null[int]
	ARR                                      Null[int64]
	Seats, Active28, ActivePrior             Null[int]
	Owned, Live, OpenP1, Tickets, Tickets90d Null[int]
	CSAT                                     Null[float64]
	OverdueDays                              Null[int]
	Renewal                                  Null[time.Time]
	OnboardingPct, GoalsMetPct               Null[int]
	Competitor                               Null[string]
	OptOut                                   bool // asked not to be offered more
}

// Contact is a person at an account. Detached people have no account; Hidden ones belong to an account that the
// connected user may not see.
type Contact struct {
	Stamps
	Owner                     int
	Detached, Hidden, Deleted bool
	First, Last               string
	Email, Phone, Title       Null[string]
	Champion                  Null[bool]
	Left                      Null[time.Time]
}

// Stage is a step of the sales process.
type Stage struct {
	Name, Forecast string
	Probability    int
	Closed, Won    bool
}

// Stages are the steps in order.
var Stages = []Stage{
	{"Prospecting", "Pipeline", 10, false, false},
	{"Qualification", "Pipeline", 20, false, false},
	{"Needs Analysis", "Pipeline", 35, false, false},
	{"Proposal/Price Quote", "Best Case", 60, false, false},
	{"Negotiation/Review", "Commit", 80, false, false},
	{"Closed Won", "Closed", 100, true, true},
	{"Closed Lost", "Omitted", 0, true, false},
}

// Opportunity is a deal. Its lines add up to Amount, when there is one.
type Opportunity struct {
	Stamps
	Owner        int
	Name, Type   string
	Stage        Stage
	Amount       Null[int64]
	Close        time.Time
	StageChanged Null[time.Time]
	Lines        []Line
}

// Line is a product in a deal: Total is Quantity times Unit, in cents.
type Line struct {
	Product, Quantity int
	Unit, Total       int64
	Service           time.Time
}

// Task is something done or to do. Contact indexes the story's contacts (-1 for none).
type Task struct {
	Stamps
	Owner, Contact          int
	Opportunity             int // index into the story's opportunities, -1 when it is about the account
	Subject, Kind, Priority string
	Status                  string
	Due                     Null[time.Time]
	Completed               Null[time.Time]
}

// Asset is a product line that an account has or had. Price is what the line costs a year, in cents.
type Asset struct {
	Stamps
	Product, Quantity int
	Price             int64
	Installed         bool // false once it has ended
	Start             time.Time
	End               Null[time.Time]
}
