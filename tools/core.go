package tools

import (
	"context"
	"fmt"

	"revarch/auth"
	"revarch/services/dashboard"
)

var getDashboard = define(Spec{
	Name: "get_dashboard", Title: "Dashboard", Category: "core", Effect: Read,
	Description: "Snapshot of ARR, open pipeline, NRR, accounts at risk, signals, forecast health and data readiness. For the pipeline in parts use get_pipeline_summary.",
}, func(ctx context.Context, d Deps, in dashboardIn) (dashboardOut, error) {
	out, err := d.Dashboard.Dashboard(ctx, auth.From(ctx), dashboard.Input{AsOf: in.AsOf, Territory: in.Territory})
	return dashboardOut{out}, err
})

type dashboardIn struct {
	AsOf      string `json:"as_of,omitempty" doc:"YYYY-MM-DD; today when left out" format:"date"`
	Territory string `json:"territory,omitempty" doc:"whole name" maxLength:"200"`
}

type dashboardOut struct{ dashboard.Dashboard }

// Summary gives the main figures.
func (o dashboardOut) Summary() string {
	return fmt.Sprintf("ARR %s, open pipeline %s, accounts at risk %s; data is %s.", money(o.ARRCents, o.Currency, o.ARRReason),
		money(o.PipelineCents, o.Currency, o.PipelineReason), count(o.AtRiskAccounts, o.AtRiskReason), o.DataReadiness.Level)
}

var getPipelineSummary = define(Spec{
	Name: "get_pipeline_summary", Title: "Pipeline summary", Category: "core", Effect: Read,
	Description: "Open, commit, best-case and weighted pipeline with NRR and ARR, in parts by forecast category and stage. For the whole business use get_dashboard.",
}, func(ctx context.Context, d Deps, in pipelineIn) (pipelineOut, error) {
	out, err := d.Dashboard.Pipeline(ctx, auth.From(ctx), dashboard.PipelineInput{AsOf: in.AsOf, Period: in.Period, Owner: in.Owner, Territory: in.Territory})
	res := pipelineOut{Pipeline: out}
	switch {
	case err != nil:
	case out.Reason != nil && *out.Reason == dashboard.NoData:
		res.Note = "no deal is known yet; connect a CRM and sync it (see list_connectors)"
	case out.OppCount != nil && *out.OppCount == 0:
		res.Note = "no open deal matches; leave out period, owner and territory, or see list_connectors whether a CRM is synced"
	}
	return res, err
})

type pipelineIn struct {
	AsOf      string `json:"as_of,omitempty" doc:"YYYY-MM-DD; today when left out" format:"date"`
	Period    string `json:"period,omitempty" doc:"close dates: current, next or a fiscal quarter such as 2026-Q3" pattern:"^(current|next|[0-9]{4}-Q[1-4])$" patternDescription:"current, next or a fiscal quarter such as 2026-Q3"`
	Territory string `json:"territory,omitempty" doc:"whole name" maxLength:"200"`
	Owner     string `json:"owner,omitempty" doc:"owner's id in the CRM" maxLength:"200"`
}

type pipelineOut struct {
	dashboard.Pipeline
	Note string `json:"note,omitempty"`
}

// Summary gives the main figures.
func (o pipelineOut) Summary() string {
	return fmt.Sprintf("Open pipeline %s in %s deals, commit %s, weighted %s.", money(o.OpenCents, o.Currency, o.Reason), count(o.OppCount, o.Reason),
		money(o.CommitCents, o.Currency, o.Reason), money(o.WeightedCents, o.Currency, o.Reason))
}

// money writes cents for people; without a figure, why there is none.
func money(cents *int64, currency string, reason *string) string {
	if cents == nil {
		return unknown(reason)
	}
	sign, v := "", *cents
	if v < 0 {
		sign, v = "-", -v
	}
	return fmt.Sprintf("%s%d.%02d %s", sign, v/100, v%100, currency)
}

func count(n *int64, reason *string) string {
	if n == nil {
		return unknown(reason)
	}
	return fmt.Sprint(*n)
}

func unknown(reason *string) string {
	if reason == nil {
		return "unknown"
	}
	return "unknown (" + *reason + ")"
}
