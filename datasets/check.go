package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"revarch/fault"
)

// Shape is what a whole file of a format must look like.
type Shape struct {
	RequiredColumns []string
	KeyUnique       bool
	MinRows         int     // good rows
	MaxBadShare     float64 // of all rows
	MinStates       int     // different state codes
	National        bool    // sums are compared with published figures
}

// Check is one statement about a whole file.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail"`
}

// shapeOf returns the shape of a national file; partial files may be any part of the country.
func shapeOf(l layout, partial bool) Shape {
	s := Shape{RequiredColumns: l.required, KeyUnique: true, MaxBadShare: 0.01, MinRows: 1, MinStates: 1}
	if partial {
		return s
	}
	switch l.format {
	case FormatIPEDSHD:
		s.MinRows, s.MinStates, s.National = 5000, 50, true
	case FormatSAIPE:
		s.MinRows, s.MinStates, s.National = 12000, 51, true
	case FormatCCDDirectory: // single states are passed on and must load; several must be all
	}
	return s
}

// poorChildren are the national sums of children in poverty by estimate year, in millions, as published.
func poorChildren(year int) (float64, bool) {
	sums := map[int]float64{2012: 11.43, 2017: 9.40, 2019: 8.51, 2020: 8.05, 2021: 8.87, 2023: 8.35}
	v, ok := sums[year]
	return v, ok
}

// tally gathers what the checks need while rows pass, in memory that does not depend on their number.
type tally struct {
	rows, bad  int
	duplicates int
	seen       []uint64 // one bit per key: UNITID and LEAID are numbers of at most seven digits
	states     map[string]int
	poor       int64
	children   int64
	deaths     map[int]int
	lastState  string
	lastCount  int
}

func newTally() *tally { return &tally{states: map[string]int{}, deaths: map[int]int{}} }

// first reports whether the key has not come before.
func (t *tally) first(key string) bool {
	k := number(key)
	if t.seen == nil {
		t.seen = make([]uint64, 10_000_000/64+1)
	}
	if k < 0 || k/64 >= len(t.seen) || t.seen[k/64]&(1<<(k%64)) != 0 {
		return false
	}
	t.seen[k/64] |= 1 << (k % 64)
	return true
}

func (t *tally) add(r Row) {
	t.rows++
	var state string
	switch {
	case r.Institution != nil:
		state = r.Institution.State
		if y := r.Institution.DeathYear; y != nil && len(t.deaths) < 500 {
			t.deaths[*y]++
		}
	case r.District != nil:
		state = r.District.FIPS
	case r.Poverty != nil:
		state = r.Poverty.State
		t.poor += int64(r.Poverty.ChildrenInPoverty)
		t.children += int64(r.Poverty.Children5to17)
	}
	if state == t.lastState { // files are sorted by state
		t.lastCount++
		return
	}
	t.states[t.lastState] += t.lastCount
	t.lastState, t.lastCount = state, 1
}

// distinct returns how many states came.
func (t *tally) distinct() int {
	t.states[t.lastState] += t.lastCount
	t.lastCount = 0
	delete(t.states, "")
	return len(t.states)
}

// deathYear returns the year in which most institutions left, 0 if there are too few to tell.
func (t *tally) deathYear() int {
	best, sum := 0, 0
	for year, n := range t.deaths {
		sum += n
		if best == 0 || n > t.deaths[best] || (n == t.deaths[best] && year > best) {
			best = year
		}
	}
	if sum < 20 || t.deaths[best]*2 < sum {
		return 0
	}
	return best
}

// checks judges a file after a full pass.
func (t *tally) checks(f *File) []Check {
	s := f.shape
	total := t.rows + t.bad
	share := float64(t.bad) / float64(max(total, 1))
	minRows, minStates := s.MinRows, t.distinct()
	if f.Format == FormatCCDDirectory && !f.partial && minStates > 1 {
		minRows = 10_000
	}
	out := []Check{
		{"columns", true, fmt.Sprintf("all %d required columns are there", len(s.RequiredColumns))},
		{"rows", t.rows >= minRows, fmt.Sprintf("%d rows, at least %d expected", t.rows, minRows)},
		{"bad_rows", share <= s.MaxBadShare, fmt.Sprintf("%d of %d rows could not be used, at most %.0f%% may", t.bad, total, 100*s.MaxBadShare)},
		{"unique_key", !s.KeyUnique || t.duplicates == 0, fmt.Sprintf("%d rows repeat the key of an earlier one", t.duplicates)},
		{"states", minStates >= s.MinStates, fmt.Sprintf("%d states and territories, at least %d expected", minStates, s.MinStates)},
	}
	if f.nameYear != 0 {
		out = append(out, Check{"vintage", f.nameYear == f.Vintage.Year, fmt.Sprintf("the name says %d, the content %d", f.nameYear, f.Vintage.Year)})
	}
	if died := t.deathYear(); f.Format == FormatIPEDSHD && died != 0 {
		out = append(out, Check{"closures", died == f.Vintage.Year-1, fmt.Sprintf("most closures are of %d, the file is of fall %d", died, f.Vintage.Year-1)})
	}
	if f.Format == FormatSAIPE && s.National {
		out = append(out, t.nationalPoverty(f.Vintage.Year))
	}
	return out
}

func (t *tally) nationalPoverty(year int) Check {
	sum := float64(t.poor) / 1e6
	if want, ok := poorChildren(year); ok {
		return Check{"national_sum", math.Abs(sum-want) <= 0.02*want, fmt.Sprintf("%.2f million children in poverty, %.2f published for %d", sum, want, year)}
	}
	return Check{"national_sum", sum > 5 && sum < 15, fmt.Sprintf("%.2f million children in poverty, between 5 and 15 expected", sum)}
}

// failure turns failed checks into one error; nil when all passed.
func failure(f *File, checks []Check) error {
	var bad []string
	for _, c := range checks {
		if !c.Passed {
			bad = append(bad, c.Name+": "+c.Detail)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	text := fmt.Sprintf("%q does not look like a whole %s: %s.", f.Name, f.Format.Title(), strings.Join(bad, "; "))
	if len(f.badRows) > 0 && slices.ContainsFunc(checks, func(c Check) bool {
		return !c.Passed && (c.Name == "bad_rows" || c.Name == "unique_key" || c.Name == "rows")
	}) {
		text += " First bad row: " + f.badRows[0].Error() + "."
	}
	return fault.New(fault.BadFile, "%s Nothing was loaded from it. Download the file again, or load the right one.", text)
}
