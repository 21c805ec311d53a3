package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func line(r row) string {
	verdict := "holds"
	if !r.holds() {
		verdict = "DOES NOT HOLD"
	}
	sign := "<="
	if r.AtLeast {
		sign = ">="
	}
	return fmt.Sprintf("%-60s %10s against %10s: %.2f (%s %.2f) %s", r.Work, r.Took.Round(time.Millisecond), r.FloorTook.Round(time.Millisecond),
		r.Ratio, sign, r.Limit, verdict)
}

// machine describes where the figures were taken, without naming it.
func machine() string {
	model := "unknown processor"
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for l := range strings.Lines(string(raw)) {
			if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores (%s), %s, %s/%s, PostgreSQL with fsync on, everything on one machine over loopback", runtime.NumCPU(), model,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func document(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMeasured on %s by `make bench`. Every ratio is taken in one run on one machine; absolute times on shared machines are noise.\n\n", time.Now().Format("2006-01-02"))
	fmt.Fprintf(&b, "Machine: %s.\n\n", machine())
	b.WriteString("| work | took | floor | took | ratio | limit | holds |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		sign, holds := "at most", "yes"
		if r.AtLeast {
			sign = "at least"
		}
		if !r.holds() {
			holds = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.2f | %s %.2f | %s |\n", r.Work, r.Took.Round(time.Millisecond), r.Floor,
			r.FloorTook.Round(time.Millisecond), r.Ratio, sign, r.Limit, holds)
	}
	for _, r := range rows {
		for i, n := range r.Notes {
			if i == 0 {
				fmt.Fprintf(&b, "\n**%s**\n\n", r.Work)
			}
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	return b.String()
}
