package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"revarch/fault"
)

// Options says where a supervisor keeps its things and whom it tells about its children.
type Options struct {
	Data    string       // the data folder; "" means DefaultData
	Logger  *slog.Logger // nil means slog.Default
	OnEvent func(Event)  // called from the goroutine of each child, so it must be quick and safe for concurrent use; may be nil
}

// EventKind says what happened to a child.
type EventKind string

// The events in the life of a child. Exited is never reported for a child that was asked to stop.
const (
	Started EventKind = "started"
	Ready   EventKind = "ready"
	Exited  EventKind = "exited"
	Stopped EventKind = "stopped"
)

// Event is one thing that happened to a child.
type Event struct {
	Kind     EventKind
	Name     string
	PID      int           // 0 if it never ran
	Err      error         // how it ended or why it could not start; nil for Started and Ready
	Failures int           // deaths in a row, for Exited
	RetryIn  time.Duration // until the next start, for Exited
}

// Status is what a supervisor knows about one child.
type Status struct {
	Name     string
	PID      int // 0 while it is not running
	Ready    bool
	Restarts int
}

// Supervisor starts children in order, restarts the ones that die and stops all in reverse order.
type Supervisor struct {
	data    dataDir
	log     *slog.Logger
	onEvent func(Event)
	lock    *os.File
	stateMu sync.Mutex // guards run/state.json

	mu       sync.Mutex
	children []*child // in order of their start
	started  int
	stopping bool
	stopped  chan struct{}
	stopErr  error
}

// Open takes the data folder, which it makes if needed, and stops what a killed supervisor left running in it. A folder
// in use by another supervisor is fault.Conflict.
func Open(ctx context.Context, o Options) (*Supervisor, error) {
	if o.Data == "" {
		data, err := DefaultData()
		if err != nil {
			return nil, err
		}
		o.Data = data
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OnEvent == nil {
		o.OnEvent = func(Event) {}
	}
	d, err := prepareData(o.Data)
	if err != nil {
		return nil, err
	}
	lock, err := d.lock()
	if err != nil {
		return nil, err
	}
	if err := d.stopLeftovers(ctx, o.Logger); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Supervisor{data: d, log: o.Logger, onEvent: o.OnEvent, lock: lock, stopped: make(chan struct{})}, nil
}

// Data is the absolute path of the data folder.
func (s *Supervisor) Data() string { return string(s.data) }

// Start starts a child and waits until it is ready. From then on it is restarted whenever it dies. If it does not become
// ready, it is stopped and forgotten, and the error (fault.Unavailable) carries the end of its log as its cause.
func (s *Supervisor) Start(ctx context.Context, p Process) error {
	p, err := p.withDefaults(s.data)
	if err != nil {
		return err
	}
	c, err := s.add(p)
	if err != nil {
		return err
	}
	c.run(ctx)
	timeout := time.NewTimer(p.ReadyTimeout)
	defer timeout.Stop()
	select {
	case <-c.ready:
		return nil
	case <-c.done: // gave up, or stopped meanwhile
		err = c.failure("%s does not start: see %s", p.Name, p.LogFile)
	case <-timeout.C:
		err = c.failure("%s is not ready after %s: see %s", p.Name, p.ReadyTimeout, p.LogFile)
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.end(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children = slices.DeleteFunc(s.children, func(o *child) bool { return o == c })
	return err
}

// runOnce runs a process to its end. A killed supervisor's successor finds it as it finds the others.
func (s *Supervisor) runOnce(ctx context.Context, p Process) error {
	p, err := p.withDefaults(s.data)
	if err != nil {
		return err
	}
	c := newChild(s, p, 0)
	cmd, err := c.launch()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- reap(cmd) }()
	select {
	case c.lastErr = <-ended:
	case <-ctx.Done():
		c.lastErr = errors.Join(ctx.Err(), c.terminate(cmd, ended))
	}
	if err := os.Remove(s.data.pidFile(p.Name)); err != nil {
		return fmt.Errorf("remove pid file: %w", err)
	}
	if cmd.ProcessState.Success() && ctx.Err() == nil {
		return nil
	}
	return c.failure("%s failed: see %s", p.Name, p.LogFile)
}

func (s *Supervisor) add(p Process) (*child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil, fault.New(fault.Conflict, "cannot start %s: the supervisor is stopping", p.Name)
	}
	if s.find(p.Name) != nil {
		return nil, fault.New(fault.Conflict, "%s is already started", p.Name)
	}
	s.started++
	c := newChild(s, p, s.started)
	s.children = append(s.children, c)
	return c, nil
}

// find wants s.mu held.
func (s *Supervisor) find(name string) *child {
	for _, c := range s.children {
		if c.p.Name == name {
			return c
		}
	}
	return nil
}

// Status lists the children in order of their start.
func (s *Supervisor) Status() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Status, 0, len(s.children))
	for _, c := range s.children {
		all = append(all, c.status())
	}
	return all
}

// Stop stops all children in reverse order of their start, each with its own signal and time limit, and gives the data
// folder back. Once ctx ends, what still runs is killed. A second Stop waits for the first.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.mu.Lock()
	first := !s.stopping
	s.stopping = true
	children := slices.Clone(s.children)
	s.mu.Unlock()
	if !first {
		return s.Wait()
	}
	for _, c := range slices.Backward(children) {
		c.end(ctx)
	}
	s.stopErr = s.lock.Close()
	close(s.stopped)
	return s.stopErr
}

// Wait returns when Stop is through.
func (s *Supervisor) Wait() error {
	<-s.stopped
	return s.stopErr
}
