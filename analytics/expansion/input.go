package expansion

import (
	"github.com/google/uuid"

	"revarch/analytics/affinity"
)

// Product is an active product: one that may be proposed.
type Product struct {
	ID             uuid.UUID
	ListPriceCents *int64 // per account and year
}

// Holding is one line of an owned product. Lines of the same product add up.
type Holding struct {
	Product  uint16 // position, from Engine.Index; leave out products that are not active
	ARRCents int64
	Quantity *float64 // licenses
}

// Size is how large an account is; nil or 0 is unknown.
type Size struct {
	Students, Licenses *float64
}

// Status is where a signal stands.
type Status string

// The statuses. Pending ones are replaced by every run, the others stay.
const (
	Pending   Status = "pending"
	Pitched   Status = "pitched"
	Won       Status = "won"
	Dismissed Status = "dismissed"
)

// Past is an earlier signal of an account that is no longer pending.
type Past struct {
	Product     uint16
	Status      Status
	DaysAgo     float64  // since it was moved there
	Probability *float64 // P at the time
}

// Account is an owning account with all that its signals need. Scores, fits and readiness are 0 to 100, shares 0 to 1.
type Account struct {
	ID      uuid.UUID
	Segment affinity.Segment
	Size    Size
	Owned   []Holding

	Expansion, Readiness, ICPFit, Health, Risk *float64
	WindowDays                                 *float64 // to the next buying window, 0 when open
	DaysToRenewal                              *float64
	AgeDays, OnboardingPct                     *float64 // since it became a customer
	P1Open, OverdueDays, UseRatio              *float64

	OptedOut          bool
	OpenOpportunities []uint16 // products with an open opportunity
	NotOffered        []uint16 // products not offered in the account's state or sector
	Past              []Past
}

// positive returns a size that can be divided by.
func positive(v *float64) (float64, bool) {
	if v == nil || !(*v > 0) || *v > 1e12 {
		return 0, false
	}
	return *v, true
}

// holding is what an account owns of one product, all lines taken together.
type holding struct {
	product  uint16
	arr      int64
	licenses float64 // 0 when a line does not say
}
