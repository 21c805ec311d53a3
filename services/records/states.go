package records

// stateByName pairs the names of states, DC, territories and freely associated states with their USPS codes.
var stateByName = map[string]string{
	"alabama": "AL", "alaska": "AK", "arizona": "AZ", "arkansas": "AR", "california": "CA", "colorado": "CO", "connecticut": "CT",
	"delaware": "DE", "district of columbia": "DC", "washington dc": "DC", "washington d c": "DC", "d c": "DC", "florida": "FL",
	"georgia": "GA", "hawaii": "HI", "idaho": "ID", "illinois": "IL", "indiana": "IN", "iowa": "IA", "kansas": "KS", "kentucky": "KY",
	"louisiana": "LA", "maine": "ME", "maryland": "MD", "massachusetts": "MA", "michigan": "MI", "minnesota": "MN", "mississippi": "MS",
	"missouri": "MO", "montana": "MT", "nebraska": "NE", "nevada": "NV", "new hampshire": "NH", "new jersey": "NJ", "new mexico": "NM",
	"new york": "NY", "north carolina": "NC", "north dakota": "ND", "ohio": "OH", "oklahoma": "OK", "oregon": "OR", "pennsylvania": "PA",
	"rhode island": "RI", "south carolina": "SC", "south dakota": "SD", "tennessee": "TN", "texas": "TX", "utah": "UT", "vermont": "VT",
	"virginia": "VA", "washington": "WA", "west virginia": "WV", "wisconsin": "WI", "wyoming": "WY",
	"american samoa": "AS", "federated states of micronesia": "FM", "micronesia": "FM", "guam": "GU", "marshall islands": "MH",
	"northern mariana islands": "MP", "commonwealth of the northern mariana islands": "MP", "palau": "PW", "puerto rico": "PR",
	"virgin islands": "VI", "u s virgin islands": "VI", "us virgin islands": "VI",
}

// isState holds the codes of stateByName.
var isState = func() map[string]bool {
	out := map[string]bool{}
	for _, code := range stateByName {
		out[code] = true
	}
	return out
}()
