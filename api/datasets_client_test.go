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

	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/services/datasets/datasetstest"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/testkit"
)

// work carries out ingestions as the worker does, in its role, until the test ends.
func (s *datasetsAPI) work(t *testing.T) {
	t.Helper()
	st := testkit.OpenStore(t, s.db.Worker, 8)
	svc := &datasets.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: runs.New(st, nil, nil, nil)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			page, err := svc.Runs.List(ctx, s.platform, runs.ListInput{Status: []models.RunStatus{models.RunQueued}})
			if err != nil {
				continue
			}
			for _, run := range page.Runs {
				_, _ = datasetstest.Carry(ctx, svc, run) // the run's row has the failure
			}
		}
	}()
}

func TestClient(t *testing.T) {
	t.Parallel()
	s := newDatasetsAPI(t)
	s.work(t)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "census"), 0o700))
	hd, err := os.ReadFile(filepath.Join("..", "datasets", "testdata", "hd2023.csv"))
	require.NoError(t, err)
	saipe, err := os.ReadFile(filepath.Join("..", "datasets", "testdata", "ussd23.xls"))
	require.NoError(t, err)
	for name, data := range map[string][]byte{"hd2023.csv": hd, "census/ussd23.xls": saipe, "readme.txt": []byte("hello")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	var out bytes.Buffer
	client := &datasets.Client{BaseURL: s.url, Key: s.operator, Out: &out}
	partial := datasets.SendOptions{Partial: true}

	require.NoError(t, client.Send(t.Context(), dir, partial))
	require.Regexp(t, `loaded   .*ussd23.xls: saipe_districts/SAIPE-2023, 4 rows, 0 that could not be used\n`, out.String())
	require.Regexp(t, `loaded   .*hd2023.csv: ipeds_hd/HD2023, 4 rows, 0 that could not be used\n`, out.String())
	require.Regexp(t, `skipped  .*readme.txt: `, out.String())

	out.Reset()
	require.NoError(t, client.List(t.Context()))
	require.Regexp(t, `ipeds_hd +HD2023 +provisional +partial +current +4 +0 +hd2023.csv\n`, out.String())
	require.Regexp(t, `ccd_lea_directory +- +- +- +nothing loaded`, out.String())

	out.Reset()
	err = client.Send(t.Context(), filepath.Join(dir, "hd2023.csv"), datasets.SendOptions{}) // as a whole it is too small
	require.Equal(t, fault.BadFile, fault.CodeOf(err))
	require.Contains(t, out.String(), "at least 5000 expected")

	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/data/hd2022.csv", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(hd) })
	mux.Handle("/old/hd2022.csv", http.RedirectHandler("/data/hd2022.csv", http.StatusFound))
	mux.Handle("/away/hd2022.csv", http.RedirectHandler(elsewhere.URL, http.StatusFound))
	publisher := httptest.NewServer(mux)
	t.Cleanup(publisher.Close)
	out.Reset()
	require.NoError(t, client.Send(t.Context(), publisher.URL+"/old/hd2022.csv", partial))
	require.Contains(t, out.String(), "ipeds_hd/HD2022, 4 rows")
	for target, says := range map[string]string{
		publisher.URL + "/away/hd2022.csv": "redirects to another host",
		publisher.URL + "/none.csv":        "404",
		"ftp://example.org/hd2022.csv":     "only http and https",
		filepath.Join(dir, "missing.csv"):  "no file or folder",
		t.TempDir():                        "is a supported dataset",
	} {
		require.ErrorContains(t, client.Send(t.Context(), target, partial), says)
	}
	client.Key = s.tenants
	require.Equal(t, fault.Denied, fault.CodeOf(client.Send(t.Context(), filepath.Join(dir, "hd2023.csv"), partial)))
}
