package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// identity is who an account is, settled for all accounts at once so that no two take the same roster entry.
type identity struct {
	sector     Sector
	name, city string
	state      string
	officialID string // as the CRM has it: may be empty or malformed
	domain     string
	enrollment int
}

const (
	shareHigher    = 0.28
	shareInvented  = 0.06 // of the accounts, even when a roster is there
	shareNoID      = 0.08
	shareMalformed = 0.02
)

func identities(cfg Config) []identity {
	rosters := map[Sector][]RosterEntry{}
	for _, e := range cfg.Roster {
		if e.Name != "" && len(e.State) == 2 {
			rosters[e.Kind] = append(rosters[e.Kind], e)
		}
	}
	for _, sector := range []Sector{K12, Higher} {
		r, list := newRand(cfg.Seed, "roster-"+string(sector), 0), rosters[sector]
		r.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
	}
	out := make([]identity, cfg.Accounts)
	next := map[Sector]int{}
	for i := range out {
		id := invent(cfg.Seed, i)
		r := newRand(cfg.Seed, "identity", i)
		invented, noID, malformed := r.chance(shareInvented), r.chance(shareNoID), r.chance(shareMalformed)
		if list := rosters[id.sector]; !invented && next[id.sector] < len(list) {
			e := list[next[id.sector]]
			next[id.sector]++
			id.name, id.city, id.state, id.officialID = e.Name, e.City, strings.ToUpper(e.State), e.ID
			if e.Enrollment > 0 {
				id.enrollment = e.Enrollment
			}
		}
		id.domain = domainOf(id)
		switch {
		case noID:
			id.officialID = ""
		case malformed: // spreadsheets drop leading zeros or the last digit
			if trimmed := strings.TrimLeft(id.officialID, "0"); trimmed != id.officialID {
				id.officialID = trimmed
			} else {
				id.officialID = id.officialID[:max(0, len(id.officialID)-1)]
			}
		}
		if i%67 == 13 { // duplicates happen in every CRM
			id.domain = out[i-1].domain
		}
		out[i] = id
	}
	return out
}

// invent makes a plausible institution that does not exist.
func invent(seed uint64, i int) identity {
	r := newRand(seed, "invent", i)
	id := identity{sector: K12}
	if r.chance(shareHigher) {
		id.sector = Higher
	}
	place, st := pick(r, placeHeads)+pick(r, placeTails), pick(r, states)
	id.city, id.state = place, st.Code
	if id.sector == Higher {
		id.name = fmt.Sprintf(pick(r, higherPatterns), place)
		id.enrollment = int(math.Exp(r.normal(math.Log(6500), 1.0, math.Log(400), math.Log(60000))))
		id.officialID = strconv.Itoa(100_000 + r.IntN(399_999))
		return id
	}
	id.name = place + " " + st.District
	id.enrollment = int(math.Exp(r.normal(math.Log(5200), 1.25, math.Log(150), math.Log(180000))))
	id.officialID = fmt.Sprintf("%s%05d", st.FIPS, r.IntN(100_000))
	return id
}

func domainOf(id identity) string {
	var b strings.Builder
	for _, c := range strings.ToLower(id.name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		}
	}
	slug := b.String()
	if len(slug) > 28 {
		slug = slug[:28]
	}
	switch {
	case slug == "":
		slug = "school" + id.officialID
	case id.sector == Higher:
		return slug + ".edu"
	}
	return slug + ".k12." + strings.ToLower(id.state) + ".us"
}
