package devstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"revarch/fault"
)

const (
	probeEvery   = 50 * time.Millisecond
	probeTimeout = 5 * time.Second
	stableAfter  = 10 * time.Second // a child that ran this long starts over with the shortest delay
	maxLog       = 10 << 20         // bytes; a longer log is set aside at the next start
)

// backoff is the delay before the next start after n deaths in a row. It reaches past ten seconds in total with the
// sixth: PostgreSQL refuses to start while a back end of a killed postmaster still uses its shared memory.
func backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(n-1, 10), 5*time.Second)
}

// child is one supervised process through all its restarts.
type child struct {
	sup   *Supervisor
	p     Process
	order int

	quit     chan struct{} // closed to ask for the end
	kill     chan struct{} // closed when there is no time left to ask
	done     chan struct{} // closed once it is not running and never will again
	ready    chan struct{} // closed when it was ready for the first time
	quitOnce sync.Once
	killOnce sync.Once

	mu       sync.Mutex
	pid      int
	isReady  bool
	wasReady bool
	restarts int
	lastErr  error
}

func newChild(s *Supervisor, p Process, order int) *child {
	return &child{
		sup: s, p: p, order: order, quit: make(chan struct{}), kill: make(chan struct{}),
		done: make(chan struct{}), ready: make(chan struct{}),
	}
}

func (c *child) status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Status{Name: c.p.Name, PID: c.pid, Ready: c.isReady, Restarts: c.restarts}
}

// run supervises in the background. The life of the child does not end with ctx, only with end.
func (c *child) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-c.quit
		cancel()
	}()
	go func() {
		defer close(c.done)
		c.loop(ctx)
	}()
}

func (c *child) loop(ctx context.Context) {
	failures := 0
	for {
		began := time.Now()
		pid, err := c.once(ctx)
		if ctx.Err() != nil {
			c.sup.onEvent(Event{Kind: Stopped, Name: c.p.Name, PID: pid, Err: err})
			c.sup.log.DebugContext(ctx, "process stopped", "process", c.p.Name, "pid", pid)
			return
		}
		if time.Since(began) >= stableAfter {
			failures = 0
		}
		failures++
		c.mu.Lock()
		c.lastErr = err
		c.restarts++
		giveUp := !c.wasReady && c.p.GiveUpAfter > 0 && failures >= c.p.GiveUpAfter
		c.mu.Unlock()
		e := Event{Kind: Exited, Name: c.p.Name, PID: pid, Err: err, Failures: failures, RetryIn: backoff(failures)}
		if giveUp {
			e.RetryIn = 0
		}
		c.sup.log.WarnContext(ctx, "process died", "process", e.Name, "pid", pid, "error", err, "failures", failures,
			"retry_in", e.RetryIn.String(), "log", c.p.LogFile)
		c.sup.onEvent(e)
		if giveUp {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(e.RetryIn):
		}
	}
}

// once starts the child and returns when it has ended, by itself or because it was asked to.
func (c *child) once(ctx context.Context) (int, error) {
	if c.p.BeforeStart != nil {
		if err := c.p.BeforeStart(ctx); err != nil {
			return 0, fmt.Errorf("prepare: %w", err)
		}
	}
	cmd, err := c.launch()
	if err != nil {
		return 0, err
	}
	pid := cmd.Process.Pid
	c.setRunning(pid, false)
	c.sup.onEvent(Event{Kind: Started, Name: c.p.Name, PID: pid})
	ended := make(chan error, 1)
	go func() { ended <- reap(cmd) }()
	probeCtx, stopProbe := context.WithCancel(ctx)
	var probing sync.WaitGroup
	probing.Go(func() { c.probe(probeCtx, pid) })

	select {
	case err = <-ended:
	case <-ctx.Done():
		err = c.terminate(cmd, ended)
	}
	stopProbe()
	probing.Wait()
	c.setRunning(0, false)
	if rmErr := os.Remove(c.sup.data.pidFile(c.p.Name)); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return pid, err
}

