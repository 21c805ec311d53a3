package datasets

import (
	"slices"
	"strings"
)

// layout is one published arrangement of columns of a format.
type layout struct {
	format   Format
	name     string
	required []string
	typical  []string // more columns that tell this layout from others, not required
	bind     func(header) rowParser
}

// rowParser turns a record into a row; an error is a *RowError without its line, or fatal.
type rowParser interface {
	parse(c *cells) (Row, error)
}

// header maps column names, folded, to positions.
type header map[string]int

// foldColumn makes column names comparable: case, the spaces around and doubled spaces differ between releases.
func foldColumn(name string) string {
	return strings.ToUpper(strings.Join(strings.Fields(strings.Trim(name, `" `)), " "))
}

func newHeader(names []string) header {
	h := make(header, len(names))
	for i, name := range names {
		name = foldColumn(name)
		if _, dup := h[name]; name != "" && !dup {
			h[name] = i
		}
	}
	return h
}

// at returns the position of the first of the names that is there, -1 if none is.
func (h header) at(names ...string) int {
	for _, name := range names {
		if i, ok := h[name]; ok {
			return i
		}
	}
	return -1
}

// missing lists the names that are not there.
func (h header) missing(names []string) []string {
	var out []string
	for _, name := range names {
		if h.at(strings.Split(name, "|")...) < 0 {
			out = append(out, strings.ReplaceAll(name, "|", " or "))
		}
	}
	return out
}

func layouts() []layout {
	return []layout{
		{
			format: FormatIPEDSHD, name: "hd", bind: bindIPEDS,
			required: []string{"UNITID", "OPEID", "INSTNM", "CITY", "STABBR", "ZIP", "FIPS", "WEBADDR", "SECTOR", "ICLEVEL", "CONTROL", "NEWID", "DEATHYR", "CLOSEDAT", "CYACTIVE"},
		},
		{
			format: FormatSAIPE, name: "school districts", bind: bindSAIPE,
			required: []string{"STATE POSTAL CODE", "STATE FIPS CODE", "DISTRICT ID", "NAME", "ESTIMATED TOTAL POPULATION", "ESTIMATED POPULATION 5-17", saipePoor},
		},
		{
			format: FormatCCDDirectory, name: "wide", bind: bindCCDWide,
			required: []string{"SURVYEAR", "LEAID", "FIPST", "STID", "NAME", "TYPE|TYPE06|TYPE07", "GSLO", "GSHI"},
			typical:  []string{"MCITY", "LCITY", "MZIP", "UNION", "CONUM"},
		},
		{
			format: FormatCCDDirectory, name: "directory", bind: bindCCDModern,
			required: []string{"SCHOOL_YEAR|SURVYEAR", "LEAID", "LEA_NAME", "ST|STABR", "FIPST", "ST_LEAID", "LEA_TYPE", "SY_STATUS", "GSLO", "GSHI"},
			typical:  []string{"LCITY", "LZIP", "WEBSITE", "CHARTER_LEA"},
		},
	}
}

const saipePoor = "ESTIMATED NUMBER OF RELEVANT CHILDREN 5 TO 17 YEARS OLD IN POVERTY WHO ARE RELATED TO THE HOUSEHOLDER"

// signature tells a published table that cannot be loaded here by columns that only it has.
type signature struct {
	columns []string
	title   string
}

func otherDatasets() []signature {
	return []signature{
		{[]string{"UNITID", "EFFYLEV"}, "the IPEDS 12-month enrollment (EFFY)"},
		{[]string{"UNITID", "FTEUG"}, "the IPEDS 12-month instructional activity (EFIA)"},
		{[]string{"UNITID", "EFALEVEL"}, "the IPEDS fall enrollment (EF)"},
		{[]string{"UNITID", "SCUGRAD"}, "the IPEDS student financial aid (SFA)"},
		{[]string{"UNITID", "F1B01"}, "the IPEDS finance table F1A"},
		{[]string{"UNITID", "F2D01"}, "the IPEDS finance table F2"},
		{[]string{"UNITID", "F3D01"}, "the IPEDS finance table F3"},
		{[]string{"UNITID", "APPLCN"}, "the IPEDS admissions (ADM)"},
		{[]string{"UNITID", "CHG1AY0"}, "the IPEDS charges (IC_AY)"},
		{[]string{"UNITID", "CIPCODE1"}, "the IPEDS charges (IC_PY)"},
		{[]string{"UNITID", "PEO1ISTR"}, "the IPEDS institutional characteristics (IC)"},
		{[]string{"UNITID", "OPEID6"}, "the College Scorecard"},
		{[]string{"UNITID", "ARANK"}, "the IPEDS instructional staff salaries (SAL)"},
		{[]string{"NCESSCH", "SCH_NAME"}, "the CCD school directory"},
		{[]string{"LEAID", "STUDENT_COUNT"}, "the CCD membership file"},
		{[]string{"LEAID", "STAFF_COUNT"}, "the CCD staff file"},
		{[]string{"LEAID", "TOTALREV"}, "the F-33 district finance file"},
		{[]string{"LEAID", "LEA_CWIFTEST"}, "the EDGE comparable wage index (CWIFT)"},
		{[]string{"VARNUMBER", "VARNAME"}, "a data dictionary"},
	}
}

// match finds the layout of a header. exact is false when columns are missing; ok is false when it looks like none.
func match(h header) (l layout, missing []string, ok bool) {
	best := 0
	for _, candidate := range layouts() {
		gone := h.missing(candidate.required)
		have := len(candidate.required) - len(gone)
		score := 10*have/len(candidate.required)*10 + len(candidate.typical) - len(h.missing(candidate.typical))
		if len(gone) == 0 {
			score += 1000
		}
		if have*2 > len(candidate.required) && score > best {
			best, l, missing, ok = score, candidate, gone, true
		}
	}
	return l, missing, ok
}

// lookAlike names the dataset that a header belongs to, "" if unknown.
func lookAlike(h header) string {
	for _, s := range otherDatasets() {
		if len(h.missing(s.columns)) == 0 {
			return s.title
		}
	}
	return ""
}

// titles lists the formats for a message.
func titles() string {
	var out []string
	for _, f := range Formats() {
		out = append(out, f.Title())
	}
	return strings.Join(slices.Sorted(slices.Values(out)), ", ")
}
