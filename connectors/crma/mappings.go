package crma

import (
	"slices"
	"strings"

	"revarch/connectors"
	"revarch/models"
)

// sources names, per object and canonical field, the provider's fields that carry it; the first that the org has wins.
var sources = map[string]map[string][]string{
	"Account": {
		"name": {"Name"}, "domain": {"Website"}, "city": {"BillingCity"}, "state": {"BillingState", "BillingStateCode"},
		"status": {"Type"}, "segment": {"Segment__c"}, "territory": {"Territory__c"}, "buyer_type": {"Buyer_Type__c"},
		"nces_id": {"NCES_ID__c"}, "unitid": {"UNITID__c"}, "enrollment": {"Enrollment__c"},
		"owner_external_id": {"OwnerId"}, "parent_external_id": {"ParentId"}, "source_created_at": {"CreatedDate"},
		"arr_cents": {"ARR__c"}, "renewal_date": {"Renewal_Date__c"}, "seats": {"Seats__c"},
		"active_28d": {"Active_Users_28d__c"}, "active_prior_28d": {"Active_Users_Prior_28d__c"},
		"products_owned": {"Products_Owned__c"}, "products_live": {"Products_Live__c"},
		"tickets_open": {"Open_Tickets__c"}, "p1_open": {"Open_P1__c"}, "tickets_90d": {"Tickets_90d__c"},
		"csat_90d": {"CSAT_90d__c"}, "overdue_days": {"Overdue_Days__c"},
		"onboarding_pct": {"Onboarding_Pct__c"}, "goals_met_pct": {"Goals_Met_Pct__c"}, "competitor": {"Competitor__c"},
		"expansion_opt_out": {"Expansion_Opt_Out__c"},
	},
	"Contact": {
		"account_external_id": {"AccountId"}, "first_name": {"FirstName"}, "last_name": {"LastName"}, "name": {"Name"},
		"email": {"Email"}, "phone": {"Phone", "MobilePhone"}, "title": {"Title"}, "owner_external_id": {"OwnerId"},
		"champion": {"Champion__c"}, "left_on": {"Left_Date__c"},
	},
	"Opportunity": {
		"account_external_id": {"AccountId"}, "name": {"Name"}, "stage": {"StageName"}, "amount_cents": {"Amount"},
		"close_date": {"CloseDate"}, "is_closed": {"IsClosed"}, "is_won": {"IsWon"}, "type": {"Type"},
		"forecast_category": {"ForecastCategoryName", "ForecastCategory"}, "probability": {"Probability"},
		"owner_external_id": {"OwnerId"}, "stage_changed_at": {"LastStageChangeDate"}, "created_on": {"CreatedDate"},
	},
	"Task": {
		"account_external_id": {"AccountId", "WhatId"}, "contact_external_id": {"WhoId"}, "owner_external_id": {"OwnerId"},
		"type": {"TaskSubtype", "Type"}, "subject": {"Subject"}, "status": {"Status"},
		"on_date": {"ActivityDate"}, "completed_at": {"CompletedDateTime"},
	},
	"Product2": {
		"name": {"Name"}, "sku": {"ProductCode", "StockKeepingUnit"}, "active": {"IsActive"},
		"offered_to": {"Offered_To__c"}, "offered_in": {"Offered_In__c"},
		"list_price_cents": {}, // prices stand in price books, unless the org has a field of its own
	},
	"PricebookEntry": {"product_external_id": {"Product2Id"}, "price_cents": {"UnitPrice"}, "active": {"IsActive"}},
	"OpportunityLineItem": {
		"opportunity_external_id": {"OpportunityId"}, "product_external_id": {"Product2Id"}, "quantity": {"Quantity"},
		"total_cents": {"TotalPrice"}, "on_date": {"ServiceDate"},
	},
	"Asset": {
		"account_external_id": {"AccountId"}, "product_external_id": {"Product2Id"}, "name": {"Name"}, "arr_cents": {"Price"},
		"quantity": {"Quantity"}, "start_date": {"InstallDate", "PurchaseDate"}, "end_date": {"UsageEndDate"}, "status": {"Status"},
	},
	"User": {"name": {"Name"}, "email": {"Email"}, "active": {"IsActive"}},
}

