package backup_test

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/services/backup"
	"revarch/services/vault"
	"revarch/store"
	"revarch/testkit"
)

// installation is a database of the product with the rows of two organizations, and its keyset.
type installation struct {
	db     testkit.DB
	keyset string
	orgs   [2]uuid.UUID
	grants [2][]byte // sealed
}

func setup(t *testing.T) installation {
	t.Helper()
	in := installation{db: testkit.Database(t, testkit.Product(t)), keyset: filepath.Join(t.TempDir(), "keys")}
	v, err := vault.Open(in.keyset)
	require.NoError(t, err)
	user := models.NewID()
	in.db.Exec(t, "INSERT INTO users (id, email, name) VALUES ($1, 'ann@example.org', 'Ann ''O\\Hara')", user)
	for i := range in.orgs {
		org := in.db.NewOrg(t, "Org "+string(rune('A'+i)))
		in.orgs[i] = org
		in.grants[i], err = v.Seal([]byte("grant of "+org.String()), vault.AD(org.String(), "crm_a", "grant"))
		require.NoError(t, err)
		connection, run, account := models.NewID(), models.NewID(), models.NewID()
		hash := sha256.Sum256(org[:])
		for _, row := range []struct {
			sql  string
			args []any
		}{
			{"INSERT INTO memberships (org_id, user_id, role) VALUES ($1, $2, 'admin')", []any{org, user}},
			{"INSERT INTO api_keys (org_id, id, name, prefix, hash, scopes) VALUES ($1, $2, 'key', 'rk_12345', $3, '{read,write_safe}')", []any{org, models.NewID(), hash[:]}},
			{"INSERT INTO connections (org_id, id, provider, status, schema) VALUES ($1, $2, 'crm_a', 'connected', '{\"objects\": [\"Account\"]}')", []any{org, connection}},
			{"INSERT INTO connection_grants (org_id, connection_id, sealed) VALUES ($1, $2, $3)", []any{org, connection, in.grants[i]}},
			{"INSERT INTO runs (org_id, id, kind, subject, workflow_id) VALUES ($1, $2, 'sync', 'crm_a', 'sync')", []any{org, run}},
			{"INSERT INTO raw_records (org_id, provider, object, external_id, payload, content_hash) SELECT $1, 'crm_a', 'Account', 'x' || i, jsonb_build_object('Name', E'tab\\tand\\nline ' || i), '\\x00ff' FROM generate_series(1, 500) i", []any{org}},
			{"INSERT INTO accounts (org_id, id, provider, external_id, name, csat_90d, mapping_id) VALUES ($1, $2, 'crm_a', 'x1', 'Ünïted ISD', 4.25, 1)", []any{org, account}},
		} {
			in.db.Exec(t, row.sql, row.args...)
		}
	}
	in.db.Exec(t, `INSERT INTO edu.institutions (release_id, unitid, name, normalized_name, state) VALUES ($1, '100654', 'Alabama A & M', 'alabama a m', 'AL')`, models.NewID())
	return in
}

func (in installation) source() backup.Source {
	return backup.Source{OwnerURL: in.db.Owner, Keyset: in.keyset, Program: "test", Clock: time.Now}
}

func (in installation) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar")
	_, err := backup.Write(t.Context(), path, in.source())
	require.NoError(t, err)
	return path
}

// query returns the rows of a query as text.
func query(t *testing.T, url, sql string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	rows, err := conn.Query(t.Context(), sql)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

// structure describes everything that protects the rows: tables, columns, constraints, indexes, policies, functions,
// triggers, privileges and owners.
const structure = `
	WITH ours AS (SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
	SELECT format('schema %s %s %s', nspname, pg_get_userbyid(nspowner), (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(coalesce(nspacl, acldefault('n', nspowner))) a))
		FROM pg_namespace WHERE oid IN (SELECT oid FROM ours)
	UNION ALL SELECT format('relation %s %s %s rls %s forced %s %s', oid::regclass, relkind, pg_get_userbyid(relowner), relrowsecurity, relforcerowsecurity,
		(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))) a)) FROM pg_class WHERE relnamespace IN (SELECT oid FROM ours)
	UNION ALL SELECT format('column %s.%s %s %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attcollation::regcollation,
		(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum))
		FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE c.relnamespace IN (SELECT oid FROM ours) AND attnum > 0 AND NOT attisdropped
	UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace IN (SELECT oid FROM ours)
	UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname IN (SELECT nspname FROM ours)
	UNION ALL SELECT format('policy %s', p) FROM pg_policies p
	UNION ALL SELECT format('trigger %s %s', tgrelid::regclass, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
	UNION ALL SELECT format('function %s %s definer %s %s %s', oid::regprocedure, pg_get_userbyid(proowner), prosecdef, pg_get_functiondef(oid),
		(SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(coalesce(proacl, acldefault('f', proowner))) a)) FROM pg_proc WHERE pronamespace IN (SELECT oid FROM ours)
	ORDER BY 1`

// tables lists every table with rows; contents is a digest of one, per organization where there are any.
const tables = `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind = 'r' AND n.nspname IN ('public', 'edu') ORDER BY 1`

func contents(t *testing.T, url, table string) []string {
	t.Helper()
	return query(t, url, `SELECT format('%s %s %s', to_jsonb(t)->>'org_id', count(*), md5(string_agg(t::text, E'\n' ORDER BY t::text))) FROM `+table+` t
		GROUP BY to_jsonb(t)->>'org_id' ORDER BY 1`)
}

// without returns what is in a and not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool { return slices.Contains(b, line) })
}

