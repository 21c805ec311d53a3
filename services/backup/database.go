package backup

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"revarch/fault"
)

// connect opens a connection that acts as the owner of the schema.
func connect(ctx context.Context, ownerURL string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the owner's database URL cannot be parsed") // the cause holds the password
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the database does not answer")
	}
	if _, err := conn.Exec(ctx, "SET ROLE revarch_owner"); err != nil {
		_ = conn.Close(ctx)
		return nil, fault.Wrap(err, fault.Denied, "the owner's database URL must be that of revarch_owner, or of a role that may become it")
	}
	return conn, nil
}

func serverMajor(ctx context.Context, conn *pgx.Conn) (int, error) {
	var major int
	err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&major)
	return major, err
}

// hiddenTables lists tables whose rows a policy could keep from the owner: pg_dump would leave them out in silence.
const hiddenTables = `
	SELECT c.oid::regclass::text FROM pg_class c
	WHERE c.relrowsecurity AND c.relkind IN ('r', 'p') AND (
		NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND p.polcmd IN ('*', 'r')
			AND 'revarch_owner'::regrole = ANY (p.polroles) AND pg_get_expr(p.polqual, p.polrelid) = 'true')
		OR EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND NOT p.polpermissive))
	ORDER BY 1`

// foreignObjects lists what in the database is neither ours nor PostgreSQL's.
const foreignObjects = `
	SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
		AND c.relowner NOT IN (SELECT oid FROM pg_roles WHERE rolname IN ('revarch_owner', 'revarch_lookup'))
	ORDER BY 1`

// ourObjects lists what an empty database does not have.
const ourObjects = `
	SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
	UNION ALL
	SELECT 'schema ' || quote_ident(nspname) FROM pg_namespace
	WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public')
	ORDER BY 1`

func names(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// few shortens a list for people.
func few(all []string) string {
	if len(all) > 5 {
		return strings.Join(all[:5], ", ") + fmt.Sprintf(" and %d more", len(all)-5)
	}
	return strings.Join(all, ", ")
}

// clear drops every schema of ours and makes an empty public one, which is what a new database has.
func clearDatabase(ctx context.Context, conn *pgx.Conn) error {
	foreign, err := names(ctx, conn, foreignObjects)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		return fault.New(fault.Conflict, "the database also holds what is not ours (%s): restore into a database of its own", few(foreign))
	}
	schemas, err := names(ctx, conn, "SELECT quote_ident(nspname) FROM pg_namespace WHERE nspowner = 'revarch_owner'::regrole ORDER BY 1")
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, s := range schemas {
			if _, err := tx.Exec(ctx, "DROP SCHEMA "+s+" CASCADE"); err != nil {
				return err
			}
		}
		for _, sql := range []string{"CREATE SCHEMA IF NOT EXISTS public", "COMMENT ON SCHEMA public IS 'standard public schema'", "GRANT USAGE ON SCHEMA public TO PUBLIC"} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// giveFunctions hands the look-up functions back to the role that they run as. pg_restore cannot: as long as privileges
// are not restored, which it does last, that role may own nothing in their schema.
const giveFunctions = `
	DO $$ DECLARE f regprocedure; BEGIN
		FOR f IN SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'lookup' LOOP
			EXECUTE format('ALTER FUNCTION %s OWNER TO revarch_lookup', f);
		END LOOP;
	END $$`
