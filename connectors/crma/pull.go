package crma

import (
	"context"
	"errors"
	"fmt"
	"time"

	"revarch/connectors"
	"revarch/fault"
)

// Pull reads the next page of an object in the order of (SystemModstamp, Id). A run starts at a zero cursor (all
// records) or behind a complete run (what was stamped since its start, with the overlap); inside a run nothing is read
// twice. Warnings: field_lost, rows_missing.
func (s *session) Pull(ctx context.Context, req connectors.PullRequest) (connectors.Page, error) {
	if !supported(req.Object) {
		return connectors.Page{}, unknownObject(req.Object)
	}
	pos, err := decode(req.After, req.Object, false)
	if err != nil {
		return connectors.Page{}, err
	}
	fresh := !pos.Running
	if fresh {
		pos = pos.begin()
	}
	desc, lost, err := s.describe(ctx, req.Object)
	if err != nil {
		return connectors.Page{}, err
	}
	columns, missing := desc.columns(req.Fields, lost)
	sel := selection{object: req.Object, columns: columns}
	got, err := s.step(ctx, pos, sel, "query", req.Limit)
	if err != nil {
		return connectors.Page{}, err
	}
	page := connectors.Page{Object: req.Object, Total: got.total, Done: got.done, Next: got.next, Warnings: got.warnings}
	if fresh && len(missing) > 0 {
		page.Warnings = append(page.Warnings, fieldLost(req.Object, missing))
	}
	page.Records = got.records
	return page, nil
}

// Deletions lists records in the recycle bin that were deleted or merged since a moment, with the overlap before it.
// Records that left the recycle bin, or never were in it, show only when ids are compared.
func (s *session) Deletions(ctx context.Context, req connectors.DeletionsRequest) (connectors.DeletionsPage, error) {
	if !supported(req.Object) {
		return connectors.DeletionsPage{}, unknownObject(req.Object)
	}
	pos, err := decode(req.After, req.Object, true)
	if err != nil {
		return connectors.DeletionsPage{}, err
	}
	if !pos.Running {
		pos = pos.begin()
		pos.From = time.Time{}
		if !req.Since.IsZero() {
			pos.From = req.Since.UTC().Add(-Overlap)
		}
	}
	desc, _, err := s.describe(ctx, req.Object)
	if err != nil {
		return connectors.DeletionsPage{}, err
	}
	if !desc.has("IsDeleted") { // such records, users among them, cannot be deleted
		next, err := pos.finish().encode()
		return connectors.DeletionsPage{Next: next, Done: true}, err
	}
	columns := []string{"Id", "SystemModstamp", "IsDeleted"}
	if desc.has("MasterRecordId") {
		columns = append(columns, "MasterRecordId")
	}
	got, err := s.step(ctx, pos, selection{object: req.Object, columns: columns, deleted: true}, "queryAll", 0)
	if err != nil {
		return connectors.DeletionsPage{}, err
	}
	return connectors.DeletionsPage{Records: got.records, Next: got.next, Done: got.done}, nil
}

// stepped is one page and where it leads.
type stepped struct {
	records  []connectors.Record
	warnings []connectors.Warning
	next     connectors.Cursor
	total    int64
	done     bool
}

