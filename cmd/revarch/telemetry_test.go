package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

func TestTracesReachTheEndpointWithoutQueries(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var paths, names, services, texts []string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var got tracev1.ExportTraceServiceRequest
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		if err != nil || proto.Unmarshal(raw, &got) != nil {
			return
		}
		for _, rs := range got.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				services = append(services, a.Key+"="+a.Value.GetStringValue())
			}
			for _, ss := range rs.ScopeSpans {
				for _, span := range ss.Spans {
					names, texts = append(names, span.Name), append(texts, span.String())
				}
			}
		}
	}))
	t.Cleanup(collector.Close)

	tel, err := newTelemetry(t.Context(), "api", collector.URL)
	require.NoError(t, err)
	r := gin.New()
	r.Use(tel.middleware()...)
	r.GET("/api/connectors/:provider/callback", func(c *gin.Context) { c.Status(http.StatusFound) })
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/connectors/crm_a/callback?code=one-time-code&state=one-time-state", http.NoBody))
	require.Equal(t, http.StatusFound, w.Code)
	tel.shutdown(t.Context())

	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"/v1/traces"}, paths)
	require.Contains(t, services, "service.name=revarch-api")
	require.Equal(t, []string{"GET /api/connectors/:provider/callback"}, names)
	require.NotContains(t, strings.Join(texts, "\n"), "one-time", "codes stay out of traces")
}
