package tools_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/expansion"
)

// sell gives an organization's accounts products, and finds what they could buy next. Too few accounts for evidence get
// two signals all the same, so that there is something to show.
func (s *system) sell(org uuid.UUID, name string) {
	s.tb.Helper()
	s.db.Exec(s.tb, `INSERT INTO products (org_id, id, provider, external_id, sku, name, list_price_cents, mapping_id)
		SELECT $1::uuid, md5($1::uuid::text || i)::uuid, 'csv', i::text, 'SKU-' || i, $2::text || ' Product ' || i, 100000 * i, 0 FROM generate_series(1, 3) i`, org, name)
	s.db.Exec(s.tb, `INSERT INTO account_products (org_id, id, provider, external_id, account_id, product_id, start_date, mapping_id)
		SELECT $1::uuid, gen_random_uuid(), 'csv', a.id::text || i, a.id, md5($1::uuid::text || i)::uuid, '2024-01-01', 0
		FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM accounts WHERE org_id = $1::uuid) a, generate_series(1, 3) i
		WHERE i = 1 AND a.n % 2 = 0 OR i = 2 AND (a.n % 4 = 0 OR a.n % 10 = 2) OR i = 3 AND a.n % 3 = 0`, org)
	matrices := &affinity.Service{Store: s.worker, Clock: time.Now}
	_, err := matrices.Compute(s.tb.Context(), org, models.NewID(), nil)
	require.NoError(s.tb, err)
	signals := &expansion.Service{Store: s.worker, Clock: time.Now}
	counts, err := signals.Generate(s.tb.Context(), org, models.NewID(), nil)
	require.NoError(s.tb, err)
	if counts["signals"] > 1 {
		return
	}
	s.db.Exec(s.tb, `INSERT INTO expansion_signals (org_id, id, account_id, product_id, place, priority, priority_basis, probability, estimated_arr_cents,
		expected_arr_cents, price_basis, price_scope, evidence_scope, gate_failed, gate_unknown, antecedents, created_at, updated_at)
		SELECT $1::uuid, gen_random_uuid(), a.id, md5($1::uuid::text || '3')::uuid, 50, 50, 1, 0.4, 1000, 400, 3, 0, 0, 0, 31, '', now(), now()
		FROM accounts a WHERE a.org_id = $1::uuid ORDER BY a.id LIMIT 2`, org)
}

func TestExpansionTools(t *testing.T) {
	t.Parallel()
	s := setup(t)
	x := s.tenant("Alpha", 60)
	_, secret := s.key(x.org, auth.ScopeRead)
	c := s.connect(secret)

	t.Run("the matrix names products and measures, and narrows", func(t *testing.T) {
		whole := call(t, c, "get_expansion_affinity", nil)
		rows := whole.Data["matrix"].([]any)
		require.Len(t, rows, 6)
		first := rows[0].(map[string]any)
		require.Equal(t, "all", first["segment"])
		require.Contains(t, first["product_a"].(map[string]any)["name"], "Alpha Product")
		require.NotNil(t, first["cross_sell_probability"])
		require.NotNil(t, whole.Data["computed_at"])
		strong := call(t, c, "get_expansion_affinity", map[string]any{"significant": true, "min_lift": 1.2}).Data["matrix"].([]any)
		require.NotEmpty(t, strong)
		require.Less(t, len(strong), 6)
		none := call(t, c, "get_expansion_affinity", map[string]any{"min_lift": 99})
		require.Empty(t, none.Data["matrix"])
		require.NotEmpty(t, none.Data["note"])
	})
	t.Run("signals say what speaks for them and agree with the summary", func(t *testing.T) {
		got := call(t, c, "get_expansion_signals", map[string]any{"limit": 200})
		rows := got.Data["signals"].([]any)
		require.NotEmpty(t, rows)
		first := rows[0].(map[string]any)
		require.NotEmpty(t, first["antecedents"])
		require.Equal(t, "pending", first["status"])
		sum := call(t, c, "get_expansion_summary", nil)
		var total float64
		for _, r := range rows {
			total += r.(map[string]any)["estimated_arr_cents"].(float64)
		}
		require.InDelta(t, total, sum.Data["total_addressable_expansion_cents"], 0.5)
		require.Len(t, sum.Data["whitespace_by_product"], 3)
		require.Equal(t, first["expansion_signal_id"], sum.Data["top_candidates"].([]any)[0].(map[string]any)["expansion_signal_id"])
	})
	t.Run("an organization without any is told how to begin", func(t *testing.T) {
		_, secret := s.key(s.db.NewOrg(t, "Empty"), auth.ScopeRead)
		c := s.connect(secret)
		for _, name := range []string{"get_expansion_affinity", "get_expansion_signals", "get_expansion_summary"} {
			require.Contains(t, call(t, c, name, nil).Data["note"], "POST /api/expansion/", name)
		}
	})
	t.Run("an organization without products is told that the filters are not to blame", func(t *testing.T) {
		org := s.db.NewOrg(t, "No products")
		_, err := (&affinity.Service{Store: s.worker, Clock: time.Now}).Compute(t.Context(), org, models.NewID(), nil)
		require.NoError(t, err)
		_, secret := s.key(org, auth.ScopeRead)
		got := call(t, s.connect(secret), "get_expansion_affinity", nil)
		require.Equal(t, affinity.ReasonFewProducts, got.Data["reason"])
		require.Contains(t, got.Data["note"], "two active products")
	})
}
