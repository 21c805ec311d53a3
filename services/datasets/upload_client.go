package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	files "revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/services/runs"
)

// Client sends official files to the API with an operator's key; the command line uses it. HTTP nil is a client without
// a time limit.
type Client struct {
	BaseURL string // of the app, such as http://127.0.0.1:8080
	Key     string
	HTTP    *http.Client
	Out     io.Writer // what happens, for people
}

// SendOptions are what the sender knows of the files.
type SendOptions struct {
	Dataset string // "" is Auto
	Year    int
	Release string
	Partial bool
}

// Send loads a file, every recognized file below a folder, or what an http(s) address serves to this machine, one after
// the other, waits for each run, and prints what became of it. It is an error when any of them failed or nothing was
// found; the others are loaded all the same.
func (c *Client) Send(ctx context.Context, target string, o SendOptions) error {
	if u, err := url.Parse(target); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return c.sendURL(ctx, u, o)
	} else if err == nil && strings.Contains(target, "://") {
		return fault.New(fault.Invalid, "only http and https addresses can be loaded, and %s is none", u.Scheme)
	}
	info, err := os.Stat(target)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "there is no file or folder %q", target)
	}
	if !info.IsDir() {
		return c.sendFile(ctx, target, o)
	}
	return c.sendDir(ctx, target, o)
}

func (c *Client) sendDir(ctx context.Context, dir string, o SendOptions) error {
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the folder %q cannot be read: %v", dir, err)
	}
	slices.Sort(paths)
	var failed []error
	sent := 0
	for _, p := range paths {
		if err := recognized(ctx, p, o.Dataset); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.printf("skipped  %s: %s\n", p, fault.Public(err))
			continue
		}
		sent++
		if err := c.sendFile(ctx, p, o); err != nil {
			failed = append(failed, err)
		}
	}
	if sent == 0 {
		return fault.New(fault.BadFile, "no file below %q is a supported dataset", dir)
	}
	if len(failed) > 0 {
		return fault.Wrap(errors.Join(failed...), fault.BadFile, "%d of %d files were not loaded", len(failed), sent)
	}
	return nil
}

// recognized tells whether a file is a dataset, and the wanted one.
func recognized(ctx context.Context, p, dataset string) error {
	f, err := os.Open(p)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "it cannot be opened")
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "it cannot be read")
	}
	got, err := files.Detect(ctx, filepath.Base(p), f, info.Size())
	if err == nil && dataset != "" && dataset != Auto && string(got) != dataset {
		return fault.New(fault.BadFile, "it is the %s", got.Title())
	}
	return err
}

func (c *Client) sendFile(ctx context.Context, p string, o SendOptions) error {
	f, err := os.Open(p)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "%q cannot be opened", p)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "%q cannot be read", p)
	}
	return c.send(ctx, p, filepath.Base(p), f, info.Size(), o)
}

// sendURL fetches on the operator's own machine. A redirect to another host is not followed, and what is longer than a
// file may be is cut.
func (c *Client) sendURL(ctx context.Context, u *url.URL, o SendOptions) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the address cannot be used")
	}
	fetch := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case next.URL.Host != u.Host:
			return fault.New(fault.Denied, "%s redirects to another host, %s; load it from there if you trust it", u.Host, next.URL.Host)
		case u.Scheme == "https" && next.URL.Scheme != "https":
			return fault.New(fault.Denied, "%s redirects to an address that is not encrypted", u.Host)
		case len(via) >= 5:
			return fault.New(fault.Unavailable, "%s redirects too often", u.Host)
		}
		return nil
	}}
	resp, err := fetch.Do(req)
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return f
		}
		return fault.Wrap(err, fault.Unavailable, "%s does not answer: %v", u.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "%s answers %s", u.Host, resp.Status)
	}
	if resp.ContentLength > MaxFile {
		return fault.New(fault.TooLarge, "the file is larger than %d MiB, the most that is taken", MaxFile>>20)
	}
	name := path.Base(u.Path)
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		name = path.Base(params["filename"])
	}
	return c.send(ctx, u.Redacted(), name, io.LimitReader(resp.Body, MaxFile+1), resp.ContentLength, o)
}

