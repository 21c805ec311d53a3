// Package chaos makes a provider fail on demand. What belongs here: the list of failures in force, which request each
// strikes, and those that need to know nothing of the provider's dialect. A dialect asks Strikes for the others.
package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"revarch/sandbox/control"
)

// Injector holds the failures in force for one provider.
type Injector struct {
	// DataPath is what paths of data requests contain, TokenPath those of token requests.
	DataPath, TokenPath string
	// Error writes the provider's answer for a status.
	Error func(w http.ResponseWriter, status int)

	mu     sync.Mutex
	active []*entry
	serial int
}

type entry struct {
	control.Failure
	seen int
}

var transport = []control.Kind{control.Status, control.Hang, control.Latency, control.Truncate, control.HTML, control.Redirect, control.SlowBody}

// Add puts a failure in force and returns it with its id.
func (in *Injector) Add(f control.Failure) (control.Failure, error) {
	if err := validate(&f); err != nil {
		return f, err
	}
	if f.Path == "" {
		switch {
		case slices.Contains(transport, f.Kind), f.Kind == control.Limit, f.Kind == control.DeadCursor:
			f.Path = in.DataPath
		default:
			f.Path = in.TokenPath
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.serial++
	f.ID, f.Hits = strconv.Itoa(in.serial), 0
	in.active = append(in.active, &entry{Failure: f})
	return f, nil
}

func validate(f *control.Failure) error {
	if f.Skip < 0 || f.Times < 0 || f.Every < 0 || f.Budget < 0 || f.DelayMS < 0 {
		return errors.New("skip, times, every, budget and delay_ms are not negative")
	}
	switch f.Kind {
	case control.Status:
		if f.Status == 0 {
			f.Status = http.StatusServiceUnavailable
		}
		if f.Status < 400 || f.Status > 599 {
			return errors.New("status is between 400 and 599")
		}
	case control.Hang, control.Latency, control.SlowBody:
		if f.DelayMS == 0 && f.Kind != control.Hang {
			return errors.New("delay_ms is needed")
		}
	case control.Redirect, control.InstanceURL:
		if u, err := url.Parse(f.URL); err != nil || u.Host == "" {
			return errors.New("an absolute url is needed")
		}
	case control.HideField:
		if f.Object == "" || f.Field == "" {
			return errors.New("object and field are needed")
		}
	case control.Limit:
		f.Skip += f.Budget
	case control.Truncate, control.HTML, control.DeadCursor, control.InvalidClient, control.TokenBusy:
	default:
		return fmt.Errorf("unknown kind %q", f.Kind)
	}
	return nil
}

// Clear lifts one failure, or all with id "". It reports whether there was one to lift.
func (in *Injector) Clear(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	before := len(in.active)
	in.active = slices.DeleteFunc(in.active, func(e *entry) bool { return id == "" || e.ID == id })
	return len(in.active) < before
}

// List returns the failures in force, spent ones included, so that tests can read how often they struck.
func (in *Injector) List() []control.Failure {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make([]control.Failure, 0, len(in.active))
	for _, e := range in.active {
		out = append(out, e.Failure)
	}
	return out
}

// Strikes reports whether a failure of this kind strikes the request, and counts it.
func (in *Injector) Strikes(kind control.Kind, r *http.Request) (control.Failure, bool) {
	return in.first(r, func(k control.Kind) bool { return k == kind })
}

// Hidden returns the fields of an object that lost their permission, in lower case.
func (in *Injector) Hidden(object string) map[string]bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out map[string]bool
	for _, e := range in.active {
		if e.Kind == control.HideField && strings.EqualFold(e.Object, object) {
			if out == nil {
				out = map[string]bool{}
			}
			out[strings.ToLower(e.Field)] = true
		}
	}
	return out
}

func (in *Injector) first(r *http.Request, want func(control.Kind) bool) (control.Failure, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.active {
		if want(e.Kind) && e.strikes(r) {
			return e.Failure, true
		}
	}
	return control.Failure{}, false
}

func (e *entry) strikes(r *http.Request) bool {
	if e.Method != "" && e.Method != r.Method || !strings.Contains(r.URL.Path, e.Path) || e.Times > 0 && e.Hits >= e.Times {
		return false
	}
	e.seen++
	n := e.seen - e.Skip
	if n <= 0 || e.Every > 1 && n%e.Every != 0 {
		return false
	}
	e.Hits++
	return true
}

// Wrap lets the failures of the transport strike before, or instead of, next.
func (in *Injector) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := in.first(r, func(k control.Kind) bool { return slices.Contains(transport, k) })
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		delay := time.Duration(f.DelayMS) * time.Millisecond
		switch f.Kind {
		case control.Status:
			in.Error(w, f.Status)
		case control.Hang:
			wait(r, delay)
			panic(http.ErrAbortHandler) // the connection ends without an answer
		case control.Latency:
			wait(r, delay)
			next.ServeHTTP(w, r)
		case control.HTML:
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			_, _ = w.Write([]byte(maintenance))
		case control.Redirect:
			http.Redirect(w, r, f.URL, http.StatusFound)
		case control.Truncate, control.SlowBody:
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			maps.Copy(w.Header(), rec.Header())
			body := rec.Body.Bytes()
			if f.Kind == control.Truncate {
				w.Header().Del("Content-Length") // only reading the JSON shows what is missing
				w.WriteHeader(http.StatusOK)
				_, _ = w.Write(body[:len(body)/2])
				return
			}
			w.WriteHeader(rec.Code)
			dribble(w, r, body, delay)
		}
	})
}

// dribble sends a body in twenty pieces.
func dribble(w http.ResponseWriter, r *http.Request, body []byte, delay time.Duration) {
	for chunk := range slices.Chunk(body, max(1, (len(body)+19)/20)) {
		if !wait(r, delay/20) {
			return
		}
		if _, err := w.Write(bytes.Clone(chunk)); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// wait pauses and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

const maintenance = `<!DOCTYPE html><html lang="en"><head><title>We are down for maintenance</title></head>
<body><h1>Down for maintenance</h1><p>Sorry for the inconvenience. We'll be back shortly.</p></body></html>
`
