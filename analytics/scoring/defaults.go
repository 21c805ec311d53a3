package scoring

// DefaultRules returns the rules every organization starts with.
func DefaultRules() []Rule { return append([]Rule(nil), defaultRules[:]...) }

// DefaultConfig returns the configuration every organization starts with: every model on, the default weights,
// segment multipliers and severity thresholds.
func DefaultConfig() Config {
	c := Config{
		Models:             map[Model]bool{},
		CategoryWeights:    map[Model]Weights{},
		Rules:              DefaultRules(),
		SegmentMultipliers: map[Segment]Weights{},
		PriorityFactors:    map[Segment]float64{Enterprise: 1.10, MidMarket: 1, SMB: 0.90},
		Severity:           DefaultSeverity(),
	}
	for m := range Model(NumModels) {
		c.Models[m] = true
		var w Weights
		for cat := range NumCategories {
			w[cat] = defaultWeights[cat][m]
		}
		c.CategoryWeights[m] = w
	}
	for _, s := range []Segment{Enterprise, MidMarket, SMB} {
		c.SegmentMultipliers[s] = Weights{1, 1, 1, 1, 1, 1, 1, 1}
	}
	ent, smb := c.SegmentMultipliers[Enterprise], c.SegmentMultipliers[SMB]
	ent[Relationship], ent[Commercial] = 1.2, 1.1
	smb[Adoption], smb[Relationship], smb[Support] = 1.2, 0.8, 1.1
	c.SegmentMultipliers[Enterprise], c.SegmentMultipliers[SMB] = ent, smb
	return c
}

// defaultWeights holds the category weights; each column sums to 100.
var defaultWeights = [NumCategories][NumModels]float64{
	//            health risk priority expansion
	Adoption:     {22, 20, 8, 18},
	Relationship: {14, 16, 10, 12},
	Engagement:   {12, 12, 12, 10},
	Support:      {10, 10, 4, 6},
	Commercial:   {16, 18, 22, 16},
	Outcomes:     {12, 10, 6, 12},
	Funding:      {8, 10, 20, 14},
	Fit:          {6, 4, 18, 12},
}

