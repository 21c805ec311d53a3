// Package readiness tells how far an organization's data can be relied on: its level, the accounts that something is
// wrong with and what to do about it. Account issues are judged when scores are computed and read from there; the state
// of the connections is always the current one.
package readiness

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/readiness"
	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/paging"
	"revarch/store"
)

// Service judges readiness.
type Service struct {
	Store   *store.Store
	Clock   func() time.Time
	Cursors paging.Codec
}

// DataIssue is one code with how many tracked accounts have it.
type DataIssue struct {
	Code     string  `json:"code" enum:"no_contacts,no_recent_activity,missing_segment,zero_arr,score_imbalance,negative_arr"`
	Count    int     `json:"count"`
	Share    float64 `json:"share" doc:"Of the tracked accounts, 0 to 1"`
	Severity string  `json:"severity" enum:"blocking,warning"`
}

// Report is the readiness of an organization's data. Tracked accounts are customers and those with an open opportunity.
type Report struct {
	Level                string      `json:"level" enum:"ready,degraded,blocked"`
	Reasons              []string    `json:"reasons" doc:"Why it is not ready, what blocks first"`
	ScoringReadyAccounts int         `json:"scoring_ready_accounts"`
	TotalAccounts        int         `json:"total_accounts" doc:"Customers and accounts with an open opportunity"`
	ScoringReadyShare    *float64    `json:"scoring_ready_share" doc:"0 to 1; null without accounts"`
	UnscoredAccounts     int         `json:"unscored_accounts"`
	BlockingIssues       []DataIssue `json:"blocking_issues" doc:"Worst first"`
	CheckedAt            time.Time   `json:"checked_at" doc:"When the accounts were judged; connections are judged now"`
}

// Report tells the readiness of the caller's organization. Blocked is an answer, not an error. Before the first refresh
// it judges the accounts on the spot. Faults: Denied.
func (s *Service) Report(ctx context.Context, p auth.Principal) (Report, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return Report{}, err
	}
	var (
		counts  readiness.Counts
		sources readiness.Sources
		at      time.Time
		found   bool
	)
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		if sources, err = s.sources(tx); err != nil {
			return err
		}
		at, found, err = tx.Readiness(&counts)
		return err
	})
	if err != nil {
		return Report{}, err
	}
	tally := counts.Tally()
	if !found {
		at = s.Clock()
		if tally, err = s.walk(ctx, p.OrgID, nil); err != nil {
			return Report{}, err
		}
	}
	return toReport(tally.Report(sources), at), nil
}

func toReport(r readiness.Report, at time.Time) Report {
	out := Report{
		Level: string(r.Level), Reasons: []string{}, ScoringReadyAccounts: r.ScoringReady, TotalAccounts: r.TrackedAccounts,
		ScoringReadyShare: r.ReadyShare, UnscoredAccounts: r.Unscored, BlockingIssues: []DataIssue{}, CheckedAt: at.UTC(),
	}
	for _, reason := range r.Reasons {
		out.Reasons = append(out.Reasons, string(reason))
	}
	for _, i := range r.BlockingIssues {
		out.BlockingIssues = append(out.BlockingIssues, DataIssue{i.Code.String(), i.Count, i.Share, string(i.Severity)})
	}
	return out
}

// sources sums up the connections: how fresh the CRM is, and how stale the stalest of all.
func (s *Service) sources(tx *store.Tx) (readiness.Sources, error) {
	var out readiness.Sources
	conns, err := tx.Connections()
	for _, c := range conns {
		if c.Status == models.ConnDisconnected {
			continue
		}
		if c.Status == models.ConnError || c.Status == models.ConnReauthorize {
			out.Failing++
		}
		info, _ := c.Provider.Info()
		crm := info.Kind == models.KindCRM
		out.CRMConnected = out.CRMConnected || crm
		if c.LastSyncAt == nil {
			continue
		}
		age := max(0, s.Clock().Sub(*c.LastSyncAt))
		if crm && (out.SinceSync == nil || age < *out.SinceSync) {
			out.SinceSync = &age
		}
		if out.Lag == nil || age > *out.Lag {
			out.Lag = &age
		}
	}
	return out, err
}

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// AffectedInput asks for a page of accounts that something is wrong with.
type AffectedInput struct {
	IssueCode string // "" is any
	Cursor    string
	Limit     int // 0 is DefaultLimit
}

