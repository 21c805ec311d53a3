package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/semconv/v1.26.0"
	"go.temporal.io/sdk/client"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// telemetry is a process's metrics, on a listener of their own and without organization labels, and its traces when an
// endpoint is configured.
type telemetry struct {
	process  string
	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	tracers  *sdktrace.TracerProvider // nil: no endpoint
	requests *prometheus.HistogramVec
	rows     *prometheus.CounterVec
}

func newTelemetry(ctx context.Context, process, otlpEndpoint string) (*telemetry, error) {
	t := &telemetry{process: process, registry: prometheus.NewRegistry()}
	exporter, err := otelprom.New(otelprom.WithRegisterer(t.registry))
	if err != nil {
		return nil, fmt.Errorf("make metrics exporter: %w", err)
	}
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	t.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "revarch_http_request_duration_seconds",
		Help: "Time to answer a request.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
	}, []string{"method", "route", "status"})
	t.rows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "revarch_sync_rows_total",
		Help: "Records that syncs took, by what became of them.",
	}, []string{"provider", "outcome"})
	t.registry.MustRegister(t.requests, t.rows, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if otlpEndpoint != "" {
		base := strings.TrimSuffix(strings.TrimSuffix(otlpEndpoint, "/"), "/v1/traces")
		exp, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"))
		if err != nil {
			return nil, fmt.Errorf("make trace exporter: %w", err)
		}
		res := resource.NewSchemaless(semconv.ServiceName("revarch-"+process), semconv.ServiceVersion(version))
		t.tracers = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exp), sdktrace.WithResource(res))
		otel.SetTracerProvider(t.tracers)
		otel.SetTextMapPropagator(propagation.TraceContext{})
	}
	return t, nil
}

// watchPool publishes the state of the database pool.
func (t *telemetry) watchPool(stats func() sql.DBStats) {
	gauge := func(name, help string, value func(sql.DBStats) float64) {
		t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "revarch_db_" + name, Help: help},
			func() float64 { return value(stats()) }))
	}
	gauge("connections_open", "Open connections.", func(s sql.DBStats) float64 { return float64(s.OpenConnections) })
	gauge("connections_in_use", "Connections in use.", func(s sql.DBStats) float64 { return float64(s.InUse) })
	gauge("wait_seconds", "Time spent waiting for a connection.", func(s sql.DBStats) float64 { return s.WaitDuration.Seconds() })
}

func (t *telemetry) temporalMetrics() client.MetricsHandler {
	return temporalotel.NewMetricsHandler(temporalotel.MetricsHandlerOptions{Meter: t.meters.Meter("temporal-sdk")})
}

func (t *telemetry) temporalTracing() (interceptor.ClientInterceptor, error) {
	if t.tracers == nil {
		return nil, nil
	}
	return temporalotel.NewTracingInterceptor(temporalotel.TracerOptions{Tracer: t.tracers.Tracer("temporal-sdk")})
}

// middleware measures requests by declared route, so that ids do not become labels.
func (t *telemetry) middleware() []gin.HandlerFunc {
	measure := func(c *gin.Context) {
		start := time.Now()
		c.Next()
		route := c.FullPath()
		if route == "" {
			route = "other"
		}
		t.requests.WithLabelValues(c.Request.Method, route, strconv.Itoa(c.Writer.Status())).Observe(time.Since(start).Seconds())
	}
	if t.tracers == nil {
		return []gin.HandlerFunc{measure}
	}
	return []gin.HandlerFunc{otelgin.Middleware("revarch-" + t.process), measure}
}

// serve answers /metrics on addr until ctx ends; "" serves nowhere.
func (t *telemetry) serve(ctx context.Context, addr string) error {
	if addr == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{}))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			slog.ErrorContext(ctx, "metrics listener ended", "error", err)
		}
	}()
	return nil
}

// shutdown sends what is left.
func (t *telemetry) shutdown(ctx context.Context) {
	if t.tracers != nil {
		_ = t.tracers.Shutdown(ctx)
	}
	_ = t.meters.Shutdown(ctx)
}
