package runs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// bellEvery bounds the notifications of one run to four a second.
const bellEvery = 250 * time.Millisecond

// bell announces changes of runs. A ring inside the interval is not lost but delayed to its end, so that the last state
// is always announced; urgent ones go out at once.
type bell struct {
	notify func(ctx context.Context, org, run uuid.UUID) error

	mu   sync.Mutex
	runs map[key]*ringing
}

type key struct{ org, run uuid.UUID }

type ringing struct {
	last    time.Time
	pending *time.Timer
}

func newBell(notify func(ctx context.Context, org, run uuid.UUID) error) *bell {
	return &bell{notify: notify, runs: map[key]*ringing{}}
}

func (b *bell) ring(org, run uuid.UUID, urgent bool) {
	k, now := key{org, run}, time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[k]
	if r == nil {
		r = &ringing{}
		b.runs[k] = r
	}
	wait := bellEvery - now.Sub(r.last)
	switch {
	case urgent || (wait <= 0 && r.pending == nil):
		if r.pending != nil {
			r.pending.Stop()
			r.pending = nil
		}
		r.last = now
		go b.send(k)
		time.AfterFunc(bellEvery, func() { b.forget(k) })
	case r.pending == nil:
		r.pending = time.AfterFunc(wait, func() { b.late(k) })
	}
}

func (b *bell) late(k key) {
	b.mu.Lock()
	if r := b.runs[k]; r != nil {
		r.pending, r.last = nil, time.Now()
	}
	b.mu.Unlock()
	b.send(k)
	time.AfterFunc(bellEvery, func() { b.forget(k) })
}

// forget drops what is known of a run that has been quiet, so that the map does not grow with history.
func (b *bell) forget(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.runs[k]; r != nil && r.pending == nil && time.Since(r.last) >= bellEvery {
		delete(b.runs, k)
	}
}

func (b *bell) send(k key) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := b.notify(ctx, k.org, k.run); err != nil {
		slog.DebugContext(ctx, "run change not announced", "org_id", k.org, "run_id", k.run, "error", err)
	}
}
