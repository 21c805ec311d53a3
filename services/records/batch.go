package records

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"revarch/connectors"
	"revarch/datasets"
	"revarch/models"
	"revarch/store"
)

func (s *Service) batch(org, run uuid.UUID, p models.Provider, m *Mapping, full bool) *batch {
	return &batch{
		org: org, run: run, mapping: m, ref: m.ref(p), full: full, now: s.now(),
		reader: reader{m: m, normalize: datasets.NormalizeName},
	}
}

// batch is a set of records on their way into the store. load reads them, store decides and writes; store may run again
// when its transaction did not commit.
type batch struct {
	org, run uuid.UUID
	mapping  *Mapping
	ref      store.ObjectRef
	full     bool
	now      time.Time
	reader   reader

	items      []item
	superseded int64 // records that came again later in the same page

	counts   Counts
	rows     []store.StageRow
	deletes  []store.Deletion
	touched  []store.Touch // newer and the same
	revived  []string
	failures []models.RunFailure
	bad      map[*field]int64
	merged   bool
}

// item is a record with what reading it gave.
type item struct {
	connectors.Record
	reading
	id      string // the external id, or a stand-in for one that is no id
	parents [2]string
}

// load reads the records. Of several versions in one page the last by its time, then by its place, stands.
func (b *batch) load(recs []connectors.Record) {
	at := make(map[string]int, len(recs))
	b.items = make([]item, 0, len(recs))
	for i, rec := range recs {
		it := item{Record: rec, id: rec.ExternalID}
		if rec.ExternalID == "" || len(rec.ExternalID) > maxID || !utf8.ValidString(rec.ExternalID) || strings.ContainsRune(rec.ExternalID, 0) {
			it.id, it.failed = fmt.Sprintf("record %d of a page", i+1), &problem{"bad_id", "The record has no usable id."}
		}
		if j, twice := at[it.id]; twice {
			b.superseded++
			if before := b.items[j].UpdatedAt; !rec.UpdatedAt.IsZero() && rec.UpdatedAt.Before(before) {
				continue
			}
			b.items[j] = it
			continue
		}
		at[it.id] = len(b.items)
		b.items = append(b.items, it)
	}
	for i := range b.items {
		it := &b.items[i]
		if !it.Deleted && it.failed == nil {
			it.reading = b.reader.read(it.Payload)
			if it.raw {
				it.parents = b.mapping.parents(&it.reading)
			}
		}
	}
}

func (b *batch) seen() []string {
	out := make([]string, 0, len(b.items))
	for i := range b.items {
		if it := &b.items[i]; !it.Deleted && it.id == it.ExternalID {
			out = append(out, it.id)
		}
	}
	return out
}

func (b *batch) store(ctx context.Context, tx *store.Tx) error {
	if err := tx.LockObject(ctx, b.ref); err != nil {
		return err
	}
	mappingID, err := tx.MappingID(b.ref, b.mapping.entries, b.now)
	if err != nil {
		return err
	}
	ids := make([]string, len(b.items))
	for i := range b.items {
		ids[i] = b.items[i].id
	}
	known, err := tx.FindRecords(ctx, b.ref, ids)
	if err != nil {
		return err
	}
	b.decide(known)
	if err := b.resolveParents(ctx, tx); err != nil {
		return err
	}
	return b.write(ctx, tx, mappingID)
}

func (b *batch) write(ctx context.Context, tx *store.Tx, mappingID int32) error {
	if err := tx.Unmerge(ctx, b.ref, b.revived, b.now); err != nil {
		return err
	}
	merge := store.Merge{ObjectRef: b.ref, MappingID: mappingID, SourceRef: string(b.ref.Provider) + ":" + b.run.String(), Now: b.now}
	if _, err := tx.MergeRecords(ctx, merge, b.rows); err != nil {
		return err
	}
	if err := tx.TouchRecords(ctx, b.ref, b.touched); err != nil {
		return err
	}
	if err := tx.DeleteRecords(ctx, b.ref, b.deletes, b.now); err != nil {
		return err
	}
	if b.merged {
		if _, err := tx.ApplyMerges(ctx, b.ref, b.now); err != nil {
			return err
		}
	}
	return tx.AddFailures(ctx, b.failures)
}

