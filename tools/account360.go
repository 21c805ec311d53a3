package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/accounts"
	"revarch/services/tasks"
)

var getAccount360 = define(Spec{
	Name: "get_account_360", Title: "Account in full", Category: "core", Effect: Read,
	Description: "One account in full: values and where they came from, scores, contacts, opportunities, products, activities, tasks. For every rule behind a score use get_account_health.",
}, func(ctx context.Context, d Deps, in account360In) (account360Out, error) {
	got, err := d.Accounts.Get(ctx, auth.From(ctx), in.AccountID)
	if err != nil {
		return account360Out{}, err
	}
	return toAccount360(got, in.Sections), nil
})

type account360In struct {
	AccountID uuid.UUID `json:"account_id" format:"uuid"`
	Sections  []string  `json:"sections,omitempty" doc:"only these; all when left out" enum:"account,scores,contacts,signals,opportunities,renewals,products,district_intelligence,sources,activities,tasks"`
}

// later is a row of a section that nothing fills yet.
type later struct{}

// account360Out holds what was asked for; a section that was not is left out.
type account360Out struct {
	AccountID            uuid.UUID               `json:"account_id" format:"uuid"`
	Currency             string                  `json:"currency" doc:"Of every amount"`
	Account              *accounts.Account       `json:"account,omitempty"`
	Scores               *scoreBriefs            `json:"scores,omitempty"`
	Contacts             *[]contactRow           `json:"contacts,omitempty"`
	Signals              *[]later                `json:"signals,omitempty"`
	Opportunities        *[]opportunityRow       `json:"opportunities,omitempty"`
	Renewals             *[]later                `json:"renewals,omitempty"`
	Products             *[]accounts.Product     `json:"products,omitempty" doc:"What it bought, what it owns now first"`
	DistrictIntelligence *districtIntel          `json:"district_intelligence,omitempty"`
	Sources              *[]accounts.ValueSource `json:"sources,omitempty" doc:"Where each value of the account came from"`
	Activities           *[]accounts.Activity    `json:"activities,omitempty"`
	Tasks                *[]taskRow              `json:"tasks,omitempty"`
	Unavailable          map[string]string       `json:"unavailable" doc:"Sections that nothing fills yet, and why"`
	Truncated            bool                    `json:"truncated"`
	TruncatedSections    []string                `json:"truncated_sections" doc:"Sections that hold more than is shown"`
	Next                 string                  `json:"next,omitempty" doc:"How to see more"`
}

type districtIntel struct {
	Official *accounts.OfficialMatch `json:"official_record" doc:"The district or institution it was matched to"`
	Reason   string                  `json:"reason"`
}

type contactRow struct {
	ContactID      uuid.UUID `json:"contact_id" format:"uuid"`
	Name           string    `json:"name"`
	Title          *string   `json:"title"`
	Email          *string   `json:"email"`
	Phone          *string   `json:"phone"`
	Champion       bool      `json:"champion"`
	LeftAt         *string   `json:"left_at"`
	LastActivityAt *string   `json:"last_activity_at"`
}

type opportunityRow struct {
	OpportunityID    uuid.UUID `json:"opportunity_id" format:"uuid"`
	Name             string    `json:"name"`
	Stage            string    `json:"stage"`
	AmountCents      *int64    `json:"amount_cents"`
	CloseDate        *string   `json:"close_date"`
	ForecastCategory *string   `json:"forecast_category"`
	Probability      *float64  `json:"probability"`
	IsClosed         bool      `json:"is_closed"`
	IsWon            bool      `json:"is_won"`
	Type             *string   `json:"type"`
}

type taskRow struct {
	TaskID   uuid.UUID `json:"task_id" format:"uuid"`
	Title    string    `json:"title"`
	Status   string    `json:"status"`
	Priority string    `json:"priority"`
	DueDate  *string   `json:"due_date"`
	Overdue  bool      `json:"overdue"`
	Assignee *string   `json:"assignee"`
}

// Summary names the account and its composites.
func (o account360Out) Summary() string {
	parts := []string{"Account " + o.AccountID.String()}
	if o.Scores != nil {
		for _, m := range []struct {
			name  string
			score scoreBrief
		}{{"health", o.Scores.Health}, {"risk", o.Scores.Risk}} {
			if m.score.CompositeScore != nil {
				parts = append(parts, fmt.Sprintf("%s %.1f", m.name, *m.score.CompositeScore))
			} else {
				parts = append(parts, m.name+" "+unknown(m.score.Reason))
			}
		}
	}
	for _, l := range []struct {
		name  string
		count func() int
	}{{"contacts", lengthOf(o.Contacts)}, {"opportunities", lengthOf(o.Opportunities)}, {"tasks", lengthOf(o.Tasks)}} {
		if n := l.count(); n >= 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l.name))
		}
	}
	return strings.Join(parts, ", ") + "."
}

