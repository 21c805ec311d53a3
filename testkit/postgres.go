package testkit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"revarch/devstack"
)

// The variables that cmd/testdb sets for the command it runs.
const (
	DatabaseVariable = "REVARCH_TEST_DATABASE_URL"     // the superuser's URL of a cluster that may be thrown away
	TemporalVariable = "REVARCH_TEST_TEMPORAL_ADDRESS" // host:port of a Temporal server with a namespace "default"
)

const howToRun = "run make test, or for some packages: go run ./testkit/cmd/testdb -- go test ./store/..."

// Passwords of the login roles in the test cluster. Roles belong to the cluster, so all tests share them.
func Passwords() devstack.Passwords {
	return devstack.Passwords{Owner: "owner-in-tests", App: "app-in-tests", Worker: "worker-in-tests"}
}

// Schema names a database schema and knows how to make it.
type Schema struct {
	Key   string                                              // changes whenever Apply would make something else
	Apply func(ctx context.Context, urls devstack.URLs) error // in an empty database; makes the roles with Passwords, too
}

// DB is a database that only one test uses.
type DB struct {
	devstack.URLs
	Name string
}

// Database clones the schema's template, which the first caller of any process makes, and drops the clone when the test
// ends. The zero Schema gives an empty database. Without a cluster to use, the test fails.
func Database(tb testing.TB, schema Schema) DB {
	tb.Helper()
	base := clusterURL(tb)
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	template := "template1"
	if schema.Apply != nil {
		var err error
		if template, err = ensureTemplate(ctx, base, schema); err != nil {
			tb.Fatalf("make template database: %v", err)
		}
	}
	name := "test_" + strings.ToLower(rand.Text()[:16])
	if err := clone(ctx, base, template, name); err != nil {
		tb.Fatalf("clone template database: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute)
		defer cancel()
		if err := onCluster(ctx, base, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
			return err
		}); err != nil {
			tb.Errorf("drop test database: %v", err)
		}
	})
	return DB{URLs: urlsFor(base, name), Name: name}
}

func clusterURL(tb testing.TB) *url.URL {
	tb.Helper()
	value := os.Getenv(DatabaseVariable)
	if value == "" {
		tb.Fatalf("%s is not set: %s", DatabaseVariable, howToRun)
	}
	base, err := url.Parse(value)
	if err != nil || base.User == nil {
		tb.Fatalf("%s is no database URL with a user", DatabaseVariable)
	}
	return base
}

func urlsFor(base *url.URL, database string) devstack.URLs {
	with := func(user *url.Userinfo) string {
		u := *base
		u.Path, u.User = "/"+database, user
		return u.String()
	}
	p := Passwords()
	return devstack.URLs{
		Superuser: with(base.User), Owner: with(url.UserPassword(devstack.OwnerRole, p.Owner)),
		App: with(url.UserPassword(devstack.AppRole, p.App)), Worker: with(url.UserPassword(devstack.WorkerRole, p.Worker)),
	}
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func onCluster(ctx context.Context, base *url.URL, fn func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, base.String())
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close(context.WithoutCancel(ctx)))
}

// ensureTemplate makes the schema's template once per cluster. The advisory lock is on the one database that all
// processes name in their variable: such locks hold within a database only, and Apply also makes roles, which belong to
// the whole cluster, so making two templates at once would fail on them.
func ensureTemplate(ctx context.Context, base *url.URL, schema Schema) (string, error) {
	sum := sha256.Sum256([]byte(schema.Key))
	name := "template_" + hex.EncodeToString(sum[:8])
	return name, onCluster(ctx, base, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('testkit.template'))"); err != nil {
			return err
		}
		var finished bool
		err := conn.QueryRow(ctx, "SELECT datistemplate FROM pg_database WHERE datname = $1", name).Scan(&finished)
		if finished {
			return nil
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		// What a process that died half way left is no template yet.
		for _, sql := range []string{"DROP DATABASE IF EXISTS " + quote(name) + " WITH (FORCE)", "CREATE DATABASE " + quote(name)} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		if err := schema.Apply(ctx, urlsFor(base, name)); err != nil {
			return fmt.Errorf("apply schema: %w", err)
		}
		// Nobody may connect any more: a template in use cannot be cloned.
		_, err = conn.Exec(ctx, "ALTER DATABASE "+quote(name)+" WITH ALLOW_CONNECTIONS false IS_TEMPLATE true")
		if err == nil {
			_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
		}
		return err
	})
}

// clone copies a database with its owner, its privileges and its settings, which CREATE DATABASE leaves behind.
func clone(ctx context.Context, base *url.URL, template, name string) error {
	return onCluster(ctx, base, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template)); err != nil {
			return err
		}
		if template == "template1" {
			return nil
		}
		_, err := conn.Exec(ctx, `UPDATE pg_database SET datdba = t.datdba, datacl = t.datacl
			FROM (SELECT datdba, datacl FROM pg_database WHERE datname = $1) t WHERE datname = $2`, template, name)
		if err == nil {
			_, err = conn.Exec(ctx, `INSERT INTO pg_db_role_setting (setdatabase, setrole, setconfig)
				SELECT (SELECT oid FROM pg_database WHERE datname = $2), s.setrole, s.setconfig
				FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = $1`, template, name)
		}
		return err
	})
}
