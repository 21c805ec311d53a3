package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/services/accounts"
)

// Accounts is the lists of accounts and each account in full.
type Accounts struct{ Accounts *accounts.Service }

// AccountPage is a page of accounts.
type AccountPage accounts.Page

// AccountDetail is one account in full.
type AccountDetail accounts.Detail

// AccountFilter narrows lists and exports of accounts alike.
type AccountFilter struct {
	Query     string `query:"query" maxLength:"200" doc:"Part of a name or domain, or a whole NCES id or UNITID"`
	Segment   string `query:"segment" enum:"Enterprise,Mid-Market,SMB"`
	Territory string `query:"territory" maxLength:"200" doc:"Part of the territory's name"`
	State     string `query:"state" maxLength:"20" doc:"Two-letter code"`
	Status    string `query:"status" enum:"customer,prospect,former_customer"`
	Sort      string `query:"sort" enum:"risk,health,arr,name,priority" doc:"Highest first, names from A; priority is risk until it is available"`
}

func (f AccountFilter) filter() accounts.Filter {
	return accounts.Filter{Query: f.Query, Segment: f.Segment, Territory: f.Territory, State: f.State, Status: f.Status, Sort: f.Sort}
}

type listAccountsInput struct {
	AccountFilter
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"2000"`
}

// Register adds the operations.
func (a *Accounts) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-accounts", http.MethodGet, "/accounts", "List accounts with their scores", "Accounts", auth.PermRead),
		func(ctx context.Context, in *listAccountsInput) (*struct{ Body AccountPage }, error) {
			page, err := a.Accounts.Search(ctx, auth.From(ctx), accounts.SearchInput{Filter: in.filter(), Cursor: in.Cursor, Limit: in.Limit})
			return &struct{ Body AccountPage }{AccountPage(page)}, problem(err)
		})
	get := operation("get-account", http.MethodGet, "/accounts/{id}", "Get an account in full", "Accounts", auth.PermRead)
	get.Errors = []int{404}
	huma.Register(h, get, func(ctx context.Context, in *idInput) (*struct{ Body AccountDetail }, error) {
		d, err := a.Accounts.Get(ctx, auth.From(ctx), in.ID)
		return &struct{ Body AccountDetail }{AccountDetail(d)}, problem(err)
	})
}
