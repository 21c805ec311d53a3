package accounts

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"revarch/models"
	"revarch/services/scoring"
	"revarch/services/tasks"
	"revarch/store"
)

// Account is one account's own values.
type Account struct {
	AccountID       uuid.UUID      `json:"account_id" format:"uuid"`
	Name            string         `json:"name"`
	Domain          *string        `json:"domain"`
	City            *string        `json:"city"`
	State           *string        `json:"state"`
	Status          *string        `json:"status"`
	Segment         *string        `json:"segment"`
	SegmentDerived  bool           `json:"segment_derived" doc:"The segment was derived from enrollment"`
	Territory       *string        `json:"territory"`
	BuyerType       *string        `json:"buyer_type"`
	NCESID          *string        `json:"nces_id"`
	UNITID          *string        `json:"unitid"`
	Enrollment      *int64         `json:"enrollment"`
	OwnerName       *string        `json:"owner_name" doc:"Who owns the account in the CRM"`
	OwnerEmail      *string        `json:"owner_email"`
	OwnerExternalID *string        `json:"owner_external_id" doc:"Owner's id in the CRM"`
	RenewalDate     *string        `json:"renewal_date" format:"date"`
	Seats           *int64         `json:"seats"`
	ExpansionOptOut *bool          `json:"expansion_opt_out" doc:"Whether the account asked not to be offered more"`
	Active28d       *int64         `json:"active_28d"`
	ARRCents        *int64         `json:"arr_cents" doc:"In force today; null when no subscription is known"`
	Currency        string         `json:"currency"`
	Match           *OfficialMatch `json:"match" doc:"The official record it is tied to"`
	Sources         []string       `json:"sources" doc:"Systems that contributed"`
	UpdatedAt       time.Time      `json:"updated_at"`
	SourceCreatedAt *time.Time     `json:"source_created_at"`
}

// OfficialMatch ties an account to the official record of a district or an institution.
type OfficialMatch struct {
	Kind       string   `json:"kind" enum:"district,institution"`
	Status     string   `json:"status" enum:"matched,ambiguous"`
	ID         *string  `json:"id" doc:"LEAID or UNITID; null while ambiguous"`
	Name       *string  `json:"name"`
	Method     string   `json:"method" enum:"exact_id,name_state,manual" doc:"manual: a person decided"`
	Candidates []string `json:"candidates" doc:"While ambiguous: the ids it could be"`
}

// Contact is a person at an account.
type Contact struct {
	ContactID      uuid.UUID  `json:"contact_id" format:"uuid"`
	AccountID      *uuid.UUID `json:"account_id" format:"uuid"`
	AccountName    *string    `json:"account_name"`
	Name           string     `json:"name"`
	Title          *string    `json:"title"`
	Email          *string    `json:"email"`
	Phone          *string    `json:"phone"`
	Champion       bool       `json:"champion"`
	LeftAt         *string    `json:"left_at" format:"date"`
	LastActivityAt *string    `json:"last_activity_at" format:"date"`
}

// Opportunity is a deal.
type Opportunity struct {
	OpportunityID    uuid.UUID  `json:"opportunity_id" format:"uuid"`
	AccountID        *uuid.UUID `json:"account_id" format:"uuid"`
	AccountName      *string    `json:"account_name"`
	Name             string     `json:"name"`
	Stage            string     `json:"stage"`
	AmountCents      *int64     `json:"amount_cents"`
	CloseDate        *string    `json:"close_date" format:"date"`
	ForecastCategory *string    `json:"forecast_category"`
	Probability      *float64   `json:"probability" doc:"0 to 1"`
	IsClosed         bool       `json:"is_closed"`
	IsWon            bool       `json:"is_won"`
	Type             *string    `json:"type"`
	OwnerName        *string    `json:"owner_name"`
	OwnerExternalID  *string    `json:"owner_external_id"`
}

// Product is one line of what an account bought.
type Product struct {
	ProductID uuid.UUID `json:"product_id" format:"uuid"`
	SKU       *string   `json:"sku"`
	Name      string    `json:"name"`
	ARRCents  *int64    `json:"arr_cents"`
	Quantity  *float64  `json:"quantity"`
	StartDate *string   `json:"start_date" format:"date"`
	EndDate   *string   `json:"end_date" format:"date"`
	Owned     bool      `json:"owned" doc:"It has begun and is not over"`
}

// Activity is something that happened with an account. At is a day when the source gives no time.
type Activity struct {
	ActivityID uuid.UUID `json:"activity_id" format:"uuid"`
	Type       string    `json:"type"`
	Subject    *string   `json:"subject"`
	At         *string   `json:"at"`
}

// AccountScores are an account's scores; a model that is not there is null and Reason says why health and risk are.
type AccountScores struct {
	Health    *scoring.ScoreView `json:"health"`
	Risk      *scoring.ScoreView `json:"risk"`
	Priority  *scoring.ScoreView `json:"priority"`
	Expansion *scoring.ScoreView `json:"expansion"`
	Reason    *string            `json:"reason" doc:"not_scored before the first computation; priority and expansion are not_available"`
}

