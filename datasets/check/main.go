// Command check reads the real data files of a folder that follows MANIFEST.csv and holds them against what is published
// about them. What belongs here: assertions about real files, which are not in the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("dir", "../shared/datasets", "folder with MANIFEST.csv and the files it lists")
	flag.Parse()
	if *dir == "" {
		*dir = "../shared/datasets"
	}
	r := &report{out: os.Stdout}
	run(context.Background(), r, *dir)
	fmt.Fprintf(os.Stdout, "%d passed, %d failed\n", r.passed, r.failed)
	if r.failed > 0 || r.passed == 0 {
		os.Exit(1)
	}
}
