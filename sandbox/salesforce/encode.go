package salesforce

import (
	"fmt"
	"time"

	"revarch/sandbox/data"
)

// Ids follow from positions alone, so a record keeps its id whatever the number of accounts or the roster.
const perAccount = 4096

func idOf(prefix string, n int) string { return makeID(prefix, uint64(n)+1) }
func childID(prefix string, account, n int) string {
	return makeID(prefix, uint64(account)*perAccount+uint64(n)+1)
}

func userID(i int) string    { return idOf("005", i) }
func accountID(i int) string { return idOf("001", i) }
func productID(i int) string { return idOf("01t", i) }

// base appends the system fields.
func (e *encoder) base(id string, deleted bool, s data.Stamps, mergeable bool) {
	e.reset()
	e.str(id)
	e.bool(deleted)
	if mergeable {
		e.null()
	}
	e.time(s.Created)
	e.time(s.Modified)
	e.time(s.System)
}

func opt[T any](e *encoder, v data.Null[T], put func(T)) {
	if !v.OK {
		e.null()
		return
	}
	put(v.V)
}

func (e *encoder) account(a *data.Account) {
	e.base(accountID(a.Index), false, a.Stamps, true)
	e.str(a.Name)
	e.str("https://www." + a.Domain)
	e.str(a.City)
	e.str(a.State)
	e.str(string(a.Status))
	if a.Parent >= 0 {
		e.str(accountID(a.Parent))
	} else {
		e.null()
	}
	e.str(userID(a.Owner))
	opt(e, a.LastActivity, e.date)
	opt(e, a.Segment, e.str)
	opt(e, a.Territory, e.str)
	opt(e, a.BuyerType, e.str)
	opt(e, a.NCESID, e.str)
	opt(e, a.UNITID, e.str)
	opt(e, a.Enrollment, e.double)
	opt(e, a.ARR, e.cents)
	for _, n := range []data.Null[int]{a.Seats, a.Active28, a.ActivePrior, a.Owned, a.Live, a.OpenP1, a.Tickets, a.Tickets90d} {
		opt(e, n, e.double)
	}
	opt(e, a.CSAT, e.decimal)
	opt(e, a.OverdueDays, e.double)
	opt(e, a.Renewal, e.date)
	opt(e, a.OnboardingPct, e.double)
	opt(e, a.GoalsMetPct, e.double)
	opt(e, a.Competitor, e.str)
	e.bool(a.OptOut)
}

func (e *encoder) contact(account, n int, c *data.Contact) {
	e.base(childID("003", account, n), c.Deleted, c.Stamps, true)
	switch {
	case c.Detached:
		e.null()
	case c.Hidden: // an account that sharing rules keep from this user
		e.str(makeID("001", 1<<40+uint64(account)))
	default:
		e.str(accountID(account))
	}
	e.str(c.First)
	e.str(c.Last)
	e.str(c.First + " " + c.Last)
	opt(e, c.Email, e.str)
	opt(e, c.Phone, e.str)
	opt(e, c.Title, e.str)
	e.str(userID(c.Owner))
	e.bool(c.Champion.V) // a checkbox is never null
	opt(e, c.Left, e.date)
}

func (e *encoder) opportunity(account, n int, o *data.Opportunity) {
	e.base(childID("006", account, n), false, o.Stamps, false)
	e.str(accountID(account))
	e.str(o.Name)
	e.str(o.Stage.Name)
	opt(e, o.Amount, e.cents)
	e.date(o.Close)
	e.bool(o.Stage.Closed)
	e.bool(o.Stage.Won)
	e.str(o.Type)
	e.str(o.Stage.Forecast)
	e.double(o.Stage.Probability)
	e.str(userID(o.Owner))
	opt(e, o.StageChanged, e.time)
}

func (e *encoder) task(account, n int, t *data.Task) {
	e.base(childID("00T", account, n), false, t.Stamps, false)
	if t.Opportunity >= 0 {
		e.str(childID("006", account, t.Opportunity))
	} else {
		e.str(accountID(account))
	}
	e.str(accountID(account))
	if t.Contact >= 0 {
		e.str(childID("003", account, t.Contact))
	} else {
		e.null()
	}
	e.str(userID(t.Owner))
	e.str(t.Subject)
	e.str(t.Status)
	e.str(t.Priority)
	opt(e, t.Due, e.date)
	e.str(t.Kind)
	opt(e, t.Completed, e.time)
	e.bool(t.Status == "Completed")
	e.null()
}

func (e *encoder) line(account, opportunity, n int, at data.Stamps, l *data.Line) {
	e.base(childID("00k", account, opportunity*64+n), false, at, false)
	e.str(childID("006", account, opportunity))
	e.str(productID(l.Product))
	e.double(l.Quantity)
	e.cents(l.Unit)
	e.cents(l.Total)
	e.date(l.Service)
}

func (e *encoder) asset(account, n int, a *data.Asset) {
	e.base(childID("02i", account, n), false, a.Stamps, false)
	e.str(accountID(account))
	e.str(productID(a.Product))
	e.str(data.Products[a.Product].Name)
	e.double(a.Quantity)
	e.cents(a.Price)
	if a.Installed {
		e.str("Installed")
	} else {
		e.str("Obsolete")
	}
	e.date(a.Start)
	opt(e, a.End, e.date)
}

func (e *encoder) user(i int, u data.User, at time.Time) {
	e.base(userID(i), false, data.Stamps{Created: at, Modified: at, System: at}, false)
	e.str(u.First + " " + u.Last)
	e.str(fmt.Sprintf("seller%02d@vendor.example", i+1))
	e.str(fmt.Sprintf("seller%02d@vendor.example.sandbox", i+1))
	e.bool(u.Active)
}

func (e *encoder) product(i int, p data.Product, at time.Time) {
	e.base(productID(i), false, data.Stamps{Created: at, Modified: at, System: at}, false)
	e.str(p.Name)
	e.str(p.Code)
	e.str(p.Family)
	e.bool(p.Active)
	for _, s := range []string{p.To, p.In} {
		if s == "" {
			e.null()
		} else {
			e.str(s)
		}
	}
}

func (e *encoder) price(i int, p data.Product, at time.Time) {
	e.base(idOf("01u", i), false, data.Stamps{Created: at, Modified: at, System: at}, false)
	e.str(productID(i))
	e.cents(p.Cents)
	e.bool(p.Active)
}

func stageNames() []string {
	var out []string
	for _, s := range data.Stages {
		out = append(out, s.Name)
	}
	return out
}
