package runs

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"revarch/store"
)

// Hub listens to the changes of all runs on one database connection of its own and wakes those in this process who
// watch. It carries ids only.
type Hub struct {
	url string

	mu       sync.Mutex
	watchers map[key]map[chan struct{}]struct{}
	ready    chan struct{}
	once     sync.Once
}

// NewHub returns a hub for a database URL of the service's role. Run must run for it to do anything.
func NewHub(url string) *Hub {
	return &Hub{url: url, watchers: map[key]map[chan struct{}]struct{}{}, ready: make(chan struct{})}
}

// Ready is closed once the hub listens for the first time.
func (h *Hub) Ready() <-chan struct{} { return h.ready }

// Run listens until ctx ends and reconnects when the connection breaks; every watcher is woken then, since changes may
// have been missed.
func (h *Hub) Run(ctx context.Context) {
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		began := time.Now()
		err := store.ListenRuns(ctx, h.url, 30*time.Second, h.listening, h.changed)
		if ctx.Err() != nil {
			return
		}
		slog.WarnContext(ctx, "run events interrupted", "error", err)
		if time.Since(began) > time.Minute {
			wait = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// Subscribe returns a channel that receives after each change of a run; several changes may be one receive. It ends
// with ctx.
func (h *Hub) Subscribe(ctx context.Context, org, run uuid.UUID) <-chan struct{} {
	k, ch := key{org, run}, make(chan struct{}, 1)
	h.mu.Lock()
	if h.watchers[k] == nil {
		h.watchers[k] = map[chan struct{}]struct{}{}
	}
	h.watchers[k][ch] = struct{}{}
	h.mu.Unlock()
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[k], ch)
		if len(h.watchers[k]) == 0 {
			delete(h.watchers, k)
		}
	})
	return ch
}

// Watchers returns how many subscriptions there are, for metrics.
func (h *Hub) Watchers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, w := range h.watchers {
		n += len(w)
	}
	return n
}

func (h *Hub) listening() {
	h.once.Do(func() { close(h.ready) })
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, chans := range h.watchers {
		wake(chans)
	}
}

func (h *Hub) changed(payload string) {
	rawOrg, rawRun, _ := strings.Cut(payload, "|")
	org, err := uuid.Parse(rawOrg)
	if err != nil {
		return
	}
	run, err := uuid.Parse(rawRun)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	wake(h.watchers[key{org, run}])
}

// wake never blocks: a watcher that has not looked yet will see this change too.
func wake(chans map[chan struct{}]struct{}) {
	for ch := range chans {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
