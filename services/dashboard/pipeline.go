package dashboard

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"revarch/auth"
	"revarch/fault"
	"revarch/store"
)

// PipelineInput narrows the pipeline.
type PipelineInput struct {
	AsOf      string // YYYY-MM-DD, today at the latest; of a past day only ARR is known
	Period    string // close dates: current, next or a fiscal quarter such as 2026-Q3; "" is all
	Owner     string // the owner's id in the CRM
	Territory string // whole name, whatever the case
}

// The forecast categories of open deals, surest first; one that a CRM names otherwise is upside.
var Categories = []string{"commit", "probable", "upside", "omitted"}

// PipelinePart is the open deals of one forecast category or one stage.
type PipelinePart struct {
	Name             string `json:"name"`
	AmountCents      int64  `json:"amount_cents"`
	WeightedCents    int64  `json:"weighted_cents"`
	OppCount         int64  `json:"opp_count"`
	OppCountNoAmount int64  `json:"opp_count_no_amount"`
}

// FiscalPeriod is a fiscal quarter; both days are included.
type FiscalPeriod struct {
	Label string `json:"label" doc:"Fiscal year, named by the calendar year it ends in, and quarter"`
	Start string `json:"start" format:"date"`
	End   string `json:"end" format:"date"`
}

// Pipeline sums up the open deals. Open includes every category, best case commit, probable and upside; deals without an
// amount count 0 and are counted apart. The parts by category and by stage each sum to the totals, to the cent.
type Pipeline struct {
	AsOf                  time.Time      `json:"as_of"`
	Currency              string         `json:"currency"`
	Period                *FiscalPeriod  `json:"period"`
	OpenCents             *int64         `json:"open_cents"`
	CommitCents           *int64         `json:"commit_cents"`
	BestCaseCents         *int64         `json:"best_case_cents"`
	WeightedCents         *int64         `json:"weighted_cents" doc:"Sum of amount x probability as the CRM states it"`
	OppCount              *int64         `json:"opp_count"`
	OppCountNoAmount      *int64         `json:"opp_count_no_amount"`
	OppCountNoProbability *int64         `json:"opp_count_no_probability" doc:"Deals that count 0 in weighted_cents because their probability is unknown"`
	OverdueClose          *int64         `json:"overdue_close" doc:"Open deals whose close date has passed"`
	Reason                *string        `json:"reason" doc:"Why the pipeline is null"`
	Coverage              *float64       `json:"coverage"`
	CoverageReason        *string        `json:"coverage_reason"`
	ARRCents              *int64         `json:"arr_cents"`
	ARRReason             *string        `json:"arr_reason"`
	NRR                   *float64       `json:"nrr"`
	NRRReason             *string        `json:"nrr_reason"`
	ByCategory            []PipelinePart `json:"by_category"`
	ByStage               []PipelinePart `json:"by_stage"`
}

// Pipeline returns the pipeline summary. A period that holds today keeps deals whose close date has passed before it.
// Faults: Denied, Invalid.
func (s *Service) Pipeline(ctx context.Context, p auth.Principal, in PipelineInput) (Pipeline, error) {
	out := Pipeline{CoverageReason: new(NoQuota), ByCategory: []PipelinePart{}, ByStage: []PipelinePart{}}
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	now := s.Clock().UTC()
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
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
		f := store.PipelineFilter{Territory: in.Territory, Owner: in.Owner}
		if in.Period != "" {
			from, until, label, err := fiscalQuarter(in.Period, o.FiscalYearStartMonth, today)
			if err != nil {
				return err
			}
			out.Period = &FiscalPeriod{label, from.Format(time.DateOnly), until.Format(time.DateOnly)}
			f.CloseUntil = &until
			if today.Before(from) || today.After(until) {
				f.CloseFrom = &from
			}
		}
		d := Dashboard{AsOf: at}
		if past {
			out.Reason = new(NotRecorded)
			err = d.then(tx, in.Territory)
		} else if err = d.now(tx, in.Territory, today); err == nil && d.PipelineReason != nil {
			out.Reason = d.PipelineReason
		} else if err == nil {
			var groups []store.PipelineGroup
			if groups, err = tx.Pipeline(f, today); err == nil {
				out.sum(groups)
			}
		}
		out.ARRCents, out.ARRReason, out.NRR, out.NRRReason = d.ARRCents, d.ARRReason, d.NRR, d.NRRReason
		return err
	})
	return out, err
}

