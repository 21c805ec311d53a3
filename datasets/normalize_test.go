package datasets_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/datasets"
)

func TestSpellingsOfOneNameMeet(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"abbott":                        {"ABBOTT ISD", "Abbott Independent School District", "Abbott Indep. Sch. Dist.", "Abbott Independent"},
		"crosbyton consolidated":        {"CROSBYTON CISD", "Crosbyton Consolidated Independent School District"},
		"fresno":                        {"Fresno Unified School District", "Fresno USD", "Fresno Unified", "Fresno Unif. Sch. Dist"},
		"iroquois west 10":              {"Iroquois West Community Unit School District 10", "Iroquois West CUSD 10", "Iroquois West CUSD #10", "Iroquois West CUSD No. 10"},
		"geff 14":                       {"Geff Community Consolidated School District 14", "Geff CCSD 14"},
		"wichita 259":                   {"Wichita Unified School District 259", "USD 259 Wichita", "Wichita USD 259", "Unified School District No. 259 Wichita"},
		"alliance":                      {"Alliance Public Schools", "Alliance Pub. Schs.", "Alliance PS"},
		"west hempstead":                {"West Hempstead Union Free School District", "West Hempstead UFSD"},
		"honeoye falls lima":            {"Honeoye Falls-Lima Central School District", "Honeoye Falls-Lima CSD"},
		"philadelphia":                  {"School District of Philadelphia", "The School District of Philadelphia", "Philadelphia S.D."},
		"saint paul":                    {"St. Paul Public School District", "Saint Paul Public Schools"},
		"fulton county":                 {"Fulton County Schools", "Fulton Co. School District", "FULTON COUNTY SCHOOL DISTRICT"},
		"belt high":                     {"Belt High School District", "Belt HSD"},
		"columbia 1j":                   {"Columbia SD 1J", "Columbia School District 1J"},
		"mount vernon":                  {"Mt. Vernon Community School District", "Mount Vernon School District"},
		"district columbia":             {"District of Columbia Public Schools"},
		"north central":                 {"North Central School District"},
		"townsend":                      {"Townsend K-12 Schools", "Townsend Schools"},
		"alabama a and m university":    {"Alabama A & M University", "Alabama A&M University", "Alabama A and M Univ."},
		"university texas austin":       {"The University of Texas at Austin", "University of Texas-Austin", "Univ. of Texas at Austin"},
		"ohio state university":         {"Ohio State University-Main Campus", "The Ohio State University", "Ohio St Univ"},
		"ohio state university lima":    {"Ohio State University-Lima Campus", "Ohio State Univ - Lima"},
		"saint marys college":           {"St. Mary’s College", "Saint Mary's Coll"},
		"canada college":                {"Cañada College", "Canada Coll."},
		"san jacinto community college": {"San Jacinto CC", "San Jacinto Community College District", "San Jacinto Community College"},
		"21st century academy":          {"21st Century Acad."},
	} {
		for _, s := range spellings {
			require.Equal(t, want, datasets.NormalizeName(s), s)
		}
	}
}

func TestNeighborsStayApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Rice ISD", "Rice CISD"},
		{"Belt Elementary School District", "Belt High School District"},
		{"University of Washington", "Washington University"},
		{"Weston County School District 1", "Weston County School District 7"},
		{"North School District", "North Central School District"},
		{"Kansas City School District", "Kansas School District"},
		{"Miami University-Oxford", "University of Miami"},
		{"Columbia SD 1J", "Columbia SD 1"},
	} {
		require.NotEqual(t, datasets.NormalizeName(pair[0]), datasets.NormalizeName(pair[1]), pair[0])
	}
}

func TestNormalizingIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if got := datasets.NormalizeName(name); got != datasets.NormalizeName(" "+name+" ") {
			t.Fatalf("spaces change %q to %q", name, got)
		}
	})
	require.Empty(t, datasets.NormalizeName(" -- "))
	require.Equal(t, "independent school district 196", datasets.NormalizeName("Independent School District 196"))
}

func TestClosingDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"06/30/2019": "2019-06-30", "6/29/07": "2007-06-29", "Sep-07": "2007-09-01", "06/2015": "2015-06-01", "2007": "2007-01-01",
	} {
		got, ok := datasets.ParseClosedAt(text)
		require.True(t, ok, text)
		require.Equal(t, want, got.Format(time.DateOnly))
	}
	for _, text := range []string{"", "00/00/0000", "07/200", "soon"} {
		_, ok := datasets.ParseClosedAt(text)
		require.False(t, ok, text)
	}
}

func TestReferenceTables(t *testing.T) {
	t.Parallel()
	all, err := datasets.Jurisdictions()
	require.NoError(t, err)
	require.Len(t, all, 51)
	byCode := map[string]datasets.Jurisdiction{}
	for _, j := range all {
		byCode[j.USPS] = j
	}
	require.Equal(t, 10, byCode["AL"].StateFiscalYearStart)
	require.Equal(t, 7, byCode["NY"].DistrictFiscalYearStart)
	require.Len(t, datasets.StateCodes(), 59)
	require.Equal(t, "TX", datasets.StateOf(datasets.FIPSOf("TX")))
	files, err := fs.Glob(datasets.Facts(), "facts/*.csv")
	require.NoError(t, err)
	require.NotEmpty(t, files)
}
