// Package data makes the customers, people and sales history that the sandbox serves: invented but coherent stories
// about school districts and colleges, the same for the same (seed, size, anchor day, roster). What belongs here: the
// stories as plain values. How a provider spells them belongs to that provider's dialect.
package data

import (
	"errors"
	"time"
)

// Config says how much to make. Zero values mean the defaults; a negative number of records per account means none.
type Config struct {
	Seed     uint64
	Accounts int
	// Averages per account.
	ContactsPerAccount, OpportunitiesPerAccount, TasksPerAccount float64
	Anchor                                                       time.Time // the day that counts as today, UTC midnight
	Roster                                                       []RosterEntry
}

// Sector tells districts from colleges, in a roster and in accounts.
type Sector string

// The two sectors.
const (
	K12    Sector = "k12"
	Higher Sector = "higher_ed"
)

// RosterEntry is a real institution: its official id (LEAID of 7 digits or UNITID of 6), name and place. Enrollment 0
// means unknown.
type RosterEntry struct {
	Kind       Sector `json:"kind"`
	ID         string `json:"id"`
	Name       string `json:"name"`
	City       string `json:"city"`
	State      string `json:"state"`
	Enrollment int    `json:"enrollment"`
}

// User is a person of the selling team who owns records.
type User struct {
	First, Last, Territory string
	Active                 bool
}

// Product is something the selling team sells, priced in cents per student and year.
type Product struct {
	Name, Code, Family string
	Active             bool
	Cents              int64
	To, In             string // the sector and the states it is sold to, "" for all
}

// Generator makes the stories; it is safe for concurrent use.
type Generator struct {
	cfg   Config
	who   []identity
	Users []User
}

// DefaultAccounts is the number of accounts of a Config that names none.
const DefaultAccounts = 400

// New checks cfg, fills in its defaults and prepares the identities of all accounts.
func New(cfg Config) (*Generator, error) {
	if cfg.Accounts < 0 || cfg.Accounts > 5_000_000 {
		return nil, errors.New("accounts must be between 1 and 5000000")
	}
	if cfg.Accounts == 0 {
		cfg.Accounts = DefaultAccounts
	}
	if cfg.Anchor.IsZero() {
		return nil, errors.New("an anchor day is needed")
	}
	for _, d := range []struct {
		v   *float64
		def float64
	}{{&cfg.ContactsPerAccount, 3}, {&cfg.OpportunitiesPerAccount, 1.5}, {&cfg.TasksPerAccount, 6}} {
		switch {
		case *d.v == 0:
			*d.v = d.def
		case *d.v < 0:
			*d.v = 0
		case *d.v > 100:
			return nil, errors.New("at most 100 records per account")
		}
	}
	cfg.Anchor = cfg.Anchor.UTC().Truncate(24 * time.Hour)
	return &Generator{cfg: cfg, who: identities(cfg), Users: users(cfg.Seed)}, nil
}

// Config returns the configuration with its defaults filled in.
func (g *Generator) Config() Config { return g.cfg }

// Accounts returns how many stories there are.
func (g *Generator) Accounts() int { return len(g.who) }

var territories = []string{"West", "Central", "Midwest", "Southeast", "Northeast", "National"}

// users makes two sellers for each territory and one who has left in every third.
func users(seed uint64) []User {
	var out []User
	for i, t := range territories {
		r := newRand(seed, "user", i)
		for n := range 3 {
			if n == 2 && i%3 != 0 {
				continue
			}
			out = append(out, User{First: pick(r, firstNames), Last: pick(r, lastNames), Territory: t, Active: n < 2})
		}
	}
	return out
}

// Indexes of products that the sales model speaks of by name.
const (
	readingPath = iota
	mathMomentum
	assessPro
	classHub
	rosterBridge
	familyConnect
	translateNow // always sold with familyConnect
	safeHallways
	collegeCompass
	campusInsight
	retainAdvise
	examShield
	typingTrail     // retired
	legacyGradebook // retired
)

// Products is the price list: twelve products on sale and two retired ones.
var Products = []Product{
	{"ReadingPath", "RP-100", "Curriculum", true, 850, "K-12", ""},
	{"MathMomentum", "MM-100", "Curriculum", true, 790, "K-12", ""},
	{"AssessPro", "AP-200", "Assessment", true, 420, "K-12", "AZ;CA;CO;FL;GA;IL;MI;NC;NJ;NY;OH;PA;TX;VA;WA"},
	{"ClassHub LMS", "CH-300", "Platform", true, 610, "", ""},
	{"RosterBridge", "RB-310", "Platform", true, 130, "", ""},
	{"FamilyConnect", "FC-400", "Engagement", true, 240, "K-12", ""},
	{"TranslateNow", "TN-410", "Engagement", true, 95, "K-12", ""},
	{"SafeHallways", "SH-500", "Safety", true, 310, "", ""},
	{"CollegeCompass", "CC-600", "Advising", true, 275, "K-12", ""},
	{"CampusInsight", "CI-700", "Analytics", true, 1150, "Higher Ed", ""},
	{"RetainAdvise", "RA-710", "Advising", true, 980, "Higher Ed", ""},
	{"ExamShield", "ES-800", "Assessment", true, 540, "Higher Ed", ""},
	{"Typing Trail", "TT-010", "Curriculum", false, 150, "K-12", ""},
	{"Legacy Gradebook", "LG-020", "Platform", false, 200, "", ""},
}
