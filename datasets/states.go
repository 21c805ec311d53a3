package datasets

// stateCodes are the 59 codes of IPEDS: the states, DC, and the territories and freely associated states.
var stateCodes = [...]struct{ usps, fips string }{
	{"AL", "01"},
	{"AK", "02"},
	{"AZ", "04"},
	{"AR", "05"},
	{"CA", "06"},
	{"CO", "08"},
	{"CT", "09"},
	{"DE", "10"},
	{"DC", "11"},
	{"FL", "12"},
	{"GA", "13"},
	{"HI", "15"},
	{"ID", "16"},
	{"IL", "17"},
	{"IN", "18"},
	{"IA", "19"},
	{"KS", "20"},
	{"KY", "21"},
	{"LA", "22"},
	{"ME", "23"},
	{"MD", "24"},
	{"MA", "25"},
	{"MI", "26"},
	{"MN", "27"},
	{"MS", "28"},
	{"MO", "29"},
	{"MT", "30"},
	{"NE", "31"},
	{"NV", "32"},
	{"NH", "33"},
	{"NJ", "34"},
	{"NM", "35"},
	{"NY", "36"},
	{"NC", "37"},
	{"ND", "38"},
	{"OH", "39"},
	{"OK", "40"},
	{"OR", "41"},
	{"PA", "42"},
	{"RI", "44"},
	{"SC", "45"},
	{"SD", "46"},
	{"TN", "47"},
	{"TX", "48"},
	{"UT", "49"},
	{"VT", "50"},
	{"VA", "51"},
	{"WA", "53"},
	{"WV", "54"},
	{"WI", "55"},
	{"WY", "56"},
	{"AS", "60"},
	{"FM", "64"},
	{"GU", "66"},
	{"MH", "68"},
	{"MP", "69"},
	{"PW", "70"},
	{"PR", "72"},
	{"VI", "78"},
}

// StateCodes returns the 59 USPS codes that IPEDS uses, ordered by FIPS code.
func StateCodes() []string {
	out := make([]string, len(stateCodes))
	for i, s := range stateCodes {
		out[i] = s.usps
	}
	return out
}

// FIPSOf returns the two-digit FIPS code of a USPS code, "" if it is none of the 59.
func FIPSOf(usps string) string {
	for _, s := range stateCodes {
		if s.usps == usps {
			return s.fips
		}
	}
	return ""
}

// StateOf returns the USPS code of a two-digit FIPS code, "" if it is none of the 59.
func StateOf(fips string) string {
	for _, s := range stateCodes {
		if s.fips == fips {
			return s.usps
		}
	}
	return ""
}

// federalFIPS tells the codes CCD uses for agencies of no state: overseas and domestic defense schools and Indian education.
func federalFIPS(fips string) bool {
	return fips == "58" || fips == "59" || fips == "61" || fips == "63"
}

// stateMemo answers the look-up of the row before again: files are sorted by state.
type stateMemo struct{ fipsCode, uspsCode string }

// usps is StateOf.
func (m *stateMemo) usps(fips string) string {
	if fips != m.fipsCode {
		m.fipsCode, m.uspsCode = fips, StateOf(fips)
	}
	return m.uspsCode
}
