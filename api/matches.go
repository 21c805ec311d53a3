package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/matching"
	"revarch/services/paging"
)

// Matches is what accounts are tied to: districts and institutions of the official datasets.
type Matches struct {
	Matching *matching.Service
	Runs     *Runs
	Cursors  paging.Codec
}

type listMatchesInput struct {
	Status string `query:"status" enum:"matched,ambiguous,unmatched" doc:"Only accounts that are tied, may be several, or are tied to nothing"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"500"`
}

type listMatchesOutput struct {
	Body struct {
		Matches    []matching.Match `json:"matches"`
		NextCursor *string          `json:"next_cursor"`
	}
}

type resolveMatchInput struct {
	ID   uuid.UUID `path:"id" format:"uuid" doc:"Account ID"`
	Body struct {
		OfficialID string `json:"official_id" minLength:"6" maxLength:"7" doc:"LEAID (7 digits) or UNITID (6)"`
	}
}

type matchOutput struct{ Body matching.Match }

type startMatchInput struct {
	Prefer string `header:"Prefer" doc:"wait=N waits up to N seconds, at most 60, for the end"`
}

// Register adds the operations.
func (a *Matches) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-account-matches", http.MethodGet, "/accounts/matches",
		"List accounts with the district or institution they are tied to", "Accounts", auth.PermRead), a.list)
	resolve := operation("match-account", http.MethodPost, "/accounts/{id}/match",
		"Tie an account to a district or an institution by decision; later matching keeps it", "Accounts", auth.PermOperate)
	resolve.Errors = []int{404, 422}
	huma.Register(h, resolve, func(ctx context.Context, in *resolveMatchInput) (*matchOutput, error) {
		m, err := a.Matching.Resolve(ctx, auth.From(ctx), in.ID, in.Body.OfficialID)
		return &matchOutput{m}, problem(err)
	})
	start := operation("start-matching", http.MethodPost, "/accounts/matches", "Match all accounts anew", "Accounts", auth.PermOperate)
	start.DefaultStatus = http.StatusAccepted
	huma.Register(h, start, func(ctx context.Context, in *startMatchInput) (*startedRun, error) {
		run, already, err := a.Matching.Start(ctx, auth.From(ctx))
		if err != nil {
			return nil, problem(err)
		}
		return a.Runs.started(ctx, run, already, in.Prefer)
	})
}

func (a *Matches) list(ctx context.Context, in *listMatchesInput) (*listMatchesOutput, error) {
	p := auth.From(ctx)
	q := matching.ListInput{Status: in.Status, Limit: in.Limit}
	if err := a.Cursors.Decode(in.Cursor, p.OrgID, "account-matches", in.Status, &q.After); err != nil {
		return nil, problem(err)
	}
	page, err := a.Matching.List(ctx, p, q)
	if err != nil {
		return nil, problem(err)
	}
	out := &listMatchesOutput{}
	out.Body.Matches = page.Matches
	if page.Next != uuid.Nil {
		out.Body.NextCursor, err = next(a.Cursors, p.OrgID, "account-matches", in.Status, page.Next)
	}
	return out, problem(err)
}