// sum fills in totals and parts.
func (out *Pipeline) sum(groups []store.PipelineGroup) {
	var open, commit, best, count, noAmount, unweighted, overdue int64
	category, stage := newParts(Categories...), newParts()
	total := new(big.Rat)
	for _, g := range groups {
		name := categoryOf(g.Category)
		weighted, _ := new(big.Rat).SetString(g.Weighted)
		if weighted == nil {
			weighted = new(big.Rat)
		}
		total.Add(total, weighted)
		category.add(name, g, weighted)
		stage.add(g.Stage, g, weighted)
		open, count, noAmount = open+g.AmountCents, count+g.Count, noAmount+g.NoAmount
		unweighted, overdue = unweighted+g.Unweighted, overdue+g.Overdue
		if name == "commit" {
			commit += g.AmountCents
		}
		if name != "omitted" {
			best += g.AmountCents
		}
	}
	sum := roundHalfEven(total)
	out.OpenCents, out.CommitCents, out.BestCaseCents, out.WeightedCents = &open, &commit, &best, &sum
	out.OppCount, out.OppCountNoAmount, out.OppCountNoProbability, out.OverdueClose = &count, &noAmount, &unweighted, &overdue
	out.ByCategory, out.ByStage = category.split(sum), stage.split(sum)
}

// categoryOf maps the CRM's name of a forecast category to ours.
func categoryOf(crm string) string {
	switch strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(crm)) {
	case "commit":
		return "commit"
	case "bestcase", "probable", "mostlikely":
		return "probable"
	case "omitted", "omit":
		return "omitted"
	}
	return "upside"
}

// parts are sums by name, in the order of first sight.
type parts struct {
	rows     []PipelinePart
	weighted []*big.Rat
}

func newParts(names ...string) *parts {
	p := &parts{rows: []PipelinePart{}}
	for _, n := range names {
		p.at(n)
	}
	return p
}

func (p *parts) at(name string) int {
	i := slices.IndexFunc(p.rows, func(r PipelinePart) bool { return r.Name == name })
	if i < 0 {
		i = len(p.rows)
		p.rows, p.weighted = append(p.rows, PipelinePart{Name: name}), append(p.weighted, new(big.Rat))
	}
	return i
}

func (p *parts) add(name string, g store.PipelineGroup, weighted *big.Rat) {
	i := p.at(name)
	r := &p.rows[i]
	r.AmountCents, r.OppCount, r.OppCountNoAmount = r.AmountCents+g.AmountCents, r.OppCount+g.Count, r.OppCountNoAmount+g.NoAmount
	p.weighted[i].Add(p.weighted[i], weighted)
}

// split rounds the weighted parts by largest remainder, so that they sum to the total shown; ties go to the earlier.
func (p *parts) split(total int64) []PipelinePart {
	order, rest := make([]int, len(p.rows)), make([]*big.Rat, len(p.rows))
	left := total
	for i, w := range p.weighted {
		floor := new(big.Int).Div(w.Num(), w.Denom()) // Euclidean: toward minus infinity for a positive divisor
		p.rows[i].WeightedCents = floor.Int64()
		left -= floor.Int64()
		order[i], rest[i] = i, new(big.Rat).Sub(w, new(big.Rat).SetInt(floor))
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	for _, i := range order {
		if left <= 0 {
			break
		}
		p.rows[i].WeightedCents++
		left--
	}
	return p.rows
}

// roundHalfEven rounds to a whole number, halves to the even one.
func roundHalfEven(r *big.Rat) int64 {
	floor := new(big.Int).Div(r.Num(), r.Denom())
	rest := new(big.Rat).Sub(r, new(big.Rat).SetInt(floor))
	n := floor.Int64()
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && n%2 != 0 {
		n++
	}
	return n
}

// fiscalQuarter reads current, next or a name such as 2026-Q3, for fiscal years that start in a month. A fiscal year is
// named by the calendar year it ends in.
func fiscalQuarter(name string, startMonth int, today time.Time) (from, until time.Time, label string, err error) {
	year, quarter := 0, 0
	months := (int(today.Month()) - startMonth + 12) % 12 // since the fiscal year began
	ends := today.AddDate(0, 11-months, 1-today.Day()).Year()
	switch name {
	case "current", "next":
		year, quarter = ends, months/3+1
		if name == "next" {
			if quarter++; quarter > 4 {
				year, quarter = year+1, 1
			}
		}
	default:
		t, parseErr := time.Parse("2006", strings.SplitN(name, "-", 2)[0])
		if parseErr != nil || len(name) != 7 || name[4:6] != "-Q" || name[6] < '1' || name[6] > '4' {
			return from, until, "", fault.WithFields("the period is not valid",
				fault.FieldError{Field: "period", Message: "use current, next or a fiscal quarter such as 2026-Q3"})
		}
		year, quarter = t.Year(), int(name[6]-'0')
	}
	first := year
	if startMonth > 1 {
		first-- // the fiscal year began in the calendar year before
	}
	from = time.Date(first, time.Month(startMonth+3*(quarter-1)), 1, 0, 0, 0, 0, time.UTC)
	until = from.AddDate(0, 3, -1)
	return from, until, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006") + "-Q" + string(rune('0'+quarter)), nil
}