// sameAnswers holds a restored copy against the original.
func sameAnswers(t *testing.T, in installation, copied testkit.DB, keyset string) {
	t.Helper()
	before, after := query(t, in.db.Superuser, structure), query(t, copied.Superuser, structure)
	require.Empty(t, without(before, after), "lost")
	require.Empty(t, without(after, before), "added")
	all := query(t, in.db.Owner, tables)
	require.Equal(t, all, query(t, copied.Owner, tables))
	filled := 0
	for _, table := range all {
		want := contents(t, in.db.Owner, table)
		require.Equal(t, want, contents(t, copied.Owner, table), table)
		filled += min(1, len(want))
	}
	require.GreaterOrEqual(t, filled, 10, "tables with rows")

	st := testkit.OpenStore(t, copied.App, 1)
	require.NoError(t, st.CheckSchema(t.Context()))
	refs, err := st.Orgs(t.Context())
	require.NoError(t, err)
	require.Len(t, refs, 2)
	v, err := vault.Open(keyset)
	require.NoError(t, err)
	for i, org := range in.orgs {
		hash := sha256.Sum256(org[:])
		found, _, ok, err := st.OrgOfKey(t.Context(), hash[:])
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, org, found)
		plain, err := v.Unseal(in.grants[i], vault.AD(org.String(), "crm_a", "grant"))
		require.NoError(t, err)
		require.Equal(t, "grant of "+org.String(), string(plain))
	}
	require.Empty(t, query(t, copied.App, "SELECT external_id FROM raw_records"), "policies bind the service's role")
}

func TestRestoredCopyAnswersTheSame(t *testing.T) {
	t.Parallel()
	in := setup(t)
	path := in.write(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	t.Run("restored by an administrator into an empty database", func(t *testing.T) {
		t.Parallel()
		copied, keyset := testkit.Database(t, testkit.Schema{}), filepath.Join(t.TempDir(), "data", "keys")
		m, err := backup.Restore(t.Context(), path, backup.Target{OwnerURL: copied.Owner, AdminURL: copied.Superuser, Keyset: keyset})
		require.NoError(t, err)
		ours, err := store.ProgramSchema()
		require.NoError(t, err)
		require.Equal(t, ours, m.SchemaVersion)
		sameAnswers(t, in, copied, keyset)
		info, err := os.Stat(keyset)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})

	t.Run("restored by the owner over what was there, with force only", func(t *testing.T) {
		t.Parallel()
		copied := testkit.Database(t, testkit.Product(t))
		copied.NewOrg(t, "to be replaced")
		to := backup.Target{OwnerURL: copied.Owner, Keyset: in.keyset}
		_, err := backup.Restore(t.Context(), path, to)
		require.ErrorContains(t, err, "--force")
		require.EqualValues(t, 1, copied.Count(t, "SELECT count(*) FROM orgs"))
		to.Force = true
		_, err = backup.Restore(t.Context(), path, to)
		require.NoError(t, err)
		sameAnswers(t, in, copied, in.keyset)
	})

	t.Run("a backup of the copy holds the same", func(t *testing.T) {
		t.Parallel()
		first, second := testkit.Database(t, testkit.Schema{}), testkit.Database(t, testkit.Schema{})
		_, err := backup.Restore(t.Context(), path, backup.Target{OwnerURL: first.Owner, AdminURL: first.Superuser})
		require.NoError(t, err)
		again := filepath.Join(t.TempDir(), "again.tar")
		_, err = backup.Write(t.Context(), again, backup.Source{OwnerURL: first.Owner, Keyset: in.keyset, Clock: time.Now})
		require.NoError(t, err)
		_, err = backup.Restore(t.Context(), again, backup.Target{OwnerURL: second.Owner, AdminURL: second.Superuser})
		require.NoError(t, err)
		sameAnswers(t, in, second, in.keyset)
	})
}
