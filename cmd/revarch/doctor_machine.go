package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"revarch/devstack"
	"revarch/fault"
	"revarch/services/backup"
	"revarch/services/vault"
	"revarch/web"
)

// The PostgreSQL that the product needs, and the room that it needs to work at all and to work for long.
const (
	oldestPostgres = 15
	leastSpace     = 1 << 30 // bytes
	enoughSpace    = 5 << 30 // bytes
)

func (d *doctor) dataFolder() {
	if d.at.Data == "" || !d.ownDatabase() && !d.at.Exists {
		return // the environment names everything
	}
	if err := devstack.CanServe(d.at.Data); err != nil {
		d.problem("data folder", fault.Public(err), "chmod o+x the folder that is named, or choose another with --data")
		return
	}
	switch {
	case !d.at.Exists:
		d.note("data folder", d.at.Data+" does not exist yet", "make run, or revarch up")
	case d.at.Running != 0:
		d.ok("data folder", "%s, PostgreSQL %d, in use by process %d", d.at.Data, d.at.Major, d.at.Running)
	case d.at.Major == 0:
		d.ok("data folder", "%s, without a database yet", d.at.Data)
	default:
		d.ok("data folder", "%s, PostgreSQL %d, not running", d.at.Data, d.at.Major)
	}
}

// diskSpace looks at the nearest folder that exists.
func (d *doctor) diskSpace() {
	at := d.at.Data
	if at == "" || !d.ownDatabase() {
		at = "."
	}
	var s syscall.Statfs_t
	for err := syscall.Statfs(at, &s); err != nil; err = syscall.Statfs(at, &s) {
		if at == filepath.Dir(at) {
			d.problem("disk space", err.Error(), "")
			return
		}
		at = filepath.Dir(at)
	}
	free := s.Bavail * uint64(s.Bsize)
	text := fmt.Sprintf("%.1f GiB free in %s", float64(free)/(1<<30), at)
	switch {
	case free < leastSpace:
		d.problem("disk space", text, "make room, or choose another folder with --data")
	case free < enoughSpace:
		d.note("disk space", text, "make room before the data grows")
	default:
		d.ok("disk space", "%s", text)
	}
}

// programs looks for the servers and tools that revarch starts.
func (d *doctor) programs(ctx context.Context) {
	major := max(d.at.Major, oldestPostgres)
	if d.ownDatabase() {
		fit := func(t backup.Tool) bool {
			return t.Major == d.at.Major || d.at.Major == 0 && t.Major >= oldestPostgres
		}
		servers := backup.Tools(ctx, "postgres", d.fetched()...)
		_, npm := exec.LookPath("npm")
		i := slices.IndexFunc(servers, fit)
		switch {
		case i >= 0:
			d.ok("PostgreSQL", "%d, %s", servers[i].Major, servers[i].Path)
		case d.at.Major == 0 && npm == nil:
			d.note("PostgreSQL", "not installed; the first start fetches it with npm", fmt.Sprintf("apt-get install postgresql, for version %d or newer", oldestPostgres))
		default:
			d.problem("PostgreSQL", fmt.Sprintf("version %d is needed and not installed", major), fmt.Sprintf("apt-get install postgresql-%d", major))
		}
	}
	for _, name := range []string{"pg_dump", "pg_restore"} {
		tool, err := backup.ChooseTool(name, backup.Tools(ctx, name), major)
		if err != nil {
			d.note(name, fault.Public(err)+"; revarch backup and restore need it", fmt.Sprintf("apt-get install postgresql-client-%d", major))
			continue
		}
		d.ok(name, "%d, %s", tool.Major, tool.Path)
	}
	if !d.ownEngine() {
		return
	}
	if path, err := devstack.FindTemporal(); err != nil {
		d.problem("Temporal", fault.Public(err), "make bin/temporal")
	} else {
		d.ok("Temporal", "%s", path)
	}
}

// fetched are the folders of PostgreSQL binaries that were fetched into the data folder.
func (d *doctor) fetched() []string {
	dirs, _ := filepath.Glob(filepath.Join(d.at.Data, "pg-dist", "*", "native", "bin"))
	return dirs
}

// webApp checks that the binary has its pages, and where they are served.
func (d *doctor) webApp(ctx context.Context) {
	if _, ok := web.Files(); ok {
		d.ok("web app", "built in")
	} else {
		d.problem("web app", "this binary was built without it", "make build")
	}
	if d.at.Running != 0 || !d.ownDatabase() {
		return
	}
	address := d.cfg.Listen
	if address == "" {
		return
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		d.problem("port", address+" is taken by another program", "revarch up --port 0 picks a free one")
		return
	}
	_ = l.Close()
	d.ok("port", "%s is free", address)
}

func (d *doctor) keyset() {
	path := d.cfg.KeysetPath
	if path == "" && d.ownDatabase() && d.at.Exists {
		path = filepath.Join(d.at.Data, "keys")
	}
	if path == "" {
		if !d.ownDatabase() {
			d.problem("keyset", "REVARCH_KEYSET is not set", "set it to the path of the keyset file")
		}
		return
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if d.ownDatabase() && d.at.Major != 0 {
			d.problem("keyset", path+" is missing: stored grants cannot be read", "put the file back from a backup, or connect every provider again")
			return
		}
		d.note("keyset", path+" does not exist yet; the first start makes it", "")
		return
	}
	v, err := vault.Open(path)
	if err != nil {
		d.problem("keyset", fault.Public(err), "chmod 600 "+path+", or put the file back from a backup")
		return
	}
	d.ok("keyset", "%s, mode 0600, %d key(s)", path, v.Keys())
}

// providers says which are the real ones.
func (d *doctor) providers() {
	var set, unset []string
	for _, code := range slices.Sorted(maps.Keys(d.cfg.Providers)) {
		if d.cfg.Providers[code].Configured() {
			set = append(set, code)
		} else {
			unset = append(unset, code)
		}
	}
	if len(set) > 0 {
		d.ok("providers", "configured: %s", strings.Join(set, ", "))
	}
	if len(unset) == 0 {
		return
	}
	mend := "set REVARCH_<CODE>_AUTHORIZE_URL, _TOKEN_URL, _API_URL, _CLIENT_ID and _CLIENT_SECRET to connect the real product"
	if d.ownDatabase() {
		d.note("providers", "on the sandbox: "+strings.Join(unset, ", "), mend)
		return
	}
	d.note("providers", "not configured: "+strings.Join(unset, ", "), mend)
}
