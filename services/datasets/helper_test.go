package datasets_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// line returns the first row of a query as text.
func (s *system) line(sql string, args ...any) string {
	s.tb.Helper()
	conn, err := pgx.Connect(s.tb.Context(), s.db.Superuser)
	require.NoError(s.tb, err)
	defer func() { _ = conn.Close(context.WithoutCancel(s.tb.Context())) }()
	rows, err := conn.Query(s.tb.Context(), sql, args...)
	require.NoError(s.tb, err)
	out, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (string, error) {
		v, err := row.Values()
		return fmt.Sprintln(v...), err
	})
	require.NoError(s.tb, err)
	return out[:len(out)-1]
}