// synonyms are other names that orgs give to the fields we look for, in normalized form. The name and the label of the
// canonical field are always looked for.
var synonyms = map[string][]string{
	"domain":            {"emaildomain", "webdomain", "websitedomain"},
	"segment":           {"customersegment", "accountsegment", "marketsegment"},
	"territory":         {"salesterritory", "region"},
	"buyer_type":        {"institutiontype", "institutionlevel", "sector"},
	"nces_id":           {"nces", "leaid", "ncesdistrictid", "ncesleaid"},
	"unitid":            {"ipeds", "ipedsid", "ipedsunitid"},
	"enrollment":        {"studentenrollment", "totalenrollment", "studentcount", "students", "fte"},
	"arr_cents":         {"arr", "annualrecurringrevenue", "currentarr", "totalarr"},
	"renewal_date":      {"contractrenewaldate", "nextrenewaldate", "nextrenewal", "contractenddate"},
	"seats":             {"licensedseats", "licenses", "licensecount", "seatcount", "purchasedseats"},
	"active_28d":        {"activeusers28d", "activeusers", "monthlyactiveusers", "mau"},
	"active_prior_28d":  {"activeusersprior28d", "activeusersprior", "prioractiveusers"},
	"products_owned":    {"productspurchased", "numberofproducts", "productcount"},
	"products_live":     {"productsactive", "liveproducts", "activeproducts"},
	"tickets_open":      {"opentickets", "opencases", "opensupporttickets"},
	"p1_open":           {"openp1", "openp1tickets", "openp1s", "criticaltickets"},
	"tickets_90d":       {"ticketslast90days", "supporttickets90d", "cases90d"},
	"csat_90d":          {"csat", "csatscore", "customersatisfaction"},
	"overdue_days":      {"daysoverdue", "dayspastdue", "invoicedaysoverdue"},
	"onboarding_pct":    {"onboardingprogress", "onboardingcomplete", "implementationprogress"},
	"goals_met_pct":     {"goalsmet", "goalsachieved", "outcomesmet"},
	"competitor":        {"primarycompetitor", "incumbent", "incumbentvendor"},
	"expansion_opt_out": {"expansionoptout", "optedoutofexpansion", "noupsell", "donotupsell"},
	"offered_to":        {"sectors", "soldto", "buyertypes", "institutiontypes"},
	"offered_in":        {"states", "soldin", "availablestates"},
	"champion":          {"ischampion", "executivechampion"},
	"left_on":           {"leftdate", "departuredate", "dateleft"},
}

// DefaultMappings suggests the known fields that the org has, then its own fields whose name or label says what they
// are. Canonical fields without a source stay unmapped; no field is used that the schema does not hold.
func (p *Provider) DefaultMappings(schema connectors.Schema) []models.FieldMapping {
	out := []models.FieldMapping{}
	for _, spec := range objects {
		i := slices.IndexFunc(schema.Objects, func(o connectors.Object) bool { return o.Name == spec.Name })
		if i < 0 {
			continue
		}
		fields, used := schema.Objects[i].Fields, map[string]bool{}
		add := func(t models.TargetField, f connectors.Field) {
			used[f.Name] = true
			out = append(out, models.FieldMapping{
				Object: spec.Name, SourceField: f.Name, TargetField: t.Name,
				Required: t.Required, SourceType: string(f.Type),
			})
		}
		var open []models.TargetField
		for _, t := range models.TargetFields {
			if t.Record != spec.Record {
				continue
			}
			if f, ok := known(fields, sources[spec.Name][t.Name]); ok {
				add(t, f)
			} else {
				open = append(open, t)
			}
		}
		for _, t := range open {
			if f, ok := guess(fields, t, used); ok {
				add(t, f)
			}
		}
	}
	return out
}

func known(fields []connectors.Field, names []string) (connectors.Field, bool) {
	for _, name := range names {
		if i := slices.IndexFunc(fields, func(f connectors.Field) bool { return f.Name == name }); i >= 0 {
			return fields[i], true
		}
	}
	return connectors.Field{}, false
}

// guess finds the org's own field for a canonical one by its normalized name or label, where the types agree.
func guess(fields []connectors.Field, t models.TargetField, used map[string]bool) (connectors.Field, bool) {
	names := append([]string{normalize(t.Name), normalize(t.Label)}, synonyms[t.Name]...)
	for _, want := range names {
		for _, f := range fields {
			if f.Custom && !used[f.Name] && fits(f.Type, t.Kind) &&
				(normalize(strings.TrimSuffix(f.Name, "__c")) == want || normalize(f.Label) == want) {
				return f, true
			}
		}
	}
	return connectors.Field{}, false
}

// normalize keeps lower-case letters and digits.
func normalize(s string) string {
	return strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// fits reports whether values of a source type make sense in a canonical field.
func fits(t connectors.FieldType, kind models.FieldKind) bool {
	switch kind {
	case models.KindInteger, models.KindDecimal, models.KindPercent:
		return t == connectors.TypeNumber
	case models.KindMoney:
		return t == connectors.TypeCurrency || t == connectors.TypeNumber
	case models.KindBool:
		return t == connectors.TypeBoolean
	case models.KindDate, models.KindInstant:
		return t == connectors.TypeDate || t == connectors.TypeDatetime
	case models.KindLink:
		return t == connectors.TypeReference
	default:
		return t != connectors.TypeBoolean && t != connectors.TypeReference && t != connectors.TypeDate && t != connectors.TypeDatetime
	}
}
