package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"revarch/datasets"
)

// report counts and prints.
type report struct {
	out            io.Writer
	passed, failed int
}

func (r *report) check(ok bool, format string, args ...any) {
	if ok {
		r.passed++
		return
	}
	r.failed++
	fmt.Fprintf(r.out, "FAILED "+format+"\n", args...)
}

// entry is a line of the manifest.
type entry struct {
	path, dataset, year, sha256 string
	rows                        int
}

func run(ctx context.Context, r *report, dir string) {
	list, err := manifest(dir)
	r.check(err == nil, "manifest: %v", err)
	counts := map[string]int{}
	names := newNames()
	var sheets []loaded
	for _, e := range list {
		if e.dataset != "ipeds-hd" && e.dataset != "saipe-school-districts" && e.dataset != "ccd-lea-universe" {
			continue
		}
		counts[e.dataset]++
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.path)))
		r.check(err == nil, "%s: %v", e.path, err)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(raw)
		r.check(hex.EncodeToString(sum[:]) == e.sha256, "%s: its sha256 is not the manifest's", e.path)
		if strings.HasSuffix(e.path, "tx-districts-ccd.txt") { // documentation of a layout, not data
			_, err := datasets.Detect(ctx, e.path, bytes.NewReader(raw), int64(len(raw)))
			r.check(err != nil, "%s: taken for data", e.path)
			continue
		}
		l := load(ctx, r, e, raw)
		if l.file == nil {
			continue
		}
		published(r, l)
		names.add(l)
		if l.file.Format == datasets.FormatSAIPE {
			sheets = append(sheets, l)
		}
	}
	for dataset, least := range map[string]int{"ipeds-hd": 9, "saipe-school-districts": 24, "ccd-lea-universe": 2} {
		r.check(counts[dataset] >= least, "%d files of %s, at least %d expected", counts[dataset], dataset, least)
	}
	sameCells(r, sheets)
	names.print(r)
	names.sameDistricts(r, sheets)
}

