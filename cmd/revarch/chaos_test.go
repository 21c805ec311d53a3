//go:build chaos

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/sandbox/control"
	"revarch/services/runs"
)

// built is the binary under test, made once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "revarch-chaos-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "revarch")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput() //nolint:gosec // our own source
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// copyOf is one `revarch up` and its data folder.
type copyOf struct {
	tb    testing.TB
	data  string
	args  []string
	cmd   *exec.Cmd
	ended chan error
	log   *bytes.Buffer
	ready readyFile
	box   *control.Client
}

// newCopy prepares a data folder that the database's user may enter.
func newCopy(tb testing.TB, args ...string) *copyOf {
	tb.Helper()
	dir := tb.TempDir()
	require.NoError(tb, os.Chmod(filepath.Dir(dir), 0o711)) //nolint:gosec // to be passed through, not read
	return &copyOf{tb: tb, data: filepath.Join(dir, "data"), args: args}
}

// start runs `revarch up` and waits until it is ready.
func (c *copyOf) start() {
	c.tb.Helper()
	path, err := built()
	require.NoError(c.tb, err)
	bin, err := filepath.Abs(filepath.Join("..", "..", "bin"))
	require.NoError(c.tb, err)
	readyPath := filepath.Join(filepath.Dir(c.data), "ready.json")
	if err := os.Remove(readyPath); err != nil {
		require.ErrorIs(c.tb, err, os.ErrNotExist)
	}
	c.cmd = exec.Command(path, append([]string{"up", "--data", c.data, "--port", "0", "--ready-file", readyPath}, c.args...)...) //nolint:gosec // built here
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "REVARCH_") && !strings.HasPrefix(kv, "PATH=") {
			c.cmd.Env = append(c.cmd.Env, kv)
		}
	}
	c.cmd.Env = append(c.cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	c.log = &bytes.Buffer{}
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	require.NoError(c.tb, c.cmd.Start())
	c.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) { ended <- cmd.Wait() }(c.cmd, c.ended)
	c.tb.Cleanup(c.stop)
	c.until("ready", 3*time.Minute, func() bool {
		select {
		case err := <-c.ended:
			c.ended <- err
			c.tb.Fatalf("up ended: %v\n%s", err, c.log)
		default:
		}
		raw, err := os.ReadFile(readyPath)
		return err == nil && json.Unmarshal(raw, &c.ready) == nil
	})
	info, err := os.Stat(readyPath)
	require.NoError(c.tb, err)
	require.Equal(c.tb, os.FileMode(0o600), info.Mode().Perm())
	c.box = control.New(c.ready.SandboxURL, "crm_a")
}

// stop ends the copy as Ctrl-C does; nothing of it may stay.
func (c *copyOf) stop() {
	select {
	case err := <-c.ended:
		c.ended <- err
		return
	default:
	}
	_ = c.cmd.Process.Signal(syscall.SIGINT)
	select {
	case err := <-c.ended:
		c.ended <- err
		if err != nil {
			c.tb.Errorf("Ctrl-C ended with %v\n%s", err, c.log)
		}
	case <-time.After(90 * time.Second):
		_ = c.cmd.Process.Kill()
		c.tb.Errorf("up does not stop\n%s", c.log)
	}
	left, _ := filepath.Glob(filepath.Join(c.data, "run", "*.pid"))
	if len(left) > 0 {
		c.tb.Errorf("left behind: %v", left)
	}
}

// pid returns the process of a child, 0 when there is none.
func (c *copyOf) pid(name string) int {
	var r struct {
		PID int `json:"pid"`
	}
	raw, err := os.ReadFile(filepath.Join(c.data, "run", name+".pid"))
	if err != nil || json.Unmarshal(raw, &r) != nil {
		return 0
	}
	return r.PID
}

func (c *copyOf) until(what string, limit time.Duration, ok func() bool) {
	c.tb.Helper()
	require.Eventually(c.tb, ok, limit, 50*time.Millisecond, "%s", what)
}