func (c *child) setRunning(pid int, ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pid, c.isReady = pid, ready
	if ready && !c.wasReady {
		c.wasReady = true
		close(c.ready)
	}
}

// launch starts the process in its own group and writes its pid file. No parent-death signal is set: it would reach
// PostgreSQL as an abrupt end in the middle of its work, and would fire when a mere thread of ours ends. A killed
// supervisor leaves its children running instead, and the next one stops them in good order.
func (c *child) launch() (*exec.Cmd, error) {
	if info, err := os.Stat(c.p.LogFile); err == nil && info.Size() > maxLog {
		if err := os.Rename(c.p.LogFile, c.p.LogFile+".1"); err != nil {
			return nil, fmt.Errorf("set log aside: %w", err)
		}
	}
	out, err := os.OpenFile(c.p.LogFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = out.Close() }()         // the child has its own
	cmd := exec.Command(c.p.Path, c.p.Args...) //nolint:gosec,noctx // its life is bounded by end, not by a context
	cmd.Env, cmd.Dir = c.p.Env, c.p.Dir
	cmd.Stdout, cmd.Stderr = out, out // files, not pipes: the child outlives us unharmed
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.p.Credential}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	r, err := newPIDRecord(c.p, cmd.Process.Pid, c.order)
	if err == nil {
		err = writeJSON(c.sup.data.pidFile(c.p.Name), r)
	}
	if err != nil { // a child that the next supervisor could not find must not run
		return nil, errors.Join(fmt.Errorf("write pid file: %w", err), cmd.Process.Kill(), reap(cmd))
	}
	return cmd, nil
}

// reap waits for the process and kills what is left of its group before its id is given back.
func reap(cmd *exec.Cmd) error {
	pid := cmd.Process.Pid
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // most often there is nobody left
	if err := cmd.Wait(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

// probe asks until the child is ready.
func (c *child) probe(ctx context.Context, pid int) {
	began := time.Now()
	for {
		err := error(nil)
		if c.p.Ready != nil {
			probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
			err = c.p.Ready(probeCtx)
			cancel()
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			c.setRunning(pid, true)
			c.sup.log.InfoContext(ctx, "process is ready", "process", c.p.Name, "pid", pid, "took", time.Since(began).String())
			c.sup.onEvent(Event{Kind: Ready, Name: c.p.Name, PID: pid})
			return
		}
		c.mu.Lock()
		c.lastErr = err
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(probeEvery):
		}
	}
}

// terminate asks the process to end, waits, and kills it when it takes too long; reap sees to the rest of its group.
func (c *child) terminate(cmd *exec.Cmd, ended <-chan error) error {
	if err := cmd.Process.Signal(c.p.StopSignal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.sup.log.Warn("signal refused", "process", c.p.Name, "error", err)
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(c.p.StopTimeout):
	case <-c.kill:
	}
	c.sup.log.Warn("process did not stop in time and is killed", "process", c.p.Name, "pid", cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return <-ended
}

// end stops the child for good and returns once it is gone. When ctx ends, the child is killed.
func (c *child) end(ctx context.Context) {
	c.quitOnce.Do(func() { close(c.quit) })
	select {
	case <-c.done:
	case <-ctx.Done():
		c.killOnce.Do(func() { close(c.kill) })
		<-c.done
	}
}

// failure is a fault whose cause is the last error and the end of the log.
func (c *child) failure(format string, args ...any) error {
	c.mu.Lock()
	cause := c.lastErr
	c.mu.Unlock()
	if tail := logTail(c.p.LogFile); tail != "" {
		cause = errors.Join(cause, fmt.Errorf("end of %s:\n%s", filepath.Base(c.p.LogFile), tail))
	}
	return fault.Wrap(cause, fault.Unavailable, format, args...)
}

// logTail returns the last lines of a log, at most 2 KiB.
func logTail(file string) string {
	body, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	body = body[max(0, len(body)-2048):]
	return strings.TrimSpace(string(body))
}
