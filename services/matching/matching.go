// Package matching ties an organization's accounts to the official records of districts and institutions: by id, else by
// normalized name and state, never by a guess; people decide the rest. What belongs here: who is tied to what. What the
// official records say is in services/datasets.
package matching

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/runs"
	"revarch/store"
)

// Service matches accounts. Runs and Log may be nil where nobody starts or decides anything, Clock nil is time.Now.
type Service struct {
	Store *store.Store
	Runs  *runs.Service
	Log   *governance.Service
	Clock func() time.Time
}

// MatchOrg ties every account of an organization anew and returns what it counted. Repeating it changes nothing; what a
// person decided stays.
func (s *Service) MatchOrg(ctx context.Context, org uuid.UUID) (map[string]int64, error) {
	var written, removed int64
	var t store.MatchTally
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		if written, removed, err = tx.MatchAccounts(s.now()); err != nil {
			return err
		}
		t, err = tx.TallyMatches()
		return err
	})
	if err != nil {
		return nil, err
	}
	return map[string]int64{
		"matched_by_id": t.ExactID, "matched_by_name": t.NameState, "matched_by_hand": t.Manual, "match_ambiguous": t.Ambiguous,
		"match_none": t.Accounts - t.ExactID - t.NameState - t.Manual - t.Ambiguous, "matches_changed": written + removed,
	}, nil
}

// Orgs lists the organizations whose accounts can be matched, in the order of their ids.
func (s *Service) Orgs(ctx context.Context) ([]uuid.UUID, error) {
	all, err := s.Store.Orgs(ctx)
	if err != nil {
		return nil, err
	}
	var out []uuid.UUID
	for _, o := range all {
		if !o.IsSystem {
			out = append(out, o.OrgID)
		}
	}
	slices.SortFunc(out, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}

// MatchID is the workflow id of matching an organization's accounts.
func MatchID(org uuid.UUID) string { return "match/" + org.String() }

// Start starts matching the principal's organization anew and returns the run; already tells that one was live. Faults:
// Denied.
func (s *Service) Start(ctx context.Context, p auth.Principal) (run models.Run, already bool, err error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Run{}, false, err
	}
	return s.Runs.Start(ctx, p, runs.StartInput{Kind: models.KindMatch, Subject: "accounts", WorkflowID: MatchID(p.OrgID)})
}

// Official is a district or an institution that an account is, or may be, tied to.
type Official struct {
	ID     string `json:"id" doc:"LEAID (7 digits) or UNITID (6)"`
	Kind   string `json:"kind" enum:"district,institution"`
	Name   string `json:"name"`
	City   string `json:"city"`
	State  string `json:"state"`
	Closed bool   `json:"closed"`
}

// Match is an account and what it is tied to.
type Match struct {
	AccountID  uuid.UUID  `json:"account_id" format:"uuid"`
	Name       string     `json:"name"`
	City       *string    `json:"city"`
	State      *string    `json:"state"`
	BuyerType  *string    `json:"buyer_type"`
	NCESID     *string    `json:"nces_id"`
	UNITID     *string    `json:"unitid"`
	Status     string     `json:"status" enum:"matched,ambiguous,unmatched"`
	Method     string     `json:"method,omitempty" doc:"exact_id, name_state or manual"`
	Official   *Official  `json:"official" doc:"Null unless matched; the name is empty when the current roster has it no more"`
	Candidates []Official `json:"candidates" doc:"Of an ambiguous one: who it may be"`
	MatchedAt  *time.Time `json:"matched_at"`
}

// MaxLimit is the largest page of matches.
const MaxLimit = 200

// ListInput selects accounts by how they are tied, in order of id. After is the last account of the page before.
type ListInput struct {
	Status string // matched, ambiguous, unmatched or "" for all
	After  uuid.UUID
	Limit  int // 0 is 50
}

// Page is a page of matches; Next is Nil at the end.
type Page struct {
	Matches []Match
	Next    uuid.UUID
}

