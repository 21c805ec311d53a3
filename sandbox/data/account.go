package data

import (
	"math"
	"strings"
	"time"
)

// temper is how well the relationship with an account goes; every signal of the account leans its way.
type temper int

const (
	healthy temper = iota
	average
	atRisk
)

// plan is what all parts of one story share.
type plan struct {
	g      *Generator
	i      int
	who    identity
	temper temper
	status Status
	pilot  bool // a prospect on trial: it has users but no contract
	active bool // customer or pilot: somebody uses a product
	owner  int
	start  time.Time // first contract
	renew  time.Time // next renewal of a customer, end of a former one's contract
}

func (p *plan) rand(concern string) rng { return newRand(p.g.cfg.Seed, concern, p.i) }

// day returns the UTC midnight that many days from the anchor.
func (p *plan) day(offset int) time.Time { return p.g.cfg.Anchor.AddDate(0, 0, offset) }

// Story makes the i-th account with everything that hangs on it.
func (g *Generator) Story(i int) Story {
	p := g.plan(i)
	s := Story{}
	s.Assets = p.assets()
	s.Opportunities = p.opportunities(s.Assets)
	s.Contacts = p.contacts()
	s.Tasks = p.tasks(len(s.Contacts), s.Opportunities)
	s.Account = p.account(s)
	return s
}

func (g *Generator) plan(i int) *plan {
	p := &plan{g: g, i: i, who: g.who[i]}
	r := p.rand("plan")
	switch x := r.Float64(); {
	case x < 0.45:
		p.temper = healthy
	case x < 0.80:
		p.temper = average
	default:
		p.temper = atRisk
	}
	switch x := r.Float64(); {
	case x < 0.60:
		p.status = Customer
	case x < 0.92:
		p.status = Prospect
	default:
		p.status = Former
	}
	trial, overdue, due, age := r.chance(0.3), r.chance(0.04), r.between(1, 365), r.between(100, 1900)
	p.pilot = p.status == Prospect && trial
	p.active = p.status == Customer || p.pilot
	p.start = p.day(-age)
	if p.temper == atRisk && r.chance(0.4) { // trouble shows most before a renewal
		due = 1 + due/4
	}
	if overdue {
		due = -r.between(1, 30)
	}
	p.renew = p.day(due)
	if p.status == Former {
		p.renew = p.day(-r.between(20, 340))
		p.start = p.renew.AddDate(-r.between(1, 3), 0, 0)
	}
	p.owner = g.ownerFor(territoryOf(p.who.state), r)
	return p
}

// ownerFor picks a seller of the territory, now and then one who has left.
func (g *Generator) ownerFor(territory string, r rng) int {
	var here []int
	for i, u := range g.Users {
		if u.Territory == territory && (u.Active || r.chance(0.1)) {
			here = append(here, i)
		}
	}
	return pick(r, here)
}

// stamps makes the three times of a record between two days; one in ten was last touched by the same bulk load, so
// that many share one second.
func (p *plan) stamps(r rng, from, to time.Time) Stamps {
	anchor := p.g.cfg.Anchor
	if to.After(anchor) {
		to = anchor
	}
	span := int64(to.Sub(from) / time.Second)
	if span < 3 {
		from, span = to.Add(-3*time.Second), 3
	}
	created := from.Add(time.Duration(r.Int64N(span)) * time.Second)
	left := int64(to.Sub(created) / time.Second)
	modified := created.Add(time.Duration(r.Int64N(left+1)) * time.Second)
	system := modified
	if r.chance(0.2) { // a recalculation moves only the system's stamp
		system = modified.Add(time.Duration(r.Int64N(int64(to.Sub(modified)/time.Second)+1)) * time.Second)
	}
	if bulk := anchor.AddDate(0, 0, -30).Add(9 * time.Hour); r.chance(0.1) && !modified.After(bulk) && !bulk.After(to) {
		system = bulk
	}
	return Stamps{created, modified, system}
}

func (p *plan) account(s Story) Account {
	r := p.rand("account")
	a := Account{
		Index: p.i, Parent: -1, Owner: p.owner, Sector: p.who.sector, Status: p.status, Name: p.who.name,
		Domain: p.who.domain, City: p.who.city, State: p.who.state,
	}
	a.Stamps = p.stamps(r, p.day(-1900), p.day(0))
	if p.i > 0 && r.chance(0.04) {
		a.Parent = r.IntN(p.i)
	}
	if segment := segmentOf(p.who); !r.chance(0.02) {
		a.Segment = Some(segment)
	}
	a.Territory = blank(r, territoryOf(p.who.state))
	a.BuyerType = blank(r, map[Sector]string{K12: "K-12", Higher: "Higher Ed"}[p.who.sector])
	a.Enrollment = blank(r, p.who.enrollment)
	if id := p.who.officialID; id != "" && p.who.sector == K12 {
		a.NCESID = Some(id)
	} else if id != "" {
		a.UNITID = Some(id)
	}
	for _, t := range s.Tasks {
		if t.Completed.OK && t.Due.OK && (!a.LastActivity.OK || t.Due.V.After(a.LastActivity.V)) {
			a.LastActivity = t.Due
		}
	}
	p.commerce(&a, s.Assets)
	if p.active {
		p.usage(&a, s.Assets)
	}
	p.spoil(&a)
	return a
}

