package devstack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"syscall"
	"time"

	"revarch/fault"
)

// Process describes one child. It is started in its own process group, so a Ctrl-C at the terminal reaches the
// supervisor alone, and it is restarted for as long as the supervisor runs.
type Process struct {
	Name string   // lower-case letters, digits and dashes; names its pid file and its log
	Path string   // the binary
	Args []string // without the binary's own name
	Env  []string // "KEY=value"; nil means the supervisor's own environment
	Dir  string   // working directory; "" means the data folder

	Credential *syscall.Credential // user and groups to run as; nil means the supervisor's own
	LogFile    string              // receives stdout and stderr; "" means <data>/log/<name>.log

	// Ready is one probe, repeated until it returns nil. A nil Ready means ready as soon as it runs.
	Ready func(ctx context.Context) error
	// BeforeStart runs before every start and restart; its error counts as a failed start.
	BeforeStart func(ctx context.Context) error

	ReadyTimeout time.Duration  // how long Start waits for Ready; 0 means one minute
	GiveUpAfter  int            // Start fails once the process died this often before it was ready; 0 means it goes on until ReadyTimeout
	StopSignal   syscall.Signal // 0 means SIGTERM
	StopTimeout  time.Duration  // from StopSignal to SIGKILL; 0 means ten seconds
}

var processName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func (p Process) withDefaults(d dataDir) (Process, error) {
	if !processName.MatchString(p.Name) {
		return p, fault.New(fault.Invalid, "process name %q is not lower-case letters, digits and dashes", p.Name)
	}
	if p.Path == "" {
		return p, fault.New(fault.Invalid, "process %s has no binary", p.Name)
	}
	if p.Dir == "" {
		p.Dir = string(d)
	}
	if p.LogFile == "" {
		p.LogFile = d.logFile(p.Name)
	}
	if p.ReadyTimeout <= 0 {
		p.ReadyTimeout = time.Minute
	}
	if p.StopSignal == 0 {
		p.StopSignal = syscall.SIGTERM
	}
	if p.StopTimeout <= 0 {
		p.StopTimeout = 10 * time.Second
	}
	return p, nil
}

// ReadyTCP is a Ready probe: address (host:port) accepts a connection.
func ReadyTCP(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// ReadyHTTP is a Ready probe: GET url answers with a 2xx status.
func ReadyHTTP(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if err := resp.Body.Close(); err != nil {
			return err
		}
		if resp.StatusCode/100 != 2 {
			return fmt.Errorf("GET %s: %s", url, resp.Status)
		}
		return nil
	}
}
