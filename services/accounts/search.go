// Package accounts is what people look up: lists of accounts, one account in full with where each value came from, and
// the contacts and deals behind it. It reads; syncing and scoring write.
package accounts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	engine "revarch/analytics/scoring"
	"revarch/auth"
	"revarch/datasets"
	"revarch/fault"
	"revarch/services/paging"
	"revarch/services/scoring"
	"revarch/store"
)

// Service looks accounts up.
type Service struct {
	Store   *store.Store
	Scores  *scoring.Service
	Clock   func() time.Time
	Cursors paging.Codec
	// SortUpTo is how many accounts a filter may select for a page to be sorted; of more, a page is looked for along the
	// index of its order. 0 is 5,000, a negative number never sorts.
	SortUpTo int64
}

func (s *Service) few(total int64) bool { return total <= cmp.Or(s.SortUpTo, fewAccounts) }

// The values of filters and orders.
var (
	Segments = []string{"Enterprise", "Mid-Market", "SMB"}
	Statuses = []string{"customer", "prospect", "former_customer"}
	Sorts    = []string{"risk", "health", "arr", "name", "priority"}
)

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	eachBatch    = 1000
	maxQuery     = 200
	fewAccounts  = 5000
)

// Filter selects live accounts; zero fields select everything.
type Filter struct {
	Query     string // part of the name or the domain, or a whole NCES id or UNITID; whatever the case
	Segment   string
	Territory string // part of its name, whatever the case
	State     string
	Status    string
	Sort      string // one of Sorts; "" is risk
}

// SearchInput asks for a page of accounts.
type SearchInput struct {
	Filter
	Cursor string
	Limit  int // 0 is DefaultLimit
}

// AccountRow is an account in a list.
type AccountRow struct {
	AccountID      uuid.UUID `json:"account_id" format:"uuid"`
	Name           string    `json:"name"`
	Segment        *string   `json:"segment"`
	Territory      *string   `json:"territory"`
	State          *string   `json:"state"`
	Status         *string   `json:"status" doc:"customer, prospect or former_customer; null when the CRM does not say"`
	NCESID         *string   `json:"nces_id"`
	UNITID         *string   `json:"unitid"`
	Domain         *string   `json:"domain"`
	ARRCents       *int64    `json:"arr_cents" doc:"At the last computation of scores; null when no subscription is known"`
	Health         *float64  `json:"health" doc:"0 to 100, high is good"`
	HealthStatus   *string   `json:"health_status" doc:"Level of health: NONE, INFO, WARNING or CRITICAL"`
	Risk           *float64  `json:"risk" doc:"0 to 100, high is bad"`
	RiskStatus     *string   `json:"risk_status" doc:"Level of risk: NONE, INFO, WARNING or CRITICAL"`
	Priority       *float64  `json:"priority"`
	PriorityReason *string   `json:"priority_reason" doc:"Why priority is null"`
	Coverage       *float64  `json:"coverage" doc:"Lowest coverage of the scores, 0 to 1"`
	Reason         *string   `json:"reason" doc:"Why health or risk is null: not_scored or insufficient_data"`
}

// Page is a page of accounts. Total counts all that the filter selects; SortedBy is the order that was used, which is
// risk while priority is not available.
type Page struct {
	Accounts   []AccountRow `json:"accounts"`
	Total      int64        `json:"total"`
	SortedBy   string       `json:"sorted_by"`
	Currency   string       `json:"currency"`
	NextCursor *string      `json:"next_cursor"`
}

// Search returns a page of accounts in a total order. Faults: Denied, Invalid.
func (s *Service) Search(ctx context.Context, p auth.Principal, in SearchInput) (Page, error) {
	out := Page{Accounts: []AccountRow{}}
	f, sort, err := in.check(p)
	if err != nil {
		return out, err
	}
	out.SortedBy = string(sort)
	var after *store.AccountPosition
	if in.Cursor != "" {
		after = &store.AccountPosition{}
		if err := s.Cursors.Decode(in.Cursor, p.OrgID, "accounts", in.Filter, after); err != nil {
			return out, err
		}
	}
	limit := in.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		o, err := tx.Organization()
		if err != nil {
			return err
		}
		out.Currency = o.ReportingCurrency
		if out.Total, err = tx.CountAccounts(f); err != nil {
			return err
		}
		rows, at, err := tx.AccountPage(f, sort, after, limit+1, s.few(out.Total))
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			next, err := s.Cursors.Encode(p.OrgID, "accounts", in.Filter, at[limit-1])
			if err != nil {
				return err
			}
			out.NextCursor = &next
		}
		out.Accounts = toRows(rows)
		return nil
	})
	return out, err
}

