package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"revarch/fault"
)

const oldestPostgres = 15

// pgBinaries is a folder with postgres and initdb of one major version.
type pgBinaries struct {
	dir   string
	major int
}

var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspectBinaries runs the binaries as the account that will use them, so what it may not reach counts as absent.
func inspectBinaries(ctx context.Context, dir string, a account) (pgBinaries, error) {
	b := pgBinaries{dir: dir}
	for _, name := range []string{"initdb", "postgres"} {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, name), "--version") //nolint:gosec // our own choice of binary
		cmd.Dir = "/"
		a.apply(cmd)
		out, err := cmd.Output()
		if err != nil {
			return b, fmt.Errorf("run %s: %w", filepath.Join(dir, name), err)
		}
		m := postgresVersion.FindSubmatch(out)
		if m == nil {
			return b, fmt.Errorf("%s names no version", filepath.Join(dir, name))
		}
		if b.major, err = strconv.Atoi(string(m[1])); err != nil {
			return b, err
		}
	}
	return b, nil
}

// systemBinaries lists the usable installations of this machine: PATH first, then Debian's folders, newest first.
func systemBinaries(ctx context.Context, a account, log *slog.Logger) []pgBinaries {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(x, y string) int { return debianMajor(y) - debianMajor(x) })
	var found []pgBinaries
	for _, dir := range append(dirs, debian...) {
		if slices.ContainsFunc(found, func(b pgBinaries) bool { return b.dir == dir }) {
			continue
		}
		b, err := inspectBinaries(ctx, dir, a)
		if err != nil {
			log.DebugContext(ctx, "PostgreSQL installation is not usable", "folder", dir, "error", err)
			continue
		}
		found = append(found, b)
	}
	return found
}

func debianMajor(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

// findBinaries chooses the installation for the cluster in pgData: of its own major version if it exists, else the first
// that is new enough, else the package that is fetched into the data folder.
func (s *Supervisor) findBinaries(ctx context.Context, dir, pgData string, a account) (pgBinaries, error) {
	var found []pgBinaries
	if dir != "" {
		b, err := inspectBinaries(ctx, dir, a)
		if err != nil {
			return b, fault.Wrap(err, fault.Invalid, "%s has no PostgreSQL binaries that user %s can run", dir, a.name)
		}
		found = append(found, b)
	} else {
		found = systemBinaries(ctx, a, s.log)
	}
	have, err := clusterMajor(pgData)
	if err != nil {
		return pgBinaries{}, err
	}
	if b, ok := chooseBinaries(found, have); ok {
		return b, nil
	}
	if dir == "" && (have == 0 || have == fetchedMajor) {
		return s.fetchBinaries(ctx, a)
	}
	return pgBinaries{}, wrongMajor(pgData, have, found)
}

// chooseBinaries wants the major version have, or any that is new enough when have is 0.
func chooseBinaries(found []pgBinaries, have int) (pgBinaries, bool) {
	for _, b := range found {
		if b.major == have || have == 0 && b.major >= oldestPostgres {
			return b, true
		}
	}
	return pgBinaries{}, false
}

func wrongMajor(pgData string, have int, found []pgBinaries) error {
	var majors []string
	for _, b := range found {
		majors = append(majors, fmt.Sprintf("%d in %s", b.major, b.dir))
	}
	if have == 0 {
		return fault.New(fault.Unavailable, "PostgreSQL %d or newer is needed; found: %s", oldestPostgres, strings.Join(majors, ", "))
	}
	return fault.New(fault.Conflict, "the database in %s was made by PostgreSQL %d; found: %s. Install PostgreSQL %d, or restore a backup into an empty data folder",
		pgData, have, strings.Join(majors, ", "), have)
}

// clusterMajor is the major version that made the cluster, 0 if there is none.
func clusterMajor(pgData string) (int, error) {
	body, err := os.ReadFile(filepath.Join(pgData, "PG_VERSION"))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		return 0, fault.Wrap(err, fault.Conflict, "%s is damaged: restore a backup into an empty data folder", pgData)
	}
	return major, nil
}
