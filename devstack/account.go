package devstack

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"revarch/fault"
)

// account is the user that PostgreSQL runs as.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount is ourselves, or, because PostgreSQL refuses to run as root, the user postgres, else nobody. It has to
// have a passwd entry: initdb refuses a bare number.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		u, err := user.Current()
		if err != nil {
			return account{}, fmt.Errorf("find the current user: %w", err)
		}
		return account{name: u.Username, uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return account{}, fault.New(fault.Unavailable, "PostgreSQL does not run as root and there is neither a user postgres nor nobody: create one (adduser --system postgres) or start as an ordinary user")
}

// credential is nil when no change of user is needed.
func (a account) credential() *syscall.Credential {
	if int(a.uid) == os.Geteuid() {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// canEnter checks that the account may pass through dir and every folder above it.
func (a account) canEnter(dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fault.Wrap(err, fault.Invalid, "cannot inspect the folder %s: %v", at, err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && !mayEnter(info.Mode(), st.Uid, st.Gid, a) {
			return fault.New(fault.Invalid, "user %s, which PostgreSQL runs as, cannot enter %s (mode %04o), and %s lies in it: choose a data folder elsewhere with --data, for example /var/lib/revarch, or allow it with chmod o+x %s",
				a.name, at, info.Mode().Perm(), dir, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func mayEnter(mode fs.FileMode, owner, group uint32, a account) bool {
	bit := fs.FileMode(0o001)
	switch {
	case a.uid == 0:
		return true
	case owner == a.uid:
		bit = 0o100
	case group == a.gid:
		bit = 0o010
	}
	return mode&bit != 0
}
