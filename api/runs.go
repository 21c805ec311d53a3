package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/paging"
	"revarch/services/runs"
)

// Runs is the jobs that people start and watch.
type Runs struct {
	Runs       *runs.Service
	Cursors    paging.Codec
	TemporalUI string // with namespace, for operators; "" for none
	// Operates reports whether the caller is an operator of the platform, whatever organization they work in just now.
	Operates func(context.Context, auth.Principal) bool
	// StillValid re-checks a session or key while events are streamed.
	StillValid func(context.Context, auth.Principal) error
}

// maxWait is the longest that Prefer: wait=N waits.
const maxWait = 60 * time.Second

type listRunsInput struct {
	Kind    string             `query:"kind" maxLength:"50" doc:"Only runs of this kind"`
	Subject string             `query:"subject" maxLength:"200" doc:"Only runs about this, such as a provider code"`
	Status  []models.RunStatus `query:"status" doc:"queued, running, succeeded, failed, cancelled"`
	Since   time.Time          `query:"since" doc:"Only runs created since then"`
	Limit   int                `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor  string             `query:"cursor" maxLength:"500"`
}

type listRunsOutput struct {
	Body struct {
		Runs       []runs.View `json:"runs"`
		NextCursor *string     `json:"next_cursor"`
	}
}

type runOutput struct{ Body runs.View }

// startedRun answers a request that starts a run: 202, or 200 when it was waited for and has ended.
type startedRun struct {
	Status   int
	Location string `header:"Location"`
	Body     StartedRun
}

// StartedRun is the run that was asked for.
type StartedRun struct {
	Run            runs.View `json:"run"`
	AlreadyRunning bool      `json:"already_running,omitempty" doc:"It was running; none was started"`
}

type failuresOutput struct {
	Body struct {
		Failures   []RunFailure `json:"failures"`
		NextCursor *string      `json:"next_cursor"`
	}
}

// RunFailure is a record that a run could not take.
type RunFailure struct {
	Object     string    `json:"object"`
	ExternalID string    `json:"external_id"`
	Code       string    `json:"code"`
	Message    string    `json:"message"`
	At         time.Time `json:"at"`
}

type failuresInput struct {
	ID     uuid.UUID `path:"id" format:"uuid"`
	Limit  int       `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string    `query:"cursor" maxLength:"500"`
}

// Register adds the operations.
func (a *Runs) Register(h huma.API, g *gin.RouterGroup) {
	huma.Register(h, operation("list-runs", http.MethodGet, "/runs", "List runs, newest first", "Runs", auth.PermRead), a.list)
	get := operation("get-run", http.MethodGet, "/runs/{id}", "Get a run", "Runs", auth.PermRead)
	get.Errors = []int{404}
	huma.Register(h, get, func(ctx context.Context, in *idInput) (*runOutput, error) {
		r, err := a.Runs.Get(ctx, auth.From(ctx).OrgID, in.ID)
		return &runOutput{a.view(ctx, r)}, problem(err)
	})
	cancel := operation("cancel-run", http.MethodPost, "/runs/{id}/cancel", "Ask a run to stop", "Runs", auth.PermOperate)
	cancel.Errors = []int{404, 409}
	huma.Register(h, cancel, func(ctx context.Context, in *idInput) (*runOutput, error) {
		r, err := a.Runs.Cancel(ctx, auth.From(ctx), in.ID)
		return &runOutput{a.view(ctx, r)}, problem(err)
	})
	huma.Register(h, operation("list-run-failures", http.MethodGet, "/runs/{id}/failures", "List the records a run could not take", "Runs", auth.PermRead), a.failures)

	watch := operation("watch-run", http.MethodGet, "/runs/{id}/events", "Follow a run as Server-Sent Events: event `run`, data a run", "Runs", auth.PermRead)
	watch.Responses = map[string]*huma.Response{"200": {Description: "The run as it is, then each change of it until it has ended", Content: textContent("text/event-stream")}}
	document(h, watch, "id")
	g.GET("/runs/:id/events", mustAllow(auth.PermRead), noQuery, a.events)
}

// temporalUI is where the caller may look at workflows: operators only, since it shows those of every organization.
func (a *Runs) temporalUI(ctx context.Context) string {
	if p := auth.From(ctx); p.Can(auth.PermPlatform) || a.Operates != nil && a.Operates(ctx, p) {
		return a.TemporalUI
	}
	return ""
}

func (a *Runs) view(ctx context.Context, r models.Run) runs.View {
	return runs.ToView(r, a.temporalUI(ctx))
}

