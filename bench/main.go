// Command bench measures what design promises as ratios: each row of BENCHMARKS.md is one piece of work against a floor,
// both in the same run on the same machine. It starts everything it needs and stops it again.
//
//	go run ./bench [-only sync,tool,load] [-accounts 100000] [-write=false]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	Work, Floor     string
	Took, FloorTook time.Duration
	Ratio, Limit    float64
	AtLeast         bool // the ratio must be at least the limit, not at most
	Notes           []string
	Rows            int64
	Exponent        float64 // growth of cost with rows, 0 when it was not measured
}

func (r row) holds() bool {
	if r.AtLeast {
		return r.Ratio >= r.Limit
	}
	return r.Ratio <= r.Limit
}

func main() {
	only := flag.String("only", "sync,load,tool", "which measurements, by commas")
	accounts := flag.Int("accounts", 100_000, "accounts of the sync; contacts are three times as many")
	write := flag.Bool("write", true, "write BENCHMARKS.md")
	binary := flag.String("revarch", "bin/revarch", "the built binary")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var rows []row
	for name := range strings.SplitSeq(*only, ",") {
		got, err := measure(ctx, name, *accounts, *binary)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
			os.Exit(1)
		}
		for _, r := range got {
			fmt.Println(line(r))
		}
		rows = append(rows, got...)
	}
	if *write {
		if err := os.WriteFile("BENCHMARKS.md", []byte(document(rows)), 0o644); err != nil { //nolint:gosec // G306: a public document
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, r := range rows {
		if !r.holds() {
			fmt.Printf("above its limit: %s\n", r.Work) // measured, never asserted: machines are shared and noisy
		}
	}
}

func measure(ctx context.Context, name string, accounts int, binary string) ([]row, error) {
	switch name {
	case "sync":
		return benchSync(ctx, binary, accounts)
	case "load":
		return benchGo(ctx, loadBench)
	case "tool":
		return benchGo(ctx, toolBench)
	}
	return nil, fmt.Errorf("unknown measurement; there are sync, load and tool")
}
