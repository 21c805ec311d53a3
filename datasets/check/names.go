package main

import (
	"fmt"
	"slices"

	"revarch/datasets"
)

// names counts how many normalized names mean more than one body in a state, in the newest file of each format.
type names struct {
	newest map[datasets.Format]loaded
}

func newNames() *names { return &names{newest: map[datasets.Format]loaded{}} }

func (n *names) add(l loaded) {
	if old, ok := n.newest[l.file.Format]; !ok || l.file.Vintage.Year > old.file.Vintage.Year {
		n.newest[l.file.Format] = l
	}
}

func (n *names) print(r *report) {
	for _, f := range datasets.Formats() {
		exact, folded := map[string]map[string]string{}, map[string]map[string]string{}
		for _, row := range n.newest[f].rows {
			state, name := identity(row)
			put(exact, state+"|"+name, row.Key(), name)
			key := datasets.NormalizeName(name)
			if key == "" {
				r.check(false, "%s: no normalized name for %q", f, name)
			}
			put(folded, state+"|"+key, row.Key(), name)
		}
		exactKeys, exactRows, _ := ambiguous(exact)
		keys, rows, samples := ambiguous(folded)
		fmt.Fprintf(r.out, "%s: %d rows, %d (name, state) keys, %d of them ambiguous over %d rows (as printed: %d over %d)\n",
			f, len(n.newest[f].rows), len(folded), keys, rows, exactKeys, exactRows)
		for _, s := range samples[:min(len(samples), 12)] {
			fmt.Fprintln(r.out, "   ", s)
		}
		r.check(rows*100 <= 6*max(len(n.newest[f].rows), 1), "%s: more than 6%% of the rows share their normalized name", f)
	}
}

// sameDistricts compares how two publishers write the names of the same districts.
func (n *names) sameDistricts(r *report, rosters []loaded) {
	ccd := n.newest[datasets.FormatCCDDirectory]
	for _, l := range rosters {
		if ccd.file == nil || l.file.Vintage.Year != ccd.file.Vintage.Year-1 || l.file.Encoding != "xls" {
			continue
		}
		byID := map[string]string{}
		for _, row := range l.rows {
			byID[row.Poverty.LEAID] = row.Poverty.Name
		}
		both, same := 0, 0
		var differ []string
		for _, row := range ccd.rows {
			name, ok := byID[row.District.LEAID]
			if !ok {
				continue
			}
			both++
			if datasets.NormalizeName(name) == datasets.NormalizeName(row.District.Name) {
				same++
			} else {
				differ = append(differ, fmt.Sprintf("%q, %q", name, row.District.Name))
			}
		}
		fmt.Fprintf(r.out, "%d of %d districts have the same normalized name in CCD and SAIPE %d\n", same, both, l.file.Vintage.Year)
		for _, d := range differ[:min(len(differ), 10)] {
			fmt.Fprintln(r.out, "   ", d)
		}
		r.check(both > 900 && same*100 >= both*95, "only %d of %d districts have the same normalized name in CCD and SAIPE", same, both)
	}
}

func put(m map[string]map[string]string, key, id, name string) {
	if m[key] == nil {
		m[key] = map[string]string{}
	}
	m[key][id] = name
}

func identity(row datasets.Row) (state, name string) {
	switch {
	case row.Institution != nil:
		return row.Institution.State, row.Institution.Name
	case row.District != nil:
		return row.District.State, row.District.Name
	case row.Poverty != nil:
		return row.Poverty.State, row.Poverty.Name
	}
	return "", ""
}

// ambiguous counts keys with several ids, the rows behind them, and lists those that the folding itself made ambiguous.
func ambiguous(m map[string]map[string]string) (keys, rows int, samples []string) {
	for key, ids := range m {
		if len(ids) < 2 {
			continue
		}
		keys, rows = keys+1, rows+len(ids)
		different := map[string]bool{}
		for _, name := range ids {
			different[name] = true
		}
		if len(different) > 1 {
			list := make([]string, 0, len(different))
			for name := range different {
				list = append(list, name)
			}
			slices.Sort(list)
			samples = append(samples, fmt.Sprintf("%s: %q", key, list))
		}
	}
	slices.Sort(samples)
	return keys, rows, samples
}
