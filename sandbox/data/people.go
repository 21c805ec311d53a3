package data

import (
	"fmt"
	"strings"
	"unicode"
)

// contacts makes the people. The first one of an account in use may be its champion, still there or gone.
func (p *plan) contacts() []Contact {
	r := p.rand("contacts")
	mean := p.g.cfg.ContactsPerAccount
	n := 0
	if mean > 0 && !r.chance(0.02) {
		n = 1 + r.count(mean/0.98-1)
	}
	titles := k12Titles
	if p.who.sector == Higher {
		titles = higherTitles
	}
	out := make([]Contact, n)
	for k := range out {
		c := Contact{Owner: p.owner, First: pick(r, firstNames), Last: pick(r, lastNames)}
		c.Stamps = p.stamps(r, p.day(-1500), p.day(0))
		c.Title = blank(r, titles[(k+r.IntN(3))%len(titles)])
		c.Champion = blank(r, false)
		local := asciiLower(c.First) + "." + asciiLower(c.Last)
		c.Email = blank(r, fmt.Sprintf("%s@%s", local, p.who.domain))
		if k > 0 && c.Email.OK && r.chance(0.01) {
			c.Email = Some(local + "@gmail.example")
		}
		if r.chance(0.7) {
			c.Phone = Some(fmt.Sprintf("(%d) 555-%04d", r.between(201, 989), r.IntN(10_000)))
		}
		if k > 0 {
			c.Detached, c.Hidden, c.Deleted = r.chance(0.004), r.chance(0.002), r.chance(0.01)
		}
		if k == 0 && p.active {
			p.champion(&c, r)
		} else if r.chance(0.03) {
			c.Left = Some(p.day(-r.between(5, 700)))
		}
		out[k] = c
	}
	return out
}

func (p *plan) champion(c *Contact, r rng) {
	x := r.Float64()
	is, gone := [...]float64{0.92, 0.75, 0.55}[p.temper], [...]float64{0.02, 0.08, 0.34}[p.temper]
	c.Champion = Some(x < is)
	if x < gone {
		c.Left = Some(p.day(-r.between(5, 175)))
	}
}

// asciiLower makes the local part of an address out of a name.
func asciiLower(name string) string {
	return strings.Map(func(c rune) rune {
		switch c = unicode.ToLower(c); {
		case c >= 'a' && c <= 'z':
			return c
		case c == 'ú':
			return 'u'
		case c == 'ñ':
			return 'n'
		}
		return -1
	}, name)
}
