package main

import (
	"fmt"
	"time"
)

var affinityBench = goBench{"./services/affinity", "^BenchmarkAffinity$", func(sizes []metrics) []row {
	small, m := ends(sizes)
	what := fmt.Sprintf("affinity, 4 matrices, %.0f accounts, 60 products, %.0f account-products", m["accounts"], m["records"])
	return []row{
		{
			Work: what + ": reading and computing", Floor: "the service role's binary COPY TO of the same query", Took: m.seconds("read-s"), FloorTook: m.seconds("read-copy-s"),
			Ratio: m["read-s"] / m["read-copy-s"], Limit: 3, Exponent: grew(small, m, "whole-s", "accounts"),
			Notes: []string{
				fmt.Sprintf("a tenth of it: reading and storing took %s instead of %s, so cost grows with accounts to the power of %.2f",
					small.seconds("whole-s").Round(time.Millisecond), m.seconds("whole-s").Round(time.Millisecond), grew(small, m, "whole-s", "accounts")),
				fmt.Sprintf("largest resident memory of the process: %.0f MiB at a tenth, %.0f MiB at the whole", small["peak-MiB"], m["peak-MiB"]),
			},
		},
		{
			Work: "the same: storing", Floor: "COPY of the matrices", Took: m.seconds("store-s"), FloorTook: m.seconds("store-copy-s"),
			Ratio: m["store-s"] / m["store-copy-s"], Limit: 3,
		},
		{
			Work: "the same as a whole: times faster", Floor: "counting the pairs of the 4 matrices by self-joins in SQL", Took: m.seconds("whole-s"), FloorTook: m.seconds("sql-s"),
			Ratio: m["sql-s"] / m["whole-s"], Limit: 4, AtLeast: true,
		},
	}
}}

var expansionBench = goBench{"./services/expansion", "^BenchmarkExpansion$", func(sizes []metrics) []row {
	small, m := ends(sizes)
	return []row{generated(small, m, fmt.Sprintf("a page of signals with the figures over all of them: %.1f ms at a tenth, %.1f ms at the whole", small["page-ms"], m["page-ms"]),
		fmt.Sprintf("finding them again when nothing has changed: %s", m.seconds("again-s").Round(time.Millisecond)))}
}}

// generated is the row of a regeneration.
func generated(small, m metrics, notes ...string) row {
	return row{
		Work:  fmt.Sprintf("expansion, %.0f accounts, %.0f signals, found and stored", m["accounts"], m["signals"]),
		Floor: "COPY of the same rows into the same table and indexes", Took: m.seconds("generate-s"), FloorTook: m.seconds("copy-s"), Ratio: m["generate-s"] / m["copy-s"], Limit: 3,
		Exponent: grew(small, m, "generate-s", "accounts"),
		Notes: append([]string{
			fmt.Sprintf("a tenth of it (%.0f signals): %s, so cost grows with accounts to the power of %.2f; %.2f of its floor",
				small["signals"], small.seconds("generate-s").Round(time.Millisecond), grew(small, m, "generate-s", "accounts"), small["generate-s"]/small["copy-s"]),
			fmt.Sprintf("largest resident memory of the process: %.0f MiB at a tenth, %.0f MiB at the whole", small["peak-MiB"], m["peak-MiB"]),
		}, notes...),
	}
}

var millionBench = goBench{"./services/expansion", "^BenchmarkMillion$", func(sizes []metrics) []row {
	small, m := ends(sizes)
	affinity := row{
		Work:  fmt.Sprintf("affinity, %.0f accounts, 200 products, %.0f account-products, in a process limited to 1 GiB: as a whole", m["accounts"], m["records"]),
		Floor: "the service role's binary COPY TO of the same query", Took: m.seconds("affinity-s"), FloorTook: m.seconds("read-copy-s"),
		Ratio: m["affinity-s"] / m["read-copy-s"], Limit: 3, Exponent: grew(small, m, "affinity-s", "accounts"),
		Notes: []string{
			fmt.Sprintf("a tenth of it: %s, so cost grows with accounts to the power of %.2f", small.seconds("affinity-s").Round(time.Millisecond), grew(small, m, "affinity-s", "accounts")),
			fmt.Sprintf("largest resident memory of the process: %.0f MiB at a tenth, %.0f MiB at the whole", small["affinity-MiB"], m["affinity-MiB"]),
			fmt.Sprintf("PostgreSQL wrote %.0f MiB of temporary files at a tenth and %.0f MiB at the whole, those of expansion and of both floors included", small["spilled-MiB"], m["spilled-MiB"]),
		},
	}
	return []row{
		affinity, generated(small, m),
		{
			Work: "the same two: largest resident memory of the process", Floor: "1 GiB", MiB: max(m["affinity-MiB"], m["peak-MiB"]), FloorMiB: 1024,
			Ratio: max(m["affinity-MiB"], m["peak-MiB"]) / 1024, Limit: 1,
		},
	}
}}