// List lists accounts with what they are tied to. Faults: Denied, Invalid.
func (s *Service) List(ctx context.Context, p auth.Principal, in ListInput) (Page, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return Page{}, err
	}
	if in.Limit == 0 {
		in.Limit = 50
	}
	if in.Limit < 1 || in.Limit > MaxLimit {
		return Page{}, fault.WithFields("the limit is out of range", fault.FieldError{Field: "limit", Message: "must be 1 to 200"})
	}
	page := Page{Matches: []Match{}}
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		rows, err := tx.AccountMatches(store.MatchFilter{Status: in.Status, After: in.After, Limit: in.Limit + 1})
		if err != nil {
			return err
		}
		if len(rows) > in.Limit {
			rows = rows[:in.Limit]
			page.Next = rows[in.Limit-1].AccountID
		}
		page.Matches, err = named(tx, rows)
		return err
	})
	return page, err
}

// named puts the names of the roster to ids.
func named(tx *store.Tx, rows []store.AccountWithMatch) ([]Match, error) {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Candidates...)
		if r.OfficialID != nil {
			ids = append(ids, *r.OfficialID)
		}
	}
	found, err := tx.Officials(ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]Official, len(found))
	for _, o := range found {
		byID[o.ID] = Official(o)
	}
	of := func(id string) Official {
		if o, ok := byID[id]; ok {
			return o
		}
		return Official{ID: id, Kind: kindOf(id)}
	}
	out := []Match{}
	for _, r := range rows {
		m := Match{
			AccountID: r.AccountID, Name: r.Name, City: r.City, State: r.State, BuyerType: r.BuyerType, NCESID: r.NCESID, UNITID: r.UNITID,
			Status: r.Status, Method: r.Method, Candidates: []Official{}, MatchedAt: r.MatchedAt,
		}
		if r.OfficialID != nil {
			o := of(*r.OfficialID)
			m.Official = &o
		}
		for _, id := range r.Candidates {
			m.Candidates = append(m.Candidates, of(id))
		}
		out = append(out, m)
	}
	return out, nil
}

// kindOf tells a LEAID from a UNITID.
func kindOf(id string) string {
	if len(id) == 7 {
		return "district"
	}
	return "institution"
}

var officialID = regexp.MustCompile(`^[0-9]{6,7}$`)

// Resolve ties an account to a district or an institution by a person's decision, which later matching keeps. Faults:
// Denied, Invalid, NotFound for the account.
func (s *Service) Resolve(ctx context.Context, p auth.Principal, account uuid.UUID, official string) (Match, error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return Match{}, err
	}
	official = strings.TrimSpace(official)
	if !officialID.MatchString(official) {
		return Match{}, fault.WithFields("this is no official id", fault.FieldError{Field: "official_id", Message: "a LEAID has 7 digits, a UNITID 6"})
	}
	var out Match
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		before, err := tx.MatchedAccount(account, true)
		if err != nil {
			return err
		}
		found, err := tx.Officials([]string{official})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fault.WithFields("the current roster has no district or institution with this id",
				fault.FieldError{Field: "official_id", Message: "is not in the current releases of the official datasets"})
		}
		m := models.AccountMatch{AccountID: account, Kind: kindOf(official), OfficialID: &official, MatchedAt: s.now()}
		if err := tx.SaveMatch(m); err != nil {
			return err
		}
		after, err := tx.MatchedAccount(account, false)
		if err != nil {
			return err
		}
		list, err := named(tx, []store.AccountWithMatch{after})
		if err != nil {
			return err
		}
		out = list[0]
		_, err = s.Log.Record(tx, p, governance.Entry{
			Tool: "match-account", SubjectType: "account", SubjectID: account.String(),
			Args:   map[string]any{"official_id": official},
			Before: map[string]any{"status": before.Status, "official_id": before.OfficialID, "method": before.Method},
			After:  map[string]any{"status": after.Status, "official_id": after.OfficialID, "method": after.Method},
		})
		return err
	})
	return out, err
}

func (s *Service) now() time.Time {
	if s.Clock == nil {
		return time.Now().UTC().Truncate(time.Microsecond)
	}
	return s.Clock().UTC().Truncate(time.Microsecond)
}
