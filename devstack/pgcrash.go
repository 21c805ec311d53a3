package devstack

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clearKilledServer makes way for a new server in the cluster's folder dir.
//
// A postmaster that still runs there is a leftover whose pid file was not written in time; it is shut down. Back ends of
// a postmaster that was killed are killed too: a busy one can go on for hours, and PostgreSQL refuses to start while its
// shared memory is in use. What they had not committed is lost either way. A postmaster.pid whose number now belongs to
// another program is removed, since PostgreSQL would take that program for itself.
func clearKilledServer(ctx context.Context, dir string) error {
	here, err := os.Stat(dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "postmaster.pid")
	pid, err := postmasterPID(file)
	if err != nil {
		return err
	}
	if pid > 0 && worksIn(here, pid) {
		r, err := newPIDRecord(Process{Name: "postgres", StopSignal: syscall.SIGINT, StopTimeout: 30 * time.Second}, pid, 0)
		if err == nil {
			err = r.end(ctx)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := killBackEnds(ctx, here); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// postmasterPID is 0 when the file is not there or says nothing useful.
func postmasterPID(file string) (int, error) {
	body, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(body), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return 0, nil //nolint:nilerr // a file that was cut short names nobody
	}
	return pid, nil
}

// worksIn says whether the process has the folder as its working directory, as every PostgreSQL process of a cluster
// has. Folders are compared by identity, since paths of processes in containers mean something else.
func worksIn(dir os.FileInfo, pid int) bool {
	cwd, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	return err == nil && os.SameFile(dir, cwd)
}

func killBackEnds(ctx context.Context, dir os.FileInfo) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !worksIn(dir, pid) {
			continue
		}
		comm, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
		if err != nil || !strings.HasPrefix(string(comm), "postgres") {
			continue
		}
		r, err := newPIDRecord(Process{Name: "back end", StopSignal: syscall.SIGKILL, StopTimeout: 10 * time.Second}, pid, 0)
		if err != nil {
			continue // it ended meanwhile
		}
		if err := r.end(ctx); err != nil {
			return err
		}
	}
	return nil
}