// Each calls fn with every selected account, batch by batch in order, and the currency of its money. Faults: Denied,
// Invalid.
func (s *Service) Each(ctx context.Context, p auth.Principal, in Filter, fn func(rows []AccountRow, currency string) error) error {
	f, sort, err := SearchInput{Filter: in}.check(p)
	if err != nil {
		return err
	}
	var after *store.AccountPosition
	var few bool
	for {
		var rows []AccountRow
		var currency string
		err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
			o, err := tx.Organization()
			if err != nil {
				return err
			}
			currency = o.ReportingCurrency
			if after == nil {
				n, err := tx.CountAccounts(f)
				if err != nil {
					return err
				}
				few = s.few(n)
			}
			found, at, err := tx.AccountPage(f, sort, after, eachBatch, few)
			if n := len(at); n > 0 {
				after = &at[n-1]
			}
			rows = toRows(found)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := fn(rows, currency); err != nil {
			return err
		}
	}
}

// check validates the input and returns it in the words of the store.
func (in SearchInput) check(p auth.Principal) (store.AccountFilter, store.AccountSort, error) {
	var f store.AccountFilter
	if err := p.Require(auth.PermRead); err != nil {
		return f, "", err
	}
	var bad []fault.FieldError
	oneOf := func(name, value string, allowed []string) {
		if value != "" && !slices.Contains(allowed, value) {
			bad = append(bad, fault.FieldError{Field: name, Message: "must be one of " + strings.Join(allowed, ", ")})
		}
	}
	oneOf("segment", in.Segment, Segments)
	oneOf("status", in.Status, Statuses)
	oneOf("sort", in.Sort, Sorts)
	for name, value := range map[string]string{"query": in.Query, "territory": in.Territory, "state": in.State} {
		if utf8.RuneCountInString(value) > maxQuery || strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
			bad = append(bad, fault.FieldError{Field: name, Message: fmt.Sprintf("must be text of at most %d characters", maxQuery)})
		}
	}
	if in.Limit < 0 || in.Limit > MaxLimit {
		bad = append(bad, fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	if len(bad) > 0 {
		return f, "", fault.WithFields("the search is not valid: "+bad[0].Field+" "+bad[0].Message, bad...)
	}
	f = store.AccountFilter{
		Query: strings.TrimSpace(in.Query), Segment: in.Segment, Territory: strings.TrimSpace(in.Territory),
		State: strings.TrimSpace(in.State), Status: in.Status,
	}
	if f.Query != "" {
		f.Normalized = datasets.NormalizeName(f.Query)
	}
	sort := store.AccountSort(in.Sort)
	if in.Sort == "" || in.Sort == "priority" { // there is no priority yet
		sort = store.AccountsByRisk
	}
	return f, sort, nil
}

func toRows(rows []store.AccountSummary) []AccountRow {
	out := make([]AccountRow, 0, len(rows))
	for _, r := range rows {
		unavailable := "not_available"
		row := AccountRow{
			AccountID: r.ID, Name: r.Name, Segment: r.Segment, Territory: r.Territory, State: r.State, Status: r.Status,
			NCESID: r.NCESID, UNITID: r.UNITID, Domain: r.Domain, ARRCents: r.ARRCents, Health: points(r.Health), Risk: points(r.Risk),
			PriorityReason: &unavailable,
		}
		row.HealthStatus, row.RiskStatus = scoring.LevelOf(engine.Health, row.Health), scoring.LevelOf(engine.Risk, row.Risk)
		row.Coverage, row.Reason = coverage(r)
		out = append(out, row)
	}
	return out
}

// coverage returns the lowest coverage of an account's scores and why a composite is missing.
func coverage(r store.AccountSummary) (*float64, *string) {
	var reason string
	if r.HealthCoverage == nil || r.RiskCoverage == nil {
		reason = "not_scored"
		return nil, &reason
	}
	low := round(float64(min(*r.HealthCoverage, *r.RiskCoverage)), 1e4)
	if r.Health == nil || r.Risk == nil {
		reason = "insufficient_data"
		return &low, &reason
	}
	return &low, nil
}
