package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/services/dashboard"
	"revarch/services/readiness"
)

// Dashboard is the figures of the day and how far the data behind them can be relied on.
type Dashboard struct {
	Dashboard *dashboard.Service
	Readiness *readiness.Service
}

// DashboardFigures are the figures of the Command Center.
type DashboardFigures dashboard.Dashboard

// PipelineSummary sums up the open deals.
type PipelineSummary dashboard.Pipeline

// ReadinessReport tells how far the data can be relied on.
type ReadinessReport readiness.Report

// AffectedRecords is a page of accounts that something is wrong with.
type AffectedRecords readiness.Affected

type dashboardInput struct {
	AsOf      string `query:"as_of" format:"date" doc:"A day, today at the latest; default now"`
	Territory string `query:"territory" maxLength:"200" doc:"Only accounts of this territory"`
}

type pipelineInput struct {
	AsOf      string `query:"as_of" format:"date" doc:"A day, today at the latest; default now"`
	Period    string `query:"period" maxLength:"10" doc:"Close dates: current, next or a fiscal quarter such as 2026-Q3; default all"`
	Owner     string `query:"owner" maxLength:"100" doc:"The owner's id in the CRM"`
	Territory string `query:"territory" maxLength:"200" doc:"Only accounts of this territory"`
}

type affectedInput struct {
	IssueCode string `query:"issue_code" enum:"no_contacts,no_recent_activity,missing_segment,zero_arr,score_imbalance,negative_arr"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor    string `query:"cursor" maxLength:"500"`
}

// Register adds the operations.
func (a *Dashboard) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("get-dashboard", http.MethodGet, "/dashboard", "Get the figures of the Command Center", "Dashboard", auth.PermRead),
		func(ctx context.Context, in *dashboardInput) (*struct{ Body DashboardFigures }, error) {
			d, err := a.Dashboard.Dashboard(ctx, auth.From(ctx), dashboard.Input{AsOf: in.AsOf, Territory: in.Territory})
			return &struct{ Body DashboardFigures }{DashboardFigures(d)}, problem(err)
		})
	huma.Register(h, operation("get-pipeline", http.MethodGet, "/dashboard/pipeline", "Sum up the open deals", "Dashboard", auth.PermRead),
		func(ctx context.Context, in *pipelineInput) (*struct{ Body PipelineSummary }, error) {
			p, err := a.Dashboard.Pipeline(ctx, auth.From(ctx), dashboard.PipelineInput{AsOf: in.AsOf, Period: in.Period, Owner: in.Owner, Territory: in.Territory})
			return &struct{ Body PipelineSummary }{PipelineSummary(p)}, problem(err)
		})
	huma.Register(h, operation("get-readiness", http.MethodGet, "/readiness", "Get how far the data can be relied on", "Data readiness", auth.PermRead),
		func(ctx context.Context, _ *struct{}) (*struct{ Body ReadinessReport }, error) {
			r, err := a.Readiness.Report(ctx, auth.From(ctx))
			return &struct{ Body ReadinessReport }{ReadinessReport(r)}, problem(err)
		})
	huma.Register(h, operation("list-affected-records", http.MethodGet, "/readiness/affected", "List accounts with data issues", "Data readiness", auth.PermRead),
		func(ctx context.Context, in *affectedInput) (*struct{ Body AffectedRecords }, error) {
			r, err := a.Readiness.Affected(ctx, auth.From(ctx), readiness.AffectedInput{IssueCode: in.IssueCode, Cursor: in.Cursor, Limit: in.Limit})
			return &struct{ Body AffectedRecords }{AffectedRecords(r)}, problem(err)
		})
}
