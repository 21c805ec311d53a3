package salesforce

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// table holds the records of one object, sorted by (SystemModstamp, Id): the order in which clients walk it.
type table struct {
	*object
	rows   []*row
	byID   map[string]*row
	purged []purge
	serial uint64 // of the last record made by a client

	orderMu sync.Mutex
	order   []string // all ids in order, made when first asked for; nil when records came or went
}

// purge remembers a record that is gone for good, for the listing of deletions.
type purge struct {
	id string
	at time.Time
}

func compareRows(a, b *row) int {
	if c := cmp.Compare(a.stamp, b.stamp); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// sort restores the order after bulk changes.
func (t *table) sort() { slices.SortFunc(t.rows, compareRows) }

// from returns the position of the first row that is not before (stamp, id).
func (t *table) from(stamp int64, id string) int {
	i, _ := slices.BinarySearchFunc(t.rows, &row{stamp: stamp, id: id}, compareRows)
	return i
}

// put stores a new version of a record in its place.
func (t *table) put(r *row) {
	if old := t.byID[r.id]; old != nil {
		i := t.from(old.stamp, old.id)
		t.rows = slices.Delete(t.rows, i, i+1)
	} else {
		t.order = nil
	}
	t.byID[r.id] = r
	t.rows = slices.Insert(t.rows, t.from(r.stamp, r.id), r)
}

// purgeRow removes a record for good.
func (t *table) purgeRow(id string, at time.Time) {
	if old := t.byID[id]; old != nil {
		i := t.from(old.stamp, old.id)
		t.rows = slices.Delete(t.rows, i, i+1)
		delete(t.byID, id)
		t.order = nil
		t.purged = append(t.purged, purge{id, at})
	}
}

// idsFrom returns all ids from the given one on, in order. The caller holds the store's lock for reading.
func (t *table) idsFrom(id string) []string {
	t.orderMu.Lock()
	defer t.orderMu.Unlock()
	if t.order == nil {
		t.order = slices.Sorted(maps.Keys(t.byID))
	}
	i, _ := slices.BinarySearch(t.order, id)
	return t.order[i:]
}

// counts returns how many records are live and how many are in the recycle bin.
func (t *table) counts() (live, deleted int) {
	for _, r := range t.rows {
		if r.deleted {
			deleted++
		}
	}
	return len(t.rows) - deleted, deleted
}
