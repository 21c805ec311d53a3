package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/config"
	"revarch/services/vault"
	"revarch/testkit"
)

// find returns the findings of one check.
func (d *doctor) find(check string) (out []finding) {
	for _, f := range d.findings {
		if f.Check == check {
			out = append(out, f)
		}
	}
	return out
}

func problems(all []finding) (n int) {
	for _, f := range all {
		if f.Verdict == problem {
			n++
		}
	}
	return n
}

func TestDoctorDatabase(t *testing.T) {
	t.Parallel()
	patient := func(t *testing.T) (*doctor, testkit.DB) {
		t.Helper()
		db := testkit.Database(t, testkit.Product(t))
		return &doctor{cfg: config.Config{DatabaseURL: db.App, DatabaseOwnerURL: db.Owner, DatabaseWorkerURL: db.Worker}}, db
	}

	t.Run("a sound database has nothing to mend", func(t *testing.T) {
		t.Parallel()
		d, _ := patient(t)
		d.database(t.Context())
		require.Zero(t, problems(d.findings), d.findings)
		require.Len(t, d.find("roles"), 3)
		for _, check := range []string{"schema", "tenancy", "clock"} {
			require.Len(t, d.find(check), 1, check)
		}
	})

	t.Run("an older schema names the command", func(t *testing.T) {
		t.Parallel()
		d, db := patient(t)
		db.Exec(t, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		d.database(t.Context())
		require.Equal(t, 1, problems(d.find("schema")))
		require.Equal(t, "revarch migrate up", d.find("schema")[0].Mend)
	})

	t.Run("a table without forced policies is named", func(t *testing.T) {
		t.Parallel()
		d, db := patient(t)
		db.Exec(t, "ALTER TABLE accounts NO FORCE ROW LEVEL SECURITY")
		d.database(t.Context())
		require.Equal(t, 1, problems(d.find("tenancy")))
		require.Contains(t, d.find("tenancy")[0].Detail, "accounts")
	})

	t.Run("the API on a role that looks past policies is a problem", func(t *testing.T) {
		t.Parallel()
		d, db := patient(t)
		d.cfg.DatabaseURL = db.Superuser
		d.database(t.Context())
		require.Equal(t, 1, problems(d.find("roles")))
	})

	t.Run("a wrong password is told without the password", func(t *testing.T) {
		t.Parallel()
		d, _ := patient(t)
		d.cfg.DatabaseWorkerURL = "postgres://revarch_worker:hunter2@127.0.0.1:1/none"
		d.database(t.Context())
		require.Equal(t, 1, problems(d.find("database")))
		require.NotContains(t, d.find("database")[0].Detail, "hunter2")
	})

	t.Run("an empty database lacks its schema", func(t *testing.T) {
		t.Parallel()
		db := testkit.Database(t, testkit.Schema{})
		d := &doctor{cfg: config.Config{DatabaseURL: db.App, DatabaseOwnerURL: db.Owner, DatabaseWorkerURL: db.Worker}}
		d.database(t.Context())
		require.Equal(t, "revarch migrate up", d.find("schema")[0].Mend)
	})
}

func TestDoctorTemporal(t *testing.T) {
	t.Parallel()
	address := testkit.TemporalAddress(t)

	t.Run("a namespace with its search attributes is sound", func(t *testing.T) {
		t.Parallel()
		d := &doctor{cfg: config.Config{TemporalAddress: address, TemporalNamespace: "default"}}
		d.engine(t.Context())
		require.Zero(t, problems(d.findings), d.findings)
	})

	t.Run("a missing namespace names the command that makes it", func(t *testing.T) {
		t.Parallel()
		d := &doctor{cfg: config.Config{TemporalAddress: address, TemporalNamespace: "nowhere"}}
		d.engine(t.Context())
		require.Equal(t, 1, problems(d.findings))
		require.Contains(t, d.findings[0].Mend, "namespace create")
	})

	t.Run("no server is a problem", func(t *testing.T) {
		t.Parallel()
		d := &doctor{cfg: config.Config{TemporalAddress: "127.0.0.1:1", TemporalNamespace: "default"}}
		d.engine(t.Context())
		require.Equal(t, 1, problems(d.findings))
	})
}

func TestDoctorKeyset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	d := &doctor{cfg: config.Config{KeysetPath: path, DatabaseURL: "set"}}
	d.keyset()
	require.Zero(t, problems(d.findings))
	require.NoFileExists(t, path, "looking makes nothing")
	_, err := vault.Open(path)
	require.NoError(t, err)
	d.keyset()
	require.Zero(t, problems(d.findings))
	require.NoError(t, os.Chmod(path, 0o644))
	d.keyset()
	require.Equal(t, 1, problems(d.findings))
}

func TestDoctorPrint(t *testing.T) {
	t.Parallel()
	d := &doctor{}
	d.ok("one", "fine")
	var text bytes.Buffer
	require.NoError(t, d.print(&text, false))
	require.Equal(t, "ok  one  fine\n", text.String())
	d.problem("two", "broken", "mend it")
	require.ErrorContains(t, d.print(&text, false), "1 problem")
	require.Contains(t, text.String(), "-> mend it")
	var out bytes.Buffer
	require.Error(t, d.print(&out, true))
	var got struct {
		OK       bool      `json:"ok"`
		Findings []finding `json:"findings"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.False(t, got.OK)
	require.Equal(t, d.findings, got.Findings)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	require.NoError(t, answers(t.Context(), srv.URL))
	status = http.StatusServiceUnavailable
	require.ErrorContains(t, answers(t.Context(), srv.URL), "503")
	srv.Close()
	require.Error(t, answers(t.Context(), srv.URL))
}
