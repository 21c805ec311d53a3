package api_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/matching"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/testkit"
)

// datasetsAPI is the REST surface of datasets and matches in the app's role, with a key of an operator and one of a
// tenant's admin. Nothing runs workflows: runs stay queued.
type datasetsAPI struct {
	db                testkit.DB
	url               string
	operator, tenants string
	platform          uuid.UUID
}

func newDatasetsAPI(t *testing.T) *datasetsAPI {
	t.Helper()
	s := &datasetsAPI{db: testkit.Database(t, testkit.Product(t))}
	st := testkit.OpenStore(t, s.db.App, 8)
	log := &governance.Service{Store: st, Clock: time.Now}
	r := runs.New(st, nil, nil, nil)
	surface := &api.Runs{Runs: r, StillValid: func(context.Context, auth.Principal) error { return nil }}
	server, err := api.New(&identity.Service{Store: st, Log: log, Clock: time.Now}, log, api.Options{Cursors: paging.New([]byte("secret"))}, surface,
		&api.Datasets{Datasets: &datasets.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: r, Log: log}, Runs: surface},
		&api.Matches{Matching: &matching.Service{Store: st, Runs: r, Log: log}, Runs: surface, Cursors: paging.New([]byte("secret"))})
	require.NoError(t, err)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	s.url = web.URL
	s.platform = models.NewID()
	s.db.Exec(t, "INSERT INTO orgs (id, name, is_system) VALUES ($1, 'Platform', true)", s.platform)
	tenant := s.db.NewOrg(t, "Tenant")
	s.operator, s.tenants = s.key(t, s.platform.String()), s.key(t, tenant.String())
	return s
}

func (s *datasetsAPI) key(t *testing.T, org string) string {
	t.Helper()
	secret := auth.NewKey()
	s.db.Exec(t, "INSERT INTO api_keys (org_id, id, name, prefix, hash, scopes) VALUES ($1, $2, 'key', $3, $4, '{read,write_safe,write_destructive,admin}')",
		org, models.NewID(), secret[:8], auth.HashSecret(secret))
	return secret
}

func (s *datasetsAPI) call(t *testing.T, key, method, path string, body []byte, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var out bytes.Buffer
	_, err = out.ReadFrom(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, out.String()
}

func TestDatasets(t *testing.T) {
	t.Parallel()
	s := newDatasetsAPI(t)
	hd, err := os.ReadFile(filepath.Join("..", "datasets", "testdata", "hd2023.csv"))
	require.NoError(t, err)

	for _, path := range []string{"/api/datasets", "/api/datasets/ipeds_hd"} {
		status, _ := s.call(t, s.tenants, http.MethodGet, path, nil)
		require.Equal(t, 403, status, path)
		status, body := s.call(t, s.operator, http.MethodGet, path, nil)
		require.Equal(t, 200, status, body)
		require.Contains(t, body, `"releases":[]`)
	}
	status, _ := s.call(t, s.tenants, http.MethodPost, "/api/datasets/auto/ingest?name=hd2023.csv", hd)
	require.Equal(t, 403, status)
	require.Zero(t, s.db.Count(t, "SELECT count(*) FROM uploads"))

	for _, c := range []struct {
		path, says string
		body       []byte
		status     int
		headers    []string
	}{
		{"/api/datasets/nothing/ingest", "known are ipeds_hd", hd, 404, nil},
		{"/api/datasets/saipe_districts/ingest?name=hd2023.csv", "is the IPEDS institution directory (HD) and not the", hd, 422, nil},
		{"/api/datasets/auto/ingest?name=hd2023.csv", "web page", []byte("<html></html>"), 422, nil},
		{"/api/datasets/auto/ingest", "which year", hd, 422, nil},
		{"/api/datasets/auto/ingest?year=x", "query.year", hd, 422, nil},
		{"/api/datasets/auto/ingest?file=x", "query.file", hd, 422, nil},
		{"/api/datasets/auto/ingest?name=hd2023.csv", "send the file itself as the body", hd, 422, []string{"Content-Type", "multipart/form-data; boundary=x"}},
		{"/api/datasets/auto/ingest", "empty", nil, 422, nil},
	} {
		status, body := s.call(t, s.operator, http.MethodPost, c.path, c.body, c.headers...)
		require.Equal(t, c.status, status, "%s: %s", c.path, body)
		require.Contains(t, body, c.says)
		require.Contains(t, body, `"code"`)
	}
	require.Zero(t, s.db.Count(t, "SELECT count(*) FROM uploads")+s.db.Count(t, "SELECT count(*) FROM runs"))

	status, body := s.call(t, s.operator, http.MethodPost, "/api/datasets/ipeds_hd/ingest", hd, "Content-Disposition", `attachment; filename="hd2023.csv"`, "Prefer", "wait=1")
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"subject":"ipeds_hd/HD2023"`)
	status, body = s.call(t, s.operator, http.MethodPost, "/api/datasets/auto/ingest?name=hd2023.csv", hd)
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"already_running":true`)
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM uploads WHERE complete"))
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM governance_log WHERE tool = 'ingest-dataset' AND outcome = 'ok'"))

	status, body = s.call(t, s.operator, http.MethodGet, "/openapi.json", nil)
	require.Equal(t, 200, status)
	require.Contains(t, body, `"/api/datasets/{dataset}/ingest"`)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	s := newDatasetsAPI(t)
	status, body := s.call(t, s.tenants, http.MethodGet, "/api/accounts/matches?status=ambiguous", nil)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"matches":[]`)
	status, body = s.call(t, s.tenants, http.MethodPost, "/api/accounts/"+models.NewID().String()+"/match", []byte(`{"official_id":"123456"}`), "Content-Type", "application/json")
	require.Equal(t, 404, status, body)
	status, body = s.call(t, s.tenants, http.MethodPost, "/api/accounts/matches", nil)
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"kind":"match_accounts"`)
}
