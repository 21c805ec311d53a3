package devstack

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"revarch/fault"
)

// Installation is what a data folder tells without being taken or changed.
type Installation struct {
	Data    string // absolute path
	Exists  bool   // there is such a folder
	Running int    // process id of the supervisor that uses it, 0 if none does
	Major   int    // of the PostgreSQL that made the cluster, 0 if there is none

	URLs            URLs // of the cluster at the port it had last; empty if it never ran
	Passwords       Passwords
	TemporalAddress string         // host:port it had last; "" if it never ran
	Ports           map[string]int // by name of the server, as chosen last
}

// Inspect looks into a data folder; "" means DefaultData.
func Inspect(data string) (Installation, error) {
	var at Installation
	if data == "" {
		var err error
		if data, err = DefaultData(); err != nil {
			return at, err
		}
	}
	abs, err := filepath.Abs(data)
	if err != nil {
		return at, fmt.Errorf("resolve data folder: %w", err)
	}
	at.Data = abs
	d := dataDir(abs)
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil || !info.IsDir() {
		return at, fault.Wrap(err, fault.Invalid, "%s is no folder that can be used", abs)
	}
	at.Exists = true
	if at.Major, err = clusterMajor(d.join("pg")); err != nil {
		return at, err
	}
	if at.Running, err = d.holder(); err != nil {
		return at, err
	}
	var st state
	if err := errors.Join(readJSON(d.join("run", "state.json"), &st), readJSON(d.join("db-passwords.json"), &at.Passwords)); err != nil {
		return at, fmt.Errorf("look into data folder: %w", err)
	}
	at.Ports = st.Ports
	if port := st.Ports["postgres"]; port > 0 && at.Passwords.Owner != "" {
		at.URLs = NewURLs(port, DatabaseName, at.Passwords)
	}
	if port := st.Ports["temporal"]; port > 0 {
		at.TemporalAddress = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	return at, nil
}

// holder is the process that has the folder's lock, 0 if it is free.
func (d dataDir) holder() (int, error) {
	f, err := os.Open(d.join("run", "lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open lock file: %w", err)
	}
	defer func() { _ = f.Close() }()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0, err
	}
	body, err := os.ReadFile(f.Name())
	if err != nil {
		return 0, fmt.Errorf("read lock file: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		return -1, nil //nolint:nilerr // the lock counts, not who holds it
	}
	return pid, nil
}

// CanServe checks that the user that PostgreSQL runs as could enter the data folder, or the nearest folder above it that
// exists.
func CanServe(data string) error {
	user, err := serverAccount()
	if err != nil {
		return err
	}
	for at := filepath.Clean(data); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return user.canEnter(at)
		}
	}
}

// SearchAttributes are what operators find workflows by; all are of type Keyword.
func SearchAttributes() []string { return slices.Clone(searchAttributes) }
