package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
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
	return fmt.Sprintf("%-60s %10s against %10s: %.2f (%s %.2f) %s\n%s", r.Work, r.amount(r.Took, r.MiB), r.amount(r.FloorTook, r.FloorMiB),
		r.Ratio, sign, r.Limit, verdict, strings.Join(r.Notes, "\n"))
}

func (r row) amount(took time.Duration, mib float64) string {
	if r.MiB > 0 {
		return fmt.Sprintf("%.0f MiB", mib)
	}
	return took.Round(time.Millisecond).String()
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

// result is what one measurement gave, and when and where.
type result struct {
	Measured, Machine string
	Rows              []row
}

// results are the latest ones by name. They are kept as they are rendered, so that one can be measured alone.
type results map[string]result

const resultsFile = "bench/results.json"

func readResults() (results, error) {
	raw, err := os.ReadFile(resultsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return results{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := results{}
	return r, json.Unmarshal(raw, &r)
}

func (rs results) write() error {
	raw, err := json.MarshalIndent(rs, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(resultsFile, append(raw, '\n'), 0o644), //nolint:gosec // G306: a public document
		os.WriteFile("BENCHMARKS.md", []byte(rs.document()), 0o644)) //nolint:gosec // G306: a public document
}

func (rs results) document() string {
	var b, table, notes strings.Builder
	var machines []string
	for _, name := range names {
		res := rs[name]
		if len(res.Rows) > 0 && !slices.Contains(machines, res.Machine) {
			machines = append(machines, res.Machine)
		}
		for _, r := range res.Rows {
			sign, holds := "at most", "yes"
			if r.AtLeast {
				sign = "at least"
			}
			if !r.holds() {
				holds = "**no**"
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s | %.2f | %s %.2f | %s | %s |\n", r.Work, r.amount(r.Took, r.MiB), r.Floor,
				r.amount(r.FloorTook, r.FloorMiB), r.Ratio, sign, r.Limit, holds, res.Measured)
			for i, n := range r.Notes {
				if i == 0 {
					fmt.Fprintf(&notes, "\n**%s**\n\n", r.Work)
				}
				fmt.Fprintf(&notes, "- %s\n", n)
			}
		}
	}
	b.WriteString("# Benchmarks\n\nMeasured by `make bench` and, what takes a million accounts, `make bench-million`. Every ratio is taken in one run on one machine; " +
		"absolute times on shared machines are noise.\n\n")
	for _, m := range machines {
		fmt.Fprintf(&b, "Machine: %s.\n\n", m)
	}
	b.WriteString("| work | took | floor | took | ratio | limit | holds | measured |\n|---|---|---|---|---|---|---|---|\n")
	return b.String() + table.String() + notes.String()
}
