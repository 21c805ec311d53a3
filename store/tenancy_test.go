package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/store"
	"revarch/testkit"
)

// These tests read the catalog, so that tables which come later are held to the same rules.

// orgPolicy is the expression that every tenant table is filtered by: the sub-select is evaluated once per statement.
const orgPolicy = `(%s = ( SELECT (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid AS "nullif"))`

// preTenant are the tables that the look-ups read before an organization is known, and what their role may do there.
var preTenant = map[string]string{
	"orgs": "SELECT", "users": "SELECT", "memberships": "SELECT", "sessions": "SELECT", "api_keys": "SELECT", "invitations": "SELECT",
	"oauth_states": "ALL",
}

// global are the tables of schema public that belong to no organization, and why.
var global = map[string]string{
	"goose_db_version": "the migrations",
	"login_failures":   "counts by hashes, before anybody is known",
	"users":            "people are global; its policies are checked by name below",
}

// appendOnly are the tables that the service may add to and read, and never change.
var appendOnly = []string{"governance_log", "feature_facts"}

func TestCatalogOfTenantTables(t *testing.T) {
	t.Parallel()
	db := testkit.Database(t, testkit.Product(t))
	c := conn(t, db.Superuser)

	// tenantColumn is the column that ties a table to an organization.
	tenantColumn := map[string]string{"orgs": "id"}
	for _, r := range rows[struct{ Table string }](t, c, `SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attname = 'org_id' AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace`) {
		tenantColumn[r.Table] = "org_id"
	}
	require.Greater(t, len(tenantColumn), 25)

	t.Run("every table of the service is a tenant table or listed as global", func(t *testing.T) {
		t.Parallel()
		for _, table := range tables(t, conn(t, db.Superuser)) {
			name, public := strings.CutPrefix(table, "public.")
			if !public {
				require.True(t, strings.HasPrefix(table, "edu."), "%s lies in an unexpected schema", table)
				continue
			}
			require.NotEqual(t, (tenantColumn[name] != ""), (global[name] != ""), "%s is neither a tenant table nor listed as global, or both", table)
		}
	})

	t.Run("edu has no tenant's rows, and only the worker writes it", func(t *testing.T) {
		t.Parallel()
		c := conn(t, db.Superuser)
		for _, r := range rows[struct{ Table, Column string }](t, c, `SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
			WHERE a.attname IN ('org_id', 'account_id') AND c.relnamespace = 'edu'::regnamespace`) {
			require.Fail(t, "tenant column", "edu.%s.%s", r.Table, r.Column)
		}
		for _, r := range rows[struct{ Table, Privilege string }](t, c, `SELECT table_name, privilege_type FROM information_schema.role_table_grants
			WHERE table_schema = 'edu' AND grantee = 'revarch_app'`) {
			require.Equal(t, "SELECT", r.Privilege, "edu.%s", r.Table)
		}
	})

	t.Run("row-level security is forced with the expected policies and no others", func(t *testing.T) {
		t.Parallel()
		c := conn(t, db.Superuser)
		type policy struct {
			Table, Name, Roles, Command string
			Using, Check                *string
			Permissive                  string
		}
		policies := map[string][]policy{}
		for _, p := range rows[policy](t, c, "SELECT tablename, policyname, array_to_string(roles, ','), cmd, qual, with_check, permissive FROM pg_policies WHERE schemaname = 'public'") {
			policies[p.Table] = append(policies[p.Table], p)
		}
		for _, r := range rows[struct {
			Table         string
			Enabled, Hard bool
			Owner         string
		}](t, c, "SELECT relname, relrowsecurity, relforcerowsecurity, relowner::regrole::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace") {
			require.Equal(t, "revarch_owner", r.Owner, r.Table)
			column := tenantColumn[r.Table]
			if column == "" && r.Table != "users" {
				require.Empty(t, policies[r.Table], r.Table)
				continue
			}
			require.True(t, r.Enabled && r.Hard, "%s: row-level security must be enabled and forced", r.Table)
			want := []string{"org", "owner"}
			if r.Table == "users" {
				want = []string{"member", "owner", "self", "signup"}
			}
			if preTenant[r.Table] != "" {
				want = append(want, "lookup")
			}
			var names []string
			for _, p := range policies[r.Table] {
				names = append(names, p.Name)
				require.Equal(t, "PERMISSIVE", p.Permissive, "%s.%s", r.Table, p.Name)
				switch p.Name {
				case "org":
					require.Equal(t, fmt.Sprintf(orgPolicy, column), *p.Using, r.Table)
					require.Nil(t, p.Check, "%s: what may be written is what may be read", r.Table)
					require.Equal(t, "ALL public", p.Command+" "+p.Roles, r.Table)
				case "owner":
					require.Equal(t, "ALL revarch_owner true true", p.Command+" "+p.Roles+" "+*p.Using+" "+*p.Check, r.Table)
				case "lookup":
					require.Equal(t, preTenant[r.Table]+" revarch_lookup true", p.Command+" "+p.Roles+" "+*p.Using, r.Table)
				case "self", "signup", "member":
					require.Equal(t, "public", p.Roles)
				}
			}
			require.ElementsMatch(t, want, names, r.Table)
		}
	})

	t.Run("unique indexes and foreign keys between tenant tables lead with the organization", func(t *testing.T) {
		t.Parallel()
		c := conn(t, db.Superuser)
		seen := 0
		for _, r := range rows[struct {
			Table, Index string
			Columns      []string
			Types        []string
		}](t, c, `SELECT t.relname, i.relname, array_agg(a.attname::text ORDER BY k.n), array_agg(format_type(a.atttypid, NULL) ORDER BY k.n)
			FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
			CROSS JOIN LATERAL unnest(x.indkey::int[]) WITH ORDINALITY k(attnum, n) LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
			WHERE x.indisunique AND t.relnamespace = 'public'::regnamespace GROUP BY 1, 2`) {
			column := tenantColumn[r.Table]
			if column == "" {
				continue
			}
			seen++
			if slices.Equal(r.Columns, []string{"hash"}) && r.Types[0] == "bytea" {
				continue // of a random secret: it tells nothing and must be found before the organization is known
			}
			if r.Index == "orgs_one_system" {
				continue // there is one platform
			}
			require.Equal(t, column, r.Columns[0], "the unique index %s of %s must lead with the organization: it would tell another's values", r.Index, r.Table)
		}
		require.Greater(t, seen, 30)
		seen = 0
		for _, r := range rows[struct {
			Table, Name, Target string
			Columns, Targets    []string
		}](t, c, `SELECT s.relname, k.conname, f.relname,
				(SELECT array_agg(a.attname::text ORDER BY n) FROM unnest(k.conkey) WITH ORDINALITY u(num, n) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num),
				(SELECT array_agg(a.attname::text ORDER BY n) FROM unnest(k.confkey) WITH ORDINALITY u(num, n) JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num)
			FROM pg_constraint k JOIN pg_class s ON s.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid WHERE k.contype = 'f'`) {
			if tenantColumn[r.Target] == "" {
				require.Equal(t, "memberships users", r.Table+" "+r.Target, "%s: a foreign key to a global table", r.Name)
				continue
			}
			seen++
			require.Equal(t, tenantColumn[r.Table], r.Columns[0], "%s of %s must lead with the organization", r.Name, r.Table)
			require.Equal(t, tenantColumn[r.Target], r.Targets[0], "%s of %s must lead with the organization", r.Name, r.Table)
		}
		require.Greater(t, seen, 20)
	})

	t.Run("primary keys and secondary indexes lead with the organization", func(t *testing.T) {
		t.Parallel()
		for _, r := range rows[struct{ Table, Index, First string }](t, conn(t, db.Superuser), `SELECT t.relname, i.relname, a.attname FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid
			JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] WHERE t.relnamespace = 'public'::regnamespace`) {
			if tenantColumn[r.Table] != "org_id" || r.First == "hash" || r.Index == "memberships_user" {
				continue // by person, for the look-up of their organizations
			}
			require.Equal(t, "org_id", r.First, "%s of %s", r.Index, r.Table)
		}
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	db := testkit.Database(t, testkit.Product(t))
	c := conn(t, db.Superuser)

	t.Run("can do no more than they must", func(t *testing.T) {
		for _, r := range rows[struct {
			Name                            string
			Super, Bypass, Create, CreateDB bool
			Login, Replication              bool
			Members                         []string
		}](t, c, `SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
			COALESCE((SELECT array_agg(m.roleid::regrole::text) FROM pg_auth_members m WHERE m.member = r.oid), '{}') FROM pg_roles r WHERE rolname LIKE 'revarch\_%'`) {
			require.False(t, r.Super || r.Bypass || r.Create || r.CreateDB || r.Replication, "%+v", r)
			require.Equal(t, r.Name != "revarch_lookup", r.Login, r.Name)
			if r.Name == "revarch_app" || r.Name == "revarch_worker" || r.Name == "revarch_lookup" {
				require.Empty(t, r.Members, "%s is in no other role", r.Name)
			}
		}
		require.EqualValues(t, 4, db.Count(t, `SELECT count(*) FROM pg_roles WHERE rolname IN ('revarch_owner', 'revarch_app', 'revarch_worker', 'revarch_lookup')`))
	})

	t.Run("own nothing, but the look-up role its functions", func(t *testing.T) {
		const owned = `SELECT count(*) FROM pg_shdepend d WHERE d.deptype = 'o' AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND d.refobjid = $1::text::regrole`
		require.Zero(t, db.Count(t, owned, "revarch_app"))
		require.Zero(t, db.Count(t, owned, "revarch_worker"))
		require.Equal(t, db.Count(t, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'lookup'::regnamespace"), db.Count(t, owned, "revarch_lookup"))
	})

	t.Run("look-ups run as their own role, with a fixed search path, for the service alone", func(t *testing.T) {
		var names []string
		for _, f := range rows[struct {
			Name, Owner string
			Definer     bool
			Config      []string
			ACL         []string
		}](t, c, `SELECT proname, proowner::regrole::text, prosecdef, COALESCE(proconfig, '{}'), COALESCE(proacl::text[], '{}') FROM pg_proc WHERE pronamespace = 'lookup'::regnamespace`) {
			names = append(names, f.Name)
			require.Equal(t, "revarch_lookup", f.Owner, f.Name)
			require.True(t, f.Definer, f.Name)
			require.Equal(t, []string{"search_path=public, pg_temp"}, f.Config, f.Name)
			require.ElementsMatch(t, []string{"revarch_lookup=X/revarch_lookup", "revarch_app=X/revarch_lookup", "revarch_worker=X/revarch_lookup"}, f.ACL,
				"%s: EXECUTE must be revoked from PUBLIC", f.Name)
		}
		require.ElementsMatch(t, []string{"org_of_key", "session", "user_by_email", "memberships_of", "invitation", "oauth_state_take", "org_ids", "schema_version"}, names,
			"each look-up is a way past row-level security: think before you add one")
	})

	t.Run("nothing else is open to everybody", func(t *testing.T) {
		for _, f := range rows[struct {
			Name    string
			Definer bool
			Public  bool
		}](t, c, `SELECT oid::regprocedure::text, prosecdef, has_function_privilege('public', oid, 'EXECUTE') AND has_schema_privilege('revarch_app', pronamespace, 'USAGE')
			FROM pg_proc WHERE pronamespace::regnamespace::text IN ('public', 'tenancy', 'edu')`) {
			require.False(t, f.Definer && f.Public, "%s", f.Name)
		}
		require.Zero(t, db.Count(t, `SELECT count(*) FROM information_schema.role_table_grants WHERE grantee = 'PUBLIC' AND table_schema IN ('public', 'edu')`))
		require.Zero(t, db.Count(t, `SELECT count(*) FROM (VALUES ('revarch_app'), ('revarch_worker'), ('revarch_lookup')) r(name) WHERE has_schema_privilege(name, 'public', 'CREATE')`))
	})

	t.Run("views do not see more than their reader", func(t *testing.T) {
		for _, v := range rows[struct{ Name, Schema string }](t, c, `SELECT relname, relnamespace::regnamespace::text FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace::regnamespace::text IN ('public', 'edu', 'lookup')`) {
			require.Equal(t, "edu", v.Schema, "%s: a view runs as its owner, who sees every organization", v.Name)
		}
	})

	t.Run("append-only tables cannot be rewritten by the service", func(t *testing.T) {
		for _, table := range appendOnly {
			for _, role := range []string{"revarch_app", "revarch_worker"} {
				for _, privilege := range []string{"UPDATE", "DELETE", "TRUNCATE"} {
					require.Zero(t, db.Count(t, "SELECT has_table_privilege($1, $2, $3)::int", role, table, privilege), "%s %s on %s", role, privilege, table)
					require.Zero(t, db.Count(t, "SELECT has_any_column_privilege($1, $2, 'UPDATE')::int", role, table), "%s on columns of %s", role, table)
				}
				require.EqualValues(t, 1, db.Count(t, "SELECT (has_table_privilege($1, $2, 'INSERT') AND has_table_privilege($1, $2, 'SELECT'))::int", role, table))
			}
		}
		require.Zero(t, db.Count(t, `SELECT count(*) FROM pg_class c, (VALUES ('revarch_app'), ('revarch_worker')) r(name) WHERE relkind = 'r'
			AND relnamespace = 'public'::regnamespace AND (has_table_privilege(name, c.oid, 'TRUNCATE') OR has_table_privilege(name, c.oid, 'REFERENCES') OR has_table_privilege(name, c.oid, 'TRIGGER'))`))
	})
}

func TestWithoutAnOrganizationThereAreNoRows(t *testing.T) {
	t.Parallel()
	db := testkit.Database(t, testkit.Product(t))
	org, other := db.NewOrg(t, "One"), db.NewOrg(t, "Two")
	fill(t, conn(t, db.Superuser), org)
	for _, role := range []string{db.App, db.Worker} {
		c := conn(t, role)
		count := func(what string, want func(table string) bool) {
			for _, r := range rows[struct{ Table string }](t, c, `SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relrowsecurity`) {
				var n int
				require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM "+pgx.Identifier{r.Table}.Sanitize()).Scan(&n), r.Table)
				require.Equal(t, want(r.Table), n > 0, "%s %s: %d rows", r.Table, what, n)
			}
		}
		none := func(string) bool { return false }
		count("before any organization was set", none)
		inOrg := func(id uuid.UUID, want func(string) bool) {
			_, err := c.Exec(t.Context(), "BEGIN")
			require.NoError(t, err)
			_, err = c.Exec(t.Context(), "SELECT set_config('app.org_id', $1, true)", id.String())
			require.NoError(t, err)
			count("in the organization "+id.String(), want)
			_, err = c.Exec(t.Context(), "COMMIT")
			require.NoError(t, err)
		}
		inOrg(org, func(string) bool { return true })
		count("after a transaction that set it, on the same connection", none)
		inOrg(other, func(table string) bool { return table == "orgs" })
	}
	st := testkit.OpenStore(t, db.App, 1)
	require.Error(t, st.InOrg(t.Context(), uuid.Nil, func(*store.Tx) error { return nil }))
}

// fill puts a row of an organization into every protected table, whatever its columns, in the order of their references.
func fill(t *testing.T, c *pgx.Conn, org uuid.UUID) {
	t.Helper()
	user := models.NewID()
	_, err := c.Exec(t.Context(), "INSERT INTO users (id, email) VALUES ($1, 'somebody@example.org')", user)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "INSERT INTO memberships (org_id, user_id, role) VALUES ($1, $2, 'admin')", org, user)
	require.NoError(t, err)
	// The references and checks between the rows are not what is looked at here.
	_, err = c.Exec(t.Context(), "SET session_replication_role = replica")
	require.NoError(t, err)
	for _, table := range rows[struct{ Name string }](t, c, `SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relrowsecurity
		AND c.relname NOT IN ('orgs', 'users', 'memberships')`) {
		for _, k := range rows[struct{ Name string }](t, c, "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = $1::text::regclass", table.Name) {
			_, err := c.Exec(t.Context(), fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", pgx.Identifier{table.Name}.Sanitize(), pgx.Identifier{k.Name}.Sanitize()))
			require.NoError(t, err)
		}
		var names, values []string
		for _, col := range rows[struct{ Name, Type string }](t, c, `SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
			WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND d.oid IS NULL`, table.Name) {
			value, known := map[string]string{
				"uuid": "gen_random_uuid()", "text": "'x'", "bytea": `'\x01'`, "timestamp with time zone": "now()", "date": "current_date", "bigint": "1",
				"integer": "1", "smallint": "1", "boolean": "false", "jsonb": "'{}'", "text[]": "'{}'", "real": "1", "double precision": "1", "numeric": "1",
			}[col.Type]
			require.True(t, known, "%s.%s is a %s", table.Name, col.Name, col.Type)
			if col.Name == "org_id" {
				value = "'" + org.String() + "'"
			}
			names, values = append(names, pgx.Identifier{col.Name}.Sanitize()), append(values, value)
		}
		_, err := c.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", pgx.Identifier{table.Name}.Sanitize(), strings.Join(names, ", "), strings.Join(values, ", ")))
		require.NoError(t, err, table.Name)
	}
}
