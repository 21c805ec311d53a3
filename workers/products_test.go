package workers_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/sandbox"
	"revarch/sandbox/control"
)

func (s *system) number(sql string, args ...any) int64 {
	s.tb.Helper()
	return s.db.Count(s.tb, sql, append([]any{s.org()}, args...)...)
}

func TestProductsOfACRM(t *testing.T) {
	t.Parallel()

	t.Run("products, prices, deals and assets become revenue lines, which replace account totals", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 150})
		s.work(s.process)
		s.connect()
		first := s.succeeded(s.sync(false))
		s.sameRecords()
		require.EqualValues(t, s.held(), first.Counts["created"])
		require.Zero(t, first.Counts["orphans"])
		require.Zero(t, s.number("SELECT count(*) FROM account_products WHERE org_id = $1 AND (account_id IS NULL OR product_id IS NULL OR arr_cents IS NULL)"))
		require.Zero(t, s.number("SELECT count(*) FROM order_lines WHERE org_id = $1 AND (opportunity_id IS NULL OR product_id IS NULL)"))
		require.Zero(t, s.number("SELECT count(*) FROM products WHERE org_id = $1 AND (list_price_cents IS NULL OR sku IS NULL)"))
		require.Positive(t, s.number("SELECT count(*) FROM products WHERE org_id = $1 AND NOT active"))
		assets := s.number("SELECT count(*) FROM account_products WHERE org_id = $1")
		require.Equal(t, assets, s.number(`SELECT count(*) FROM subscription_lines l JOIN account_products p USING (org_id, id, account_id, product_id, arr_cents)
			WHERE org_id = $1 AND l.source = 'product' AND l.ended = (p.status = 'ended') AND l.provider = 'crm_a'`))
		require.Zero(t, s.number(`SELECT count(*) FROM subscription_lines WHERE org_id = $1 AND ended AND COALESCE(end_date >= current_date, true)`))

		// What is installed and in force is the ARR, whatever the account's own figure says.
		require.Zero(t, s.number(`SELECT count(*) FROM accounts a JOIN account_arr r ON r.org_id = a.org_id AND r.account_id = a.id
			WHERE a.org_id = $1 AND EXISTS (SELECT 1 FROM account_products p WHERE p.org_id = a.org_id AND p.account_id = a.id)
			AND r.arr_cents <> (SELECT COALESCE(sum(p.arr_cents), 0) FROM account_products p WHERE p.org_id = a.org_id AND p.account_id = a.id
				AND p.start_date <= r.as_of AND (p.end_date >= r.as_of OR p.status = 'active' AND p.end_date >= r.as_of - 90 AND NOT EXISTS (
					SELECT 1 FROM account_products q WHERE q.org_id = p.org_id AND q.account_id = p.account_id AND q.product_id = p.product_id
					AND q.start_date > p.start_date AND q.end_date > p.end_date AND q.start_date <= r.as_of)))`))
		require.Positive(t, s.number(`SELECT count(*) FROM accounts a JOIN account_arr r ON r.org_id = a.org_id AND r.account_id = a.id
			WHERE a.org_id = $1 AND r.arr_cents > 0 AND a.arr_cents IS NULL`), "accounts without a figure of their own")

		// The bundle partners start on the same day, always; other products by chance.
		require.Positive(t, s.number("SELECT count(*) FROM account_products WHERE org_id = $1 AND bundle IS NOT NULL"))
		require.Zero(t, s.number(`SELECT count(*) FROM account_products p JOIN products x ON x.org_id = p.org_id AND x.id = p.product_id
			WHERE p.org_id = $1 AND x.name = 'TranslateNow' AND p.bundle IS NULL`))
	})

	t.Run("a deleted asset takes its line along and a changed price shows", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 60})
		s.work(s.process)
		s.connect()
		s.succeeded(s.sync(false))
		ids, err := s.box.IDs(t.Context(), "Asset")
		require.NoError(t, err)
		line := func(id string) int64 {
			return s.number("SELECT COALESCE(sum(arr_cents), -1) FROM subscription_lines WHERE org_id = $1 AND source = 'product' AND external_id = $2", id)
		}
		require.NotEqual(t, int64(-1), line(ids[0]))
		require.NoError(t, s.box.Delete(t.Context(), "Asset", ids[0]))
		_, err = s.box.Update(t.Context(), "Asset", ids[1], control.Fields{"Price": 1234.5, "Status": "Obsolete"})
		require.NoError(t, err)
		entries, err := s.box.IDs(t.Context(), "PricebookEntry")
		require.NoError(t, err)
		_, err = s.box.Update(t.Context(), "PricebookEntry", entries[0], control.Fields{"UnitPrice": 99.25, "IsActive": true})
		require.NoError(t, err)
		got := s.succeeded(s.sync(false))
		s.sameRecords()
		require.EqualValues(t, 1, got.Counts["deleted"])
		require.EqualValues(t, 2, got.Counts["updated"])
		require.EqualValues(t, -1, line(ids[0]))
		require.EqualValues(t, 123450, line(ids[1]))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM subscription_lines WHERE org_id = $1 AND external_id = $2 AND ended AND end_date < current_date", ids[1]))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM products WHERE org_id = $1 AND list_price_cents = 9925"))

		product, err := s.box.IDs(t.Context(), "Product2")
		require.NoError(t, err)
		_, err = s.box.Update(t.Context(), "Product2", product[0], control.Fields{"Name": "Renamed"})
		require.NoError(t, err)
		s.succeeded(s.sync(false))
		require.EqualValues(t, 1, s.number("SELECT count(*) FROM products WHERE org_id = $1 AND name = 'Renamed' AND list_price_cents IS NOT NULL"), "it keeps its price")
	})

	t.Run("objects that the connected user may not read are left out with a warning", func(t *testing.T) {
		t.Parallel()
		s := setup(t, sandbox.Config{Accounts: 30})
		s.work(s.process)
		_, err := s.box.Fail(t.Context(), control.Failure{Kind: control.Status, Path: "/sobjects/Asset/describe", Status: http.StatusForbidden})
		require.NoError(t, err)
		_, err = s.box.Fail(t.Context(), control.Failure{Kind: control.Status, Path: "/sobjects/OpportunityLineItem/describe", Status: http.StatusNotFound})
		require.NoError(t, err)
		s.connect()
		got := s.succeeded(s.sync(false))
		var skipped []string
		for _, w := range got.Warnings {
			if w.Code == "object_skipped" {
				skipped = append(skipped, w.Message)
			}
		}
		require.Len(t, skipped, 2, "%v", got.Warnings)
		require.Zero(t, s.number("SELECT count(*) FROM account_products WHERE org_id = $1"))
		require.EqualValues(t, 30, s.number("SELECT count(*) FROM accounts WHERE org_id = $1"))
		require.Positive(t, s.number("SELECT count(*) FROM account_arr WHERE org_id = $1 AND arr_cents > 0"), "account totals stand while there are no lines")
		require.Equal(t, models.RunSucceeded, got.Status)
		require.WithinDuration(t, time.Now(), *got.FinishedAt, time.Minute)
	})
}
