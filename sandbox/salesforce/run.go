package salesforce

import "slices"

// run finds the rows that a query returns. all also takes those in the recycle bin.
func (s *store) run(c *compiled, all bool) []*row {
	s.mu.RLock()
	defer s.mu.RUnlock()
	match := func(r *row) bool { return (all || !r.deleted) && (c.test == nil || c.test(r)) }
	if c.limit == 0 {
		return nil
	}
	rows := c.table.rows
	if c.only != nil {
		return s.finish(c, s.pickOnly(c, match))
	}
	if len(c.order) == 1 && c.order[0].col == c.table.at.id && !c.order[0].desc {
		return collect(c, func(yield func(*row) bool) {
			for _, id := range c.table.idsFrom(c.fromID) {
				if !yield(c.table.byID[id]) {
					return
				}
			}
		}, match)
	}
	if c.from != noBound {
		rows = rows[c.table.from(c.from.stamp, c.from.id):]
	}
	switch {
	case c.walks(false):
		return collect(c, slices.Values(rows), match)
	case c.walks(true):
		return collect(c, func(yield func(*row) bool) {
			for _, r := range slices.Backward(rows) {
				if !yield(r) {
					return
				}
			}
		}, match)
	}
	return s.finish(c, best(c, rows, match))
}

// walks reports whether the table's own order, forward or backward, is the order that the query asks for.
func (c *compiled) walks(backward bool) bool {
	for i, k := range c.order {
		want := c.table.at.system
		if i == 1 {
			want = c.table.at.id
		}
		if i > 1 || k.col != want || k.desc != backward {
			return false
		}
	}
	return len(c.order) > 0 || !backward
}

func collect(c *compiled, rows func(func(*row) bool), match func(*row) bool) []*row {
	var out []*row
	for r := range rows {
		if match(r) {
			if out = append(out, r); len(out) == c.limit {
				break
			}
		}
	}
	return out
}

func (s *store) pickOnly(c *compiled, match func(*row) bool) []*row {
	var out []*row
	seen := map[string]bool{}
	for _, id := range c.only {
		if r := c.table.byID[id]; r != nil && !seen[id] && match(r) {
			seen[id] = true
			out = append(out, r)
		}
	}
	return out
}

// best keeps the rows that come first in the query's order; with a limit it never holds many more than that.
func best(c *compiled, rows []*row, match func(*row) bool) []*row {
	var out []*row
	var worst *row
	for _, r := range rows {
		if !match(r) || worst != nil && c.compare(r, worst) >= 0 {
			continue
		}
		out = append(out, r)
		if c.limit > 0 && len(out) >= 4*c.limit {
			slices.SortFunc(out, c.compare)
			out = out[:c.limit]
			worst = out[c.limit-1]
		}
	}
	return out
}

func (s *store) finish(c *compiled, rows []*row) []*row {
	slices.SortFunc(rows, c.compare)
	if c.limit >= 0 && len(rows) > c.limit {
		rows = rows[:c.limit]
	}
	return rows
}