// AffectedRecord is an account with everything that is wrong with its data.
type AffectedRecord struct {
	AccountID   uuid.UUID `json:"account_id" format:"uuid"`
	Name        string    `json:"name"`
	IssueCodes  []string  `json:"issue_codes"`
	Detail      string    `json:"detail"`
	FirstSeenAt time.Time `json:"first_seen_at" doc:"Since when the oldest of its issues lasts"`
	FixHint     string    `json:"fix_hint"`
}

// Affected is a page of accounts by id. CheckedAt is null before the first refresh: then nothing is known yet.
type Affected struct {
	Records      []AffectedRecord `json:"records"`
	CountsByCode map[string]int64 `json:"counts_by_code" doc:"Over all accounts, whatever the page and the filter"`
	CheckedAt    *time.Time       `json:"checked_at"`
	NextCursor   *string          `json:"next_cursor"`
}

// Affected lists accounts with issues as they were judged last. Faults: Denied, Invalid.
func (s *Service) Affected(ctx context.Context, p auth.Principal, in AffectedInput) (Affected, error) {
	out := Affected{Records: []AffectedRecord{}, CountsByCode: map[string]int64{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	if in.IssueCode != "" {
		var c readiness.Code
		if err := c.UnmarshalText([]byte(in.IssueCode)); err != nil {
			return out, fault.WithFields(fault.Public(err), fault.FieldError{Field: "issue_code", Message: fault.Public(err)})
		}
	}
	if in.Limit < 0 || in.Limit > MaxLimit {
		return out, fault.WithFields("the limit is out of range", fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	limit := in.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var after uuid.UUID
	if err := s.Cursors.Decode(in.Cursor, p.OrgID, "affected-records", in.IssueCode, &after); err != nil {
		return out, err
	}
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		rows, err := tx.AffectedAccounts(in.IssueCode, after, limit+1)
		if err != nil {
			return err
		}
		out.Records = toRecords(rows)
		if len(out.Records) > limit {
			out.Records = out.Records[:limit]
			next, err := s.Cursors.Encode(p.OrgID, "affected-records", in.IssueCode, out.Records[limit-1].AccountID)
			if err != nil {
				return err
			}
			out.NextCursor = &next
		}
		for c := range readiness.Code(readiness.NumCodes) {
			out.CountsByCode[c.String()] = 0
		}
		counts, err := tx.IssueCounts()
		if err != nil {
			return err
		}
		maps.Copy(out.CountsByCode, counts)
		at, found, err := tx.Readiness(&readiness.Counts{})
		if found {
			at = at.UTC()
			out.CheckedAt = &at
		}
		return err
	})
	return out, err
}

// toRecords puts the issues of each account together; rows come by account.
func toRecords(rows []store.AffectedRow) []AffectedRecord {
	out := []AffectedRecord{}
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].AccountID != r.AccountID {
			out = append(out, AffectedRecord{AccountID: r.AccountID, Name: r.Name, IssueCodes: []string{}, FirstSeenAt: r.FirstSeenAt.UTC()})
		}
		rec := &out[len(out)-1]
		if len(rec.IssueCodes) > 0 {
			rec.Detail += "; "
			rec.FixHint += " "
		}
		rec.IssueCodes = append(rec.IssueCodes, r.Code)
		rec.Detail += r.Detail
		rec.FixHint += fixHints[r.Code]
		if at := r.FirstSeenAt.UTC(); at.Before(rec.FirstSeenAt) {
			rec.FirstSeenAt = at
		}
	}
	return out
}

var fixHints = map[string]string{
	"no_contacts":        "Add a contact with an e-mail address or a phone number in the CRM.",
	"no_recent_activity": "Log the latest e-mail, call or meeting in the CRM, or connect mail and calendar.",
	"missing_segment":    "Set the segment in the CRM and map it, or let it be derived from enrollment in Settings > Organization.",
	"zero_arr":           "Enter the subscription or the ARR in the CRM, or correct the status if it is no customer.",
	"score_imbalance":    "Open the score and complete the values it lacks, starting with what would change it most.",
	"negative_arr":       "Correct the credit or the line that outweighs the others.",
}
