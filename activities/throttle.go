package activities

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"revarch/services/runs"
)

// throttle writes the progress of one run at most twice a second.
type throttle struct {
	runs *runs.Service
	ref  RunRef

	mu   sync.Mutex
	last time.Time
}

func newThrottle(svc *runs.Service, ref RunRef) *throttle { return &throttle{runs: svc, ref: ref} }

// maybe writes how much is done unless it was written just now; the end is always written.
func (t *throttle) maybe(ctx context.Context, done, total int64) {
	t.mu.Lock()
	due := done >= total || time.Since(t.last) >= 500*time.Millisecond
	if due {
		t.last = time.Now()
	}
	t.mu.Unlock()
	if !due {
		return
	}
	if err := t.write(ctx, runs.Progress{Done: &done, Total: &total}); err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "progress not written", "org_id", t.ref.OrgID, "run_id", t.ref.RunID, "error", err)
	}
}

func (t *throttle) write(ctx context.Context, p runs.Progress) error {
	return t.runs.Progress(ctx, t.ref.OrgID, t.ref.RunID, p)
}

// rows writes how many rows are done while nobody knows the total.
func (t *throttle) rows(ctx context.Context, done int64) {
	t.mu.Lock()
	due := time.Since(t.last) >= 500*time.Millisecond
	if due {
		t.last = time.Now()
	}
	t.mu.Unlock()
	if !due {
		return
	}
	if err := t.write(ctx, runs.Progress{Done: &done}); err != nil && ctx.Err() == nil {
		slog.WarnContext(ctx, "progress not written", "org_id", t.ref.OrgID, "run_id", t.ref.RunID, "error", err)
	}
}