// step reads one page: the next one of the query under way, else a new query behind the last row read. A query that
// the provider has forgotten or took for another one, or that a lost field broke, is replaced by a new one without
// anyone noticing.
func (s *session) step(ctx context.Context, pos position, sel selection, endpoint string, limit int) (stepped, error) {
	if pos.Locator != "" {
		var res queryResult
		_, err := s.get(ctx, connectors.Call{Ref: pos.Locator, Header: batchHeader(pageSize(limit))}, &res)
		_, dead := refusedWith(err, connectors.ClassCursorDead)
		_, drift := refusedWith(err, connectors.ClassSchemaDrift)
		if err != nil && !dead && !drift {
			return stepped{}, fmt.Errorf("read next page of %s: %w", sel.object, err)
		}
		if err == nil {
			out, elsewhere, err := conclude(pos, res, sel, true)
			if !elsewhere {
				return out, err
			}
		}
		pos = pos.requery()
	}
	sel.from, sel.after = pos.From, keyset{at: pos.At, id: pos.ID}
	if limit > 0 && limit < minBatch {
		sel.limit = limit
	}
	res, warnings, began, err := s.run(ctx, sel, endpoint, pageSize(limit))
	if err != nil {
		return stepped{}, err
	}
	if pos.Start.IsZero() {
		pos.Start = began
	}
	out, elsewhere, err := conclude(pos, res, sel, false)
	if elsewhere {
		return stepped{}, fault.New(fault.Unavailable, "The provider answered with the same page of %s again; reading stopped instead of going round in circles.", sel.object)
	}
	out.warnings = append(warnings, out.warnings...)
	return out, err
}

// conclude checks a page for completeness and works out the cursor behind it; elsewhere says that the page is not the
// one behind the position, and then nothing of it may be used.
func conclude(pos position, res queryResult, sel selection, later bool) (out stepped, elsewhere bool, err error) {
	if res.Done == nil || res.TotalSize == nil || (!*res.Done && res.NextRecordsURL == "") {
		return stepped{}, false, fault.New(fault.Unavailable, "The provider's answer was incomplete or not in the expected form.")
	}
	if res.NextRecordsURL != "" {
		if err := checkLocator(res.NextRecordsURL); err != nil {
			return stepped{}, false, err
		}
	}
	out = stepped{records: make([]connectors.Record, 0, len(res.Records)), done: *res.Done}
	for _, raw := range res.Records {
		rec, err := toRecord(raw, sel.object, !sel.deleted)
		if errors.Is(err, errOtherObject) && later {
			return stepped{}, true, nil
		}
		if err != nil {
			return stepped{}, false, fmt.Errorf("read %s: %w", sel.object, err)
		}
		out.records = append(out.records, rec)
	}
	if strays(pos, res, out.records, later) {
		return stepped{}, true, nil
	}
	fresh := pos.ID == ""
	pos = pos.advance(out.records, later)
	if !later {
		pos.Total = *res.TotalSize
		if pos.Full < 0 && fresh && sel.limit == 0 {
			pos.Full = *res.TotalSize
		}
	}
	if sel.limit > 0 { // each page is a query of its own
		out.done = *res.Done && len(out.records) < sel.limit
		pos = pos.requery()
	} else {
		pos.Locator = res.NextRecordsURL
	}
	out.total = pos.Full
	if short := pos.Total - pos.Read; out.done && sel.limit == 0 && short > 0 {
		out.warnings = []connectors.Warning{{
			Code: "rows_missing", Count: short,
			Message: fmt.Sprintf("%s: a query gave %d rows fewer than it announced; they may have been deleted meanwhile", sel.object, short),
		}}
	}
	if out.done {
		pos = pos.finish()
	}
	out.next, err = pos.encode()
	return out, false, err
}

// strays detects pages that do not lie behind the position and would skip rows or keep a run going for ever. A later
// page must be of the query that the locator was given for: of the same total, not beyond it, not leading to itself,
// not before the last row read. A provider that was restored or restarted may have given the locator to another query.
// A new query must not begin with the row it should begin behind.
func strays(pos position, res queryResult, recs []connectors.Record, later bool) bool {
	if later && (*res.TotalSize != pos.Total || pos.Read+int64(len(recs)) > pos.Total ||
		(!*res.Done && (res.NextRecordsURL == pos.Locator || len(recs) == 0))) {
		return true
	}
	if pos.ID == "" || len(recs) == 0 {
		return false
	}
	at := recs[0].UpdatedAt
	return at.Before(pos.At) || (at.Equal(pos.At) && recs[0].ExternalID == pos.ID)
}

// pageSize is the batch size that is asked for; the provider takes it as a hint.
func pageSize(limit int) int {
	if limit <= 0 || limit > maxPage {
		return maxPage
	}
	return limit
}
