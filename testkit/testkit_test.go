package testkit_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"revarch/devstack"
	"revarch/testkit"
)

// sample has the parts that cloning could lose: an owner, a privilege on the database and a setting of it.
func sample(key string, applied *atomic.Int32) testkit.Schema {
	return testkit.Schema{Key: key, Apply: func(ctx context.Context, urls devstack.URLs) error {
		applied.Add(1)
		conn, err := pgx.Connect(ctx, urls.Superuser)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, `
			DO $$ BEGIN
				IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'testkit_reader') THEN CREATE ROLE testkit_reader; END IF;
				EXECUTE format('ALTER DATABASE %I OWNER TO testkit_reader', current_database());
				EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
				EXECUTE format('ALTER DATABASE %I SET work_mem = %L', current_database(), '7MB');
			END $$;
			CREATE TABLE things (id int PRIMARY KEY);
			INSERT INTO things VALUES (1)`)
		return err
	}}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	return conn
}

func TestDatabase(t *testing.T) {
	t.Parallel()

	t.Run("tests that start together share one template and no rows", func(t *testing.T) {
		t.Parallel()
		var applied atomic.Int32
		schema := sample(rand.Text(), &applied)
		t.Run("group", func(t *testing.T) { //nolint:paralleltest // its end is awaited
			for i := range 4 {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					conn := connect(t, testkit.Database(t, schema).Superuser)
					_, err := conn.Exec(t.Context(), "INSERT INTO things VALUES (2)")
					require.NoError(t, err)
				})
			}
		})
		require.Equal(t, int32(1), applied.Load())
	})

	t.Run("a clone has the owner, privileges and settings of its template", func(t *testing.T) {
		t.Parallel()
		var applied atomic.Int32
		db := testkit.Database(t, sample(rand.Text(), &applied))
		conn := connect(t, db.Superuser)
		var owner, workMem string
		var mayTemp bool
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT pg_get_userbyid(datdba), has_database_privilege('pg_monitor', datname, 'TEMPORARY'),
			current_setting('work_mem') FROM pg_database WHERE datname = current_database()`).Scan(&owner, &mayTemp, &workMem))
		require.Equal(t, "testkit_reader", owner)
		require.False(t, mayTemp)
		require.Equal(t, "7MB", workMem)
	})

	t.Run("a database is gone after its test, even while somebody is connected", func(t *testing.T) {
		t.Parallel()
		var name string
		t.Run("the test", func(t *testing.T) { //nolint:paralleltest // its end is awaited
			db := testkit.Database(t, testkit.Schema{})
			name = db.Name
			_, err := pgx.Connect(t.Context(), db.Superuser)
			require.NoError(t, err)
		})
		conn := connect(t, testkit.Database(t, testkit.Schema{}).Superuser)
		var exists bool
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists))
		require.False(t, exists)
	})
}

func TestTemporalAddress(t *testing.T) {
	t.Parallel()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: testkit.TemporalAddress(t)})
	require.NoError(t, err)
	defer c.Close()
	attrs, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	for _, name := range []string{"OrgId", "Provider", "Dataset"} {
		require.Contains(t, attrs.GetCustomAttributes(), name)
	}
}
