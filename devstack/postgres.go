package devstack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a private cluster below a supervisor's data folder. The zero value is the embedded default.
type Postgres struct {
	BinDir   string            // folder of the binaries; "" means look for them, and fetch them where there are none
	Settings map[string]string // server settings over the defaults
}

// Cluster is a running cluster.
type Cluster struct {
	Port      int
	BinDir    string // where postgres and initdb lie; pg_dump too, unless the binaries were fetched
	Major     int
	URLs      URLs // of the database DatabaseName; only the superuser's role exists until someone migrates
	Passwords Passwords
}

// settings for a small machine that loses nothing. Only loopback TCP: no unix socket, which would be one more way in.
func (p Postgres) settings(port int) []string {
	all := map[string]string{
		"port": strconv.Itoa(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
		"shared_buffers": "256MB", "max_connections": "200", "fsync": "on", "synchronous_commit": "on",
		"password_encryption": "scram-sha-256", "timezone": "UTC", "log_timezone": "UTC",
		"log_line_prefix": "%m [%p] %u@%d ", "max_wal_size": "2GB",
	}
	maps.Copy(all, p.Settings)
	var args []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", key+"="+all[key])
	}
	return args
}

// Start makes the cluster if there is none, starts the server under sup and creates the database.
func (p Postgres) Start(ctx context.Context, sup *Supervisor) (Cluster, error) {
	user, err := serverAccount()
	if err != nil {
		return Cluster{}, err
	}
	if err := user.canEnter(sup.Data()); err != nil {
		return Cluster{}, err
	}
	dir := sup.data.join("pg")
	bin, err := sup.findBinaries(ctx, p.BinDir, dir, user)
	if err != nil {
		return Cluster{}, err
	}
	have, err := clusterMajor(dir)
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{BinDir: bin.dir, Major: bin.major}
	if c.Passwords, err = loadPasswords(sup.data, have != 0); err != nil {
		return Cluster{}, err
	}
	if have == 0 {
		if err := sup.initCluster(ctx, bin, user, c.Passwords.Superuser); err != nil {
			return Cluster{}, err
		}
	}
	err = sup.startOnPorts([]string{"postgres"}, func(ports map[string]int) error {
		c.Port = ports["postgres"]
		c.URLs = NewURLs(c.Port, DatabaseName, c.Passwords)
		admin := NewURLs(c.Port, "postgres", c.Passwords).Superuser
		return sup.Start(ctx, Process{
			Name: "postgres", Path: filepath.Join(bin.dir, "postgres"), Dir: dir,
			Args: append([]string{"-D", dir}, p.settings(c.Port)...),
			Env:  serverEnv(dir), Credential: user.credential(),
			BeforeStart: func(ctx context.Context) error { return errors.Join(clearKilledServer(ctx, dir), needFree(ports)) },
			Ready:       func(ctx context.Context) error { return answers(ctx, admin) },
			GiveUpAfter: 7,              // 13 s, longer than back ends of a killed server hold on to its memory
			StopSignal:  syscall.SIGINT, // fast shutdown: sessions are ended, everything is written
			StopTimeout: 30 * time.Second,
		})
	})
	if err != nil {
		return Cluster{}, err
	}
	return c, createDatabase(ctx, NewURLs(c.Port, "postgres", c.Passwords).Superuser)
}

func serverEnv(home string) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LC_ALL=C.UTF-8", "TZ=UTC"}
}

func (a account) apply(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: a.credential()}
	cmd.Env = serverEnv("/")
}

// initCluster makes the cluster beside its place and moves it there once it is whole, so a start that was cut short
// leaves nothing that looks like a cluster.
func (s *Supervisor) initCluster(ctx context.Context, bin pgBinaries, user account, password string) error {
	d := s.data
	old, err := filepath.Glob(d.join("pg-init-*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil { // only takes up room
			s.log.WarnContext(ctx, "unfinished cluster stays", "folder", dir, "error", err)
		}
	}
	work, err := os.MkdirTemp(string(d), "pg-init-*") // 0700
	if err != nil {
		return fmt.Errorf("make folder for the cluster: %w", err)
	}
	pwFile := filepath.Join(work, "password")
	if err := os.WriteFile(pwFile, []byte(password+"\n"), 0o600); err != nil {
		return fmt.Errorf("hand over the password: %w", err)
	}
	if cred := user.credential(); cred != nil {
		for _, path := range []string{work, pwFile} {
			if err := os.Chown(path, int(cred.Uid), int(cred.Gid)); err != nil {
				return fmt.Errorf("give the cluster to user %s: %w", user.name, err)
			}
		}
	}
	dir := filepath.Join(work, "pg")
	err = s.runOnce(ctx, Process{
		Name: "initdb", Path: filepath.Join(bin.dir, "initdb"), Dir: work, Env: serverEnv(work), Credential: user.credential(),
		Args: []string{
			"-D", dir, "--username", SuperuserRole, "--pwfile", pwFile, "--auth", "scram-sha-256",
			"--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums",
		},
	})
	if err != nil {
		return err
	}
	if err := os.Rename(dir, d.join("pg")); err != nil {
		return fmt.Errorf("keep the cluster: %w", err)
	}
	return os.RemoveAll(work)
}

func answers(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

func createDatabase(ctx context.Context, adminURL string) error {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connect to create the database: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", DatabaseName).Scan(&exists); err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{DatabaseName}.Sanitize()); err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return nil
}