// call asks the API; ok is false while it does not answer.
func (c *copyOf) call(method, path string, out any) (status int, ok bool) {
	ctx, cancel := context.WithTimeout(c.tb.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.ready.AppURL+path, http.NoBody)
	require.NoError(c.tb, err)
	req.Header.Set("Authorization", "Bearer "+c.ready.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, false
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, err == nil && (out == nil || res.StatusCode >= 300 || json.Unmarshal(raw, out) == nil)
}

// connect goes through the consent page with the API key.
func (c *copyOf) connect() {
	c.tb.Helper()
	d := &demo{base: c.ready.AppURL, public: c.ready.AppURL, key: c.ready.APIKey, client: &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	require.NoError(c.tb, d.connect(c.tb.Context()))
}

func (c *copyOf) run(id string) (runs.View, bool) {
	var v runs.View
	status, ok := c.call(http.MethodGet, "/api/runs/"+id, &v)
	return v, ok && status == http.StatusOK
}

// stored opens the database as the API does and reads one value inside the organization of the key.
func (c *copyOf) stored(sql string, args ...any) (out string) {
	c.tb.Helper()
	var me struct {
		Organization struct {
			ID string `json:"id"`
		} `json:"organization"`
	}
	_, ok := c.call(http.MethodGet, "/api/auth/me", &me)
	require.True(c.tb, ok)
	conn, err := pgx.Connect(c.tb.Context(), c.ready.DatabaseURL)
	require.NoError(c.tb, err)
	defer func() { _ = conn.Close(context.WithoutCancel(c.tb.Context())) }()
	require.NoError(c.tb, pgx.BeginFunc(c.tb.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(c.tb.Context(), "SELECT set_config('app.org_id', $1, true)", me.Organization.ID); err != nil {
			return err
		}
		return tx.QueryRow(c.tb.Context(), sql, args...).Scan(&out)
	}))
	return out
}

// sameAsProvider compares what is stored with what the sandbox holds: the number of records of each object, and the id
// and name of each account.
func (c *copyOf) sameAsProvider() {
	c.tb.Helper()
	for object, table := range map[string]string{
		"Account": "accounts", "Contact": "contacts", "Opportunity": "opportunities", "Task": "activities",
		"Product2": "products", "Asset": "account_products", "OpportunityLineItem": "order_lines", "PricebookEntry": "product_prices",
		"User": "crm_users",
	} {
		want, err := c.box.Count(c.tb.Context(), object)
		require.NoError(c.tb, err)
		require.Equal(c.tb, fmt.Sprint(want), c.stored("SELECT count(*)::text FROM "+table+" WHERE deleted_at IS NULL"), table)
		require.Equal(c.tb, fmt.Sprint(want), c.stored("SELECT count(*)::text FROM raw_records WHERE deleted_at IS NULL AND object = $1", object), object)
	}
	ids, err := c.box.IDs(c.tb.Context(), "Account")
	require.NoError(c.tb, err)
	var lines []string
	for _, id := range ids {
		rec, err := c.box.Get(c.tb.Context(), "Account", id)
		require.NoError(c.tb, err)
		var f struct{ Name string }
		require.NoError(c.tb, json.Unmarshal(rec.Fields, &f))
		lines = append(lines, id+" "+strings.TrimSpace(f.Name)+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	require.Equal(c.tb, hex.EncodeToString(sum[:]), c.stored(`SELECT encode(sha256(convert_to(string_agg(external_id || ' ' || name || E'\n', ''
		ORDER BY external_id COLLATE "C"), 'UTF8')), 'hex') FROM accounts WHERE deleted_at IS NULL`))
}

func TestChaosInTheMiddleOfASync(t *testing.T) {
	c := newCopy(t, "--sandbox-accounts", "5000")
	c.start()
	c.connect()
	slow := func() {
		_, err := c.box.Fail(t.Context(), control.Failure{Kind: control.Latency, Path: "/query", DelayMS: 2500})
		require.NoError(t, err)
	}
	slow()
	var started struct{ Run runs.View }
	status, ok := c.call(http.MethodPost, "/api/connectors/crm_a/sync", &started)
	require.True(t, ok)
	require.Equal(t, http.StatusAccepted, status)
	id := started.Run.ID.String()
	before := int64(0)
	moved := func(after string) {
		t.Helper()
		c.until("the sync goes on after "+after, 4*time.Minute, func() bool {
			v, ok := c.run(id)
			return ok && (v.Counts["created"] > before || !v.Status.Live())
		})
		v, ok := c.run(id)
		require.True(t, ok)
		if !v.Status.Live() {
			require.Equal(t, "succeeded", string(v.Status), "%+v", v.Error)
		}
		before = v.Counts["created"]
		t.Logf("after %s: %s, %d created", after, v.Status, before)
	}
	moved("its start")
	for _, name := range []string{"worker", "api", "temporal", "postgres"} {
		old := c.pid(name)
		require.NotZero(t, old, name)
		began := time.Now()
		require.NoError(t, syscall.Kill(old, syscall.SIGKILL))
		c.until(name+" comes back", 2*time.Minute, func() bool {
			pid := c.pid(name)
			return pid != 0 && pid != old && syscall.Kill(pid, 0) == nil
		})
		c.until("the API is ready after the death of "+name, 2*time.Minute, func() bool {
			status, ok := c.call(http.MethodGet, "/readyz", nil)
			return ok && status == http.StatusOK
		})
		t.Logf("%s killed; back and ready after %s", name, time.Since(began).Round(100*time.Millisecond))
		moved("the death of " + name)
	}

	require.NoError(t, c.cmd.Process.Kill())
	<-c.ended
	c.ended <- nil
	require.NotZero(t, c.pid("postgres"), "the children outlive the supervisor")
	had := c.ready
	began := time.Now()
	c.start()
	t.Logf("supervisor killed; ready again after %s", time.Since(began).Round(100*time.Millisecond))
	require.Equal(t, had.APIKey, c.ready.APIKey)
	require.Equal(t, had.AppURL, c.ready.AppURL, "the addresses stay, or what people opened would break")
	require.Equal(t, had.SandboxURL, c.ready.SandboxURL)

	c.until("the sync ends", 5*time.Minute, func() bool {
		v, ok := c.run(id)
		return ok && !v.Status.Live()
	})
	v, ok := c.run(id)
	require.True(t, ok)
	require.Equal(t, "succeeded", string(v.Status), "%+v", v.Error)
	n := v.Counts
	require.Equal(t, n["read"], n["created"]+n["updated"]+n["unchanged"]+n["deleted"]+n["failed"], "counts add up: %v", n)
	require.Zero(t, n["failed"])
	t.Logf("counts: %v", n)
	c.sameAsProvider()
}

func TestTwoCopiesSideBySide(t *testing.T) {
	one, two := newCopy(t, "--demo", "--sandbox-accounts", "120"), newCopy(t, "--demo", "--sandbox-accounts", "60", "--sandbox-seed", "7")
	one.start()
	two.start()
	for _, pair := range [][2]string{
		{one.ready.AppURL, two.ready.AppURL},
		{one.ready.SandboxURL, two.ready.SandboxURL},
		{one.ready.TemporalAddress, two.ready.TemporalAddress},
		{one.ready.TemporalUIURL, two.ready.TemporalUIURL},
		{one.ready.DatabaseURL, two.ready.DatabaseURL},
		{one.ready.APIKey, two.ready.APIKey},
	} {
		require.NotEqual(t, pair[0], pair[1])
	}
	one.sameAsProvider()
	two.sameAsProvider()
	require.NotNil(t, one.ready.AdminPassword)

	one.stop()
	two.sameAsProvider()
	one.start() // goes on with the same data
	one.sameAsProvider()
	raw, err := os.ReadFile(filepath.Join(one.data, "credentials.json"))
	require.NoError(t, err)
	require.Contains(t, string(raw), one.ready.APIKey)

	one.stop()
	require.NoError(t, os.Remove(filepath.Join(one.data, "credentials.json")))
	old := one.ready.APIKey
	one.start()
	require.Nil(t, one.ready.AdminPassword, "nobody knows it any more")
	require.NotEqual(t, old, one.ready.APIKey)
	one.sameAsProvider()
}
