package records_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/models"
	"revarch/services/records"
)

var selling = []connectors.ObjectSpec{
	{Name: "Account", Record: models.RecordAccount},
	{Name: "Opportunity", Record: models.RecordOpportunity},
	{Name: "Product2", Record: models.RecordProduct},
	{Name: "PricebookEntry", Record: models.RecordProductPrice},
	{Name: "OpportunityLineItem", Record: models.RecordOrderLine},
	{Name: "Asset", Record: models.RecordAccountProduct},
}

// sold stores a page of an object of selling.
func (s *system) sold(object string, recs ...connectors.Record) records.Result {
	s.tb.Helper()
	mapping := entries("Account", "name", "Name", "arr_cents", "ARR__c")
	mapping = append(mapping, entries("Opportunity", "name", "Name", "stage", "Stage", "is_won", "Won", "account_external_id", "Account")...)
	mapping = append(mapping, entries("Product2", "name", "Name", "sku", "Code", "active", "Active")...)
	mapping = append(mapping, entries("PricebookEntry", "product_external_id", "Product", "price_cents", "Price", "active", "Active")...)
	mapping = append(mapping, entries("OpportunityLineItem", "opportunity_external_id", "Deal", "product_external_id", "Product", "on_date", "On")...)
	mapping = append(mapping, entries("Asset", "account_external_id", "Account", "product_external_id", "Product", "arr_cents", "Price", "quantity", "Quantity",
		"start_date", "Start", "end_date", "End", "status", "Status")...)
	m, err := records.Compile(selling, object, mapping)
	require.NoError(s.tb, err)
	in := records.StorePageInput{OrgID: s.org, RunID: s.run, Provider: models.CRMA, Mapping: m, Page: connectors.Page{Object: object, Records: recs, Next: "next", Total: -1}}
	out, err := s.svc.StorePage(s.tb.Context(), in)
	require.NoError(s.tb, err)
	return out
}

func (s *system) resolve() (resolved, orphans int64) {
	s.tb.Helper()
	resolved, orphans, err := s.svc.ResolveLinks(s.tb.Context(), s.org, models.CRMA)
	require.NoError(s.tb, err)
	return resolved, orphans
}

func asset(id string, n int, account, product, start, status string, price float64) connectors.Record {
	return live(id, n, fmt.Sprintf(`{"Account":%q,"Product":%q,"Price":%v,"Quantity":10,"Start":%q,"End":"2027-01-31","Status":%q}`, account, product, price, start, status))
}

func (s *system) revenue() []string {
	s.tb.Helper()
	return s.lines(`SELECT l.external_id, a.external_id, l.arr_cents, l.ended, COALESCE(to_char(l.end_date, 'YYYY-MM-DD'), '-') FROM subscription_lines l
		JOIN accounts a ON a.org_id = l.org_id AND a.id = l.account_id WHERE l.org_id = $1 AND l.source = 'product' ORDER BY 1`, s.org)
}

func TestAssetsBecomeRevenueLines(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.sold("Asset", asset("S1", 1, "A1", "P1", "2026-01-01", "Installed", 100.5), asset("S2", 1, "A1", "P2", "2026-01-01", "Obsolete", 7),
		asset("S3", 1, "A9", "P1", "2026-01-01", "Installed", 1), live("S4", 1, `{"Account":"A1","Product":"P1"}`))
	require.Empty(t, s.revenue(), "neither account nor product is known")
	s.sold("Account", live("A1", 1, account("Maple", "")), live("A2", 1, account("Oak", "")))
	s.sold("Product2", live("P1", 1, `{"Name":"Reading","Code":"R"}`), live("P2", 1, `{"Name":"Math","Active":false}`))
	resolved, orphans := s.resolve()
	require.EqualValues(t, 3+4, resolved, "accounts and products")
	require.EqualValues(t, 1, orphans)
	require.Equal(t, []string{"S1 A1 10050 false 2027-01-31", "S2 A1 700 true 2026-04-30"}, s.revenue(), "what is over has ended by the day before it was learned")

	s.sold("Asset", asset("S1", 2, "A2", "P1", "2026-01-01", "Installed", 200), asset("S2", 2, "A1", "P2", "2026-01-01", "Shipped", 7))
	require.Equal(t, []string{"S1 A2 20000 false 2027-01-31", "S2 A1 700 false 2027-01-31"}, s.revenue(), "a page keeps its own lines in step")
	s.sold("Asset", live("S2", 3, `{"Account":"A1","Product":"P2"}`))
	require.Equal(t, []string{"S1 A2 20000 false 2027-01-31"}, s.revenue(), "no price, no line")

	loser := gone("A2", 4)
	loser.MergedInto = "A1"
	s.sold("Account", loser)
	s.resolve()
	require.Equal(t, []string{"S1 A1 20000 false 2027-01-31"}, s.revenue(), "a merged account takes its lines along")
	s.sold("Asset", gone("S1", 5))
	require.Empty(t, s.revenue())
	s.sold("Asset", asset("S1", 6, "A1", "P1", "2026-01-01", "Installed", 5))
	require.Equal(t, []string{"S1 A1 500 false 2027-01-31"}, s.revenue())

	before := s.lines("SELECT id, updated_at FROM subscription_lines WHERE org_id = $1", s.org)
	*s.clock = s.clock.Add(time.Hour)
	s.resolve()
	require.Equal(t, before, s.lines("SELECT id, updated_at FROM subscription_lines WHERE org_id = $1", s.org), "nothing is written when nothing changed")
}