func (a *Runs) list(ctx context.Context, in *listRunsInput) (*listRunsOutput, error) {
	org := auth.From(ctx).OrgID
	filters := []any{in.Kind, in.Subject, in.Status, in.Since}
	q := runs.ListInput{Kind: in.Kind, Subject: in.Subject, Status: in.Status, Since: in.Since, Limit: in.Limit}
	if in.Cursor != "" {
		q.After = &runs.Position{}
		if err := a.Cursors.Decode(in.Cursor, org, "runs", filters, q.After); err != nil {
			return nil, problem(err)
		}
	}
	page, err := a.Runs.List(ctx, org, q)
	if err != nil {
		return nil, problem(err)
	}
	out := &listRunsOutput{}
	out.Body.Runs = []runs.View{}
	ui := a.temporalUI(ctx)
	for _, r := range page.Runs {
		out.Body.Runs = append(out.Body.Runs, runs.ToView(r, ui))
	}
	if page.Next != nil {
		out.Body.NextCursor, err = next(a.Cursors, org, "runs", filters, page.Next)
	}
	return out, problem(err)
}

func (a *Runs) failures(ctx context.Context, in *failuresInput) (*failuresOutput, error) {
	org := auth.From(ctx).OrgID
	var at struct{ Object, ID string }
	if err := a.Cursors.Decode(in.Cursor, org, "run-failures", in.ID, &at); err != nil {
		return nil, problem(err)
	}
	rows, more, err := a.Runs.Failures(ctx, org, in.ID, at.Object, at.ID, in.Limit)
	if err != nil {
		return nil, problem(err)
	}
	out := &failuresOutput{}
	out.Body.Failures = []RunFailure{}
	for _, f := range rows {
		out.Body.Failures = append(out.Body.Failures, RunFailure{f.Object, f.ExternalID, f.Code, f.Message, f.At})
		at.Object, at.ID = f.Object, f.ExternalID
	}
	if more {
		out.Body.NextCursor, err = next(a.Cursors, org, "run-failures", in.ID, at)
	}
	return out, problem(err)
}

// started answers for a run that was asked for, waiting for its end when the caller prefers that.
func (a *Runs) started(ctx context.Context, r models.Run, already bool, prefer string) (*startedRun, error) {
	out := &startedRun{Status: http.StatusAccepted, Location: "/api/runs/" + r.ID.String()}
	if wait := preferredWait(prefer); wait > 0 {
		ended, err := a.Runs.Wait(ctx, r.OrgID, r.ID, wait)
		if err != nil {
			return nil, problem(err)
		}
		if r = ended; !r.Status.Live() {
			out.Status = http.StatusOK
		}
	}
	out.Body.Run, out.Body.AlreadyRunning = a.view(ctx, r), already
	return out, nil
}

// preferredWait reads RFC 7240's wait preference, 0 when there is none.
func preferredWait(prefer string) time.Duration {
	for p := range strings.SplitSeq(prefer, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(p), "wait="); ok {
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				return min(time.Duration(n)*time.Second, maxWait)
			}
		}
	}
	return 0
}

// The pace of event streams: a comment keeps proxies awake, and the session is checked anew.
const (
	beat    = 15 * time.Second
	recheck = time.Minute
)

// events streams a run: a snapshot first, then every change, until it has ended or the caller is gone.
func (a *Runs) events(c *gin.Context) {
	ctx := c.Request.Context()
	p := auth.From(ctx)
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		abortWith(c, fault.New(fault.NotFound, "run not found"))
		return
	}
	changes := a.Runs.Subscribe(ctx, p.OrgID, id) // before the snapshot, so that no change falls between
	r, err := a.Runs.Get(ctx, p.OrgID, id)
	if err != nil {
		abortWith(c, err)
		return
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{})
	ui := a.temporalUI(ctx)
	beats, checks := time.NewTicker(beat), time.NewTicker(recheck)
	defer beats.Stop()
	defer checks.Stop()
	for {
		data, err := json.Marshal(runs.ToView(r, ui))
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(c.Writer, "event: run\ndata: %s\n\n", data); err != nil {
			return
		}
		c.Writer.Flush()
		if !r.Status.Live() {
			return
		}
		for changed := false; !changed; {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-changes:
				if !ok {
					return
				}
				changed = true
			case <-beats.C:
				if _, err := c.Writer.WriteString(": beat\n\n"); err != nil {
					return
				}
				c.Writer.Flush()
			case <-checks.C:
				if a.StillValid(ctx, p) != nil {
					return
				}
			}
		}
		if r, err = a.Runs.Get(ctx, p.OrgID, id); err != nil {
			return
		}
	}
}
