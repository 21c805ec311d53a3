package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"revarch/devstack"
	"revarch/sandbox"
	"revarch/sandbox/control"
)

// stack is a whole RevArch of its own, with a sandbox of a chosen size.
type stack struct {
	dir     string
	procs   []*exec.Cmd
	client  *http.Client
	ifMatch string // version that a PUT replaces, "" for none
	Ready   struct {
		AppURL      string `json:"app_url"`
		APIKey      string `json:"api_key"`
		DatabaseURL string `json:"database_url"`
	}
}

// startStack starts a sandbox with accounts and their contacts and nothing else, and a RevArch connected to it.
func startStack(ctx context.Context, binary string, accounts int) (_ *stack, err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "revarch-bench-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // G302: PostgreSQL's user passes through
		return nil, err
	}
	s := &stack{dir: dir, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	ports, err := devstack.FreePorts(1)
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + strconv.Itoa(ports[0])
	err = s.start(ctx, nil, binary, "sandbox", "--listen", address, "--accounts", strconv.Itoa(accounts), "--contacts-per-account", "3",
		"--opportunities-per-account", "-1", "--tasks-per-account", "-1", "--daily-limit", "100000000")
	if err != nil {
		return nil, err
	}
	if err := until(ctx, 2*time.Minute, func() bool { return devstack.ReadyHTTP("http://"+address+"/healthz")(ctx) == nil }); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	crm := "http://" + address + "/crm_a"
	env := []string{
		"REVARCH_CRM_A_AUTHORIZE_URL=" + crm + "/services/oauth2/authorize", "REVARCH_CRM_A_TOKEN_URL=" + crm + "/services/oauth2/token",
		"REVARCH_CRM_A_REVOKE_URL=" + crm + "/services/oauth2/revoke", "REVARCH_CRM_A_API_URL=" + crm,
		"REVARCH_CRM_A_CLIENT_ID=" + sandbox.DefaultClientID, "REVARCH_CRM_A_CLIENT_SECRET=" + sandbox.DefaultClientSecret,
	}
	ready := filepath.Join(dir, "ready.json")
	if err := s.start(ctx, env, binary, "up", "--data", filepath.Join(dir, "data"), "--port", "0", "--ready-file", ready, "--sandbox-accounts", "10"); err != nil {
		return nil, err
	}
	if err := until(ctx, time.Minute, func() bool { _, err := os.Stat(ready); return err == nil }); err != nil {
		return nil, fmt.Errorf("revarch up: %w", err)
	}
	raw, err := os.ReadFile(ready)
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(raw, &s.Ready)
}

func (s *stack) start(ctx context.Context, env []string, binary string, args ...string) error {
	log, err := os.Create(filepath.Join(s.dir, args[0]+".log"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(cmd.Environ(), env...), log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.procs = append(s.procs, cmd)
	return errors.Join(cmd.Start(), log.Close())
}

// stop ends what was started, last first, and removes the data.
func (s *stack) stop() {
	for _, v := range slices.Backward(s.procs) {
		if p := v; p.Process != nil {
			_ = p.Process.Signal(syscall.SIGINT)
			_ = p.Wait()
		}
	}
	_ = os.RemoveAll(s.dir)
}

// superuser is the URL of the database's administrator: COPY baselines run with the owner's rights.
func (s *stack) superuser() (string, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, "data", "db-passwords.json"))
	if err != nil {
		return "", err
	}
	var pw devstack.Passwords
	if err := json.Unmarshal(raw, &pw); err != nil {
		return "", err
	}
	u, err := url.Parse(s.Ready.DatabaseURL)
	if err != nil {
		return "", err
	}
	u.User = url.UserPassword(devstack.SuperuserRole, pw.Superuser)
	return u.String(), nil
}

// connect goes through the consent page.
func (s *stack) connect(ctx context.Context) error {
	var begin struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if err := s.call(ctx, http.MethodGet, "/api/connectors/crm_a/auth", nil, &begin); err != nil {
		return err
	}
	back, err := control.Consent(ctx, begin.AuthorizeURL, true)
	if err != nil {
		return err
	}
	return s.call(ctx, http.MethodGet, strings.TrimPrefix(back, s.Ready.AppURL), nil, nil)
}

func (s *stack) call(ctx context.Context, method, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Ready.AppURL+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.Ready.APIKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if s.ifMatch != "" {
		req.Header.Set("If-Match", s.ifMatch)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s answered %d: %s", method, path, res.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// until waits for a condition.
func until(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		if done() {
			tick.Stop()
			return nil
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return errors.New("not ready in time")
		case <-tick.C:
		}
	}
}
