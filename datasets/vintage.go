package datasets

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Release is how final a publication of a vintage is.
type Release string

// The releases, in the order in which they replace each other.
const (
	ReleasePreliminary Release = "preliminary"
	ReleaseProvisional Release = "provisional"
	ReleaseFinal       Release = "final"
	ReleaseRevised     Release = "revised"
)

// Basis says what the year of a vintage counts.
type Basis string

// The bases.
const (
	BasisSchoolYear   Basis = "school_year"   // Year is the year in which the school year ends
	BasisCalendarYear Basis = "calendar_year" // Year is the year of the estimate
)

// Vintage says which publication of a dataset a file is.
type Vintage struct {
	Year    int
	Basis   Basis
	Label   string // the publisher's own label, such as HD2020, 2013-14 or SAIPE 2019
	Release Release
	Token   string // the publisher's release mark in the file name, such as rv or 1a; "" if none
}

// Rank orders releases of one vintage: a higher one replaces a lower one.
func (r Release) Rank() int {
	switch r {
	case ReleaseProvisional:
		return 1
	case ReleaseFinal:
		return 2
	case ReleaseRevised:
		return 3
	}
	return 0
}

var (
	hdName      = regexp.MustCompile(`(?i)(?:^|[^a-z])hd((?:19|20)\d\d)`)
	saipeName   = regexp.MustCompile(`(?i)ussd((?:20)?\d\d)(?:\D|$)`)
	ccdToken    = regexp.MustCompile(`(?i)_(\d\d)(\d\d)_[wl]_(\d[a-z])_`)
	ccdOldToken = regexp.MustCompile(`(?i)(?:^|[^a-z])ag(\d\d)(\d[a-z])`)
	schoolYear  = regexp.MustCompile(`((?:19|20)\d\d)\s*[-–]\s*((?:19|20)?\d\d)`)
	plainYear   = regexp.MustCompile(`^((?:19|20)\d\d)$`)
	titleYear   = regexp.MustCompile(`\b((?:19|20)\d\d)\b[^.]{0,40}[Ee]stimates`)
	revised     = regexp.MustCompile(`(?i)_rv(?:\W|_|$)`)
)

// yearInName returns the year that a file name tells under any dataset's naming, 0 if none.
func yearInName(name string) int {
	for _, f := range Formats() {
		if v := vintageOf(f, name); v.Year != 0 {
			return v.Year
		}
	}
	return 0
}

// vintageOf reads what a file name tells about the vintage; Year is 0 if it tells none.
func vintageOf(f Format, name string) Vintage {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	v := Vintage{Basis: BasisSchoolYear, Release: ReleaseProvisional}
	switch f {
	case FormatIPEDSHD:
		if m := hdName.FindStringSubmatch(name); m != nil {
			v = v.withYear(f, number(m[1])+1)
		}
		if revised.MatchString(name) {
			v.Release, v.Token = ReleaseRevised, "rv"
		}
	case FormatSAIPE:
		v.Basis, v.Release = BasisCalendarYear, ReleaseFinal
		if m := saipeName.FindStringSubmatch(name); m != nil {
			v = v.withYear(f, 2000+number(m[1])%100)
		}
	case FormatCCDDirectory:
		if m := ccdToken.FindStringSubmatch(name); m != nil && (number(m[1])+1)%100 == number(m[2]) {
			v = v.withYear(f, 2000+number(m[2]))
			v.Token = strings.ToLower(m[3])
		} else if m := ccdOldToken.FindStringSubmatch(name); m != nil {
			v.Token = strings.ToLower(m[2])
		}
		switch {
		case strings.HasPrefix(v.Token, "0"), strings.Contains(strings.ToLower(name), "prelim"):
			v.Release = ReleasePreliminary
		case v.Token >= "2":
			v.Release = ReleaseFinal
		}
	}
	return v
}

// withYear sets the year and the publisher's label for it.
func (v Vintage) withYear(f Format, year int) Vintage {
	v.Year = year
	switch f {
	case FormatIPEDSHD:
		v.Label = "HD" + strconv.Itoa(year-1)
	case FormatSAIPE:
		v.Label = "SAIPE " + strconv.Itoa(year)
	case FormatCCDDirectory:
		v.Label = strconv.Itoa(year-1) + "-" + strconv.Itoa(year)[2:]
	}
	return v
}

// endOfSchoolYear reads 2022-2023, 2013-14 or the fall year 2013; 0 if it is none of them.
func endOfSchoolYear(s string) int {
	s = strings.TrimSpace(s)
	if m := schoolYear.FindStringSubmatch(s); m != nil {
		start := number(m[1])
		if (start+1)%100 != number(m[2])%100 {
			return 0
		}
		return start + 1
	}
	if m := plainYear.FindStringSubmatch(s); m != nil {
		return number(m[1]) + 1
	}
	return 0
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
