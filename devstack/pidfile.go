package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidRecord identifies one started child for good: a pid alone may belong to somebody else by the time it is read.
type pidRecord struct {
	Name        string         `json:"name"`
	PID         int            `json:"pid"`
	StartTicks  uint64         `json:"start_ticks"` // since boot, as the kernel counts
	BootID      string         `json:"boot_id"`
	Order       int            `json:"order"` // when it was first started, among its siblings
	StopSignal  syscall.Signal `json:"stop_signal"`
	StopTimeout time.Duration  `json:"stop_timeout_ns"`
}

func newPIDRecord(p Process, pid, order int) (pidRecord, error) {
	ticks, _, err := procStat(pid)
	if err != nil {
		return pidRecord{}, err
	}
	boot, err := bootID()
	return pidRecord{
		Name: p.Name, PID: pid, StartTicks: ticks, BootID: boot, Order: order,
		StopSignal: p.StopSignal, StopTimeout: p.StopTimeout,
	}, err
}

func bootID() (string, error) {
	body, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(body)), err
}

// procStat returns when a process started, in ticks since boot, and its state letter.
func procStat(pid int) (ticks uint64, state byte, err error) {
	body, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}
	// The second field is the command in parentheses and may itself hold spaces and parentheses.
	_, rest, ok := bytes.Cut(body[max(0, bytes.LastIndexByte(body, ')')):], []byte(") "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 20 {
		return 0, 0, fmt.Errorf("unexpected /proc/%d/stat", pid)
	}
	ticks, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return ticks, fields[0][0], err
}

// alive says whether the very process of the record still runs. A zombie does not: where nothing reaps orphans, it stays
// one for ever.
func (r pidRecord) alive() bool {
	boot, err := bootID()
	if err != nil || boot != r.BootID {
		return false
	}
	ticks, state, err := procStat(r.PID)
	return err == nil && ticks == r.StartTicks && state != 'Z' && state != 'X'
}

// end stops a process that is not our child: its stop signal, a bounded wait, then SIGKILL to it and what is left of its
// group.
func (r pidRecord) end(ctx context.Context) error {
	if !r.alive() {
		return nil
	}
	if err := syscall.Kill(r.PID, r.StopSignal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop leftover %s (process %d): %w", r.Name, r.PID, err)
	}
	if !r.waitGone(ctx, r.StopTimeout) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := syscall.Kill(-r.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill leftover %s (process %d): %w", r.Name, r.PID, err)
	}
	if !r.waitGone(ctx, 10*time.Second) {
		return fmt.Errorf("leftover %s (process %d) does not end", r.Name, r.PID)
	}
	return nil
}

func (r pidRecord) waitGone(ctx context.Context, limit time.Duration) bool {
	deadline := time.After(limit)
	for r.alive() {
		select {
		case <-ctx.Done():
			return false
		case <-deadline:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}

// stopLeftovers ends the children of a supervisor that was killed, in reverse order of their start. They are stopped and
// not adopted: only a parent learns how its child ended, and their ports, flags and binary may no longer be wanted.
func (d dataDir) stopLeftovers(ctx context.Context, log *slog.Logger) error {
	files, err := filepath.Glob(d.pidFile("*"))
	if err != nil {
		return err
	}
	var left []pidRecord
	for _, file := range files {
		var r pidRecord
		if err := readJSON(file, &r); err != nil {
			log.WarnContext(ctx, "pid file is unreadable and removed", "file", file, "error", err)
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove pid file: %w", err)
			}
			continue
		}
		left = append(left, r)
	}
	slices.SortFunc(left, func(a, b pidRecord) int { return b.Order - a.Order })
	for _, r := range left {
		if r.alive() {
			log.WarnContext(ctx, "stopping a process left by a killed supervisor", "process", r.Name, "pid", r.PID)
		}
		if err := r.end(ctx); err != nil {
			return err
		}
		if err := os.Remove(d.pidFile(r.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove pid file: %w", err)
		}
	}
	return nil
}