func manifest(dir string) ([]entry, error) {
	f, err := os.Open(filepath.Join(dir, "MANIFEST.csv"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range records[0] {
		at[name] = i
	}
	var out []entry
	for _, rec := range records[1:] {
		e := entry{path: rec[at["path"]], dataset: rec[at["dataset"]], year: rec[at["school_or_fiscal_year"]], sha256: rec[at["sha256"]]}
		if e.rows, err = strconv.Atoi(rec[at["rows"]]); err != nil {
			e.rows = -1
		}
		out = append(out, e)
	}
	return out, nil
}

// loaded is a file after a pass through the reader.
type loaded struct {
	entry entry
	file  *datasets.File
	rows  []datasets.Row
	poor  float64 // millions
	kids  float64 // millions, 5 to 17 years
}

func load(ctx context.Context, r *report, e entry, raw []byte) loaded {
	l := loaded{entry: e}
	start := time.Now()
	file, err := datasets.Open(ctx, filepath.Base(e.path), bytes.NewReader(raw), int64(len(raw)))
	r.check(err == nil, "%s: %v", e.path, err)
	if err != nil {
		return l
	}
	for row, err := range file.Rows(ctx) {
		if _, ok := errors.AsType[*datasets.RowError](err); ok {
			fmt.Fprintf(r.out, "  %s: %v\n", filepath.Base(e.path), err)
			continue
		}
		if err != nil {
			r.check(false, "%s: %v", e.path, err)
			return l
		}
		l.rows = append(l.rows, row)
		if row.Poverty != nil {
			l.poor += float64(row.Poverty.ChildrenInPoverty) / 1e6
			l.kids += float64(row.Poverty.Children5to17) / 1e6
		}
	}
	l.file = file
	stats := file.Stats()
	want := e.rows
	if file.Encoding == "xls" {
		want -= 3 // the manifest counts two titles and the header
	}
	r.check(stats.Rows+stats.Bad == want, "%s: %d rows, the manifest says %d", e.path, stats.Rows+stats.Bad, want)
	r.check(stats.Bad == 0, "%s: %d bad rows", e.path, stats.Bad)
	checks, _ := file.Checks()
	for _, c := range checks {
		r.check(c.Passed, "%s: %s: %s", e.path, c.Name, c.Detail)
	}
	fmt.Fprintf(r.out, "%-24s %-18s %-12s %d %-11s %6d rows %2d bad  %s\n", filepath.Base(e.path), file.Format, file.Vintage.Label,
		file.Vintage.Year, file.Vintage.Release, stats.Rows, stats.Bad, time.Since(start).Round(time.Millisecond))
	return l
}

// published compares with figures that were printed elsewhere.
func published(r *report, l loaded) {
	f := l.file
	switch f.Format {
	case datasets.FormatSAIPE:
		year, _ := strconv.Atoi(l.entry.year)
		r.check(f.Vintage.Year == year, "%s: read as %d", l.entry.path, f.Vintage.Year)
		want := map[int]float64{2012: 11.43, 2017: 9.40, 2019: 8.51, 2020: 8.05, 2021: 8.87, 2023: 8.35}[year]
		r.check(want == 0 || math.Abs(l.poor-want) < 0.005001, "%s: %.3f M poor children, %.2f published", l.entry.path, l.poor, want)
		r.check(year != 2019 || math.Abs(l.kids-53.9) < 0.05, "%s: %.2f M children, 53.9 published", l.entry.path, l.kids)
		rows := map[int]int{2012: 13545, 2023: 13144}[year]
		r.check(rows == 0 || len(l.rows) == rows, "%s: %d rows, %d published", l.entry.path, len(l.rows), rows)
	case datasets.FormatIPEDSHD:
		start, _, _ := strings.Cut(l.entry.year, "-")
		year, _ := strconv.Atoi(start)
		r.check(f.Vintage.Year == year+1, "%s: read as %d", l.entry.path, f.Vintage.Year)
		states := map[string]bool{}
		for _, row := range l.rows {
			states[row.Institution.State] = true
			switch closed := row.Institution.ClosedAt; closed {
			case "", "07/200", "00/00/0000": // the last two are misprints of the publisher
			default:
				if row.Institution.ClosedOn == nil {
					r.check(false, "%s: closing date %q not understood", l.entry.path, closed)
				}
			}
		}
		r.check(len(states) == 59, "%s: %d states, 59 published", l.entry.path, len(states))
	case datasets.FormatCCDDirectory:
		r.check(f.Vintage.Year == 2014 && len(l.rows) == 1265, "%s: year %d, %d rows", l.entry.path, f.Vintage.Year, len(l.rows))
	}
}

// sameCells compares each workbook with the CSV that was exported from it.
func sameCells(r *report, sheets []loaded) {
	byYear := map[int]map[string]loaded{}
	for _, l := range sheets {
		y := l.file.Vintage.Year
		if byYear[y] == nil {
			byYear[y] = map[string]loaded{}
		}
		byYear[y][l.file.Encoding] = l
	}
	r.check(len(byYear) >= 12, "%d years of SAIPE, 12 expected", len(byYear))
	cells := 0
	for year, pair := range byYear {
		a, b := pair["xls"], pair["windows-1252"]
		r.check(len(a.rows) == len(b.rows) && len(a.rows) > 0, "SAIPE %d: %d rows in the workbook, %d in the CSV", year, len(a.rows), len(b.rows))
		for i := range min(len(a.rows), len(b.rows)) {
			if *a.rows[i].Poverty != *b.rows[i].Poverty {
				r.check(false, "SAIPE %d row %d: %+v in the workbook, %+v in the CSV", year, i+1, *a.rows[i].Poverty, *b.rows[i].Poverty)
				break
			}
			cells += 7
		}
	}
	r.check(cells > 1_000_000, "only %d cells compared", cells)
	fmt.Fprintf(r.out, "%d cells of the SAIPE workbooks equal those of their CSVs\n", cells)
}
