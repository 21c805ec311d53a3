package affinity_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/services/affinity/affinitytest"
	"revarch/store"
)

// TestReadOfANewOrganization looks at the plans for an organization that came after the statistics were gathered: a
// loop through all lines for each of its accounts would take hours for a large one.
func TestReadOfANewOrganization(t *testing.T) {
	t.Parallel()
	s := setup(t)
	products := affinitytest.Products(20)
	affinitytest.Seed(t, s.db, s.db.NewOrg(t, "Known"), products, affinitytest.Market(1, 4000, 20, 4))
	s.db.Exec(t, "ANALYZE accounts, account_products, subscription_lines")
	org := s.db.NewOrg(t, "New")
	affinitytest.Seed(t, s.db, org, affinitytest.Products(20), affinitytest.Market(2, 400, 20, 12))
	s.db.Exec(t, "ANALYZE account_products, subscription_lines")

	conn, err := pgx.Connect(t.Context(), s.db.Worker)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for _, query := range []string{store.AffinityRead, store.ExpansionRead} {
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "SELECT set_config('app.org_id', $1, true)", org.String())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), store.StreamSettings)
		require.NoError(t, err)
		query = strings.NewReplacer("$1", "'"+org.String()+"'::uuid", "$2", "'2026-05-02'", "$3", "90").Replace(query)
		rows, err := tx.Query(t.Context(), "EXPLAIN "+query)
		require.NoError(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotContains(t, strings.Join(plan, "\n"), "Nested Loop")
		require.NoError(t, tx.Rollback(t.Context()))
	}
}
