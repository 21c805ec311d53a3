package activities

import (
	"context"

	"github.com/google/uuid"

	"revarch/services/connections"
)

// Connections keeps connections going that nobody uses at the moment.
type Connections struct {
	Connections *connections.Service
}

// KeepAliveResult counts refreshed grants and those that turned out to be dead.
type KeepAliveResult struct {
	Refreshed int `json:"refreshed"`
	Dead      int `json:"dead"`
}

// RefreshIdleGrants refreshes the grants of all organizations that nobody used for most of a day.
func (a *Connections) RefreshIdleGrants(ctx context.Context) (KeepAliveResult, error) {
	defer beating(ctx)()
	refreshed, dead, err := a.Connections.KeepAlive(ctx)
	return KeepAliveResult{Refreshed: refreshed, Dead: dead}, toTemporal(ctx, err)
}

// ScheduledSyncResult tells which run a schedule started; Started is false when there was nothing to do.
type ScheduledSyncResult struct {
	Started bool      `json:"started"`
	RunID   uuid.UUID `json:"run_id"`
}

// StartScheduledSync starts the sync of a connection, unless one is running or the connection cannot be used.
func (a *Connections) StartScheduledSync(ctx context.Context, in ConnectionRef) (ScheduledSyncResult, error) {
	defer beating(ctx)()
	run, started, err := a.Connections.ScheduledSync(ctx, in.OrgID, in.Provider)
	return ScheduledSyncResult{Started: started, RunID: run.ID}, toTemporal(ctx, err)
}
