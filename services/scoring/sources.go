package scoring

import (
	"slices"
	"strings"

	"revarch/models"
)

// featureFields names the canonical fields each feature is derived from, as record and field.
var featureFields = map[string][]string{
	"arr":                   {"account.arr_cents"},
	"seats":                 {"account.seats"},
	"active_28d":            {"account.active_28d"},
	"use_ratio":             {"account.active_28d", "account.seats"},
	"use_trend":             {"account.active_28d", "account.active_prior_28d"},
	"products_owned":        {"account.products_owned"},
	"products_live":         {"account.products_live"},
	"contacts_n":            {"contact.email", "contact.phone"},
	"exec_contact_days":     {"activity.on_date", "contact.title"},
	"champion_status":       {"contact.champion", "contact.left_on"},
	"contacts_active_90d":   {"activity.contact_external_id", "activity.on_date"},
	"stakeholder_left_180d": {"contact.left_on"},
	"last_activity_days":    {"activity.on_date"},
	"meetings_90d":          {"activity.type", "activity.on_date"},
	"tickets_open":          {"account.tickets_open"},
	"p1_open":               {"account.p1_open"},
	"ticket_rate_90d":       {"account.tickets_90d", "account.active_28d"},
	"csat_90d":              {"account.csat_90d"},
	"days_to_renewal":       {"account.renewal_date"},
	"overdue_days":          {"account.overdue_days"},
	"competitor_seen":       {"account.competitor"},
	"onboarding_pct":        {"account.onboarding_pct"},
	"goals_met_pct":         {"account.goals_met_pct"},
}

// Provenance says, per canonical field such as account.seats, which provider fields fill it.
type Provenance map[string][]models.FieldSource

// Add notes the sources of a mapping's fields for a record.
func (p Provenance) Add(record models.RecordType, m models.MappingVersion) {
	for target, field := range m.Entries {
		key, src := string(record)+"."+target, models.FieldSource{Provider: m.Provider, Object: m.Object, Field: field}
		if !slices.Contains(p[key], src) {
			p[key] = append(p[key], src)
		}
	}
}

// of returns the sources behind features, each once.
func (p Provenance) of(features []string) []models.FieldSource {
	out := []models.FieldSource{}
	for _, f := range features {
		for _, field := range featureFields[f] {
			for _, src := range p[field] {
				if !slices.Contains(out, src) {
					out = append(out, src)
				}
			}
		}
	}
	return out
}

// words names sources for people, such as "Salesforce Account.Seats__c"; nil for none.
func words(sources []models.FieldSource) *string {
	if len(sources) == 0 {
		return nil
	}
	parts := make([]string, len(sources))
	for i, s := range sources {
		name := string(s.Provider)
		if info, ok := s.Provider.Info(); ok {
			name = info.DisplayName
		}
		parts[i] = name + " " + s.Object + "." + s.Field
	}
	text := strings.Join(parts, ", ")
	return &text
}
