package store_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm/schema"

	"revarch/fault"
	"revarch/models"
	"revarch/store"
	"revarch/testkit"
)

// all are the models of tables. A model that is missing here fails TestModelsAgreeWithTheSchema.
var all = []any{
	models.Org{},
	models.User{},
	models.Membership{},
	models.Session{},
	models.APIKey{},
	models.Invitation{},
	models.OAuthState{},
	models.LoginFailure{},
	models.Run{},
	models.RunFailure{},
	models.Upload{},
	models.UploadChunk{},
	models.GovernanceEntry{},
	models.GovernanceHead{},
	models.IdempotencyKey{},
	models.Task{},
	models.Connection{},
	models.ConnectionGrant{},
	models.StoredMapping{},
	models.SyncCursor{},
	models.RawRecord{},
	models.RecordLink{},
	models.MappingVersion{},
	models.Account{},
	models.Contact{},
	models.Opportunity{},
	models.Activity{},
	models.SubscriptionLine{},
	models.FeatureFact{},
	models.RuleSet{},
	models.Score{},
	models.Product{},
	models.AccountProduct{},
	models.ProductPrice{},
	models.CRMUser{},
	models.OrderLine{},
	models.Import{},
	models.AffinityMatrix{},
	models.AffinityEntry{},
	models.ExpansionRun{},
	models.ExpansionSignal{},
	models.AccountMatch{},
	models.AccountARR{},
	models.AccountIssue{},
	models.ReadinessTally{},
	models.EduRelease{},
	models.EduInstitution{},
	models.EduDistrict{},
	models.EduPoverty{},
}

// withoutModel are the tables that no program reads row by row.
var withoutModel = []string{"goose_db_version", "sync_seen", "import_rows", "expansion_totals"}

// withoutTable are the structs of models that are no rows: parts of rows, and values.
var withoutTable = []string{"Canonical", "FieldMapping", "FieldSource", "ProviderInfo", "RunWarning", "TargetField", "WorkHours"}

// conn opens a connection that ends with the test.
func conn(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	c, err := pgx.Connect(tb.Context(), url)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = c.Close(context.WithoutCancel(tb.Context())) })
	return c
}

// rows reads a query's rows into structs by position.
func rows[T any](tb testing.TB, c *pgx.Conn, sql string, args ...any) []T {
	tb.Helper()
	r, err := c.Query(tb.Context(), sql, args...)
	require.NoError(tb, err)
	out, err := pgx.CollectRows(r, pgx.RowToStructByPos[T])
	require.NoError(tb, err)
	return out
}

type column struct {
	Type    string
	NotNull bool
}

func columnsOf(tb testing.TB, c *pgx.Conn, table string) map[string]column {
	tb.Helper()
	out := map[string]column{}
	for _, r := range rows[struct {
		Name, Type string
		NotNull    bool
	}](tb, c, `SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`, table) {
		out[r.Name] = column{r.Type, r.NotNull}
	}
	return out
}

// fits lists the column types that a Go type may be stored in.
func fits(f *schema.Field) []string {
	if f.Serializer != nil && f.TagSettings["SERIALIZER"] != "" {
		return []string{"jsonb"}
	}
	if f.TagSettings["TYPE"] == "jsonb" {
		return []string{"jsonb"}
	}
	t := f.IndirectFieldType
	switch t.String() {
	case "uuid.UUID":
		return []string{"uuid"}
	case "time.Time":
		if f.TagSettings["TYPE"] == "date" {
			return []string{"date"}
		}
		return []string{"timestamp with time zone"}
	case "json.RawMessage":
		return []string{"jsonb"}
	case "models.StringArray":
		return []string{"text[]"}
	case "[]uint8":
		return []string{"bytea"}
	}
	switch t.Kind() {
	case reflect.String:
		return []string{"text", "character(3)"}
	case reflect.Bool:
		return []string{"boolean"}
	case reflect.Int, reflect.Int64:
		return []string{"bigint", "integer", "smallint"}
	case reflect.Int32:
		return []string{"integer", "smallint"}
	case reflect.Int16:
		return []string{"smallint"}
	case reflect.Float64:
		return []string{"double precision", "real", "numeric"}
	case reflect.Float32:
		return []string{"real"}
	}
	return nil
}

func TestModelsAgreeWithTheSchema(t *testing.T) {
	t.Parallel()
	c := conn(t, testkit.Database(t, testkit.Product(t)).Superuser)
	var cache sync.Map
	modelled := map[string]bool{}
	for _, m := range all {
		s, err := schema.Parse(m, &cache, schema.NamingStrategy{})
		require.NoError(t, err)
		modelled[strings.TrimPrefix(s.Table, "public.")] = true
		have := columnsOf(t, c, s.Table)
		for _, f := range s.Fields {
			if f.DBName == "" {
				continue
			}
			got, ok := have[f.DBName]
			require.True(t, ok, "%s.%s: the table %s has no column %s", s.Name, f.Name, s.Table, f.DBName)
			require.Contains(t, fits(f), got.Type, "%s.%s is a %s", s.Name, f.Name, f.FieldType)
			nullable := f.FieldType.Kind() == reflect.Pointer
			if nullable {
				require.False(t, got.NotNull, "%s.%s may be nil and its column may not be NULL", s.Name, f.Name)
			} else if k := f.FieldType.Kind(); k != reflect.Slice && k != reflect.Map && f.TagSettings["DEFAULT"] != "null" {
				require.True(t, got.NotNull, "%s.%s cannot hold NULL and its column may", s.Name, f.Name)
			}
			delete(have, f.DBName)
		}
		for name, left := range have {
			require.Fail(t, "column without a field", "%s.%s (%s) is not in models.%s", s.Table, name, left.Type, s.Name)
		}
	}
	for _, table := range tables(t, c) {
		name := strings.TrimPrefix(table, "public.")
		require.NotEqual(t, modelled[name], slices.Contains(withoutModel, name), "%s has neither a model nor a place among those without one, or both", table)
	}
}