func TestPricesAndBundles(t *testing.T) {
	t.Parallel()
	s := setup(t)
	price := func(id string, n int, product string, price float64, active bool) connectors.Record {
		return live(id, n, fmt.Sprintf(`{"Product":%q,"Price":%v,"Active":%t}`, product, price, active))
	}
	s.sold("Account", live("A1", 1, account("Maple", "")), live("A2", 1, account("Oak", "")))
	s.sold("PricebookEntry", price("E1", 1, "P1", 10, true), price("E2", 1, "P1", 12.5, true), price("E3", 1, "P1", 99, false), price("E4", 1, "P2", 3, false))
	s.sold("Product2", live("P1", 1, `{"Name":"Reading"}`), live("P2", 1, `{"Name":"Math"}`), live("P3", 1, `{"Name":"Music"}`))
	prices := func() []string {
		return s.lines("SELECT name, list_price_cents, active FROM products WHERE org_id = $1 ORDER BY external_id", s.org)
	}
	s.resolve()
	require.Equal(t, []string{"Reading 1250 true", "Math 300 true", "Music <nil> true"}, prices(), "the highest in use, else the highest")
	s.sold("Product2", live("P1", 2, `{"Name":"Reading 2","Active":false}`))
	require.Equal(t, "Reading 2 1250 false", prices()[0], "a product that comes again keeps its price")
	s.sold("PricebookEntry", gone("E2", 3))
	s.resolve()
	require.Equal(t, "Reading 2 1000 false", prices()[0])

	s.sold("Opportunity", live("O1", 1, `{"Name":"Won","Stage":"Closed","Won":true,"Account":"A1"}`), live("O2", 1, `{"Name":"Open","Stage":"Open","Account":"A2"}`))
	line := func(id, deal, product string) connectors.Record {
		return live(id, 1, fmt.Sprintf(`{"Deal":%q,"Product":%q,"On":"2026-01-01"}`, deal, product))
	}
	s.sold("OpportunityLineItem", line("L1", "O1", "P1"), line("L2", "O1", "P2"), line("L3", "O2", "P1"))
	s.sold("Asset", asset("S1", 1, "A1", "P1", "2026-01-01", "Installed", 1), asset("S2", 1, "A1", "P2", "2026-01-01", "Installed", 1),
		asset("S3", 1, "A1", "P3", "2026-01-01", "Installed", 1), asset("S4", 1, "A1", "P3", "2026-02-01", "Installed", 1),
		asset("S5", 1, "A2", "P1", "2026-03-01", "Installed", 1), asset("S6", 1, "A2", "P2", "2026-03-01", "Installed", 1))
	s.resolve()
	bundles := func() []string {
		return s.lines("SELECT external_id, COALESCE(bundle, '-') FROM account_products WHERE org_id = $1 ORDER BY 1", s.org)
	}
	require.Equal(t, []string{"S1 deal O1", "S2 deal O1", "S3 day 2026-01-01", "S4 -", "S5 day 2026-03-01", "S6 day 2026-03-01"}, bundles())
	s.sold("OpportunityLineItem", gone("L2", 2))
	s.resolve()
	require.Equal(t, "S2 day 2026-01-01", bundles()[1])

	s.org, s.run = s.newOrg()
	s.sold("Asset", asset("S1", 1, "A1", "P1", "2026-01-01", "Installed", 1))
	_, orphans := s.resolve()
	require.EqualValues(t, 1, orphans, "another organization's accounts and products are not there")
	require.Empty(t, s.revenue())
}
