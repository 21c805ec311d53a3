package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"revarch/models"
)

// What follows from products, prices and order lines: list prices, bundles, and the revenue lines of what accounts
// bought. Each page keeps its own lines in step; the end of a run does so for what only other objects tell.

// lineRows turns what accounts bought into revenue lines of the same id; it takes org and now, a table to join and a
// condition. What the source calls ended has ended by the day before we learned it.
const lineRows = `INSERT INTO subscription_lines AS l (org_id, id, account_id, product_id, source, provider, external_id, arr_cents, quantity,
	start_date, end_date, ended, created_at, updated_at)
	SELECT $1, p.id, p.account_id, p.product_id, 'product', p.provider, p.external_id, p.arr_cents, p.quantity::numeric, p.start_date,
	CASE WHEN p.status = 'ended' THEN LEAST(p.end_date, (p.updated_at AT TIME ZONE 'UTC')::date - 1) ELSE p.end_date END,
	COALESCE(p.status = 'ended', false), $2, $2 FROM account_products p%s
	WHERE p.org_id = $1 AND p.arr_cents IS NOT NULL AND p.account_id IS NOT NULL AND p.product_id IS NOT NULL AND p.deleted_at IS NULL AND %s
	ON CONFLICT (org_id, id) DO UPDATE SET account_id = excluded.account_id, product_id = excluded.product_id,
	arr_cents = excluded.arr_cents, quantity = excluded.quantity, start_date = excluded.start_date, end_date = excluded.end_date,
	ended = excluded.ended, updated_at = excluded.updated_at
	WHERE (l.account_id, l.product_id, l.arr_cents, l.quantity, l.start_date, l.end_date, l.ended) IS DISTINCT FROM
	(excluded.account_id, excluded.product_id, excluded.arr_cents, excluded.quantity, excluded.start_date, excluded.end_date, excluded.ended)`

// linesOver removes the revenue lines of what is no longer there or has lost its account, product or price.
const linesOver = `DELETE FROM subscription_lines l USING account_products p%s WHERE l.org_id = $1 AND l.source = 'product' AND p.org_id = $1
	AND p.id = l.id AND (p.arr_cents IS NULL OR p.account_id IS NULL OR p.product_id IS NULL OR p.deleted_at IS NOT NULL) AND %s`

var (
	stagedLines     = fmt.Sprintf(lineRows, ", stage_account_products s", "s.mapped AND p.id = s.record_id")
	stagedLinesOver = fmt.Sprintf(linesOver, ", stage_account_products s", "s.mapped AND p.id = s.record_id AND l.id = s.record_id")

	providerLines = fmt.Sprintf(lineRows, "", `p.provider = $3 AND NOT EXISTS (SELECT 1 FROM subscription_lines o WHERE o.org_id = $1 AND o.id = p.id
		AND o.updated_at >= p.updated_at AND o.account_id = p.account_id AND o.product_id = p.product_id)`)
	providerLinesOver = fmt.Sprintf(linesOver, "", "p.provider = $2")
)

// bestPrice is the list price of a product by the entries of price books; a retired one has only entries that are not
// in use.
const bestPrice = `SELECT e.product_id, COALESCE(max(e.price_cents) FILTER (WHERE e.active), max(e.price_cents)) AS cents FROM product_prices e
	WHERE e.org_id = $1 AND e.deleted_at IS NULL AND e.price_cents IS NOT NULL AND e.product_id IS NOT NULL`

// pricesOfStaged keeps products that come again at the price that price books have for them.
const pricesOfStaged = `UPDATE stage_products s SET list_price_cents = b.cents FROM (` + bestPrice + `
	AND e.product_id IN (SELECT record_id FROM stage_products) GROUP BY 1) b WHERE b.product_id = s.record_id`

const pricesOfProducts = `UPDATE products p SET list_price_cents = b.cents, updated_at = $2 FROM (` + bestPrice + ` AND e.provider = $3 GROUP BY 1) b
	WHERE p.org_id = $1 AND p.id = b.product_id AND p.list_price_cents IS DISTINCT FROM b.cents`

// bundles names the lines that were sold together: by the won deal that has the product on the day it started, and where
// no deal is known by the day on which several products started.
const bundles = `WITH sold AS MATERIALIZED (
	SELECT o.account_id, l.product_id, l.on_date, min(o.external_id) AS deal FROM order_lines l
	JOIN opportunities o ON o.org_id = l.org_id AND o.id = l.opportunity_id
	WHERE l.org_id = $1 AND l.provider = $2 AND l.deleted_at IS NULL AND o.is_won AND o.deleted_at IS NULL GROUP BY 1, 2, 3
), days AS MATERIALIZED (
	SELECT account_id, start_date FROM account_products WHERE org_id = $1 AND provider = $2 AND deleted_at IS NULL
	GROUP BY 1, 2 HAVING count(DISTINCT product_id) > 1
), known AS MATERIALIZED (
	SELECT p.id, CASE WHEN s.deal IS NOT NULL THEN 'deal ' || s.deal WHEN d.account_id IS NOT NULL THEN 'day ' || to_char(p.start_date, 'YYYY-MM-DD')
		END AS bundle
	FROM account_products p
	LEFT JOIN sold s ON s.account_id = p.account_id AND s.product_id = p.product_id AND s.on_date = p.start_date
	LEFT JOIN days d ON d.account_id = p.account_id AND d.start_date = p.start_date
	WHERE p.org_id = $1 AND p.provider = $2 AND p.deleted_at IS NULL
) UPDATE account_products p SET bundle = k.bundle FROM known k WHERE p.org_id = $1 AND p.id = k.id AND p.bundle IS DISTINCT FROM k.bundle`

// deriveSales brings list prices, bundles and revenue lines of a provider's records up to date.
func (tx *Tx) deriveSales(ctx context.Context, provider models.Provider, now time.Time) error {
	b, org := &pgx.Batch{}, tx.orgArg()
	b.Queue("SELECT set_config('enable_nestloop', 'off', true)") // each reads whole tables, of which new ones have no statistics
	b.Queue(pricesOfProducts, org, now, string(provider))
	b.Queue(bundles, org, string(provider))
	b.Queue(providerLinesOver, org, string(provider))
	b.Queue(providerLines, org, now, string(provider))
	b.Queue("SELECT set_config('enable_nestloop', 'on', true)")
	return tx.run(ctx, "derive prices, bundles and revenue lines", b)
}
