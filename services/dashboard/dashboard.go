// Package dashboard is the state of the business in a few figures: ARR, pipeline, retention, accounts at risk, and how
// far the data behind them can be relied on. A figure that cannot be told is null with a reason, never 0.
package dashboard

import (
	"context"
	"math"
	"time"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/readiness"
	"revarch/services/scoring"
	"revarch/store"
)

// The reasons for a figure that is null.
const (
	NotAvailable    = "not_available"    // not built yet
	NoHistory       = "no_history"       // needs a year of facts
	NotRecorded     = "not_recorded"     // only the current state is kept
	NoData          = "no_data"          // nothing is known
	NoQuota         = "no_quota"         // needs quotas
	ZeroDenominator = "zero_denominator" // nothing to divide by
)

// year is how much history retention needs.
const year = 365 * 24 * time.Hour

// Service tells the figures.
type Service struct {
	Store     *store.Store
	Readiness *readiness.Service
	Clock     func() time.Time
}

// Input narrows the figures.
type Input struct {
	AsOf      string // YYYY-MM-DD, the end of that day in the organization's time zone; "" is now
	Territory string // whole name, whatever the case
}

// Dashboard is the state of an organization.
type Dashboard struct {
	AsOf                 time.Time        `json:"as_of"`
	Currency             string           `json:"currency"`
	ARRCents             *int64           `json:"arr_cents"`
	ARRReason            *string          `json:"arr_reason"`
	ARRAsOf              *string          `json:"arr_as_of" format:"date" doc:"The day ARR was last computed for"`
	PipelineCents        *int64           `json:"pipeline_cents" doc:"Open deals with a known amount"`
	PipelineReason       *string          `json:"pipeline_reason"`
	OppCount             *int64           `json:"opp_count" doc:"Open deals, those without an amount included"`
	OppCountNoAmount     *int64           `json:"opp_count_no_amount"`
	NRR                  *float64         `json:"nrr" doc:"Trailing 12 months; 1 is 100 %"`
	NRRReason            *string          `json:"nrr_reason"`
	NRRLowN              bool             `json:"nrr_low_n" doc:"Fewer than 10 accounts are behind it"`
	AtRiskAccounts       *int64           `json:"at_risk_accounts" doc:"Accounts whose risk level is WARNING or CRITICAL"`
	AtRiskReason         *string          `json:"at_risk_reason"`
	ActiveSignalCount    *int64           `json:"active_signal_count"`
	ActiveSignalReason   *string          `json:"active_signal_reason"`
	ForecastHealth       *string          `json:"forecast_health"`
	ForecastHealthReason *string          `json:"forecast_health_reason"`
	DataReadiness        readiness.Report `json:"data_readiness" doc:"Of now"`
}

// Dashboard returns the figures. Of a day in the past it tells what was known then. Faults: Denied, Invalid.
func (s *Service) Dashboard(ctx context.Context, p auth.Principal, in Input) (Dashboard, error) {
	var out Dashboard
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	report, err := s.Readiness.Report(ctx, p)
	if err != nil {
		return out, err
	}
	out.DataReadiness = report
	out.ActiveSignalReason, out.ForecastHealthReason = new(NotAvailable), new(NotAvailable)
	now := s.Clock().UTC()
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		o, today, err := tx.OrganizationDay(now)
		if err != nil {
			return err
		}
		out.Currency = o.ReportingCurrency
		at, past, err := moment(in.AsOf, o.TimeZone, now, today)
		if err != nil {
			return err
		}
		out.AsOf = at
		if past {
			return out.then(tx, in.Territory)
		}
		return out.now(tx, in.Territory, today)
	})
	return out, err
}

// now fills in the figures of the present.
func (d *Dashboard) now(tx *store.Tx, territory string, today time.Time) error {
	total, err := tx.TotalARR(territory)
	if err != nil {
		return err
	}
	if d.ARRCents = total.Cents; total.Cents == nil {
		d.ARRReason = new(NoData)
	}
	if total.AsOf != nil {
		day := total.AsOf.Format(time.DateOnly)
		d.ARRAsOf = &day
	}
	groups, err := tx.Pipeline(store.PipelineFilter{Territory: territory}, today)
	if err != nil {
		return err
	}
	var cents, count, noAmount int64
	for _, g := range groups {
		cents, count, noAmount = cents+g.AmountCents, count+g.Count, noAmount+g.NoAmount
	}
	known := count > 0
	if !known {
		if known, err = tx.KnowsDeals(); err != nil {
			return err
		}
	}
	if d.PipelineCents, d.OppCount, d.OppCountNoAmount = &cents, &count, &noAmount; !known {
		d.PipelineCents, d.OppCount, d.OppCountNoAmount, d.PipelineReason = nil, nil, nil, new(NoData)
	}
	atRisk, scored, err := tx.CountAtRisk(territory, scoring.AtRisk())
	if err != nil {
		return err
	}
	if d.AtRiskAccounts = &atRisk; scored == 0 {
		d.AtRiskAccounts, d.AtRiskReason = nil, new(NoData)
	}
	d.NRR, d.NRRReason, d.NRRLowN, err = retention(tx, territory, d.AsOf)
	return err
}

// then fills in what facts tell about the past: ARR as it was known; everything else is kept as it is now only.
func (d *Dashboard) then(tx *store.Tx, territory string) error {
	cents, err := tx.ARRKnownAt(territory, d.AsOf)
	if d.ARRCents = cents; cents == nil {
		d.ARRReason = new(NoData)
	}
	d.PipelineReason, d.AtRiskReason, d.NRRReason = new(NotRecorded), new(NotRecorded), new(NoHistory)
	return err
}

// retention is NRR over the last twelve months: (opening + expansion - contraction - churn) / opening, which is what
// the accounts of a year ago have now over what they had then.
func retention(tx *store.Tx, territory string, now time.Time) (nrr *float64, why *string, lowN bool, err error) {
	first, err := tx.FirstFact("arr")
	if err != nil || first == nil || first.After(now.Add(-year)) {
		return nil, new(NoHistory), false, err
	}
	opening, kept, accounts, err := tx.Retention(territory, now.Add(-year))
	switch {
	case err != nil:
		return nil, nil, false, err
	case opening <= 0:
		return nil, new(ZeroDenominator), false, nil
	}
	v := math.RoundToEven(float64(kept)/float64(opening)*1e4) / 1e4
	return &v, nil, accounts < 10, nil
}

// moment reads as_of: now for "" and today, the end of the day for one in the past.
func moment(asOf, zone string, now, today time.Time) (at time.Time, past bool, err error) {
	if asOf == "" {
		return now, false, nil
	}
	day, err := time.Parse(time.DateOnly, asOf)
	if err != nil || day.After(today) || day.Year() < 1990 {
		return now, false, fault.WithFields("as_of must be a day that is not in the future", fault.FieldError{Field: "as_of", Message: "use a date such as 2026-03-01, today at the latest"})
	}
	if day.Equal(today) {
		return now, false, nil
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return now, false, fault.Wrap(err, fault.Internal, "the organization's time zone is unknown")
	}
	return time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, loc).Add(-time.Microsecond).UTC(), true, nil
}
