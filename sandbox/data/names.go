package data

var (
	placeHeads = []string{
		"Cedar", "Maple", "North", "Silver", "Stone", "Oak", "Willow", "Clear", "Granite", "Harbor", "Prairie", "Elk",
		"Fox", "Eagle", "Red", "Blue", "Green", "Spring", "Summit", "Glen", "Fair", "Bright", "Lake", "River", "Pine", "Ash", "Birch",
		"Copper", "Iron", "Golden", "West", "East", "South", "Mill", "Amber", "Briar", "Clover", "Deer", "Ever", "Falcon", "Hazel", "Juniper",
	}
	placeTails = []string{
		"brook", "field", "ridge", "view", "dale", "ford", "wood", "haven", "port", "crest", "mont", "bury", "ton", "vale",
		"side", "gate", "water", "hollow", "bend", "point", "grove", "land", "stead", "shore",
	}
	firstNames = []string{
		"Maria", "James", "Aisha", "David", "Linda", "Carlos", "Priya", "Robert", "Keisha", "Wei", "Susan", "Miguel", "Hannah",
		"Thomas", "Fatima", "Daniel", "Grace", "Andre", "Emily", "Jamal", "Nicole", "Hiroshi", "Olivia", "Samuel", "Teresa", "Victor", "Angela",
		"Marcus", "Julia", "Ahmed", "Denise", "Patrick", "Rosa", "Kevin", "Mei", "Brian", "Latoya", "Eric", "Sofia", "Walter",
	}
	lastNames = []string{
		"Garcia", "Johnson", "Patel", "Nguyen", "Smith", "Brown", "Martinez", "Lee", "Williams", "Davis", "Okafor", "Kim",
		"Anderson", "Lopez", "Wilson", "Thomas", "Hernandez", "Moore", "Jackson", "Chen", "White", "Harris", "Clark", "Lewis", "Robinson",
		"Walker", "Young", "Torres", "Hill", "Flores", "Adams", "Nelson", "Baker", "Rivera", "Campbell", "Mitchell", "Carter", "Roberts",
		"O'Brien", "Núñez", "Schmidt", "Kowalski",
	}
	k12Titles = []string{
		"Superintendent", "Assistant Superintendent of Curriculum", "Chief Technology Officer", "Director of Assessment",
		"Director of Special Education", "Curriculum Coordinator", "Principal", "Business Manager", "Director of Student Services",
		"Instructional Technology Coach", "Federal Programs Director", "Data Analyst",
	}
	higherTitles = []string{
		"Provost", "Chief Information Officer", "Vice President of Student Affairs", "Director of Institutional Research",
		"Dean of Academic Affairs", "Registrar", "Director of Online Learning", "Associate Provost", "Director of Procurement",
		"Instructional Designer", "Director of Advising", "Chief Business Officer",
	}
	competitors = []string{"Edunova", "LearnBridge", "Scholaris", "ClassWorks Cloud", "TutorGrid", "Campus One"}
	emailTopics = []string{"Renewal timeline", "Usage report", "Training dates", "Quote follow-up", "Rostering question", "Board presentation", "Pilot results"}
	callTopics  = []string{"Quarterly value review", "Check-in call", "Implementation call", "Discovery call", "Support escalation", "Budget planning"}
	todoTopics  = []string{"Send proposal", "Update success plan", "Prepare onboarding plan", "Schedule site visit", "Confirm purchase order", "Share case study"}
)

// State is a state with what its districts look like.
type State struct {
	Code, FIPS, Territory, District string // District is the usual ending of a district's name
}

var states = []State{
	{"AL", "01", "Southeast", "City Schools"},
	{"AZ", "04", "West", "Unified School District"},
	{"AR", "05", "Central", "School District"},
	{"CA", "06", "West", "Unified School District"},
	{"CO", "08", "West", "School District"},
	{"CT", "09", "Northeast", "Public Schools"},
	{"FL", "12", "Southeast", "County Schools"},
	{"GA", "13", "Southeast", "County Schools"},
	{"IL", "17", "Midwest", "Community Unit School District"},
	{"IN", "18", "Midwest", "Community School Corporation"},
	{"IA", "19", "Midwest", "Community School District"},
	{"KS", "20", "Central", "Unified School District"},
	{"KY", "21", "Southeast", "County Schools"},
	{"LA", "22", "Central", "Parish Schools"},
	{"MD", "24", "Northeast", "County Public Schools"},
	{"MA", "25", "Northeast", "Public Schools"},
	{"MI", "26", "Midwest", "Community Schools"},
	{"MN", "27", "Midwest", "Public School District"},
	{"MS", "28", "Southeast", "School District"},
	{"MO", "29", "Central", "School District"},
	{"NE", "31", "Central", "Public Schools"},
	{"NV", "32", "West", "County School District"},
	{"NJ", "34", "Northeast", "School District"},
	{"NM", "35", "West", "Municipal Schools"},
	{"NY", "36", "Northeast", "Central School District"},
	{"NC", "37", "Southeast", "County Schools"},
	{"OH", "39", "Midwest", "Local School District"},
	{"OK", "40", "Central", "Public Schools"},
	{"OR", "41", "West", "School District"},
	{"PA", "42", "Northeast", "Area School District"},
	{"SC", "45", "Southeast", "School District"},
	{"TN", "47", "Southeast", "County Schools"},
	{"TX", "48", "Central", "Independent School District"},
	{"UT", "49", "West", "School District"},
	{"VA", "51", "Southeast", "County Public Schools"},
	{"WA", "53", "West", "School District"},
	{"WI", "55", "Midwest", "School District"},
}

// States lists the codes of the states that accounts are in.
func States() []string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = s.Code
	}
	return out
}

func territoryOf(state string) string {
	for _, s := range states {
		if s.Code == state {
			return s.Territory
		}
	}
	return "National"
}

var higherPatterns = []string{"%s State University", "University of %s", "%s Community College", "%s College", "%s Technical College", "%s University"}
