package datasets

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// NormalizeName folds the name of a district or institution so that the spellings of one name in a CRM and in official
// files meet: "Abbott ISD" and "Abbott Independent School District", "St. Louis Univ." and "Saint Louis University". What
// tells neighbors apart stays: numbers, county, city, elementary, high, campus names, and the order of words. The result is
// lower-case ASCII where the name is Latin; "" only for a name without letters and digits. Match it with the state, and
// never guess between several.
func NormalizeName(name string) string {
	base := expand(words(name))
	out := numbersLast(dropAffixes(base))
	kept := out[:0]
	for _, w := range out {
		if w != "the" && w != "of" && w != "at" {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		kept = words(name)
	}
	return strings.Join(kept, " ")
}

// words cuts a name into lower-case words without accents; letters before a digit are a word of their own (RE1 is re 1).
func words(name string) []string {
	var out []string
	var w strings.Builder
	flush := func() {
		if w.Len() > 0 {
			out = append(out, w.String())
			w.Reset()
		}
	}
	var last rune
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '`':
			continue // St. Mary's is one word with St. Marys
		case r == '&', r == '+':
			flush()
			out = append(out, "and")
		case unicode.IsLetter(r):
			w.WriteRune(unicode.ToLower(r))
		case unicode.IsDigit(r):
			if unicode.IsLetter(last) {
				flush()
			}
			w.WriteRune(r)
		default:
			flush()
		}
		last = r
	}
	flush()
	for i, word := range out {
		if len(word) > 1 && word[0] == '0' && allDigits([]byte(word)) {
			out[i] = cmpEmpty(strings.TrimLeft(word, "0"), "0")
		}
	}
	return out
}

