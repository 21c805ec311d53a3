package datasets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/store"
	"revarch/testkit"
)

func inputOf(tb testing.TB, run models.Run) (in datasets.RunInput) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal(run.Input, &in))
	return in
}

func TestLoading(t *testing.T) {
	t.Parallel()

	t.Run("every format loads into its tables and its cells survive", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		for _, f := range []file{
			{name: "hd2023.csv", data: sample(t, "hd2023.csv"), partial: true},
			{name: "ussd23.xls", data: sample(t, "ussd23.xls"), partial: true},
			{name: "ag13prelim_tx.csv", data: gzipped(t, sample(t, "ag13prelim_tx.csv")), partial: true},
		} {
			l := s.load(f)
			require.NoError(t, l.err)
			require.True(t, l.pub.Current)
		}
		require.Equal(t, `1 "Old" Road|Peñasco|university mesa verde|15|C21BASIC|-105.69|36.17|t|UMV|Verde U`, s.line(`SELECT
			concat_ws('|', address, city, normalized_name, carnegie, carnegie_edition, longitude, latitude, degree_granting, alias)
			FROM edu.institutions WHERE unitid = '900101'`))
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.current_institutions WHERE closed AND closed_on = '2007-09-01' AND cy_active IS FALSE"))
		require.EqualValues(t, 4, s.count("SELECT count(*) FROM edu.current_poverty"))
		require.EqualValues(t, 93, s.count("SELECT children_in_poverty FROM edu.current_poverty WHERE leaid = '4899020'"))
		require.EqualValues(t, 6, s.count("SELECT count(*) FROM edu.current_districts")) // 4 of SAIPE, 2 of CCD
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.current_districts WHERE leaid = '4899002' AND charter AND city = 'SPUR' AND website = ''"))
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.current_districts WHERE leaid = '3599010' AND name = 'Cañon Verde Municipal Schools' AND city IS NULL"))
		require.Zero(t, s.count("SELECT count(*) FROM uploads")+s.count("SELECT count(*) FROM upload_chunks"))
	})

	t.Run("the same bytes are not loaded twice, and say so", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		f := file{name: "hd2022.csv", data: sample(t, "hd2022.csv"), partial: true}
		first := s.load(f)
		require.NoError(t, first.err)
		again := s.load(f)
		require.NoError(t, again.err)
		require.True(t, again.reg.AlreadyLoaded)
		require.Equal(t, first.reg.ReleaseID, again.reg.ReleaseID)
		require.Equal(t, "already_loaded", datasets.Warnings(again.reg, again.pub)[0].Code)
		require.EqualValues(t, 4, s.count("SELECT count(*) FROM edu.institutions"))
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.releases"))
	})

	t.Run("a newer or more final release becomes current and the old one stays queryable", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		old := s.load(file{name: "a.csv", data: directory(2022, 210, "Old")})
		require.NoError(t, old.err)
		for _, better := range []file{
			{name: "b.csv", data: directory(2023, 220, "Newer")},
			{name: "b.csv", data: directory(2023, 230, "Final"), release: "final"},
			{name: "b.csv", data: directory(2023, 231, "Final again"), release: "final"},
		} {
			l := s.load(better)
			require.NoError(t, l.err)
			require.True(t, l.pub.Current)
			require.Equal(t, s.rowsOf(l.reg.ReleaseID), s.count("SELECT count(*) FROM edu.current_districts"))
		}
		require.EqualValues(t, 210, s.rowsOf(old.reg.ReleaseID))
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.releases WHERE status = 'current'"))
		require.EqualValues(t, 3, s.count("SELECT count(*) FROM edu.releases WHERE status = 'superseded'"))
	})

	t.Run("an older, less final or partial release does not displace a better one", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		best := s.load(file{name: "a.csv", data: directory(2022, 210, "Best"), release: "final"})
		require.NoError(t, best.err)
		for _, worse := range []file{
			{name: "b.csv", data: directory(2021, 220, "Older"), release: "revised"},
			{name: "b.csv", data: directory(2022, 220, "Less final"), release: "preliminary"},
			{name: "b.csv", data: directory(2024, 5, "Newer part"), partial: true},
		} {
			l := s.load(worse)
			require.NoError(t, l.err)
			require.False(t, l.pub.Current)
			require.Equal(t, "not_current", datasets.Warnings(l.reg, l.pub)[0].Code)
			require.Positive(t, s.rowsOf(l.reg.ReleaseID))
		}
		require.EqualValues(t, 210, s.count("SELECT count(*) FROM edu.current_districts WHERE name LIKE 'Best %'"))
	})

	t.Run("a file that fails its checks leaves what was there and none of its rows", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		require.NoError(t, s.load(file{name: "a.csv", data: directory(2022, 210, "Good")}).err)
		twice := append(directory(2023, 210, "Doubled"), bytes.SplitAfter(directory(2023, 1, "Doubled"), []byte("\n"))[1]...)
		l := s.load(file{name: "b.csv", data: twice})
		require.Equal(t, fault.BadFile, fault.CodeOf(l.err))
		require.Contains(t, fault.Public(l.err), "repeat the key")
		require.Zero(t, s.rowsOf(l.reg.ReleaseID))
		require.EqualValues(t, 1, s.count("SELECT count(*) FROM edu.releases WHERE status = 'failed' AND failure <> ''"))
		require.EqualValues(t, 210, s.count("SELECT count(*) FROM edu.current_districts WHERE name LIKE 'Good %'"))
		require.NoError(t, s.load(file{name: "b.csv", data: directory(2023, 211, "Mended")}).err)
		require.EqualValues(t, 211, s.count("SELECT count(*) FROM edu.current_districts WHERE name LIKE 'Mended %'"))
	})

	t.Run("nobody sees a release before it is published, and an attempt cut off in the middle is repeated exactly", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run, err := s.start(file{name: "a.csv", data: directory(2022, 9000, "District")})
		require.NoError(t, err)
		l := loaded{run: run, in: inputOf(t, run)}
		l.reg, err = s.svc.Register(t.Context(), s.operator.OrgID, run.ID, l.in)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = s.svc.Load(ctx, s.operator.OrgID, run.ID, l.reg.ReleaseID, l.in, func(rows int64) {
			if rows >= 4000 {
				cancel()
			}
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, s.rowsOf(l.reg.ReleaseID))
		for range 2 { // the second time as if the answer of the first was lost
			got, err := s.svc.Load(t.Context(), s.operator.OrgID, run.ID, l.reg.ReleaseID, l.in, nil)
			require.NoError(t, err)
			require.Equal(t, datasets.Loaded{Rows: 9000}, got)
			require.EqualValues(t, 9000, s.rowsOf(l.reg.ReleaseID))
			require.Zero(t, s.count("SELECT count(*) FROM edu.current_districts"))
		}
		for range 2 {
			l.pub, err = s.svc.Publish(t.Context(), s.operator.OrgID, l.reg.ReleaseID)
			require.NoError(t, err)
			require.True(t, l.pub.Current)
		}
		s.end(l)
		require.EqualValues(t, 9000, s.count("SELECT count(*) FROM edu.current_districts"))
	})

	t.Run("what a dead run left half-loaded is removed by the next", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		run, err := s.start(file{name: "a.csv", data: directory(2022, 210, "Lost")})
		require.NoError(t, err)
		in := inputOf(t, run)
		reg, err := s.svc.Register(t.Context(), s.operator.OrgID, run.ID, in)
		require.NoError(t, err)
		_, err = s.svc.Load(t.Context(), s.operator.OrgID, run.ID, reg.ReleaseID, in, nil)
		require.NoError(t, err)
		s.db.Exec(t, "UPDATE runs SET status = 'failed' WHERE id = $1", run.ID)
		require.NoError(t, s.load(file{name: "a.csv", data: directory(2022, 211, "Next")}).err)
		require.Zero(t, s.rowsOf(reg.ReleaseID))
		_, err = s.svc.Publish(t.Context(), s.operator.OrgID, reg.ReleaseID)
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	whole := sample(t, "hd2023.csv")
	for name, c := range map[string]struct {
		file file
		says string
	}{
		"a web page":              {file{name: "hd2023.csv", data: []byte("<!DOCTYPE html><html><body>Not found</body></html>")}, "web page"},
		"another dataset":         {file{dataset: "saipe_districts", name: "hd2023.csv", data: whole}, "is the IPEDS institution directory (HD) and not the SAIPE"},
		"a file without a column": {file{name: "hd2023.csv", data: bytes.Replace(whole, []byte("INSTNM"), []byte("WHATEVER"), 1)}, "INSTNM"},
		"an empty file":           {file{name: "hd2023.csv"}, "empty"},
		"a file without a year":   {file{name: "institutions.csv", data: whole, partial: true}, "year"},
	} {
		t.Run(name+" is refused before anything is written", func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			_, err := s.start(c.file)
			require.Equal(t, fault.BadFile, fault.CodeOf(err), "%v", err)
			require.Contains(t, fault.Public(err), c.says)
			require.Zero(t, s.count("SELECT count(*) FROM edu.releases")+s.count("SELECT count(*) FROM runs")+s.count("SELECT count(*) FROM uploads"))
		})
	}

	t.Run("a gzip that was cut off keeps what was there", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		packed := gzipped(t, directory(2022, 9000, "District"))
		l := s.load(file{name: "b.csv.gz", data: packed[:len(packed)*3/4]})
		require.Equal(t, fault.BadFile, fault.CodeOf(l.err))
		require.Contains(t, fault.Public(l.err), "cut off")
		require.Zero(t, s.count("SELECT count(*) FROM edu.districts"))
	})

	t.Run("only the platform's operators may ingest or look", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		admin := auth.Principal{OrgID: s.db.NewOrg(t, "Tenant"), Kind: "user", ID: models.NewID(), Role: auth.Admin, Surface: "rest"}
		_, _, err := s.svc.Ingest(t.Context(), admin, datasets.IngestInput{Dataset: datasets.Auto, Name: "hd2023.csv", Body: bytes.NewReader(whole)})
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		_, err = s.svc.List(t.Context(), admin)
		require.Equal(t, fault.Denied, fault.CodeOf(err))
		require.Zero(t, s.count("SELECT count(*) FROM uploads"))
		app := testkit.OpenStore(t, s.db.App, 2)
		err = app.InOrg(t.Context(), s.operator.OrgID, func(tx *store.Tx) error {
			return tx.InsertRelease(&models.EduRelease{ID: models.NewID(), Dataset: "ipeds_hd"})
		})
		require.ErrorContains(t, err, "permission denied")
	})

	t.Run("a sender that stops in the middle leaves nothing", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		broken := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), &failing{})
		_, _, err := s.svc.Ingest(t.Context(), s.operator, datasets.IngestInput{Dataset: datasets.Auto, Name: "hd2023.csv", Body: broken})
		require.Equal(t, fault.Unavailable, fault.CodeOf(err))
		require.Zero(t, s.count("SELECT count(*) FROM uploads")+s.count("SELECT count(*) FROM upload_chunks"))
	})
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRoster(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.NoError(t, s.load(file{name: "ussd23.xls", data: sample(t, "ussd23.xls"), partial: true}).err)
	require.NoError(t, s.load(file{name: "hd2023.csv", data: sample(t, "hd2023.csv"), partial: true}).err)
	before, err := s.svc.Current(t.Context())
	require.NoError(t, err)
	require.Len(t, before, 2)
	require.NoError(t, s.load(file{name: "hd2024.csv", data: sample(t, "hd2023.csv"), year: 2025, partial: true}).err)
	after, err := s.svc.Current(t.Context())
	require.NoError(t, err)
	require.Len(t, after, 2)
	require.NotEqual(t, before, after, "another release is in force")
	first, err := s.svc.Roster(t.Context(), 3, 10, 7)
	require.NoError(t, err)
	again, err := s.svc.Roster(t.Context(), 3, 10, 7)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, first, 5) // three districts; of four institutions one closed and one is an office
	require.Equal(t, "higher_ed", first[3].Kind, "a buyer type, as the sandbox takes it")
	for _, e := range first[:3] {
		require.Equal(t, datasets.KindDistrict, e.Kind)
		require.Positive(t, e.Enrollment)
		require.Len(t, e.State, 2)
	}
}

func TestBetterIsATotalOrder(t *testing.T) {
	t.Parallel()
	at := time.Now()
	national := models.EduRelease{Scope: models.ScopeNational, VintageYear: 2020, LoadedAt: &at}
	newerState := models.EduRelease{Scope: models.ScopeState, VintageYear: 2024}
	require.True(t, national.Better(newerState))
	require.False(t, newerState.Better(national))
	require.True(t, models.EduRelease{VintageYear: 2020, Token: "1b"}.Better(models.EduRelease{VintageYear: 2020, Token: "1a"}))
	require.True(t, national.Better(national))
}
