package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/services/accounts"
)

const (
	benchClients = 16
	benchRounds  = 5
)

// plain answers what get_account_health reads, without the protocol, the registry and its checks.
type plain struct{ accounts *accounts.Service }

// Register adds the route.
func (p plain) Register(_ huma.API, g *gin.RouterGroup) {
	g.GET("/plain/:id", func(c *gin.Context) {
		id, err := uuid.Parse(c.Param("id"))
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		_, scores, err := p.accounts.Health(c.Request.Context(), auth.From(c.Request.Context()), id)
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, scores)
	})
}

// BenchmarkToolCall compares get_account_health over MCP with a plain gin handler in the same process, behind the same
// middleware and with the same SQL: 16 clients, both in turns, so that a noisy moment hits both. It reports the tool's
// share of the handler's throughput and its median latency as a multiple of the handler's.
func BenchmarkToolCall(b *testing.B) {
	s := setup(b)
	org := s.tenant("Alpha", 50)
	_, secret := s.key(org.org, auth.ScopeRead)
	transport := &http.Transport{MaxIdleConnsPerHost: benchClients}
	b.Cleanup(transport.CloseIdleConnections)
	httpClient := &http.Client{Transport: transport}
	send := func(method, path, body string) error {
		req, err := http.NewRequestWithContext(b.Context(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := httpClient.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		answer, err := io.ReadAll(res.Body)
		if err == nil && (res.StatusCode != http.StatusOK || len(answer) < 1000 || strings.Contains(string(answer[:min(len(answer), 300)]), "isError")) {
			err = fmt.Errorf("status %d: %.300s", res.StatusCode, answer)
		}
		return err
	}
	mcpBody := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_account_health","arguments":{"account_id":"` + org.account + `"}}}`
	viaMCP := func() error { return send(http.MethodPost, "/api/mcp", mcpBody) }
	viaGin := func() error { return send(http.MethodGet, "/api/plain/"+org.account, "") }

	var mcpTotal, ginTotal load
	for b.Loop() {
		mcpTotal, ginTotal = load{}, load{}
		drive(b, viaMCP, 20) // warm up
		drive(b, viaGin, 20)
		for range benchRounds {
			ginTotal.add(drive(b, viaGin, 30))
			mcpTotal.add(drive(b, viaMCP, 30))
		}
	}
	b.ReportMetric(mcpTotal.perSecond(), "mcp/s")
	b.ReportMetric(ginTotal.perSecond(), "gin/s")
	b.ReportMetric(float64(mcpTotal.median().Microseconds())/1000, "mcp-p50-ms")
	b.ReportMetric(float64(ginTotal.median().Microseconds())/1000, "gin-p50-ms")
	b.ReportMetric(mcpTotal.perSecond()/ginTotal.perSecond(), "throughput-ratio")
	b.ReportMetric(float64(mcpTotal.median())/float64(ginTotal.median()), "p50-ratio")
}

// load is what was measured.
type load struct {
	took  time.Duration
	calls []time.Duration
}

func (l *load) add(m load) { l.took, l.calls = l.took+m.took, append(l.calls, m.calls...) }

func (l *load) perSecond() float64 { return float64(len(l.calls)) / l.took.Seconds() }

func (l *load) median() time.Duration {
	slices.Sort(l.calls)
	return l.calls[len(l.calls)/2]
}

// drive lets every client call n times.
func drive(b *testing.B, do func() error, n int) load {
	b.Helper()
	var wg sync.WaitGroup
	times, errs := make([][]time.Duration, benchClients), make([]error, benchClients)
	start := time.Now()
	for i := range benchClients {
		wg.Go(func() {
			for range n {
				t := time.Now()
				if err := do(); err != nil {
					errs[i] = err
					return
				}
				times[i] = append(times[i], time.Since(t))
			}
		})
	}
	wg.Wait()
	out := load{took: time.Since(start), calls: slices.Concat(times...)}
	for _, err := range errs {
		require.NoError(b, err)
	}
	return out
}