func cmpEmpty(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// expand writes abbreviations out; what stands for a kind of district becomes those words and is dropped with them later.
func expand(in []string) []string {
	out := make([]string, 0, len(in)+4)
	for i, w := range in {
		last := i == len(in)-1
		switch {
		case w == "st" && i > 0 && !last && strings.HasPrefix(in[i+1], "univ"):
			out = append(out, "state")
		case w == "st" && !last && i+1 < len(in) && !allDigits([]byte(in[i+1])):
			out = append(out, "saint")
		case w == "st" && last && i > 0:
			out = append(out, "state")
		case (w == "no" || w == "number" || w == "num") && !last && in[i+1][0] >= '0' && in[i+1][0] <= '9':
		case w == "mt" && !last:
			out = append(out, "mount")
		case w == "s" && !last && in[i+1] == "d":
			out = append(out, "school")
		case w == "d" && i > 0 && in[i-1] == "s":
			out = append(out, "district")
		default:
			if long, ok := abbreviation(w); ok {
				out = append(out, strings.Fields(long)...)
			} else {
				out = append(out, w)
			}
		}
	}
	return out
}

func abbreviation(w string) (string, bool) {
	switch w {
	case "isd":
		return "independent school district", true
	case "cisd":
		return "consolidated independent school district", true
	case "usd":
		return "unified school district", true
	case "cusd":
		return "community unit school district", true
	case "ccsd":
		return "community consolidated school district", true
	case "ufsd":
		return "union free school district", true
	case "uhsd":
		return "union high school district", true
	case "juhsd":
		return "joint union high school district", true
	case "chsd":
		return "community high school district", true
	case "hsd":
		return "high school district", true
	case "esd":
		return "elementary school district", true
	case "uesd":
		return "union elementary school district", true
	case "sd", "csd", "psd", "rsd", "msd":
		return "school district", true
	case "ps":
		return "public schools", true
	case "boe":
		return "board of education", true
	case "sch", "schl":
		return "school", true
	case "schs":
		return "schools", true
	case "dist", "distr":
		return "district", true
	case "ind", "indep", "indpt":
		return "independent", true
	case "unif":
		return "unified", true
	case "cons", "consol":
		return "consolidated", true
	case "elem":
		return "elementary", true
	case "pub":
		return "public", true
	case "cnty", "co":
		return "county", true
	case "twp":
		return "township", true
	case "comm", "cmty":
		return "community", true
	case "univ", "unvi":
		return "university", true
	case "coll", "col":
		return "college", true
	case "cc":
		return "community college", true
	case "inst":
		return "institute", true
	case "acad":
		return "academy", true
	case "ctr":
		return "center", true
	case "intl":
		return "international", true
	case "ft":
		return "fort", true
	case "ste":
		return "sainte", true
	}
	return "", false
}

// dropAffixes removes the words that only say what kind of body it is, at the beginning and at the end.
func dropAffixes(in []string) []string {
	out := in
	if len(out) > 1 && out[0] == "the" {
		out = out[1:]
	}
	for _, prefix := range [][]string{
		{"school", "district", "of"},
		{"public", "schools", "of"},
		{"board", "of", "education", "of"},
		{"unified", "school", "district"},
		{"independent", "school", "district"},
		{"school", "district"},
	} {
		if len(out) > len(prefix) && startsWith(out, prefix) && tellsSomething(out[len(prefix):]) {
			out = out[len(prefix):]
			break
		}
	}
	// Numbers at the end stay there; the words before them are looked at.
	end := len(out)
	for end > 0 && isNumber(out[end-1]) {
		end--
	}
	names, tail := out[:end], out[end:]
	for {
		n := affixLen(names)
		if n == 0 {
			break
		}
		names = names[:len(names)-n]
	}
	return append(append(make([]string, 0, len(out)), names...), tail...)
}

// affixLen returns how many words at the end say only what kind of body it is, and leave a name.
func affixLen(w []string) int {
	for _, suffix := range [][]string{
		{"community", "unit", "school", "district"},
		{"community", "consolidated", "school", "district"},
		{"union", "free", "school", "district"},
		{"independent", "school", "district"},
		{"unified", "school", "district"},
		{"central", "school", "district"},
		{"community", "school", "district"},
		{"public", "school", "district"},
		{"common", "school", "district"},
		{"municipal", "school", "district"},
		{"community", "schools"},
		{"central", "schools"},
		{"public", "schools"},
		{"public", "school", "system"},
		{"board", "of", "education"},
		{"school", "corporation"},
		{"school", "system"},
		{"school", "department"},
		{"unified", "district"},
		{"school", "district"},
		{"schools", "district"},
		{"k", "12"},
		{"main", "campus"},
		{"school", "districts"},
		{"independent"},
		{"unified"},
		{"schools"},
		{"district"},
		{"campus"},
		{"inc"},
		{"llc"},
	} {
		if n := len(w) - len(suffix); n > 0 && startsWith(w[n:], suffix) && tellsSomething(w[:n]) {
			return len(suffix)
		}
	}
	return 0
}

// tellsSomething reports whether words name a place or body: more than one direction or a number.
func tellsSomething(w []string) bool {
	directions := 0
	for _, word := range w {
		switch word {
		case "north", "south", "east", "west", "northern", "southern", "eastern", "western", "northeast", "northwest",
			"southeast", "southwest", "central":
			directions++
		case "new", "the", "of", "community", "unified", "independent", "school", "public":
		default:
			if !isNumber(word) {
				return true
			}
		}
	}
	return directions > 1
}

// numbersLast moves a number in front of the name behind it: "USD 259 Wichita" is "Wichita USD 259".
func numbersLast(w []string) []string {
	n := 0
	for n < len(w) && isNumber(w[n]) {
		n++
	}
	if n == 0 || n == len(w) {
		return w
	}
	return append(append(make([]string, 0, len(w)), w[n:]...), w[:n]...)
}

// isNumber tells 259 and 1j from words; 21st is a word.
func isNumber(w string) bool {
	if len(w) > 1 && !allDigits([]byte(w)) {
		w = w[:len(w)-1]
	}
	return allDigits([]byte(w))
}

func startsWith(w, prefix []string) bool {
	for i, p := range prefix {
		if w[i] != p {
			return false
		}
	}
	return true
}
