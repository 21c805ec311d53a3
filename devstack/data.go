package devstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"revarch/fault"
)

// dataDir is the absolute path of a data folder.
type dataDir string

func (d dataDir) join(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}
func (d dataDir) logFile(name string) string { return d.join("log", name+".log") }
func (d dataDir) pidFile(name string) string { return d.join("run", name+".pid") }

// DefaultData is the data folder when none is named: /var/lib/revarch for root, ~/.local/share/revarch for others.
// Root's home is no place for it, since the user that PostgreSQL runs as could not enter it.
func DefaultData() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/revarch", nil
	}
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("find the home folder: %w", err)
	}
	return filepath.Join(u.HomeDir, ".local", "share", "revarch"), nil
}

// prepareData makes the data folder and its parts. Others may pass through the folder itself when we are root, because
// PostgreSQL runs as another user; they can list or read nothing in it.
func prepareData(path string) (dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve data folder: %w", err)
	}
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(abs, mode); err != nil {
		return "", fault.Wrap(err, fault.Invalid, "cannot create the data folder %s: %v", abs, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("inspect data folder: %w", err)
	}
	if want := info.Mode().Perm() | mode; want != info.Mode().Perm() {
		if err := os.Chmod(abs, want); err != nil {
			return "", fault.Wrap(err, fault.Invalid, "the data folder %s belongs to someone else: choose another with --data", abs)
		}
	}
	// The kernel names folders by their real path, and what it says is compared with ours.
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", fmt.Errorf("resolve data folder: %w", err)
	}
	d := dataDir(abs)
	for _, sub := range []string{"run", "log"} {
		if err := os.MkdirAll(d.join(sub), 0o700); err != nil {
			return "", fault.Wrap(err, fault.Invalid, "cannot write to the data folder %s: %v", abs, err)
		}
	}
	return d, nil
}

// lock takes the data folder for this process. The lock dies with the process, however that ends; children do not
// inherit it.
func (d dataDir) lock() (*os.File, error) {
	f, err := os.OpenFile(d.join("run", "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
		}
		if err == nil {
			return f, nil
		}
	}
	holder, _ := os.ReadFile(f.Name())
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fault.New(fault.Conflict, "the data folder %s is in use by process %s: stop that one first, or choose another folder with --data",
			d, strings.TrimSpace(string(holder)))
	}
	return nil, fmt.Errorf("lock data folder: %w", err)
}

// writeJSON replaces a file in one step, readable by its owner only.
func writeJSON(path string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(body, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// readJSON fills v from a file; a file that is not there leaves v alone.
func readJSON(path string, v any) error {
	body, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
