// Command bench measures what design promises as ratios: each row of BENCHMARKS.md is one piece of work against a floor,
// both in the same run on the same machine. It starts everything it needs and stops it again. Rows that are not measured
// this time stay as they were.
//
//	go run ./bench [-only sync,load,tool,affinity,expansion,million] [-accounts 100000] [-write=false]
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

// row is one line of the table: times, or memory where MiB is set.
type row struct {
	Work, Floor     string
	Took, FloorTook time.Duration `json:",omitempty"`
	MiB, FloorMiB   float64       `json:",omitempty"`
	Ratio, Limit    float64
	AtLeast         bool     `json:",omitempty"` // the ratio must be at least the limit, not at most
	Notes           []string `json:",omitempty"`
	Rows            int64    `json:",omitempty"`
	Exponent        float64  `json:",omitempty"` // growth of cost with rows, 0 when it was not measured
}

func (r row) holds() bool {
	if r.AtLeast {
		return r.Ratio >= r.Limit
	}
	return r.Ratio <= r.Limit
}

// names are the measurements in the order of the table. The last one takes minutes and gigabytes, and is not in the
// default.
var names = []string{"sync", "load", "tool", "affinity", "expansion", "million"}

func main() {
	only := flag.String("only", strings.Join(names[:len(names)-1], ","), "which measurements, by commas")
	accounts := flag.Int("accounts", 100_000, "accounts of the sync; contacts are three times as many")
	write := flag.Bool("write", true, "write BENCHMARKS.md")
	binary := flag.String("revarch", "bin/revarch", "the built binary")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	known, err := readResults()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
		known[name] = result{time.Now().Format(time.DateOnly), machine(), got}
	}
	if *write {
		if err := known.write(); err != nil {
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
	case "affinity":
		return benchGo(ctx, affinityBench)
	case "expansion":
		return benchGo(ctx, expansionBench)
	case "million":
		return benchGo(ctx, millionBench)
	}
	return nil, fmt.Errorf("unknown measurement; there are %s", strings.Join(names, ", "))
}
