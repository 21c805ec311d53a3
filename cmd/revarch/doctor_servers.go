package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"revarch/devstack"
	"revarch/store"
)

// patience is how long a server may take to answer, maxSkew how far its clock may be from ours.
const (
	patience = 5 * time.Second
	maxSkew  = 2 * time.Second
)

// database looks at the schema as its owner, and signs in as the two roles of the service.
func (d *doctor) database(ctx context.Context) {
	owner, app, worker := d.cfg.DatabaseOwnerURL, d.cfg.DatabaseURL, d.cfg.DatabaseWorkerURL
	mend := "start PostgreSQL, or correct the REVARCH_DATABASE_*URL variables"
	if d.ownDatabase() {
		if d.at.Running == 0 {
			d.note("database", "not running", "revarch up")
			return
		}
		owner, app, worker = d.at.URLs.Owner, d.at.URLs.App, d.at.URLs.Worker
		mend = "look into " + d.at.Data + "/log/postgres.log"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	for _, r := range []struct{ role, variable, url string }{
		{"revarch_owner", "REVARCH_DATABASE_OWNER_URL", owner}, {"revarch_app", "REVARCH_DATABASE_URL", app}, {"revarch_worker", "REVARCH_DATABASE_WORKER_URL", worker},
	} {
		if r.url == "" {
			d.problem("database", r.variable+" is not set", "set it to the URL of "+r.role)
			continue
		}
		conn, err := dial(ctx, r.url)
		if err != nil {
			d.problem("database", r.variable+": "+err.Error(), mend)
			continue
		}
		d.role(ctx, conn, r.role, r.variable)
		if r.role == "revarch_owner" {
			d.schema(ctx, conn)
			d.clock(ctx, conn)
		}
		_ = conn.Close(context.WithoutCancel(ctx))
	}
}

// dial never tells the URL, which holds a password.
func dial(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be parsed")
	}
	cfg.ConnectTimeout = patience
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s:%d does not let %s in: %w", cfg.Host, cfg.Port, cfg.User, err)
	}
	return conn, nil
}

// role checks that a URL has the role it should, and that the role may not look past policies.
func (d *doctor) role(ctx context.Context, conn *pgx.Conn, role, variable string) {
	var user string
	var member, super, bypass bool
	err := conn.QueryRow(ctx, `SELECT current_user, rolsuper, rolbypassrls,
		EXISTS (SELECT FROM pg_roles r WHERE r.rolname = $1 AND pg_has_role(current_user, r.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = current_user`, role).Scan(&user, &super, &bypass, &member)
	switch {
	case err != nil:
		d.problem("roles", err.Error(), "")
	case !member:
		d.problem("roles", variable+" signs in as "+user+", which is not "+role, "revarch migrate up creates the roles; then give them passwords with ALTER ROLE")
	case role != "revarch_owner" && (super || bypass):
		d.problem("roles", user+" may look past row-level security", "ALTER ROLE "+user+" NOSUPERUSER NOBYPASSRLS")
	default:
		d.ok("roles", "%s signs in as %s", variable, user)
	}
}

// unforced lists tables with org_id whose policies do not bind their owner.
const unforced = `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relkind IN ('r', 'p') AND a.attname = 'org_id' AND NOT a.attisdropped AND c.relnamespace = 'public'::regnamespace
		AND NOT (c.relrowsecurity AND c.relforcerowsecurity) ORDER BY 1`

func (d *doctor) schema(ctx context.Context, conn *pgx.Conn) {
	want, err := store.ProgramSchema()
	if err != nil {
		d.problem("schema", err.Error(), "")
		return
	}
	var have int64
	err = conn.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&have)
	switch {
	case err != nil:
		d.problem("schema", "there is none yet", "revarch migrate up")
		return
	case have < want:
		d.problem("schema", fmt.Sprintf("version %d, and this program needs %d", have, want), "revarch migrate up")
	case have > want:
		d.problem("schema", fmt.Sprintf("version %d, newer than this program's %d", have, want), "run the newer program")
	default:
		d.ok("schema", "version %d", have)
	}
	rows, err := conn.Query(ctx, unforced)
	if err != nil {
		d.problem("tenancy", err.Error(), "")
		return
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		d.problem("tenancy", err.Error(), "")
	case len(open) > 0:
		d.problem("tenancy", "row-level security is not forced on "+strings.Join(open, ", "), "SELECT tenancy.protect('TABLE'), as revarch_owner")
	default:
		d.ok("tenancy", "row-level security is forced on every table of organizations")
	}
}

func (d *doctor) clock(ctx context.Context, conn *pgx.Conn) {
	before := time.Now()
	var there time.Time
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		d.problem("clock", err.Error(), "")
		return
	}
	middle := before.Add(time.Since(before) / 2)
	if skew := there.Sub(middle).Abs(); skew > maxSkew {
		d.problem("clock", fmt.Sprintf("the database's clock is %s away from this machine's", skew.Round(time.Millisecond)), "let both follow NTP: timedatectl set-ntp true")
		return
	}
	d.ok("clock", "agrees with the database's")
}

// engine looks at Temporal: its namespace and the search attributes that operators find workflows by.
func (d *doctor) engine(ctx context.Context) {
	address, namespace := d.cfg.TemporalAddress, d.cfg.TemporalNamespace
	if d.ownEngine() {
		if d.at.Running == 0 {
			return // said with the database
		}
		address = d.at.TemporalAddress
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace})
	if err != nil {
		d.problem("Temporal server", address+" does not answer", "start it, or correct REVARCH_TEMPORAL_ADDRESS")
		return
	}
	defer c.Close()
	ns, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		d.problem("Temporal server", fmt.Sprintf("%s has no namespace %s", address, namespace),
			fmt.Sprintf("temporal operator namespace create --address %s --namespace %s --retention 30d", address, namespace))
		return
	}
	keep := ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	attrs, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		d.problem("Temporal server", err.Error(), "")
		return
	}
	var missing []string
	for _, name := range devstack.SearchAttributes() {
		if _, ok := attrs.GetCustomAttributes()[name]; !ok {
			missing = append(missing, "--name "+name+" --type Keyword")
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		d.problem("Temporal server", "search attributes are missing",
			fmt.Sprintf("temporal operator search-attribute create --address %s --namespace %s %s", address, namespace, strings.Join(missing, " ")))
		return
	}
	d.ok("Temporal server", "%s, namespace %s, keeps histories for %d days", address, namespace, int(keep.Hours()/24))
}
