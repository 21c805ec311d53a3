package tools

import (
	"context"
	"fmt"
	"time"

	"revarch/auth"
	"revarch/services/readiness"
)

var getDataReadiness = define(Spec{
	Name: "get_data_readiness", Title: "Data readiness", Category: "data_readiness", Effect: Read,
	Description: "Whether scores can be relied on: ready, degraded or blocked, scoring-ready accounts and what blocks. For the accounts behind an issue use get_affected_records.",
}, func(ctx context.Context, d Deps, _ struct{}) (readinessOut, error) {
	r, err := d.Readiness.Report(ctx, auth.From(ctx))
	return readinessOut{r}, err
})

type readinessOut struct{ readiness.Report }

// Summary gives the level and the share of accounts that are ready.
func (o readinessOut) Summary() string {
	return fmt.Sprintf("Data is %s: %d of %d accounts are ready for scoring, %d kinds of issues.",
		o.Level, o.ScoringReadyAccounts, o.TotalAccounts, len(o.BlockingIssues))
}

var getAffectedRecords = define(Spec{
	Name: "get_affected_records", Title: "Accounts with data issues", Category: "data_readiness", Effect: Read,
	Description: "Accounts with data-quality issues, since when, and how to mend them, with counts per code. For the level of the whole use get_data_readiness.",
}, func(ctx context.Context, d Deps, in affectedIn) (affectedOut, error) {
	p := auth.From(ctx)
	out := affectedOut{}
	var err error
	out.Records, out.NextCursor, out.Truncated, err = capped(in.Limit, func(limit int) ([]readiness.AffectedRecord, *string, error) {
		page, err := d.Readiness.Affected(ctx, p, readiness.AffectedInput{IssueCode: in.IssueCode, Cursor: in.Cursor, Limit: limit})
		out.CountsByCode, out.CheckedAt = page.CountsByCode, page.CheckedAt
		return page.Records, page.NextCursor, err
	})
	switch {
	case len(out.Records) > 0:
	case out.CheckedAt == nil:
		out.Note = "accounts have not been judged yet; that happens after the first sync and scoring (see list_connectors)"
	default:
		out.Note = "no account has this issue; counts_by_code shows which issues there are"
	}
	return out, err
})

type affectedIn struct {
	IssueCode string `json:"issue_code,omitempty" doc:"only accounts with this issue" enum:"no_contacts,no_recent_activity,missing_segment,zero_arr,score_imbalance,negative_arr"`
	Cursor    string `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit     int    `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type affectedOut struct {
	Records      []readiness.AffectedRecord `json:"records"`
	CountsByCode map[string]int64           `json:"counts_by_code" doc:"Over all accounts, whatever the page and the filter"`
	CheckedAt    *time.Time                 `json:"checked_at"`
	Truncated    bool                       `json:"truncated"`
	NextCursor   *string                    `json:"next_cursor"`
	Note         string                     `json:"note,omitempty"`
}

// Summary counts the accounts of the page and all issues.
func (o affectedOut) Summary() string {
	total := int64(0)
	for _, n := range o.CountsByCode {
		total += n
	}
	return fmt.Sprintf("%d accounts with issues on this page; %d issues in all.", len(o.Records), total)
}
