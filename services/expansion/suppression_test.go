package expansion_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/services/affinity/affinitytest"
	"revarch/services/expansion"
)

func TestSuppression(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(2)
	accounts := example()
	org := s.org(products, accounts)
	target := func(i int) uuid.UUID { return accounts[40+i].ID } // owns the first product only
	s.db.Exec(t, `INSERT INTO scores (org_id, account_id, model, composite, coverage, model_version, computed_at, took_us, body) VALUES
		($1, $2, 'risk', 75, 1, 'v', now(), 1, ''), ($1, $3, 'risk', 74.9, 1, 'v', now(), 1, ''), ($1, $3, 'health', 49, 1, 'v', now(), 1, '')`, org, target(0), target(1))
	s.db.Exec(t, `INSERT INTO opportunities (org_id, id, provider, external_id, account_id, name, stage, mapping_id) VALUES ($1, $2, 'crm_a', 'o', $3, 'Deal', 'Open', 0)`, org, org, target(2))
	s.db.Exec(t, `INSERT INTO order_lines (org_id, id, provider, external_id, opportunity_id, product_id, mapping_id) VALUES ($1, $2, 'crm_a', 'l', $2, $3, 0)`, org, org, products[1].ID)
	s.compute(org)
	s.generate(org)
	k := s.kpi(org)
	require.EqualValues(t, 1, k.Suppressed.SaveFirst)
	require.EqualValues(t, 1, k.Suppressed.OpenOpportunity)
	require.EqualValues(t, 58, k.TotalPending)
	id := target(1)
	signals := s.all(org, expansion.Filter{AccountID: &id})
	require.Len(t, signals, 1)
	require.Equal(t, "not_ready", signals[0].Readiness)
	require.Equal(t, "below_50", signals[0].ReadinessReasons[0].Reason)
	s.db.Exec(t, "UPDATE opportunities SET is_closed = true")
	s.generate(org)
	require.EqualValues(t, 59, s.kpi(org).TotalPending)

	// 59 = 44 without the second product and 15 without the first one.
	s.db.Exec(t, "UPDATE accounts SET expansion_opt_out = true WHERE id = $1", target(3))
	s.db.Exec(t, "UPDATE accounts SET expansion_opt_out = false WHERE id = $1", target(4))
	s.db.Exec(t, "UPDATE products SET offered_to = 'higher_ed', offered_in = 'CA,TX' WHERE id = $1", products[1].ID)
	for i, to := range []struct{ kind, state any }{
		4: {"higher_ed", "CA"}, 5: {"k12", "CA"}, 6: {"higher_ed", "NV"}, 7: {nil, "TX"}, 8: {nil, "NV"}, 9: {"higher_ed", nil}, 10: {nil, nil},
	} {
		if i >= 4 {
			s.db.Exec(t, "UPDATE accounts SET buyer_type = $2, state = $3 WHERE id = $1", target(i), to.kind, to.state)
		}
	}
	s.generate(org)
	k = s.kpi(org)
	require.EqualValues(t, 1, k.Suppressed.OptedOut)
	require.EqualValues(t, 3, k.Suppressed.NotOffered, "5, 6 and 8; what is unknown refuses nothing")
	require.EqualValues(t, 55, k.TotalPending)
	for _, i := range []int{3, 5, 6, 8} {
		id := target(i)
		require.Empty(t, s.all(org, expansion.Filter{AccountID: &id}), i)
	}
}