var defaultRules = [...]Rule{
	{ID: "H-AD1", Model: Health, Category: Adoption, Expr: "use_ratio", Score: "lin 0.1->0, 0.8->100", Threshold: "< 0.35", Weight: 10},
	{ID: "H-AD2", Model: Health, Category: Adoption, Expr: "use_trend", Score: "lin -0.4->0, 0.1->100", Threshold: "< -0.20", Weight: 8},
	{ID: "H-AD3", Model: Health, Category: Adoption, Expr: "products_live / products_owned", Score: "lin 0.3->0, 1->100", Threshold: "< 0.6", Weight: 5},
	{ID: "H-RE1", Model: Health, Category: Relationship, Expr: "champion_status", Score: "map active:100, none:30, left:0", Threshold: "!= active", Weight: 8},
	{ID: "H-RE2", Model: Health, Category: Relationship, Expr: "contacts_active_90d", Score: "lin 0->0, 5->100", Threshold: "< 2", Weight: 6},
	{ID: "H-RE3", Model: Health, Category: Relationship, Expr: "exec_contact_days", Score: "lin 240->0, 30->100", Threshold: "> 120", Weight: 5},
	{ID: "H-EN1", Model: Health, Category: Engagement, Expr: "last_activity_days", Score: "lin 90->0, 7->100", Threshold: "> 45", Weight: 7},
	{ID: "H-EN2", Model: Health, Category: Engagement, Expr: "reply_rate_90d", Score: "lin 0->0, 0.5->100", Threshold: "< 0.1", Weight: 4},
	{ID: "H-SU1", Model: Health, Category: Support, Expr: "p1_open", Score: "map 0:100, 1:40, 2+:0", Threshold: ">= 1", Weight: 6},
	{ID: "H-SU2", Model: Health, Category: Support, Expr: "csat_90d", Score: "lin 2.5->0, 4.7->100", Threshold: "< 3.5", Weight: 5},
	{ID: "H-CO1", Model: Health, Category: Commercial, Expr: "overdue_days", Score: "lin 90->0, 0->100", Threshold: "> 45", Weight: 5},
	{ID: "H-CO2", Model: Health, Category: Commercial, Expr: "arr_chg_12m", Score: "lin -0.3->0, 0.2->100", Threshold: "< -0.05", Weight: 6},
	{ID: "H-OU1", Model: Health, Category: Outcomes, Expr: "goals_met_pct", Score: "lin 0->0, 1->100", Threshold: "< 0.4", Weight: 6},
	{ID: "H-OU2", Model: Health, Category: Outcomes, Expr: "milestone_late_days", Score: "lin 60->0, 0->100", Threshold: "> 21", Weight: 5},
	{ID: "H-FU1", Model: Health, Category: Funding, Expr: "budget_chg", Score: "lin -0.1->0, 0.05->100", Threshold: "< -0.03", Weight: 5},
	{ID: "H-FI1", Model: Health, Category: Fit, Expr: "icp_fit", Score: "pass", Threshold: "< 40", Weight: 5},
	{ID: "R-AD1", Model: Risk, Category: Adoption, Expr: "use_trend", Score: "lin 0.05->0, -0.5->100", Threshold: "< -0.25", Weight: 10},
	{ID: "R-AD2", Model: Risk, Category: Adoption, Expr: "use_ratio", Score: "lin 0.7->0, 0.1->100", Threshold: "< 0.25", Weight: 9},
	{ID: "R-RE1", Model: Risk, Category: Relationship, Expr: "champion_status", Score: "map left:100, none:60, active:0", Threshold: "= left", Weight: 9},
	{ID: "R-RE2", Model: Risk, Category: Relationship, Expr: "stakeholder_left_180d", Score: "lin 0->0, 3->100", Threshold: ">= 1", Weight: 5},
	{ID: "R-RE3", Model: Risk, Category: Relationship, Expr: "contacts_active_90d", Score: "lin 4->0, 0->100", Threshold: "<= 1", Weight: 5},
	{ID: "R-EN1", Model: Risk, Category: Engagement, Expr: "last_activity_days", Score: "lin 14->0, 120->100", Threshold: "> 60", Weight: 7},
	{ID: "R-SU1", Model: Risk, Category: Support, Expr: "p1_open", Score: "map 0:0, 1:60, 2+:100", Threshold: ">= 1", Weight: 6},
	{ID: "R-SU2", Model: Risk, Category: Support, Expr: "ticket_rate_90d", Score: "lin 2->0, 15->100", Threshold: "> 8", Weight: 4},
	{ID: "R-CO1", Model: Risk, Category: Commercial, Expr: "days_to_renewal", Score: "lin 180->0, 15->100", Threshold: "<= 90", Weight: 6},
	{ID: "R-CO2", Model: Risk, Category: Commercial, Expr: "competitor_seen", Score: "bool 80, 0", Threshold: "true", Weight: 6},
	{ID: "R-CO3", Model: Risk, Category: Commercial, Expr: "price_increase_pct", Score: "lin 0.03->0, 0.2->100", Threshold: "> 0.08", Weight: 4},
	{ID: "R-CO4", Model: Risk, Category: Commercial, Expr: "overdue_days", Score: "lin 15->0, 120->100", Threshold: "> 60", Weight: 4},
	{ID: "R-OU1", Model: Risk, Category: Outcomes, Expr: "onboarding_pct", Score: "lin 1->0, 0.3->100", Threshold: "< 0.6 and account_age_days > 90", Weight: 5},
	{ID: "R-OU2", Model: Risk, Category: Outcomes, Expr: "value_reviews_12m", Score: "map 0:80, 1:40, 2+:0", Threshold: "= 0", Weight: 4},
	{ID: "R-FU1", Model: Risk, Category: Funding, Expr: "enrollment_cagr_3y", Score: "lin 0->0, -0.04->100", Threshold: "< -0.02", Weight: 4},
	{ID: "R-FU2", Model: Risk, Category: Funding, Expr: "esser_cliff", Score: "pass", Threshold: "> 60", Weight: 4},
	{ID: "R-FU3", Model: Risk, Category: Funding, Expr: "budget_chg", Score: "lin 0->0, -0.1->100", Threshold: "< -0.05", Weight: 5},
	{ID: "R-FI1", Model: Risk, Category: Fit, Expr: "leader_change_180d", Score: "bool 60, 0", Threshold: "true", Weight: 4},
	{ID: "P-AD1", Model: Priority, Category: Adoption, Expr: "abs(use_trend)", Score: "lin 0->0, 0.4->100", Threshold: "> 0.25", Weight: 4},
	{ID: "P-SU1", Model: Priority, Category: Support, Expr: "p1_open", Score: "map 0:0, 1:60, 2+:100", Threshold: ">= 1", Weight: 4},
	{ID: "P-CO1", Model: Priority, Category: Commercial, Expr: "log10(arr + expansion_arr_est + open_opp_arr)", Score: "lin 3.5->0, 6->100", Threshold: "> 5.3", Weight: 10},
	{ID: "P-CO2", Model: Priority, Category: Commercial, Expr: "days_to_renewal", Score: "lin 270->0, 30->100", Threshold: "<= 120", Weight: 7},
	{ID: "P-CO3", Model: Priority, Category: Commercial, Expr: "risk_composite * arr_percentile / 100", Score: "pass", Threshold: "> 50", Weight: 8},
	{ID: "P-FU1", Model: Priority, Category: Funding, Expr: "window_days", Score: "lin 180->0, 0->100", Threshold: "<= 60", Weight: 8},
	{ID: "P-FU2", Model: Priority, Category: Funding, Expr: "rfp_open", Score: "bool 100, 0", Threshold: "true", Weight: 7},
	{ID: "P-FU3", Model: Priority, Category: Funding, Expr: "title_i_state_percentile", Score: "pass", Threshold: "> 75", Weight: 3},
	{ID: "P-EN1", Model: Priority, Category: Engagement, Expr: "lead_heat", Score: "pass", Threshold: "> 60", Weight: 6},
	{ID: "P-FI1", Model: Priority, Category: Fit, Expr: "icp_fit", Score: "pass", Threshold: ">= 70", Weight: 8},
	{ID: "P-OU1", Model: Priority, Category: Outcomes, Expr: "prof_gap_flag", Score: "bool 70, 20", Threshold: "true", Weight: 4},
	{ID: "P-RE1", Model: Priority, Category: Relationship, Expr: "exec_contact_days", Score: "lin 60->0, 240->100", Threshold: "> 120", Weight: 4},
	{ID: "E-AD1", Model: Expansion, Category: Adoption, Expr: "use_ratio", Score: "lin 0.4->0, 0.9->100", Threshold: "> 0.75", Weight: 9},
	{ID: "E-AD2", Model: Expansion, Category: Adoption, Expr: "use_trend", Score: "lin -0.05->0, 0.25->100", Threshold: "> 0.10", Weight: 6},
	{ID: "E-RE1", Model: Expansion, Category: Relationship, Expr: "champion_status", Score: "map active:100, none:20, left:0", Threshold: "= active", Weight: 6},
	{ID: "E-EN1", Model: Expansion, Category: Engagement, Expr: "meetings_90d", Score: "lin 0->0, 4->100", Threshold: ">= 2", Weight: 5},
	{ID: "E-CO1", Model: Expansion, Category: Commercial, Expr: "whitespace_pct", Score: "lin 0.1->0, 0.7->100", Threshold: "> 0.4", Weight: 6},
	{ID: "E-CO2", Model: Expansion, Category: Commercial, Expr: "affinity_best_p", Score: "lin 0.1->0, 0.6->100", Threshold: "> 0.35", Weight: 9},
	{ID: "E-SU1", Model: Expansion, Category: Support, Expr: "csat_90d", Score: "lin 3->0, 4.7->100", Threshold: "> 4.2", Weight: 4},
	{ID: "E-OU1", Model: Expansion, Category: Outcomes, Expr: "goals_met_pct", Score: "lin 0.3->0, 0.9->100", Threshold: "> 0.7", Weight: 6},
	{ID: "E-FU1", Model: Expansion, Category: Funding, Expr: "bond_passed_12m or budget_chg > 0.03", Score: "bool 90, 30", Threshold: "true", Weight: 5},
	{ID: "E-FU2", Model: Expansion, Category: Funding, Expr: "coop_ok", Score: "bool 70, 30", Threshold: "true", Weight: 3},
	{ID: "E-FI1", Model: Expansion, Category: Fit, Expr: "sis_lms_match", Score: "bool 80, 40", Threshold: "true", Weight: 4},
}
