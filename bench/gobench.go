package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// metrics are what one run of a Go benchmark printed, by unit.
type metrics map[string]float64

// goBench is a Go benchmark that measures work and floor in one process and reports both as metrics, size after size.
type goBench struct {
	pkg, pattern string
	rows         func(sizes []metrics) []row
}

var loadBench = goBench{"./services/datasets", "^BenchmarkLoad$", func(sizes []metrics) []row {
	m := sizes[0]
	return []row{{
		Work: fmt.Sprintf("loading an official-layout CSV of %.0f rows, through all checks", m["rows"]), Floor: "COPY of the parsed rows",
		Took: m.seconds("load-s"), FloorTook: m.seconds("copy-s"), Ratio: m["load-s"] / m["copy-s"], Limit: 3,
	}}
}}

var toolBench = goBench{"./tools", "^BenchmarkToolCall$", func(sizes []metrics) []row {
	m := sizes[0]
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

func (m metrics) seconds(unit string) time.Duration { return seconds(m[unit]) }

// grew says how cost grew from one size to the next.
func grew(small, large metrics, cost, size string) float64 {
	return math.Log(large[cost]/small[cost]) / math.Log(large[size]/small[size])
}

// ends is the first and the last of two sizes or more.
func ends(sizes []metrics) (small, large metrics) { return sizes[0], sizes[len(sizes)-1] }

// benchGo runs a Go benchmark once on a database of its own and reads its metrics.
func benchGo(ctx context.Context, b goBench) (_ []row, err error) {
	database, stop, err := startDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	cmd := exec.CommandContext(ctx, "go", "test", b.pkg, "-run", "^$", "-bench", b.pattern, "-benchtime", "1x", "-timeout", "30m") //nolint:gosec // G204: our own
	cmd.Env, cmd.Stderr = append(cmd.Environ(), database), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go test leaves its binary behind when it alone is ended
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", b.pkg, err, out)
	}
	sizes := readMetrics(out)
	if len(sizes) == 0 {
		return nil, fmt.Errorf("%s printed no measurement:\n%s", b.pkg, out)
	}
	return b.rows(sizes), nil
}

// readMetrics reads a line per benchmark, in their order.
func readMetrics(out []byte) (sizes []metrics) {
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		m := metrics{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				m[f[i+1]] = v
			}
		}
		sizes = append(sizes, m)
	}
	return sizes
}