// send posts a file and follows its run to the end.
func (c *Client) send(ctx context.Context, shown, name string, body io.Reader, size int64, o SendOptions) error {
	q := url.Values{"name": {name}}
	if o.Year != 0 {
		q.Set("year", strconv.Itoa(o.Year))
	}
	if o.Release != "" {
		q.Set("release", o.Release)
	}
	if o.Partial {
		q.Set("partial", "true")
	}
	dataset := o.Dataset
	if dataset == "" {
		dataset = Auto
	}
	var started struct {
		Run     runs.View `json:"run"`
		Already bool      `json:"already_running"`
	}
	err := c.call(ctx, http.MethodPost, "/api/datasets/"+url.PathEscape(dataset)+"/ingest?"+q.Encode(), body, size, &started)
	if err != nil {
		c.printf("FAILED   %s: %s\n", shown, fault.Public(err))
		return err
	}
	if started.Already {
		err := fault.New(fault.Conflict, "another release of %s is being loaded; try again when it has ended", started.Run.Subject)
		c.printf("FAILED   %s: %s\n", shown, err.Public)
		return err
	}
	run, err := c.wait(ctx, started.Run)
	if err != nil {
		return err
	}
	return c.report(shown, run)
}

func (c *Client) wait(ctx context.Context, run runs.View) (runs.View, error) {
	for run.Status.Live() {
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
		if err := c.call(ctx, http.MethodGet, "/api/runs/"+run.ID.String(), nil, 0, &run); err != nil {
			return run, err
		}
	}
	return run, nil
}

func (c *Client) report(shown string, run runs.View) error {
	if run.Status != models.RunSucceeded {
		err := fault.New(fault.Canceled, "the run was cancelled")
		if run.Error != nil {
			err = fault.New(fault.Code(run.Error.Code), "%s", run.Error.Message)
		}
		c.printf("FAILED   %s: %s\n", shown, err.Public)
		return err
	}
	c.printf("loaded   %s: %s, %d rows, %d that could not be used\n", shown, run.Subject, run.Counts["loaded"], run.Counts["failed"])
	for _, w := range run.Warnings {
		c.printf("         %s\n", w.Message)
	}
	return nil
}

// List prints the datasets and their releases.
func (c *Client) List(ctx context.Context) error {
	var got struct {
		Datasets []Dataset `json:"datasets"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/datasets", nil, 0, &got); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "DATASET\tVINTAGE\tRELEASE\tSCOPE\tSTATUS\tROWS\tBAD\tFILE")
	for _, d := range got.Datasets {
		if len(d.Releases) == 0 {
			_, _ = fmt.Fprintf(w, "%s\t-\t-\t-\tnothing loaded\t\t\t\n", d.Dataset)
		}
		for _, r := range d.Releases {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", d.Dataset, r.Vintage.Label, r.Release, r.Scope, r.Status, r.Rows, r.BadRows, r.SourceName)
		}
	}
	return w.Flush()
}

// call makes a request and turns a problem document back into its fault.
func (c *Client) call(ctx context.Context, method, at string, body io.Reader, size int64, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+at, body)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "the API's address %q cannot be used", c.BaseURL)
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
		req.ContentLength = size // -1: unknown
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{}
	}
	resp, err := client.Do(req)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the API at %s does not answer; is it running?", c.BaseURL)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		var p struct {
			Code, Detail string
			Errors       []struct{ Location, Message string }
		}
		if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p) != nil || p.Code == "" {
			return fault.New(fault.Unavailable, "the API at %s answers %s", c.BaseURL, resp.Status)
		}
		for _, e := range p.Errors {
			p.Detail += "; " + e.Location + ": " + e.Message
		}
		return fault.New(fault.Code(p.Code), "%s", p.Detail)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the API at %s answers what cannot be read", c.BaseURL)
	}
	return nil
}

func (c *Client) printf(format string, args ...any) {
	if c.Out != nil {
		_, _ = fmt.Fprintf(c.Out, format, args...)
	}
}
