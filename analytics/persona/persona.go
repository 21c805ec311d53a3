// Package persona reads a job title: which tier of decision maker a person at a district or an institution is.
package persona

import (
	"regexp"
	"strings"
)

// Tier is how senior a title is; T1 decides, T5 uses. Unknown titles have no tier.
type Tier int

// The tiers, with the points they are worth.
const (
	None Tier = iota // 10
	T1               // 100: superintendent, president, chancellor, finance chief
	T2               // 85: deputies, academic and technology chiefs, vice presidents
	T3               // 65: directors, deans, registrars, controllers
	T4               // 45: principals, coordinators, chairs
	T5               // 25: teachers, faculty, specialists
)

// Points returns what the tier is worth, 0 to 100.
func (t Tier) Points() float64 { return [...]float64{10, 100, 85, 65, 45, 25}[t] }

// Executive reports whether the tier has executive access.
func (t Tier) Executive() bool { return t == T1 || t == T2 }

type pattern struct {
	tier Tier
	re   *regexp.Regexp
}

func p(t Tier, expr string) pattern { return pattern{t, regexp.MustCompile(`\b(?:` + expr + `)\b`)} }

// patterns are tried in order on a normalized title; the first match wins, so what must never match an executive
// comes first.
var patterns = []pattern{
	p(None, `(?:executive |administrative )?(?:assistant|secretary|aide) to|student|intern|secretary|clerk|receptionist|executive assistant|administrative assistant`),
	p(T2, `(?:deputy|assistant|associate|vice) (?:superintendent|chancellor|president|provost)|(?:senior |executive )?vice president|s?vp|evp|avp|vice chancellor`),
	p(T1, `superintendent|president|chancellor|head of school|chief (?:executive|financial|business|finance) officer|cfo|cbo|ceo`),
	p(T2, `provost|chief (?:academic|information|technology|instructional|operating|operations|of staff|innovation|data|security) ?(?:officer)?|cao|cio|cto|coo|ciso`),
	p(T3, `director|dean|registrar|controller|comptroller|bursar|head of|manager`),
	p(T4, `principal|coordinator|chair|chairperson|supervisor|department head|lead`),
	p(T5, `teacher|faculty|professor|instructor|lecturer|specialist|librarian|counselor|coach|analyst|technician|teaching assistant`),
}

var separators = regexp.MustCompile(`[^a-z0-9]+`)

// Of returns the tier of a title.
func Of(title string) Tier {
	t := " " + separators.ReplaceAllString(strings.ToLower(title), " ") + " "
	t = strings.NewReplacer(" asst ", " assistant ", " supt ", " superintendent ", " dir ", " director ", " assoc ", " associate ").Replace(t)
	for _, pt := range patterns {
		if pt.re.MatchString(t) {
			return pt.tier
		}
	}
	return None
}
