package scoring

// Feature names one input of the rules.
type Feature uint8

// The features. Counts are whole numbers, ratios fractions of one, money whole currency units, percents 0 to 100.
const (
	ARR Feature = iota
	ARRChange12m
	Seats
	Active28d
	UseRatio
	UseTrend
	ProductsOwned
	ProductsLive
	Contacts
	ExecContactDays
	ChampionStatus
	ContactsActive90d
	StakeholderLeft180d
	LastActivityDays
	Meetings90d
	ReplyRate90d
	EmailOpenRate90d
	TicketsOpen
	P1Open
	TicketRate90d
	CSAT90d
	NPS
	DaysToRenewal
	OverdueDays
	DiscountPct
	PriceIncreasePct
	CompetitorSeen
	ContractYears
	AutoRenew
	OnboardingPct
	MilestoneLateDays
	ValueReviews12m
	GoalsMetPct
	EnrollmentCAGR3y
	BudgetChange
	TitleIPerPupil
	ESSERCliff
	WindowDays
	RFPOpen
	CoopOK
	BondPassed12m
	LeaderChange180d
	ICPFit
	ICPTier
	SISLMSMatch
	OpenOppARR
	ExpansionARREst
	WhitespacePct
	AffinityBestP
	ProfGapFlag
	LeadHeat
	TerritoryCapacityPct
	AccountAgeDays
	ARRPercentile
	TitleIPercentile
	RiskComposite
	NumFeatures = int(RiskComposite) + 1
)

// Kind is the type of a feature or of an expression.
type Kind uint8

// The kinds. Booleans are stored as 0 and 1, enumerators as their position in Labels.
const (
	Number Kind = iota
	Bool
	Enum
)

var kindNames = [...]string{"number", "bool", "enum"}

// String returns number, bool or enum.
func (k Kind) String() string { return nameAt(kindNames[:], int(k)) }

// FeatureInfo describes a feature for catalogues and forms.
type FeatureInfo struct {
	Name   string
	Kind   Kind
	Labels []string // of an Enum: the enumerators
	Doc    string
}

