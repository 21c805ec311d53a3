package datasets_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/services/governance"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/store"
	"revarch/testkit"
)

// system is a database with the platform's organization, past which the test looks as the superuser.
type system struct {
	tb       testing.TB
	db       testkit.DB
	store    *store.Store
	svc      *datasets.Service
	operator auth.Principal
}

func setup(tb testing.TB) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb))}
	s.store = testkit.OpenStore(tb, s.db.Worker, 8)
	org := models.NewID()
	s.db.Exec(tb, "INSERT INTO orgs (id, name, is_system) VALUES ($1, 'Platform', true)", org)
	s.operator = auth.Principal{OrgID: org, Kind: "user", ID: models.NewID(), Label: "op@example.com", Role: auth.Operator, System: true, Surface: "rest"}
	s.svc = &datasets.Service{
		Store: s.store, Uploads: &uploads.Service{Store: s.store}, Runs: runs.New(s.store, nil, nil, nil),
		Log: &governance.Service{Store: s.store, Clock: time.Now},
	}
	return s
}

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "datasets", "testdata", name))
	require.NoError(tb, err)
	return b
}

func gzipped(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(tb, err)
	require.NoError(tb, z.Close())
	return out.Bytes()
}

// file is something to load.
type file struct {
	dataset, name string
	data          []byte
	year          int
	release       string
	partial       bool
}

// start takes a file in; its run stays queued, since nothing runs workflows here.
func (s *system) start(f file) (models.Run, error) {
	s.tb.Helper()
	if f.dataset == "" {
		f.dataset = datasets.Auto
	}
	run, already, err := s.svc.Ingest(s.tb.Context(), s.operator, datasets.IngestInput{
		Dataset: f.dataset, Name: f.name, Year: f.year,
		Release: f.release, Partial: f.partial, Body: bytes.NewReader(f.data),
	})
	require.False(s.tb, already)
	return run, err
}

// loaded is what the steps of an ingestion answered.
type loaded struct {
	run models.Run
	in  datasets.RunInput
	reg datasets.Registered
	pub datasets.Published
	err error
}

// load goes through all steps of an ingestion, as its workflow does.
func (s *system) load(f file) (l loaded) {
	s.tb.Helper()
	l.run, l.err = s.start(f)
	require.NoError(s.tb, l.err)
	l.in = inputOf(s.tb, l.run)
	org, ctx := s.operator.OrgID, s.tb.Context()
	if l.reg, l.err = s.svc.Register(ctx, org, l.run.ID, l.in); l.err == nil && !l.reg.AlreadyLoaded {
		if _, l.err = s.svc.Load(ctx, org, l.run.ID, l.reg.ReleaseID, l.in, nil); l.err == nil {
			l.pub, l.err = s.svc.Publish(ctx, org, l.reg.ReleaseID)
		}
	}
	s.end(l)
	return l
}

func (s *system) end(l loaded) {
	s.tb.Helper()
	failure, status := "", models.RunSucceeded
	if l.err != nil {
		failure, status = l.err.Error(), models.RunFailed
	}
	require.NoError(s.tb, s.svc.Close(s.tb.Context(), s.operator.OrgID, l.run.ID, l.in, failure))
	require.NoError(s.tb, s.svc.Runs.Finish(s.tb.Context(), s.operator.OrgID, l.run.ID, runs.End{Status: status}))
}

func (s *system) count(sql string, args ...any) int64 {
	s.tb.Helper()
	return s.db.Count(s.tb, sql, args...)
}

func (s *system) rowsOf(release uuid.UUID) int64 {
	s.tb.Helper()
	return s.count(`SELECT (SELECT count(*) FROM edu.institutions WHERE release_id = $1) + (SELECT count(*) FROM edu.districts WHERE release_id = $1)
		+ (SELECT count(*) FROM edu.poverty WHERE release_id = $1)`, release)
}

// directory is a CCD directory of one state in the layout of a year, which may be loaded as a whole.
func directory(year, n int, name string) []byte {
	var b strings.Builder
	b.WriteString("SCHOOL_YEAR,FIPST,STATENAME,ST,LEA_NAME,STATE_AGENCY_NO,UNION,ST_LEAID,LEAID,MSTREET1,MCITY,MSTATE,MZIP,MZIP4,LSTREET1,LCITY,LSTATE,LZIP,LZIP4,PHONE,WEBSITE,SY_STATUS,SY_STATUS_TEXT,UPDATED_STATUS,EFFECTIVE_DATE,LEA_TYPE,LEA_TYPE_TEXT,CHARTER_LEA,GSLO,GSHI,LEVEL\r\n")
	for i := range n {
		fmt.Fprintf(&b, "%d-%d,48,TEXAS,TX,%s %d,01,,TX-%d,48%05d,1 Mill Rd,Old Mill,TX,75001,1,1 Mill Rd,Old Mill,TX,75001,1234,(256)555-0100,http://www.d%d.example,1,Open,1,08/29/2022,1,Regular public school district,NOTCHR,PK,12,Other\r\n",
			year-1, year, name, i, i, i, i)
	}
	return []byte(b.String())
}
