package records

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// RemapInput asks for one batch of an object's stored records to be mapped anew.
type RemapInput struct {
	OrgID    uuid.UUID
	RunID    uuid.UUID // the run's row exists
	Provider models.Provider
	Mapping  *Mapping
	After    string // external id after which the batch starts, "" for the first
	Limit    int    // 0: 2000
}

// Remap maps stored payloads by the mapping without asking the provider, one batch in one transaction. It returns where
// the next batch starts, "" after the last. A canonical field that no longer has an entry becomes null; a record that the
// mapping cannot take keeps the values it has. Doing a batch again changes nothing.
func (s *Service) Remap(ctx context.Context, in RemapInput) (next string, out Result, err error) {
	if in.Limit <= 0 {
		in.Limit = 2000
	}
	b := s.batch(in.OrgID, in.RunID, in.Provider, in.Mapping, false)
	err = s.Store.InOrg(ctx, in.OrgID, func(tx *store.Tx) error {
		if err := tx.LockObject(ctx, b.ref); err != nil {
			return err
		}
		mappingID, err := tx.MappingID(b.ref, in.Mapping.entries, b.now)
		if err != nil {
			return err
		}
		stored, err := tx.RawAfter(ctx, b.ref, in.After, in.Limit)
		if err != nil {
			return err
		}
		next = ""
		if len(stored) == in.Limit {
			next = stored[len(stored)-1].ExternalID
		}
		b.reload(stored)
		if err := b.resolveParents(ctx, tx); err != nil {
			return err
		}
		merge := store.Merge{ObjectRef: b.ref, MappingID: mappingID, SourceRef: string(in.Provider) + ":" + in.RunID.String(), Now: b.now, RawKept: true}
		changed, err := tx.MergeRecords(ctx, merge, b.rows)
		if err != nil {
			return err
		}
		b.counts.Updated += changed
		b.counts.Unchanged -= changed
		if err := tx.AddFailures(ctx, b.failures); err != nil {
			return err
		}
		return tally(tx, in.RunID, b.result(), b.counts.Read, b.now)
	})
	if err != nil {
		return in.After, Result{}, fmt.Errorf("remap %s: %w", in.Mapping.Object, err)
	}
	return next, b.result(), nil
}

// reload reads stored records in place of pulled ones. Existing rows count as unchanged until the store says how many
// it changed.
func (b *batch) reload(stored []store.StoredRaw) {
	b.counts = Counts{Read: int64(len(stored))}
	b.items, b.rows, b.failures, b.bad = make([]item, 0, len(stored)), nil, nil, map[*field]int64{}
	for _, raw := range stored {
		if raw.Deleted && raw.RecordID == uuid.Nil || b.mapping.columns == 0 {
			b.counts.Unchanged++
			continue
		}
		it := item{Record: connectors.Record{ExternalID: raw.ExternalID, UpdatedAt: raw.UpdatedAt}, id: raw.ExternalID, reading: b.reader.read(raw.Payload)}
		it.parents = b.mapping.parents(&it.reading)
		row := store.StageRow{ExternalID: raw.ExternalID, RecordID: raw.RecordID, Hash: raw.Hash, UpdatedAt: raw.UpdatedAt}
		switch {
		case it.failed != nil:
			row.Hash = []byte{}
			b.fail(&it)
		case raw.RecordID == uuid.Nil:
			row.Mapped, row.RecordNew, row.RecordID, row.Values = true, true, models.NewID(), it.values
			b.counts.Created++
		default:
			row.Mapped, row.Values = true, it.values
			b.counts.Unchanged++
		}
		for _, f := range it.bad {
			b.bad[f]++
		}
		b.items, b.rows = append(b.items, it), append(b.rows, row)
	}
}

// FieldSources tells where the fields of canonical rows come from, by the rows' mapping id and canonical field. A field
// that is null in a row has no source there.
func (s *Service) FieldSources(ctx context.Context, org uuid.UUID, mappingIDs ...int32) (map[int32]map[string]models.FieldSource, error) {
	out := map[int32]map[string]models.FieldSource{}
	if len(mappingIDs) == 0 {
		return out, nil
	}
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		versions, err := tx.MappingVersions(mappingIDs...)
		for id, v := range versions {
			out[id] = make(map[string]models.FieldSource, len(v.Entries))
			for target, source := range v.Entries {
				out[id][target] = models.FieldSource{Provider: v.Provider, Object: v.Object, Field: source}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range mappingIDs {
		if out[id] == nil {
			return nil, fault.New(fault.NotFound, "mapping %d not found", id)
		}
	}
	return out, nil
}
