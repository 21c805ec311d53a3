package devstack

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"

	"revarch/fault"
)

// The database's name and the names of its login roles. The superuser exists from the start; whoever migrates creates
// the others, with the passwords of their URLs.
const (
	DatabaseName  = "revarch"
	SuperuserRole = "postgres"
	OwnerRole     = "revarch_owner"
	AppRole       = "revarch_app"
	WorkerRole    = "revarch_worker"
)

// Passwords of the login roles: db-passwords.json in the data folder.
type Passwords struct {
	Superuser string `json:"superuser"`
	Owner     string `json:"owner"`
	App       string `json:"app"`
	Worker    string `json:"worker"`
}

// URLs of one database, one per login role.
type URLs struct {
	Superuser, Owner, App, Worker string
}

// NewURLs builds the URLs of a database on 127.0.0.1.
func NewURLs(port int, database string, p Passwords) URLs {
	build := func(role, password string) string {
		u := url.URL{
			Scheme: "postgres", User: url.UserPassword(role, password),
			Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/" + database, RawQuery: "sslmode=disable",
		}
		return u.String()
	}
	return URLs{
		Superuser: build(SuperuserRole, p.Superuser), Owner: build(OwnerRole, p.Owner),
		App: build(AppRole, p.App), Worker: build(WorkerRole, p.Worker),
	}
}

// loadPasswords reads the passwords of the data folder, or makes them when there is no cluster yet.
func loadPasswords(d dataDir, clusterExists bool) (Passwords, error) {
	file := d.join("db-passwords.json")
	var p Passwords
	if err := readJSON(file, &p); err != nil {
		return p, fmt.Errorf("load database passwords: %w", err)
	}
	if p.Superuser != "" && p.Owner != "" && p.App != "" && p.Worker != "" {
		return p, nil
	}
	if _, err := os.Stat(file); err == nil || clusterExists || !errors.Is(err, fs.ErrNotExist) {
		return p, fault.New(fault.Conflict, "%s is missing or incomplete, but a database exists beside it: put the file back, or restore a backup into an empty data folder", file)
	}
	p = Passwords{Superuser: rand.Text(), Owner: rand.Text(), App: rand.Text(), Worker: rand.Text()}
	if err := writeJSON(file, p); err != nil {
		return p, fmt.Errorf("save database passwords: %w", err)
	}
	return p, nil
}
