package datasets

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed jurisdictions.csv facts/*.csv
var embedded embed.FS

// Facts returns the committed reference tables, facts/<name>.csv.
func Facts() fs.FS { return embedded }

// Jurisdiction is a state or DC with what differs between school systems. A fiscal-year month of 0 is unknown.
type Jurisdiction struct {
	USPS                    string
	FIPS                    string // 2 digits
	Name                    string
	EducationAgency         string
	DataPortals             []string
	AssessmentFamilies      string // test families of grades 3-8 by year, as text
	StateFiscalYearStart    int    // month, 1-12
	DistrictFiscalYearStart int    // month in which a district's year starts, 1-12
	No2020Results           bool
	Notes                   string
	Confidence              string // high, medium or low
}

// Jurisdictions reads the committed table of the 50 states and DC.
func Jurisdictions() ([]Jurisdiction, error) {
	raw, err := embedded.ReadFile("jurisdictions.csv")
	if err != nil {
		return nil, fmt.Errorf("read jurisdictions: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read jurisdictions: %w", err)
	}
	h := newHeader(records[0])
	if gone := h.missing([]string{"USPS", "FIPS", "JURISDICTION", "STATE_FISCAL_YEAR_START_MONTH", "DISTRICT_FISCAL_YEAR_START_MONTH"}); len(gone) > 0 {
		return nil, fmt.Errorf("jurisdictions lacks %v", gone)
	}
	out := make([]Jurisdiction, 0, len(records)-1)
	for _, rec := range records[1:] {
		get := func(name string) string { return rec[h.at(name)] }
		j := Jurisdiction{
			USPS: get("USPS"), FIPS: get("FIPS"), Name: get("JURISDICTION"), EducationAgency: get("EDUCATION_AGENCY"),
			DataPortals: strings.Split(get("DATA_PORTAL_HOSTS"), "; "), AssessmentFamilies: get("ASSESSMENT_FAMILIES_GRADES_3_8"),
			StateFiscalYearStart: month(get("STATE_FISCAL_YEAR_START_MONTH")), DistrictFiscalYearStart: month(get("DISTRICT_FISCAL_YEAR_START_MONTH")),
			No2020Results: get("NO_2020_RESULTS") == "true", Notes: get("NOTES"), Confidence: get("CONFIDENCE"),
		}
		if FIPSOf(j.USPS) != j.FIPS || j.FIPS == "" {
			return nil, fmt.Errorf("jurisdictions: %s is not %s", j.FIPS, j.USPS)
		}
		out = append(out, j)
	}
	return out, nil
}

func month(s string) int {
	if m, err := strconv.Atoi(s); err == nil && m >= 1 && m <= 12 {
		return m
	}
	return 0
}
