package records_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/devstack"
	"revarch/models"
	"revarch/services/records"
	"revarch/store"
	"revarch/testkit"
)

// migrated is the product's schema; its key follows the migrations.
func migrated(tb testing.TB) testkit.Schema {
	tb.Helper()
	h, dir := sha256.New(), os.DirFS("../../store/migrations")
	names, err := fs.Glob(dir, "*.sql")
	require.NoError(tb, err)
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		require.NoError(tb, err)
		h.Write(text)
	}
	return testkit.Schema{Key: "records-" + hex.EncodeToString(h.Sum(nil)[:8]), Apply: func(ctx context.Context, urls devstack.URLs) error {
		pw := testkit.Passwords()
		if err := store.EnsureRoles(ctx, urls.Superuser, store.RolePasswords{Owner: pw.Owner, App: pw.App, Worker: pw.Worker}); err != nil {
			return err
		}
		_, err := store.MigrateUp(ctx, urls.Owner)
		return err
	}}
}

// system is a database with one organization, seen through the service and past it.
type system struct {
	tb       testing.TB
	urls     devstack.URLs
	store    *store.Store
	svc      *records.Service
	admin    *pgx.Conn // sees every organization
	org, run uuid.UUID
	clock    *time.Time
}

func setup(tb testing.TB) *system {
	tb.Helper()
	db := testkit.Database(tb, migrated(tb))
	st, err := store.Open(tb.Context(), db.Worker, store.Options{MaxConns: 4})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = st.Close() })
	admin, err := pgx.Connect(tb.Context(), db.Superuser)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = admin.Close(context.WithoutCancel(tb.Context())) })
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := &system{tb: tb, urls: db.URLs, store: st, admin: admin, clock: &now}
	s.svc = &records.Service{Store: st, Clock: func() time.Time { return *s.clock }}
	s.org, s.run = s.newOrg()
	return s
}

// newOrg makes an organization with a run.
func (s *system) newOrg() (org, run uuid.UUID) {
	s.tb.Helper()
	org = models.NewID()
	s.exec("INSERT INTO orgs (id, name) VALUES ($1, 'Org')", org)
	return org, s.newRun(org)
}

func (s *system) newRun(org uuid.UUID) uuid.UUID {
	s.tb.Helper()
	run := models.NewID()
	s.exec("INSERT INTO runs (org_id, id, kind, subject, workflow_id, status) VALUES ($1, $2, 'connector_sync', 'crm_a', '', 'succeeded')", org, run)
	return run
}

func (s *system) exec(sql string, args ...any) {
	s.tb.Helper()
	_, err := s.admin.Exec(s.tb.Context(), sql, args...)
	require.NoError(s.tb, err)
}

// count returns a number that a query gives.
func (s *system) count(sql string, args ...any) int64 {
	s.tb.Helper()
	var n int64
	require.NoError(s.tb, s.admin.QueryRow(s.tb.Context(), sql, args...).Scan(&n))
	return n
}

// lines returns a query's rows as text, one line each.
func (s *system) lines(sql string, args ...any) []string {
	s.tb.Helper()
	rows, err := s.admin.Query(s.tb.Context(), sql, args...)
	require.NoError(s.tb, err)
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		v, err := row.Values()
		return strings.TrimSuffix(fmt.Sprintln(v...), "\n"), err
	})
	require.NoError(s.tb, err)
	return out
}

var objects = []connectors.ObjectSpec{
	{Name: "Account", Record: models.RecordAccount},
	{Name: "Contact", Record: models.RecordContact, After: []string{"Account"}},
	{Name: "Opportunity", Record: models.RecordOpportunity},
	{Name: "Task", Record: models.RecordActivity},
	{Name: "User"},
}

// entries pairs canonical with provider fields of an object, as target=source.
func entries(object string, pairs ...string) []models.FieldMapping {
	var out []models.FieldMapping
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, models.FieldMapping{Object: object, TargetField: pair[0], SourceField: pair[1]})
	}
	return out
}

func defaults() []models.FieldMapping {
	out := entries("Account", "name", "Name", "domain", "Website", "city", "BillingCity", "state", "BillingState", "status", "Type", "segment", "Segment__c",
		"territory", "Territory__c", "buyer_type", "Buyer_Type__c", "nces_id", "NCES_ID__c", "unitid", "UNITID__c", "enrollment", "Enrollment__c",
		"owner_external_id", "OwnerId", "parent_external_id", "ParentId", "arr_cents", "ARR__c", "renewal_date", "Renewal_Date__c", "seats", "Seats__c",
		"active_28d", "Active_Users_28d__c", "active_prior_28d", "Active_Users_Prior_28d__c", "products_owned", "Products_Owned__c",
		"products_live", "Products_Live__c", "tickets_open", "Open_Tickets__c", "p1_open", "Open_P1__c", "tickets_90d", "Tickets_90d__c",
		"csat_90d", "CSAT_90d__c", "overdue_days", "Overdue_Days__c", "onboarding_pct", "Onboarding_Pct__c", "goals_met_pct", "Goals_Met_Pct__c",
		"competitor", "Competitor__c")
	out = append(out, entries("Contact", "account_external_id", "AccountId", "first_name", "FirstName", "last_name", "LastName", "name", "Name", "email", "Email",
		"phone", "Phone", "title", "Title", "owner_external_id", "OwnerId", "champion", "Champion__c", "left_on", "Left_Date__c")...)
	out = append(out, entries("Opportunity", "account_external_id", "AccountId", "name", "Name", "stage", "StageName", "amount_cents", "Amount",
		"close_date", "CloseDate", "is_closed", "IsClosed", "is_won", "IsWon", "type", "Type", "forecast_category", "ForecastCategoryName",
		"probability", "Probability", "owner_external_id", "OwnerId", "stage_changed_at", "LastStageChangeDate", "created_on", "CreatedDate")...)
	return append(out, entries("Task", "account_external_id", "AccountId", "contact_external_id", "WhoId", "owner_external_id", "OwnerId", "type", "TaskSubtype",
		"subject", "Subject", "status", "Status", "on_date", "ActivityDate", "completed_at", "CompletedDateTime")...)
}

func compiled(tb testing.TB, object string) *records.Mapping {
	tb.Helper()
	m, err := records.Compile(objects, object, defaults())
	require.NoError(tb, err)
	return m
}

// live makes a record that changed at minute n.
func live(id string, n int, payload string) connectors.Record {
	return connectors.Record{ExternalID: id, UpdatedAt: minute(n), Payload: []byte(payload)}
}

// gone makes a deletion at minute n.
func gone(id string, n int) connectors.Record {
	return connectors.Record{ExternalID: id, UpdatedAt: minute(n), Deleted: true}
}

func minute(n int) time.Time { return time.Date(2026, 4, 1, 0, n, 0, 0, time.UTC) }

// page stores records of an object.
func (s *system) page(object string, recs ...connectors.Record) records.Result {
	s.tb.Helper()
	out, err := s.svc.StorePage(s.tb.Context(), s.input(object, recs...))
	require.NoError(s.tb, err)
	require.Equal(s.tb, out.Read, out.Created+out.Updated+out.Unchanged+out.Deleted+out.Failed, "counts add up")
	return out
}

func (s *system) input(object string, recs ...connectors.Record) records.StorePageInput {
	s.tb.Helper()
	return records.StorePageInput{
		OrgID: s.org, RunID: s.run, Provider: models.CRMA, Mapping: compiled(s.tb, object),
		Page: connectors.Page{Object: object, Records: recs, Next: "next", Total: -1},
	}
}
