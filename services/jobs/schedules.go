package jobs

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// SyncEvery is how often a connected provider is synced without being asked.
const SyncEvery = time.Hour

// Schedules keeps the recurring work of connections; workers implements it.
type Schedules interface {
	// EnsureSync makes the schedule of a connection, or starts it again when it was paused.
	EnsureSync(ctx context.Context, org uuid.UUID, p models.Provider) error
	// PauseSync stops the schedule of a connection and says why; a schedule that does not exist is no error.
	PauseSync(ctx context.Context, org uuid.UUID, p models.Provider, why string) error
}

// SyncOffset spreads the connections of an installation evenly over the interval.
func SyncOffset(org uuid.UUID, p models.Provider) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write(org[:])
	_, _ = h.Write([]byte(p))
	return time.Duration(h.Sum64()%uint64(SyncEvery/time.Second)) * time.Second
}

// NextSync returns when the schedule of a connection fires next after now, in UTC.
func NextSync(org uuid.UUID, p models.Provider, now time.Time) time.Time {
	offset := SyncOffset(org, p)
	next := now.Add(-offset).Truncate(SyncEvery).Add(offset)
	for !next.After(now) {
		next = next.Add(SyncEvery)
	}
	return next.UTC()
}

// SyncID is the workflow id of a connection's sync; one runs at a time.
func SyncID(org uuid.UUID, p models.Provider) string { return "sync/" + org.String() + "/" + string(p) }

// RemapID is the workflow id of mapping a connection's stored records again.
func RemapID(org uuid.UUID, p models.Provider) string {
	return "remap/" + org.String() + "/" + string(p)
}

// ScoreID is the workflow id of scoring an organization's accounts.
func ScoreID(org uuid.UUID) string { return "score/" + org.String() }

// AffinityID is the workflow id of computing which products an organization's accounts own together.
func AffinityID(org uuid.UUID) string { return "affinity/" + org.String() }

// ExpansionID is the workflow id of finding what an organization's accounts could buy.
func ExpansionID(org uuid.UUID) string { return "expansion/" + org.String() }
