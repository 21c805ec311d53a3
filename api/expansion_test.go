package api_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/models"
	"revarch/services/affinity"
	"revarch/services/affinity/affinitytest"
	"revarch/services/expansion"
	"revarch/services/governance"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/testkit"
)

// TestExpansion goes through the five operations of the interface and whitespace as a client does.
func TestExpansion(t *testing.T) {
	t.Parallel()
	s := setupLists(t)
	st := testkit.OpenStore(t, s.db.App, 6)
	cursors := paging.New([]byte("secret"))
	jobs := &api.Runs{Runs: runs.New(st, nil, nil, nil), Cursors: cursors}
	log := &governance.Service{Store: st, Clock: time.Now}
	matrices := &affinity.Service{Store: st, Runs: jobs.Runs, Clock: time.Now, Cursors: cursors}
	signals := &expansion.Service{Store: st, Runs: jobs.Runs, Log: log, Clock: time.Now, Cursors: cursors}
	server, err := api.New(s.id, log, api.Options{Cursors: cursors}, jobs, &api.Expansion{Affinity: matrices, Expansion: signals, Runs: jobs})
	require.NoError(t, err)
	s.web = server.Handler()
	affinitytest.Seed(t, s.db, s.org, affinitytest.Products(15), affinitytest.Market(3, 600, 15, 4))

	require.Equal(t, "not_computed", s.ok(http.StatusOK, http.MethodGet, "/api/expansion/affinity", "")["reason"])
	for path, run := range map[string]func(context.Context) error{
		"/api/expansion/affinity": func(ctx context.Context) error {
			_, err := matrices.Compute(ctx, s.org, models.NewID(), nil)
			return err
		},
		"/api/expansion/signals": nil,
	} {
		w := s.do(s.key, http.MethodPost, path, "")
		require.Equal(t, http.StatusAccepted, w.Code, w.Body.String())
		require.Contains(t, w.Header().Get("Location"), "/api/runs/")
		again := s.ok(http.StatusAccepted, http.MethodPost, path, "")
		require.Equal(t, true, again["already_running"])
		require.Equal(t, http.StatusForbidden, s.do(s.newKey(s.org, auth.ScopeRead, auth.ScopeWriteSafe), http.MethodPost, path, "").Code)
		if run != nil {
			require.NoError(t, run(t.Context()))
		}
	}
	_, err = signals.Generate(t.Context(), s.org, models.NewID(), nil)
	require.NoError(t, err)

	whole := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/affinity?include_zero=true", "")
	plain := s.do(s.key, http.MethodGet, "/api/expansion/affinity?include_zero=true", "")
	require.Empty(t, plain.Header().Get("Content-Encoding"))
	small := s.do(s.key, http.MethodGet, "/api/expansion/affinity?include_zero=true", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", small.Header().Get("Content-Encoding"))
	require.Less(t, small.Body.Len(), plain.Body.Len()/8)
	unpacked, err := gzip.NewReader(small.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, plain.Body.String(), string(text))
	require.Empty(t, s.do(s.key, http.MethodGet, "/api/expansion/affinity?limit=3", "", "Accept-Encoding", "gzip").Header().Get("Content-Encoding"), "not worth it")
	require.Len(t, whole["matrix"], 4*15*14)
	first := whole["matrix"].([]any)[0].(map[string]any)
	for name := range strings.FieldsSeq(`product_a product_b segment n n_a n_b n_ab support confidence lift leverage conviction jaccard phi chi_square p_value p_method
		q_value significant reason bundle lead_share cross_sell_probability computed_at run_id`) {
		require.Contains(t, first, name)
	}
	page := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/affinity?include_zero=true&limit=50", "")
	next := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/affinity?include_zero=true&limit=50&cursor="+page["next_cursor"].(string), "")
	require.Equal(t, whole["matrix"].([]any)[:100], append(page["matrix"].([]any), next["matrix"].([]any)...))
	for _, query := range []string{"segment=Huge", "limit=0", "min_lift=-1", "min_lift=x", "product_id=x", "color=red"} {
		require.Equal(t, http.StatusUnprocessableEntity, s.do(s.key, http.MethodGet, "/api/expansion/affinity?"+query, "").Code, query)
	}

	list := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/signals?limit=2", "")
	require.Contains(t, list, "kpi")
	x := list["signals"].([]any)[0].(map[string]any)
	id := x["id"].(string)
	patch := func(status int, body string) map[string]any {
		return s.ok(status, http.MethodPatch, "/api/expansion/signals", body)
	}
	moved := patch(http.StatusOK, `{"id":"`+id+`","status":"pitched","reason":"Asked","version":1}`)["signal"].(map[string]any)
	require.Equal(t, "pitched", moved["status"])
	require.Equal(t, "key", moved["status_changed_by"])
	require.Equal(t, "stale_version", patch(http.StatusPreconditionFailed, `{"id":"`+id+`","status":"won","version":1}`)["code"])
	patch(http.StatusUnprocessableEntity, `{"id":"`+id+`","status":"lost"}`)
	patch(http.StatusUnprocessableEntity, `{"id":"`+id+`","status":"won","extra":1}`)
	patch(http.StatusNotFound, `{"id":"`+models.NewID().String()+`","status":"won"}`)
	require.Equal(t, http.StatusForbidden, s.do(s.newKey(s.org, auth.ScopeRead), http.MethodPatch, "/api/expansion/signals", `{"id":"`+id+`","status":"won"}`).Code)
	pitched := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/signals?status=pitched", "")
	require.Len(t, pitched["signals"], 1)

	white := s.ok(http.StatusOK, http.MethodGet, "/api/expansion/whitespace?limit=5", "")
	require.Len(t, white["products"], 15)
	require.Len(t, white["accounts"], 5)
	require.NotEmpty(t, white["next_cursor"])
}
