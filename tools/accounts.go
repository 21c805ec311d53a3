package tools

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/accounts"
)

var searchAccounts = define(Spec{
	Name: "search_accounts", Title: "Search accounts", Category: "core", Effect: Read,
	Description: "Accounts by name, segment or territory with ARR, health and risk; highest risk first while priority is not available. For one account in full use get_account_360.",
}, func(ctx context.Context, d Deps, in searchAccountsIn) (searchAccountsOut, error) {
	p := auth.From(ctx)
	ask := accounts.SearchInput{Filter: accounts.Filter{Query: in.Query, Segment: in.Segment, Territory: in.Territory, Sort: in.Sort}, Cursor: in.Cursor}
	out := searchAccountsOut{PriorityReason: notAvailable}
	var err error
	out.Accounts, out.NextCursor, out.Truncated, err = capped(in.Limit, func(limit int) ([]accountRow, *string, error) {
		ask.Limit = limit
		page, err := d.Accounts.Search(ctx, p, ask)
		out.Total, out.SortedBy, out.Currency = page.Total, page.SortedBy, page.Currency
		return toAccountRows(page.Accounts), page.NextCursor, err
	})
	switch {
	case err != nil:
	case len(out.Accounts) == 0 && ask.Filter == (accounts.Filter{Sort: in.Sort}):
		out.Note = "there are no accounts yet; connect a CRM and sync it (see list_connectors)"
	case len(out.Accounts) == 0:
		out.Note = "no account matches; try a shorter part of the name, or leave out segment and territory"
	case in.Sort == "priority":
		out.Note = "priority is not available yet; sorted by " + out.SortedBy
	}
	return out, err
})

type searchAccountsIn struct {
	Query     string `json:"query,omitempty" doc:"part of a name or domain, or a whole NCES id or UNITID" maxLength:"200"`
	Segment   string `json:"segment,omitempty" enum:"Enterprise,Mid-Market,SMB"`
	Territory string `json:"territory,omitempty" doc:"part of its name" maxLength:"200"`
	Sort      string `json:"sort,omitempty" enum:"priority,risk,health,arr,name" default:"priority"`
	Cursor    string `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit     int    `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type searchAccountsOut struct {
	Accounts       []accountRow `json:"accounts"`
	Total          int64        `json:"total" doc:"All that match, not only this page"`
	SortedBy       string       `json:"sorted_by"`
	Currency       string       `json:"currency"`
	PriorityReason string       `json:"priority_reason" doc:"Why priority is null"`
	Truncated      bool         `json:"truncated"`
	NextCursor     *string      `json:"next_cursor"`
	Note           string       `json:"note,omitempty"`
}

// Summary counts what matches.
func (o searchAccountsOut) Summary() string {
	return fmt.Sprintf("%d of %d matching accounts, sorted by %s.", len(o.Accounts), o.Total, o.SortedBy)
}

type accountRow struct {
	AccountID uuid.UUID `json:"account_id" format:"uuid"`
	Name      string    `json:"name"`
	Segment   *string   `json:"segment"`
	Territory *string   `json:"territory"`
	State     *string   `json:"state"`
	Status    *string   `json:"status" doc:"customer, prospect or former_customer"`
	ARRCents  *int64    `json:"arr_cents" doc:"Null when no subscription is known"`
	Health    *float64  `json:"health" doc:"0 to 100, high is good"`
	Risk      *float64  `json:"risk" doc:"0 to 100, high is bad"`
	Priority  *float64  `json:"priority"`
	Reason    *string   `json:"reason" doc:"Why health or risk is null"`
}

func toAccountRows(rows []accounts.AccountRow) []accountRow {
	out := make([]accountRow, 0, len(rows))
	for _, r := range rows {
		out = append(out, accountRow{r.AccountID, r.Name, r.Segment, r.Territory, r.State, r.Status, r.ARRCents, r.Health, r.Risk, r.Priority, r.Reason})
	}
	return out
}