// tables lists the product's tables with their schema.
func tables(tb testing.TB, c *pgx.Conn) []string {
	tb.Helper()
	var out []string
	for _, r := range rows[struct{ Name string }](tb, c, `SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%' ORDER BY 1`) {
		out = append(out, r.Name)
	}
	require.Greater(tb, len(out), 30)
	return out
}

// TestEveryModelIsCompared keeps the list above whole: a struct of models with a primary key is a table.
func TestEveryModelIsCompared(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range all {
		known[reflect.TypeOf(m).Name()] = true
	}
	pkgs, err := parser.ParseDir(token.NewFileSet(), "../models", nil, 0) //nolint:staticcheck // only names are wanted
	require.NoError(t, err)
	n := 0
	for _, file := range pkgs["models"].Files {
		for _, d := range file.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if _, ok := ts.Type.(*ast.StructType); !ok || !ts.Name.IsExported() {
					continue
				}
				n++
				require.NotEqual(t, known[ts.Name.Name], slices.Contains(withoutTable, ts.Name.Name), "models.%s: list it as a table or as something else", ts.Name.Name)
			}
		}
	}
	require.Greater(t, n, 30)
}

func TestMigrations(t *testing.T) {
	t.Parallel()

	// dump describes what migrations make: columns, indexes, constraints, policies and functions.
	dump := func(t *testing.T, url string) string {
		t.Helper()
		c := conn(t, url)
		var out strings.Builder
		for _, sql := range []string{
			`SELECT format('%s.%s %s %s %s', n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) FROM pg_attribute a
				JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v') AND a.attnum > 0
				AND NOT a.attisdropped AND n.nspname IN ('public', 'edu', 'lookup', 'tenancy') AND c.relname <> 'goose_db_version' ORDER BY 1`,
			`SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', 'edu') AND tablename <> 'goose_db_version' ORDER BY 1`,
			`SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace::regnamespace::text IN ('public', 'edu') AND conrelid <> 'goose_db_version'::regclass ORDER BY 1`,
			`SELECT format('%s %s %s %s %s', tablename, policyname, roles, qual, with_check) FROM pg_policies ORDER BY 1`,
			`SELECT format('%s %s %s', oid::regprocedure, proowner::regrole, proacl) FROM pg_proc WHERE pronamespace::regnamespace::text IN ('public', 'edu', 'lookup', 'tenancy') ORDER BY 1`,
			`SELECT format('%s.%s %s', n.nspname, relname, relacl) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname IN ('public', 'edu') AND relkind IN ('r', 'v') AND relname <> 'goose_db_version' ORDER BY 1`,
		} {
			for _, r := range rows[struct{ Line string }](t, c, sql) {
				fmt.Fprintln(&out, r.Line)
			}
		}
		return out.String()
	}

	t.Run("go up, all the way down, and up to the same schema", func(t *testing.T) {
		t.Parallel()
		db := testkit.Database(t, testkit.Product(t))
		want := dump(t, db.Superuser)
		require.NotEmpty(t, want)
		n, err := store.MigrateUp(t.Context(), db.Owner)
		require.NoError(t, err)
		require.Zero(t, n, "everything is applied")
		taken := 0
		for v := int64(1); v > 0; taken++ {
			v, err = store.MigrateDown(t.Context(), db.Owner)
			require.NoError(t, err)
		}
		status, err := store.MigrationsStatus(t.Context(), db.Owner)
		require.NoError(t, err)
		require.Len(t, status, taken-1)
		for _, m := range status {
			require.False(t, m.Applied, m.Name)
		}
		require.Empty(t, strings.TrimSpace(dump(t, db.Superuser)), "down leaves nothing")
		n, err = store.MigrateUp(t.Context(), db.Owner)
		require.NoError(t, err)
		require.Equal(t, taken-1, n)
		require.Equal(t, want, dump(t, db.Superuser))
	})

	t.Run("a program refuses a schema that is older, newer or missing", func(t *testing.T) {
		t.Parallel()
		db := testkit.Database(t, testkit.Product(t))
		st := testkit.OpenStore(t, db.App, 2)
		require.NoError(t, st.CheckSchema(t.Context()))

		db.Exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
		err := st.CheckSchema(t.Context())
		require.True(t, fault.Is(err, fault.Conflict))
		require.Contains(t, err.Error(), "newer than this program's")
		db.Exec(t, "DELETE FROM goose_db_version WHERE version_id = 99999")
		require.NoError(t, st.CheckSchema(t.Context()))

		_, err = store.MigrateDown(t.Context(), db.Owner)
		require.NoError(t, err)
		err = st.CheckSchema(t.Context())
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Contains(t, err.Error(), "revarch migrate up")

		empty := testkit.OpenStore(t, testkit.Database(t, testkit.Schema{}).Superuser, 2)
		err = empty.CheckSchema(t.Context())
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Contains(t, fault.Public(err), "revarch migrate up")
	})

	t.Run("are numbered without gaps and never edit what another made", func(t *testing.T) {
		t.Parallel()
		status, err := store.MigrationsStatus(t.Context(), testkit.Database(t, testkit.Product(t)).Owner)
		require.NoError(t, err)
		for i, m := range status {
			require.EqualValues(t, i+1, m.Version, m.Name)
			require.Regexp(t, `^\d{5}_[a-z_]+\.sql$`, m.Name[strings.LastIndex(m.Name, "/")+1:])
		}
	})
}
