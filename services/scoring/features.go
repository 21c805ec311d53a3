package scoring

import (
	"time"

	"github.com/google/uuid"

	"revarch/analytics/arr"
	"revarch/analytics/persona"
	"revarch/analytics/scoring"
	"revarch/models"
	"revarch/store"
)

// moment is what a computation knows beside the account: the day in the organization's time zone, the terms of ARR,
// and which sources are there to be silent.
type moment struct {
	today          time.Time // midnight UTC of the organization's day
	graceDays      int
	activitySource bool            // silence means something
	mapped         map[string]bool // canonical fields that a provider fills
}

// people sums up an account's contacts and activities.
type people struct {
	contacts, activeContacts, left180     int
	champions, lostChampions              int
	meetings90                            int64
	lastActivity, lastExecutive           time.Time
	anyActivity, anyExecutive, anyContact bool
}

// ARROf returns an account's ARR in cents on a day from its subscription lines.
func ARROf(lines []models.SubscriptionLine, today time.Time, graceDays int) arr.Total {
	in := make([]arr.Line, 0, len(lines))
	for _, l := range lines {
		line := arr.Line{ValueCents: l.ARRCents, Annual: true, End: arr.OpenEnd, AccountTotal: l.Source == "account_total"}
		if l.Ended {
			line.Disposition = arr.Churned
		}
		if l.ProductID != nil {
			line.Key = l.ProductID.String()
		}
		if l.StartDate != nil {
			line.Start = arr.DateOf(*l.StartDate)
		} else {
			line.Start = arr.On(1970, time.January, 1)
		}
		if l.EndDate != nil {
			line.End = arr.DateOf(*l.EndDate)
		}
		in = append(in, line)
	}
	return arr.Account(in, arr.Now(arr.DateOf(today), graceDays))
}

// KnownARR is the total in cents, nil when no line has ever recurred and none is a pilot.
func KnownARR(t arr.Total) *int64 {
	if !t.EverRecurring && !t.Pilot {
		return nil
	}
	return &t.ARRCents
}

// fill derives the features of one account. What nobody told stays unknown: a missing number is never 0.
func fill(f *scoring.Features, a *models.Account, total arr.Total, ppl people, m moment) {
	f.Reset()
	set := func(x scoring.Feature, v *int64) {
		if v != nil {
			f.Set(x, float64(*v))
		}
	}
	share := func(x scoring.Feature, v *float64) {
		if v != nil {
			f.Set(x, *v)
		}
	}
	if cents := KnownARR(total); cents != nil {
		f.Set(scoring.ARR, float64(*cents)/100)
	}
	set(scoring.Seats, a.Seats)
	set(scoring.Active28d, a.Active28d)
	set(scoring.ProductsOwned, a.ProductsOwned)
	set(scoring.ProductsLive, a.ProductsLive)
	set(scoring.TicketsOpen, a.TicketsOpen)
	set(scoring.P1Open, a.P1Open)
	set(scoring.OverdueDays, a.OverdueDays)
	share(scoring.CSAT90d, a.CSAT90d)
	share(scoring.OnboardingPct, a.OnboardingPct)
	share(scoring.GoalsMetPct, a.GoalsMetPct)
	ratio(f, scoring.UseRatio, a.Active28d, a.Seats, 1, 0)
	ratio(f, scoring.UseTrend, a.Active28d, a.ActivePrior28d, 1, -1)
	ratio(f, scoring.TicketRate90d, a.Tickets90d, a.Active28d, 100, 0)
	if a.RenewalDate != nil {
		f.Set(scoring.DaysToRenewal, days(m.today, *a.RenewalDate))
	}
	switch {
	case a.Competitor != nil:
		f.SetBool(scoring.CompetitorSeen, true)
	case m.mapped["competitor"]:
		f.SetBool(scoring.CompetitorSeen, false)
	}
	if a.SourceCreatedAt != nil {
		f.Set(scoring.AccountAgeDays, max(0, days(*a.SourceCreatedAt, m.today)))
	}
	fillPeople(f, a, ppl, m)
}

func fillPeople(f *scoring.Features, a *models.Account, ppl people, m moment) {
	f.Set(scoring.Contacts, float64(ppl.contacts))
	f.Set(scoring.StakeholderLeft180d, float64(ppl.left180))
	label := "none"
	switch {
	case ppl.champions > 0:
		label = "active"
	case ppl.lostChampions > 0:
		label = "left"
	}
	if m.mapped["champion"] && ppl.anyContact {
		_ = f.SetEnum(scoring.ChampionStatus, label) // the three labels are the feature's own
	}
	if !m.activitySource {
		return // silence means nothing without a source
	}
	f.Set(scoring.ContactsActive90d, float64(ppl.activeContacts))
	f.Set(scoring.Meetings90d, float64(ppl.meetings90))
	switch {
	case ppl.anyActivity:
		f.Set(scoring.LastActivityDays, days(ppl.lastActivity, m.today))
	case a.SourceCreatedAt != nil: // never any: silent for as long as the account exists
		f.Set(scoring.LastActivityDays, max(0, days(*a.SourceCreatedAt, m.today)))
	}
	if ppl.anyExecutive {
		f.Set(scoring.ExecContactDays, days(ppl.lastExecutive, m.today))
	} else if v, ok := f.Get(scoring.AccountAgeDays); ok {
		f.Set(scoring.ExecContactDays, v)
	}
}

// ratio sets (a/b)*scale + shift where both are known and b is above 0.
func ratio(f *scoring.Features, x scoring.Feature, a, b *int64, scale, shift float64) {
	if a != nil && b != nil && *b > 0 {
		f.Set(x, float64(*a)/float64(*b)*scale+shift)
	}
}

// days counts calendar days from a to b.
func days(a, b time.Time) float64 { return float64(arr.DateOf(b.UTC()) - arr.DateOf(a.UTC())) }

// group sums up the contacts and activities of each account of a batch.
func group(b store.ScoringBatch, today time.Time) map[uuid.UUID]people {
	out := make(map[uuid.UUID]people, len(b.Accounts))
	executives := map[uuid.UUID]bool{}
	for _, c := range b.Contacts {
		p := out[c.AccountID]
		p.anyContact = true
		if c.Reachable && c.LeftOn == nil {
			p.contacts++
		}
		champion := c.Champion != nil && *c.Champion
		switch {
		case c.LeftOn == nil && champion:
			p.champions++
		case c.LeftOn != nil && champion:
			p.lostChampions++
		}
		if c.LeftOn != nil && days(*c.LeftOn, today) >= 0 && days(*c.LeftOn, today) <= 180 {
			p.left180++
		}
		if c.Title != nil && persona.Of(*c.Title).Executive() {
			executives[c.ID] = true
		}
		out[c.AccountID] = p
	}
	for _, a := range b.Activities {
		p := out[a.AccountID]
		p.anyActivity = true
		p.meetings90 += a.Meetings90d
		if a.LastOn.After(p.lastActivity) {
			p.lastActivity = a.LastOn
		}
		if a.ContactID != nil {
			if days(a.LastOn, today) <= 90 {
				p.activeContacts++
			}
			if executives[*a.ContactID] && a.LastOn.After(p.lastExecutive) {
				p.lastExecutive, p.anyExecutive = a.LastOn, true
			}
		}
		out[a.AccountID] = p
	}
	return out
}
