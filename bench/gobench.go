package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// goBench is a Go benchmark that measures work and floor in one process and reports both as metrics.
type goBench struct {
	pkg, pattern string
	rows         func(metrics map[string]float64) []row
}

var loadBench = goBench{"./services/datasets", "^BenchmarkLoad$", func(m map[string]float64) []row {
	return []row{{
		Work: fmt.Sprintf("loading an official-layout CSV of %.0f rows, through all checks", m["rows"]), Floor: "COPY of the parsed rows",
		Took: seconds(m["load-s"]), FloorTook: seconds(m["copy-s"]), Ratio: m["load-s"] / m["copy-s"], Limit: 3,
	}}
}}

var toolBench = goBench{"./tools", "^BenchmarkToolCall$", func(m map[string]float64) []row {
	return []row{
		{
			Work: "an MCP tool call that reads one account, 16 clients: throughput", Floor: "a plain gin handler with the same middleware and SQL",
			Took: seconds(1 / m["mcp/s"]), FloorTook: seconds(1 / m["gin/s"]), Ratio: m["mcp/s"] / m["gin/s"], Limit: 0.5, AtLeast: true,
		},
		{
			Work: "the same call: median latency", Floor: "the same handler", Took: seconds(m["mcp-p50-ms"] / 1000), FloorTook: seconds(m["gin-p50-ms"] / 1000),
			Ratio: m["mcp-p50-ms"] / m["gin-p50-ms"], Limit: 2,
		},
	}
}}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// benchGo runs a Go benchmark once on a database of its own and reads its metrics.
func benchGo(ctx context.Context, b goBench) ([]row, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./testkit/cmd/testdb", "--", "go", "test", b.pkg, "-run", "^$", "-bench", b.pattern, "-benchtime", "1x", "-timeout", "20m") //nolint:gosec // G204: our own
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", b.pkg, err, out)
	}
	metrics := map[string]float64{}
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				metrics[f[i+1]] = v
			}
		}
	}
	if len(metrics) == 0 {
		return nil, fmt.Errorf("%s printed no measurement:\n%s", b.pkg, out)
	}
	return b.rows(metrics), nil
}
