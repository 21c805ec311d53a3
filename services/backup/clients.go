package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"revarch/fault"
)

// Tool is one installed program of PostgreSQL.
type Tool struct {
	Path  string
	Major int
}

var toolVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// Tools lists the installations of a program of PostgreSQL that run: in dirs, in Debian's folders, on PATH.
func Tools(ctx context.Context, name string, dirs ...string) []Tool {
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, name))
	}
	debian, _ := filepath.Glob(filepath.Join("/usr/lib/postgresql/*/bin", name))
	paths = append(paths, debian...)
	if path, err := exec.LookPath(name); err == nil {
		paths = append(paths, path)
	}
	var found []Tool
	for _, path := range paths {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		m := toolVersion.FindSubmatch(out)
		if m == nil {
			continue
		}
		major, err := strconv.Atoi(string(m[1]))
		if err == nil && !slices.ContainsFunc(found, func(t Tool) bool { return t.Path == path }) {
			found = append(found, Tool{Path: path, Major: major})
		}
	}
	return found
}

// ChooseTool takes the oldest tool that is new enough: a newer one may write what the server does not know.
func ChooseTool(name string, found []Tool, major int) (Tool, error) {
	best := Tool{}
	newest := 0
	for _, t := range found {
		newest = max(newest, t.Major)
		if t.Major >= major && (best.Major == 0 || t.Major < best.Major) {
			best = t
		}
	}
	switch {
	case best.Major > 0:
		return best, nil
	case newest == 0:
		return best, fault.New(fault.Unavailable, "%s was not found beside PostgreSQL's binaries, on PATH or in /usr/lib/postgresql: install it, for example with apt-get install postgresql-client-%d", name, major)
	}
	return best, fault.New(fault.Unavailable, "%s is of version %d, older than version %d that is needed: install it, for example with apt-get install postgresql-client-%d", name, newest, major, major)
}

// pgxOnly are parameters of a database URL that mean something to our driver and are an error to libpq.
var pgxOnly = []string{"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity", "pool_max_conns", "pool_min_conns"}

// libpq splits a URL into one that may appear in a list of processes and the environment with the password.
func libpq(databaseURL string) (bare string, env []string, err error) {
	u, err := url.Parse(databaseURL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", nil, fault.New(fault.Invalid, "the owner's database URL must be of the form postgres://user:password@host/database")
	}
	q := u.Query()
	password := q.Get("password")
	if p, ok := u.User.Password(); ok {
		password = p
		u.User = url.User(u.User.Username())
	}
	for _, name := range append(pgxOnly, "password") {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	if password != "" {
		env = []string{"PGPASSWORD=" + password}
	}
	return u.String(), env, nil
}

// runTool runs a tool against a database; its error carries the last lines the tool printed.
func runTool(ctx context.Context, databaseURL string, t Tool, args []string, connect func(*exec.Cmd)) error {
	bare, env, err := libpq(databaseURL)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.Path, append(args, "--no-password", "--dbname="+bare)...) //nolint:gosec // G204: as chosen
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(cmd.Environ(), env...)
	var printed bytes.Buffer
	cmd.Stderr = &printed
	connect(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
		return fmt.Errorf("%s: %w: %s", filepath.Base(t.Path), exit, strings.Join(lines[max(0, len(lines)-8):], "\n  "))
	}
	return err
}