// decide sorts the records by what is stored of them.
func (b *batch) decide(known map[string]store.StoredRecord) {
	b.counts = Counts{Read: int64(len(b.items)) + b.superseded, Unchanged: b.superseded}
	b.rows, b.deletes, b.touched, b.revived, b.failures = make([]store.StageRow, 0, len(b.items)), nil, nil, nil, nil
	b.bad, b.merged = map[*field]int64{}, false
	for i := range b.items {
		it := &b.items[i]
		prior, ok := known[it.id]
		stale := !b.full && ok && !it.UpdatedAt.IsZero() && it.UpdatedAt.Before(prior.UpdatedAt)
		switch {
		case it.failed != nil && !it.raw:
			b.fail(it)
		case stale:
			b.counts.Unchanged++
		case it.Deleted:
			b.delete(it, prior, ok)
		case ok && !prior.Deleted && len(prior.Hash) > 0 && string(prior.Hash) == string(it.hash):
			b.counts.Unchanged++
			if it.UpdatedAt.After(prior.UpdatedAt) {
				b.touched = append(b.touched, store.Touch{ExternalID: it.id, At: it.UpdatedAt})
			}
		default:
			b.take(it, prior, ok)
		}
	}
}

func (b *batch) delete(it *item, prior store.StoredRecord, known bool) {
	if !known || prior.Deleted && (it.MergedInto == "" || it.MergedInto == prior.MergedInto) {
		b.counts.Unchanged++
		return
	}
	b.counts.Deleted++
	b.merged = b.merged || it.MergedInto != ""
	b.deletes = append(b.deletes, store.Deletion{ExternalID: it.id, RecordID: prior.RecordID, At: it.UpdatedAt, MergedInto: it.MergedInto})
}

func (b *batch) take(it *item, prior store.StoredRecord, known bool) {
	row := store.StageRow{ExternalID: it.id, RecordID: prior.RecordID, RawNew: !known, Payload: it.payload, Hash: it.hash, UpdatedAt: it.UpdatedAt}
	switch {
	case it.failed != nil:
		row.Hash = []byte{}
		b.fail(it)
	case b.mapping.columns == 0:
		b.count(!known)
	default:
		row.Mapped, row.Values = true, it.values
		if row.RecordNew = row.RecordID == uuid.Nil; row.RecordNew {
			row.RecordID = models.NewID()
		}
		b.count(row.RecordNew)
	}
	for _, f := range it.bad {
		b.bad[f]++
	}
	if prior.Merged {
		b.revived = append(b.revived, it.id)
	}
	b.rows = append(b.rows, row)
}

func (b *batch) count(created bool) {
	if created {
		b.counts.Created++
	} else {
		b.counts.Updated++
	}
}

func (b *batch) fail(it *item) {
	b.counts.Failed++
	b.failures = append(b.failures, models.RunFailure{
		RunID: b.run, Object: b.mapping.Object, ExternalID: it.id, Code: it.failed.code,
		Message: it.failed.message, At: b.now,
	})
}

// parents returns the external ids that a record refers to, "" for none.
func (m *Mapping) parents(r *reading) (out [2]string) {
	for i, l := range m.links {
		out[i] = r.text(l.column)
	}
	return out
}

// resolveParents fills the ids of the records that are there already.
func (b *batch) resolveParents(ctx context.Context, tx *store.Tx) error {
	if len(b.mapping.links) == 0 {
		return nil
	}
	at := make(map[string]int, len(b.rows))
	for i := range b.rows {
		if b.rows[i].Mapped {
			at[b.rows[i].ExternalID] = i
		}
	}
	for k, l := range b.mapping.links {
		wanted := map[string]struct{}{}
		for i := range b.items {
			if _, ok := at[b.items[i].id]; ok && b.items[i].parents[k] != "" {
				wanted[b.items[i].parents[k]] = struct{}{}
			}
		}
		found, err := tx.FindLinks(ctx, b.ref.Provider, l.object, slices.Collect(maps.Keys(wanted)))
		if err != nil {
			return err
		}
		for i := range b.items {
			if j, ok := at[b.items[i].id]; ok {
				b.rows[j].Parents[k] = found[b.items[i].parents[k]]
			}
		}
	}
	return nil
}

func (b *batch) result() Result {
	out := Result{Counts: b.counts}
	for f, n := range b.bad {
		out.Warnings = append(out.Warnings, models.RunWarning{
			Code: "bad_value", Count: n,
			Message: fmt.Sprintf("Values of %s.%s that do not fit %s were left out.", b.mapping.Object, f.source, f.label),
		})
	}
	slices.SortFunc(out.Warnings, func(x, y models.RunWarning) int { return strings.Compare(x.Message, y.Message) })
	return out
}
