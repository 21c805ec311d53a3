package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"revarch/sandbox/control"
	"revarch/services/connections"
	"revarch/services/runs"
)

// setUpDemo connects the demo organization's CRM through the real flow, consent page included, and syncs it. What is
// there already stays as it is.
func (s *stack) setUpDemo(ctx context.Context) error {
	if !s.o.demo {
		return nil
	}
	d := &demo{base: "http://" + s.cfg.Listen, public: s.cfg.PublicURL, key: s.cred.DemoAPIKey}
	d.client = &http.Client{Timeout: 90 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var st connections.Status
	if err := d.call(ctx, http.MethodGet, "/api/connectors/crm_a/status", nil, &st); err != nil {
		return fmt.Errorf("set up the demo: %w", err)
	}
	if st.Status == "disconnected" || st.Status == "reauthorization_required" {
		if err := d.connect(ctx); err != nil {
			return fmt.Errorf("connect the demo's CRM: %w", err)
		}
	}
	if st.LastSyncAt != nil {
		return nil
	}
	slog.InfoContext(ctx, "syncing the demo organization")
	return d.sync(ctx)
}

// demo is a client of our own API.
type demo struct {
	base, public, key string
	client            *http.Client
}

func (d *demo) call(ctx context.Context, method, path string, body, out any) error {
	var in io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, in)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Prefer", "wait=50")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 2000))
		return fmt.Errorf("%s %s answered %d: %s", method, path, res.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// connect goes where a person would: to the consent page, agrees, and back to the callback.
func (d *demo) connect(ctx context.Context) error {
	var begin struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	if err := d.call(ctx, http.MethodGet, "/api/connectors/crm_a/auth", nil, &begin); err != nil {
		return err
	}
	back, err := control.Consent(ctx, begin.AuthorizeURL, true)
	if err != nil {
		return err
	}
	path, ok := strings.CutPrefix(back, d.public)
	if !ok {
		return fmt.Errorf("the consent did not lead back to %s", d.public)
	}
	return d.call(ctx, http.MethodGet, path, nil, nil)
}

// sync starts a sync and waits for its end.
func (d *demo) sync(ctx context.Context) error {
	var started struct {
		Run runs.View `json:"run"`
	}
	if err := d.call(ctx, http.MethodPost, "/api/connectors/crm_a/sync", map[string]string{}, &started); err != nil {
		return err
	}
	for run := started.Run; ; {
		switch run.Status {
		case "succeeded":
			slog.InfoContext(ctx, "demo organization synced", "counts", run.Counts)
			return nil
		case "failed", "cancelled":
			if run.Error != nil {
				return fmt.Errorf("the demo's sync %s: %s", run.Status, run.Error.Message)
			}
			return fmt.Errorf("the demo's sync %s", run.Status)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		if err := d.call(ctx, http.MethodGet, "/api/runs/"+run.ID.String(), nil, &run); err != nil {
			return err
		}
	}
}