var featureTable = [NumFeatures]FeatureInfo{
	ARR:                  {Name: "arr", Doc: "annual recurring revenue in force, whole currency units"},
	ARRChange12m:         {Name: "arr_chg_12m", Doc: "ARR against twelve months ago, ratio minus 1"},
	Seats:                {Name: "seats", Doc: "licensed seats"},
	Active28d:            {Name: "active_28d", Doc: "users active in the last 28 days"},
	UseRatio:             {Name: "use_ratio", Doc: "active users per licensed seat"},
	UseTrend:             {Name: "use_trend", Doc: "last 28 days of use against the 28 before, ratio minus 1"},
	ProductsOwned:        {Name: "products_owned", Doc: "products bought"},
	ProductsLive:         {Name: "products_live", Doc: "products in use"},
	Contacts:             {Name: "contacts_n", Doc: "known contacts"},
	ExecContactDays:      {Name: "exec_contact_days", Doc: "days since contact with an executive"},
	ChampionStatus:       {Name: "champion_status", Kind: Enum, Labels: []string{"none", "active", "left"}, Doc: "state of the champion"},
	ContactsActive90d:    {Name: "contacts_active_90d", Doc: "contacts with two-way activity in 90 days"},
	StakeholderLeft180d:  {Name: "stakeholder_left_180d", Doc: "stakeholders who left in 180 days"},
	LastActivityDays:     {Name: "last_activity_days", Doc: "days since the last activity; null without a connected activity source"},
	Meetings90d:          {Name: "meetings_90d", Doc: "meetings in 90 days"},
	ReplyRate90d:         {Name: "reply_rate_90d", Doc: "share of messages answered in 90 days"},
	EmailOpenRate90d:     {Name: "email_open_rate_90d", Doc: "share of messages opened in 90 days"},
	TicketsOpen:          {Name: "tickets_open", Doc: "open tickets"},
	P1Open:               {Name: "p1_open", Doc: "open tickets of the highest severity"},
	TicketRate90d:        {Name: "ticket_rate_90d", Doc: "tickets per 100 active users in 90 days"},
	CSAT90d:              {Name: "csat_90d", Doc: "mean satisfaction in 90 days, 1 to 5"},
	NPS:                  {Name: "nps", Doc: "net promoter score, -100 to 100"},
	DaysToRenewal:        {Name: "days_to_renewal", Doc: "days to the next renewal, negative when past due"},
	OverdueDays:          {Name: "overdue_days", Doc: "days the oldest open invoice is overdue, 0 when none"},
	DiscountPct:          {Name: "discount_pct", Doc: "discount from list, fraction"},
	PriceIncreasePct:     {Name: "price_increase_pct", Doc: "planned price increase, fraction"},
	CompetitorSeen:       {Name: "competitor_seen", Kind: Bool, Doc: "a competitor was seen at the account"},
	ContractYears:        {Name: "contract_years", Doc: "length of the contract in years"},
	AutoRenew:            {Name: "auto_renew", Kind: Bool, Doc: "the contract renews by itself"},
	OnboardingPct:        {Name: "onboarding_pct", Doc: "share of onboarding done"},
	MilestoneLateDays:    {Name: "milestone_late_days", Doc: "days the latest milestone is late, 0 when on time"},
	ValueReviews12m:      {Name: "value_reviews_12m", Doc: "value reviews held in twelve months"},
	GoalsMetPct:          {Name: "goals_met_pct", Doc: "share of agreed goals met"},
	EnrollmentCAGR3y:     {Name: "enrollment_cagr_3y", Doc: "yearly growth of enrollment over three years, fraction"},
	BudgetChange:         {Name: "budget_chg", Doc: "budget against the year before, ratio minus 1"},
	TitleIPerPupil:       {Name: "title_i_per_pupil", Doc: "Title I dollars per pupil"},
	ESSERCliff:           {Name: "esser_cliff", Doc: "dependence on expired relief money, 0 to 100"},
	WindowDays:           {Name: "window_days", Doc: "days to the next buying window, 0 when open"},
	RFPOpen:              {Name: "rfp_open", Kind: Bool, Doc: "a request for proposals is open"},
	CoopOK:               {Name: "coop_ok", Kind: Bool, Doc: "a purchasing cooperative can be used"},
	BondPassed12m:        {Name: "bond_passed_12m", Kind: Bool, Doc: "a bond passed in twelve months"},
	LeaderChange180d:     {Name: "leader_change_180d", Kind: Bool, Doc: "leadership changed in 180 days"},
	ICPFit:               {Name: "icp_fit", Doc: "fit with the ideal customer profile, 0 to 100"},
	ICPTier:              {Name: "icp_tier", Kind: Enum, Labels: []string{"A", "B", "C", "D", "X"}, Doc: "tier of the ideal customer profile"},
	SISLMSMatch:          {Name: "sis_lms_match", Kind: Bool, Doc: "student and learning systems match our integrations"},
	OpenOppARR:           {Name: "open_opp_arr", Doc: "ARR of open opportunities, 0 when there are none"},
	ExpansionARREst:      {Name: "expansion_arr_est", Doc: "estimated ARR of expansion"},
	WhitespacePct:        {Name: "whitespace_pct", Doc: "share of fitting products not owned"},
	AffinityBestP:        {Name: "affinity_best_p", Doc: "best probability of buying a further product"},
	ProfGapFlag:          {Name: "prof_gap_flag", Kind: Bool, Doc: "a proficiency gap our products address"},
	LeadHeat:             {Name: "lead_heat", Doc: "heat of the account's leads, 0 to 100"},
	TerritoryCapacityPct: {Name: "territory_capacity_pct", Doc: "free capacity of the territory, fraction"},
	AccountAgeDays:       {Name: "account_age_days", Doc: "days since the account became a customer"},
	ARRPercentile:        {Name: "arr_percentile", Doc: "percentile of the account's ARR in the organization, 0 to 100"},
	TitleIPercentile:     {Name: "title_i_state_percentile", Doc: "percentile of Title I per pupil in the state, 0 to 100"},
	RiskComposite:        {Name: "risk_composite", Doc: "the account's risk score; set by the engine, not by callers"},
}

var featureByName = func() map[string]Feature {
	m := make(map[string]Feature, NumFeatures)
	for i, info := range featureTable {
		m[info.Name] = Feature(i)
	}
	return m
}()

// FeatureByName returns the feature with a wire name, false if there is none.
func FeatureByName(name string) (Feature, bool) {
	f, ok := featureByName[name]
	return f, ok
}

// FeatureCatalogue returns the description of every feature, indexed by Feature.
func FeatureCatalogue() []FeatureInfo { return append([]FeatureInfo(nil), featureTable[:]...) }

// String returns the feature's wire name.
func (f Feature) String() string {
	if int(f) < NumFeatures {
		return featureTable[f].Name
	}
	return "unknown"
}

// Info returns the feature's description.
func (f Feature) Info() FeatureInfo {
	if int(f) < NumFeatures {
		return featureTable[f]
	}
	return FeatureInfo{Name: "unknown"}
}
