package records

import (
	"time"

	"github.com/google/uuid"

	"revarch/store"
)

// Map returns the counts that are not zero by their names, as a run keeps them.
func (c Counts) Map() map[string]int64 {
	out := map[string]int64{}
	for name, n := range map[string]int64{
		"read": c.Read, "created": c.Created, "updated": c.Updated, "unchanged": c.Unchanged,
		"deleted": c.Deleted, "failed": c.Failed,
	} {
		if n != 0 {
			out[name] = n
		}
	}
	return out
}

// tally adds what became of records to their run, in the transaction that stores them: the run's numbers are exact
// whatever process dies when.
func tally(tx *store.Tx, run uuid.UUID, r Result, done int64, now time.Time) error {
	return tx.AddToRun(run, store.RunAddition{Counts: r.Map(), Warnings: r.Warnings, Done: done}, now)
}