func lengthOf[T any](rows *[]T) func() int {
	return func() int {
		if rows == nil {
			return -1
		}
		return len(*rows)
	}
}

func toAccount360(d accounts.Detail, sections []string) account360Out {
	has := func(name string) bool { return len(sections) == 0 || slices.Contains(sections, name) }
	out := account360Out{AccountID: d.Account.AccountID, Currency: d.Account.Currency, Unavailable: map[string]string{}, TruncatedSections: []string{}}
	if has("account") {
		out.Account = &d.Account
	}
	if has("scores") {
		s := toScoreBriefs(d.Scores)
		out.Scores = &s
	}
	if has("district_intelligence") {
		out.DistrictIntelligence = &districtIntel{d.Account.Match, d.DistrictIntelligenceReason}
	}
	for name, rows := range map[string]**[]later{"signals": &out.Signals, "renewals": &out.Renewals} {
		if has(name) {
			*rows, out.Unavailable[name] = &[]later{}, notAvailable
		}
	}
	var lists []*list
	add := func(name string, l *list) {
		if has(name) {
			l.name = name
			l.more = slices.Contains(d.Truncated, name)
			lists = append(lists, l)
		}
	}
	add("contacts", listOf(toContactRows(d.Contacts), &out.Contacts))
	add("opportunities", listOf(toOpportunityRows(d.Opportunities), &out.Opportunities))
	add("products", listOf(d.Products, &out.Products))
	add("sources", listOf(d.Sources, &out.Sources))
	add("activities", listOf(d.Activities, &out.Activities))
	add("tasks", listOf(toTaskRows(d.Tasks), &out.Tasks))
	fixed, _ := json.Marshal(out)
	share(lists, maxAnswer-len(fixed))
	for _, l := range lists {
		if l.more {
			out.TruncatedSections = append(out.TruncatedSections, l.name)
		}
	}
	switch out.Truncated = len(out.TruncatedSections) > 0; {
	case !out.Truncated:
	case len(lists) == 1:
		out.Next = "this is as much as an answer holds; the web app shows the rest"
	default:
		out.Next = "ask again with sections: [\"" + out.TruncatedSections[0] + "\"] to see more of it"
	}
	return out
}

// list is one list of an answer that shares its room with others.
type list struct {
	name  string
	sizes []int // of each row, as JSON
	total int
	keep  func(n int)
	more  bool // it holds more than is shown
}

func listOf[T any](rows []T, into **[]T) *list {
	l := &list{keep: func(n int) {
		kept := rows[:n]
		*into = &kept
	}}
	for _, r := range rows {
		b, _ := json.Marshal(r) // rows are plain structs, which always encode
		l.sizes = append(l.sizes, len(b)+1)
		l.total += len(b) + 1
	}
	return l
}

// share cuts lists to a number of bytes: small ones stay whole, and what is left is split evenly among the others.
func share(lists []*list, room int) {
	bySize := slices.Clone(lists)
	slices.SortStableFunc(bySize, func(a, b *list) int { return a.total - b.total })
	for i, l := range bySize {
		mine, used, n := max(room, 0)/(len(bySize)-i), 0, 0
		for n < len(l.sizes) && used+l.sizes[n] <= mine {
			used += l.sizes[n]
			n++
		}
		l.keep(n)
		l.more = l.more || n < len(l.sizes)
		room -= used
	}
}

func toContactRows(rows []accounts.Contact) []contactRow {
	out := make([]contactRow, 0, len(rows))
	for _, c := range rows {
		out = append(out, contactRow{c.ContactID, c.Name, c.Title, c.Email, c.Phone, c.Champion, c.LeftAt, c.LastActivityAt})
	}
	return out
}

func toOpportunityRows(rows []accounts.Opportunity) []opportunityRow {
	out := make([]opportunityRow, 0, len(rows))
	for _, o := range rows {
		out = append(out, opportunityRow{o.OpportunityID, o.Name, o.Stage, o.AmountCents, o.CloseDate, o.ForecastCategory, o.Probability, o.IsClosed, o.IsWon, o.Type})
	}
	return out
}

func toTaskRows(rows []tasks.Task) []taskRow {
	out := make([]taskRow, 0, len(rows))
	for _, t := range rows {
		out = append(out, taskRow{t.TaskID, t.Title, t.Status, t.Priority, t.DueDate, t.Overdue, t.Assignee})
	}
	return out
}
