package data

import (
	"fmt"
	"time"
)

const maxDeals = 50 // of one account: ids leave room for 64

// opportunities makes the deals: renewals and expansions of customers, new business of prospects, and a year of deals
// won and lost. How many there are does not depend on the roster.
func (p *plan) opportunities(assets []Asset) []Opportunity {
	r := p.rand("opportunities")
	var out []Opportunity
	mean := p.g.cfg.OpportunitiesPerAccount
	switch {
	case mean == 0:
	case p.status == Customer:
		if due := p.renew.Sub(p.g.cfg.Anchor); due < 180*24*time.Hour && r.chance(0.9) {
			out = append(out, p.renewal(r, assets))
		}
		for range min(maxDeals, r.count(mean*0.95)) {
			out = append(out, p.deal(r, "Expansion", r.chance(0.42)))
		}
	case p.status == Former:
		out = append(out, p.lost(r, assets))
	case p.pilot:
		out = append(out, p.deal(r, "New Business", true))
		fallthrough
	default:
		for range min(maxDeals, r.count(mean*0.7)) {
			out = append(out, p.deal(r, "New Business", r.chance(0.12)))
		}
	}
	return out
}

// renewal is an open renewal: one line for each product on contract.
func (p *plan) renewal(r rng, assets []Asset) Opportunity {
	stage := Stages[[...]int{4, 3, 2}[p.temper]-r.IntN(2)]
	o := Opportunity{
		Owner: p.owner, Type: "Renewal", Stage: stage, Close: p.renew,
		Name: fmt.Sprintf("%s - Renewal %d", p.who.shortName(), p.renew.Year()),
	}
	var total int64
	for _, a := range assets {
		if !a.Installed {
			continue
		}
		unit := a.Price * 103 / 100 / int64(a.Quantity)
		l := Line{Product: a.Product, Quantity: a.Quantity, Unit: unit, Total: unit * int64(a.Quantity), Service: p.renew}
		total += l.Total
		o.Lines = append(o.Lines, l)
	}
	o.Amount = Some(total)
	p.dates(r, &o, p.renew.AddDate(0, 0, -190))
	return o
}

// lost is the renewal that a former customer did not sign.
func (p *plan) lost(r rng, assets []Asset) Opportunity {
	o := Opportunity{
		Owner: p.owner, Type: "Renewal", Stage: Stages[6], Close: p.renew,
		Name: fmt.Sprintf("%s - Renewal %d", p.who.shortName(), p.renew.Year()),
	}
	var total int64
	for _, a := range assets {
		total += a.Price
	}
	o.Amount = Some(total)
	p.dates(r, &o, p.renew.AddDate(0, 0, -170))
	return o
}

// deal is new business or an expansion, open or decided within the last year.
func (p *plan) deal(r rng, kind string, open bool) Opportunity {
	o := Opportunity{Owner: p.owner, Type: kind}
	won := r.chance([...]float64{0.62, 0.45, 0.2}[p.temper])
	stage, ahead := r.IntN(5), r.between(5, 200)
	switch {
	case open:
		o.Stage, o.Close = Stages[stage], p.day(ahead-stage*12)
	case won && p.status == Customer:
		o.Stage, o.Close = Stages[5], p.day(-r.between(1, 365))
	default:
		o.Stage, o.Close = Stages[6], p.day(-r.between(1, 365))
	}
	for _, product := range p.basket(r) {
		seats := max(25, int(float64(p.who.enrollment)*r.normal(0.4, 0.2, 0.08, 1)))
		l := Line{Product: product, Quantity: seats, Unit: Products[product].Cents, Service: o.Close}
		l.Total = l.Unit * int64(seats)
		if product == familyConnect {
			t := Line{Product: translateNow, Quantity: seats, Unit: Products[translateNow].Cents, Service: o.Close}
			t.Total = t.Unit * int64(seats)
			o.Lines = append(o.Lines, t)
			o.Amount.V += t.Total
		}
		o.Lines = append(o.Lines, l)
		o.Amount.V += l.Total
	}
	o.Amount.OK = true
	if stage < 2 && open && r.chance(0.2) { // not sized yet
		o.Lines, o.Amount = nil, Null[int64]{}
	}
	o.Name = fmt.Sprintf("%s - %s", p.who.shortName(), kind)
	p.dates(r, &o, o.Close.AddDate(0, 0, -r.between(60, 240)))
	return o
}

// basket picks one to three products that suit the sector. TranslateNow only comes with its partner.
func (p *plan) basket(r rng) []int {
	suits := []int{readingPath, mathMomentum, assessPro, classHub, rosterBridge, familyConnect, safeHallways, collegeCompass}
	if p.who.sector == Higher {
		suits = []int{classHub, rosterBridge, safeHallways, campusInsight, retainAdvise, examShield}
	}
	first, n := r.IntN(len(suits)), 1+r.IntN(3)
	var out []int
	for k := range n {
		out = append(out, suits[(first+k*2)%len(suits)])
	}
	return out
}

// dates makes the stamps of a deal and the day its stage last changed.
func (p *plan) dates(r rng, o *Opportunity, created time.Time) {
	to := p.day(0)
	if o.Stage.Closed && o.Close.Before(to) {
		to = o.Close.AddDate(0, 0, 1)
	}
	if !created.Before(to) {
		created = to.AddDate(0, 0, -20)
	}
	o.Stamps = p.stamps(r, created, to)
	if !r.chance(0.1) {
		o.StageChanged = Some(o.Modified)
	}
}

// shortName is what sellers call the account.
func (w identity) shortName() string {
	if runes := []rune(w.name); len(runes) > 60 {
		return string(runes[:60])
	}
	return w.name
}
