// Package records turns provider records into canonical ones: it keeps each payload as it came, maps it into accounts,
// contacts, opportunities, activities, products and what accounts bought by the organization's field mapping, and writes links, feature facts, failures
// and the cursor of the page in the same transaction. What belongs here: compiling and checking mappings, conversions of
// values, what counts as changed, deletions, merges and remapping. How rows reach PostgreSQL is in store.
//
// Facts are written for the columns of accounts alone (store.FactFeatures). What scores derive from contacts,
// opportunities and activities is aggregated from the canonical tables when scores are computed: contacts_n,
// exec_contact_days, champion_status, stakeholder_left_180d, contacts_active_90d, last_activity_days, meetings_90d,
// open_opp_arr. Ratios over facts (use_ratio, use_trend, days_to_renewal, ticket_rate_90d) are computed from the facts.
package records
