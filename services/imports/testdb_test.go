package imports_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/imports"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/testkit"
)

// system is a database with one organization and the service in the worker's role; nothing runs workflows.
type system struct {
	tb  testing.TB
	db  testkit.DB
	svc *imports.Service
	p   auth.Principal
}

func setup(tb testing.TB) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb))}
	st := testkit.OpenStore(tb, s.db.Worker, 4)
	s.svc = &imports.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: runs.New(st, nil, nil, nil), Log: &governance.Service{Store: st, Clock: time.Now}}
	s.p = s.member()
	return s
}

// member makes an organization and returns its admin.
func (s *system) member() auth.Principal {
	s.tb.Helper()
	return auth.Principal{OrgID: s.db.NewOrg(s.tb, "Org"), Kind: "user", ID: models.NewID(), Label: "ada@example.com", Role: auth.Admin, Surface: "rest"}
}

// start stores a file with its run and returns what its steps are called with.
func (s *system) start(resource, body string) (models.Run, imports.RunInput) {
	s.tb.Helper()
	run, already, err := s.svc.Import(s.tb.Context(), s.p, imports.ImportInput{Resource: resource, Body: strings.NewReader(body)})
	require.NoError(s.tb, err)
	require.False(s.tb, already)
	return run, input(s.tb, run)
}

// load goes through the steps of an import and ends its run.
func (s *system) load(resource, body string) (imports.Merged, error) {
	s.tb.Helper()
	ctx := s.tb.Context()
	run, in := s.start(resource, body)
	defer func() {
		require.NoError(s.tb, s.svc.Close(context.WithoutCancel(ctx), s.p.OrgID, run.ID, in))
		require.NoError(s.tb, s.svc.Runs.Finish(context.WithoutCancel(ctx), s.p.OrgID, run.ID, runs.End{Status: models.RunSucceeded}))
	}()
	if _, err := s.svc.Stage(ctx, s.p.OrgID, run.ID, in, nil); err != nil {
		return imports.Merged{}, err
	}
	return s.svc.Merge(ctx, s.p.OrgID, run.ID, in)
}

func (s *system) loaded(resource, body string) imports.Merged {
	s.tb.Helper()
	got, err := s.load(resource, body)
	require.NoError(s.tb, err)
	require.Equal(s.tb, got.Read, got.Created+got.Updated+got.Unchanged)
	return got
}

func (s *system) dry(resource, body string) (imports.Report, error) {
	s.tb.Helper()
	return s.svc.DryRun(s.tb.Context(), s.p, imports.ImportInput{Resource: resource, Body: strings.NewReader(body)})
}

// empty checks that nothing at all is stored for the organization.
func (s *system) empty() {
	s.tb.Helper()
	for _, table := range []string{"accounts", "products", "account_products", "record_links", "subscription_lines", "feature_facts", "import_rows", "imports", "uploads", "upload_chunks"} {
		require.Zero(s.tb, s.db.Count(s.tb, "SELECT count(*) FROM "+table+" WHERE org_id = $1", s.p.OrgID), table)
	}
}