// ValueSource says where one value of the account came from.
type ValueSource struct {
	Field       string          `json:"field"`
	Provider    models.Provider `json:"provider"`
	Object      string          `json:"object"`
	SourceField string          `json:"source_field"`
}

// Detail is one account in full. Lists that were cut are named in Truncated.
type Detail struct {
	Account                    Account       `json:"account"`
	Scores                     AccountScores `json:"scores"`
	Contacts                   []Contact     `json:"contacts"`
	Opportunities              []Opportunity `json:"opportunities"`
	Products                   []Product     `json:"products" doc:"What it bought, what it owns now first"`
	Activities                 []Activity    `json:"activities" doc:"The latest 50"`
	Tasks                      []tasks.Task  `json:"tasks"`
	DistrictIntelligence       *string       `json:"district_intelligence"`
	DistrictIntelligenceReason string        `json:"district_intelligence_reason"`
	Sources                    []ValueSource `json:"sources" doc:"Where each value of the account came from"`
	Truncated                  []string      `json:"truncated" doc:"Lists that hold more than is shown"`
}

func toAccount(a models.Account) Account {
	return Account{
		AccountID: a.ID, Name: a.Name, Domain: a.Domain, City: a.City, State: a.State, Status: a.Status, Segment: a.Segment,
		SegmentDerived: a.SegmentDerived, Territory: a.Territory, BuyerType: a.BuyerType, NCESID: a.NCESID, UNITID: a.UNITID,
		Enrollment: a.Enrollment, OwnerExternalID: a.OwnerExternalID, RenewalDate: day(a.RenewalDate), Seats: a.Seats, ExpansionOptOut: a.ExpansionOptOut, Active28d: a.Active28d,
		Sources: []string{}, UpdatedAt: a.UpdatedAt.UTC(), SourceCreatedAt: utc(a.SourceCreatedAt),
	}
}

func toProducts(rows []store.AccountProductRow) []Product {
	out := make([]Product, 0, len(rows))
	for _, p := range rows {
		out = append(out, Product{p.ProductID, p.SKU, p.Name, p.ARRCents, p.Quantity, day(p.StartDate), day(p.EndDate), p.Owned})
	}
	return out
}

func toContacts(rows []store.ContactRow) []Contact {
	out := make([]Contact, 0, len(rows))
	for _, c := range rows {
		out = append(out, Contact{
			ContactID: c.ID, AccountID: c.AccountID, AccountName: c.AccountName, Name: c.Name, Title: c.Title, Email: c.Email,
			Phone: c.Phone, Champion: c.Champion != nil && *c.Champion, LeftAt: day(c.LeftOn), LastActivityAt: day(c.LastOn),
		})
	}
	return out
}

func toOpportunities(rows []store.OpportunityRow) []Opportunity {
	out := make([]Opportunity, 0, len(rows))
	for _, o := range rows {
		out = append(out, Opportunity{
			OpportunityID: o.ID, AccountID: o.AccountID, AccountName: o.AccountName, Name: o.Name, Stage: o.Stage,
			AmountCents: o.AmountCents, CloseDate: day(o.CloseDate), ForecastCategory: o.ForecastCategory, Probability: o.Probability,
			IsClosed: o.IsClosed, IsWon: o.IsWon, Type: o.Type, OwnerName: o.OwnerName, OwnerExternalID: o.OwnerExternalID,
		})
	}
	return out
}

func toActivities(rows []models.Activity) []Activity {
	out := make([]Activity, 0, len(rows))
	for _, a := range rows {
		x := Activity{ActivityID: a.ID, Type: "activity", Subject: a.Subject, At: day(a.OnDate)}
		if a.Type != nil {
			x.Type = *a.Type
		}
		if a.CompletedAt != nil {
			at := a.CompletedAt.UTC().Format(time.RFC3339)
			x.At = &at
		}
		out = append(out, x)
	}
	return out
}

func toSources(m models.MappingVersion) []ValueSource {
	out := []ValueSource{}
	for _, t := range models.TargetFields {
		if field, ok := m.Entries[t.Name]; ok && t.Record == models.RecordAccount {
			out = append(out, ValueSource{t.Name, m.Provider, m.Object, field})
		}
	}
	return out
}

// systems names the providers of links for people, each once.
func systems(links []models.RecordLink) []string {
	out := []string{}
	for _, l := range links {
		name := string(l.Provider)
		if info, ok := l.Provider.Info(); ok {
			name = info.DisplayName
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func day(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := t.Format(time.DateOnly)
	return &s
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// points rounds a stored composite for display.
func points(v *float32) *float64 {
	if v == nil {
		return nil
	}
	r := round(float64(*v), 100)
	return &r
}

func round(v, scale float64) float64 { return math.Round(v*scale) / scale }