func segmentOf(who identity) string {
	big, mid := 25_000, 5_000
	if who.sector == Higher {
		big, mid = 15_000, 4_000
	}
	switch {
	case who.enrollment >= big:
		return "Enterprise"
	case who.enrollment >= mid:
		return "Mid-Market"
	}
	return "SMB"
}

// commerce fills in what the contract says.
func (p *plan) commerce(a *Account, assets []Asset) {
	r := p.rand("commerce")
	var arr int64
	owned := map[int]bool{}
	for _, x := range assets {
		if x.Installed {
			arr += x.Price
			owned[x.Product] = true
		}
	}
	unknown, drift := r.chance(nullShare), r.chance(0.03)
	if drift { // somebody typed a round figure over it
		arr = arr / 100_000 * 100_000
	}
	switch {
	case p.status == Customer && !unknown:
		a.ARR = Some(arr)
	case p.status == Former:
		a.ARR = Some(int64(0))
	}
	if p.status != Prospect {
		a.Renewal = blank(r, p.renew)
	}
	if p.status == Customer {
		a.Owned = blank(r, len(owned))
	} else if p.pilot {
		a.Owned = Some(1)
	}
	overdue := 0
	if x := r.Float64(); p.status == Customer && p.temper == atRisk && x < 0.45 {
		overdue = r.between(20, 130)
	} else if p.status == Customer && p.temper == average && x < 0.15 {
		overdue = r.between(5, 40)
	}
	a.OverdueDays = blank(r, overdue)
	a.OptOut = p.status == Customer && p.i%67 == 23
	if share := [...]float64{0.03, 0.12, 0.40}[p.temper]; r.chance(share) {
		a.Competitor = Some(pick(r, competitors))
	}
}

// usage fills in how the products are used, seen by seats, tickets and goals.
func (p *plan) usage(a *Account, assets []Asset) {
	r := p.rand("usage")
	seats := max(20, p.who.enrollment/12) // a pilot covers a school or two
	for _, x := range assets {
		if x.Installed {
			seats = max(seats, x.Quantity)
		}
	}
	ratio := r.normal([...]float64{0.74, 0.50, 0.22}[p.temper], 0.11, 0.02, 1.02)
	trend := r.normal([...]float64{0.05, -0.06, -0.28}[p.temper], 0.08, -0.7, 0.6)
	active := int(float64(seats) * ratio)
	a.Seats, a.Active28 = blank(r, seats), blank(r, active)
	a.ActivePrior = blank(r, int(float64(active)/(1+trend)))
	live := a.Owned.V
	for range a.Owned.V - 1 {
		if r.chance([...]float64{0.08, 0.25, 0.5}[p.temper]) {
			live--
		}
	}
	a.Live = blank(r, live)
	p1 := 0
	switch x := r.Float64(); p.temper {
	case healthy:
		p1 = btoi(x < 0.03)
	case average:
		p1 = btoi(x < 0.12)
	default:
		p1 = btoi(x < 0.55) + btoi(x < 0.2) + btoi(x < 0.06)
	}
	rate := r.normal([...]float64{1.8, 4, 9}[p.temper], 1.6, 0, 22)
	tickets := int(math.Round(rate * float64(active) / 100))
	a.OpenP1, a.Tickets90d = blank(r, p1), blank(r, tickets)
	a.Tickets = blank(r, p1+tickets/r.between(6, 14))
	a.CSAT = blank(r, math.Round(10*r.normal([...]float64{4.5, 3.9, 3.0}[p.temper], 0.3, 1, 5))/10)
	onboarding, goals := r.normal([...]float64{97, 86, 58}[p.temper], 9, 15, 100), r.normal([...]float64{79, 57, 27}[p.temper], 11, 0, 100)
	a.OnboardingPct, a.GoalsMetPct = blank(r, int(onboarding)), blank(r, int(goals))
}

// spoil makes a few accounts as bad as those in real systems.
func (p *plan) spoil(a *Account) {
	switch p.i % 211 {
	case 41:
		a.ARR = Some(int64(-1_250_000)) // a credit note booked as revenue
	case 97:
		a.Name = strings.TrimSpace(strings.Repeat(a.Name+" ", 1+250/(len(a.Name)+1)))
		a.Name = a.Name[:min(len(a.Name), 255)]
	case 149:
		a.Competitor = Some(strings.Repeat("Board minutes pasted here by mistake. ", 120))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
