// Package runs keeps the jobs that people see: a row written before its workflow starts, its progress, its truthful
// end, and the events that tell watchers to look again. What belongs here: everything about runs as such. What a run
// does is the business of the service that starts it.
package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/store"
)

// Service starts, shows, stops and closes runs.
type Service struct {
	// Audit writes the log entry of what a person or a program asked for, start_run or cancel_run, last in the
	// transaction that writes the run; nil writes none. What the engine starts by itself is not asked for by anybody.
	Audit func(tx *store.Tx, p auth.Principal, action string, run models.Run) error

	store   *store.Store
	starter jobs.Starter
	hub     *Hub
	clock   func() time.Time
	bell    *bell
}

// New returns a service. starter may be nil in a process that starts nothing: its runs stay queued until a reconciler
// elsewhere starts them. hub may be nil: waiting then polls. clock nil is time.Now.
func New(st *store.Store, starter jobs.Starter, hub *Hub, clock func() time.Time) *Service {
	if clock == nil {
		clock = time.Now
	}
	return &Service{store: st, starter: starter, hub: hub, clock: clock, bell: newBell(st.NotifyRun)}
}

// StartInput says what to run. Input holds ids and options only, as JSON.
type StartInput struct {
	Kind, Subject string
	WorkflowID    string
	Input         any
	Trigger       string // manual, schedule or engine; "" is manual
	Logged        bool   // the caller logs the write that this run is part of
}

// Start writes a run and starts its workflow. When a run of the same kind and subject is live, it returns that one
// with already true. A workflow engine that does not answer leaves the run queued: the reconciler starts it.
func (s *Service) Start(ctx context.Context, p auth.Principal, in StartInput) (run models.Run, already bool, err error) {
	raw, err := json.Marshal(in.Input)
	if err != nil || in.Kind == "" || in.WorkflowID == "" {
		return models.Run{}, false, fault.Wrap(err, fault.Internal, "a run needs kind, workflow id and input")
	}
	if in.Input == nil {
		raw = json.RawMessage("{}")
	}
	if in.Trigger == "" {
		in.Trigger = "manual"
	}
	now := s.clock().UTC()
	run = models.Run{
		ID: models.NewID(), OrgID: p.OrgID, Kind: in.Kind, Subject: in.Subject, Status: models.RunQueued, Phase: "queued",
		Counts: map[string]int64{}, Warnings: []models.RunWarning{}, Input: raw, Trigger: in.Trigger, StartedBy: p.Label,
		WorkflowID: in.WorkflowID, CreatedAt: now, UpdatedAt: now,
	}
	for range 3 { // a live run may end between the two statements
		live, found, err := s.insertOrLive(ctx, p, run, in.Logged)
		if err != nil {
			return models.Run{}, false, err
		}
		if found {
			return live, live.ID != run.ID, s.startLate(ctx, live, live.ID == run.ID)
		}
	}
	return models.Run{}, false, fault.New(fault.Unavailable, "The job could not be started because others keep ending at the same moment. Try again.")
}

func (s *Service) insertOrLive(ctx context.Context, p auth.Principal, run models.Run, logged bool) (got models.Run, found bool, err error) {
	err = s.store.InOrg(ctx, run.OrgID, func(tx *store.Tx) error {
		inserted, err := tx.InsertRun(&run)
		if err != nil {
			return err
		}
		if inserted {
			got, found = run, true
			if logged {
				return nil
			}
			return s.log(tx, p, "start_run", run)
		}
		got, found, err = tx.LiveRun(run.Kind, run.Subject)
		return err
	})
	return got, found, err
}

func (s *Service) log(tx *store.Tx, p auth.Principal, action string, run models.Run) error {
	if s.Audit == nil || p.Kind != "user" && p.Kind != "key" {
		return nil
	}
	return s.Audit(tx, p, action, run)
}

// startLate starts the workflow of a run that has just been written; failing to is logged and left to the reconciler.
func (s *Service) startLate(ctx context.Context, run models.Run, fresh bool) error {
	if !fresh || s.starter == nil {
		return nil
	}
	if err := s.starter.Start(ctx, run); err != nil {
		slog.WarnContext(ctx, "workflow not started yet; the reconciler will", "org_id", run.OrgID, "run_id", run.ID, "error", err)
	}
	s.bell.ring(run.OrgID, run.ID, true)
	return nil
}

// Get returns a run. Faults: NotFound.
func (s *Service) Get(ctx context.Context, org, id uuid.UUID) (run models.Run, err error) {
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		run, err = tx.Run(id)
		return err
	})
	return run, err
}

// MaxLimit is the largest page of runs and failures.
const MaxLimit = 200

// ListInput selects runs, newest first. Cursor is the last run of the page before.
type ListInput struct {
	Kind, Subject string
	Status        []models.RunStatus
	Since         time.Time
	After         *Position
	Limit         int // 0 is 50
}

// Position is a place in the list of runs; surfaces sign and encode it.
type Position struct {
	CreatedAt time.Time `json:"t"`
	ID        uuid.UUID `json:"id"`
}

// Page is a page of runs; Next is nil at the end.
type Page struct {
	Runs []models.Run
	Next *Position
}

// List returns a page of runs. Faults: Invalid.
func (s *Service) List(ctx context.Context, org uuid.UUID, in ListInput) (Page, error) {
	limit, err := limitOf(in.Limit)
	if err != nil {
		return Page{}, err
	}
	f := store.RunFilter{Kind: in.Kind, Subject: in.Subject, Status: in.Status, Since: in.Since, Limit: limit + 1}
	if in.After != nil {
		f.BeforeCreated, f.BeforeID = in.After.CreatedAt, in.After.ID
	}
	page := Page{Runs: []models.Run{}}
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		rows, err := tx.Runs(f)
		if len(rows) > limit {
			rows = rows[:limit]
			page.Next = &Position{CreatedAt: rows[limit-1].CreatedAt, ID: rows[limit-1].ID}
		}
		page.Runs = append(page.Runs, rows...)
		return err
	})
	return page, err
}

// Live returns the live run of a kind and subject; ok is false when there is none.
func (s *Service) Live(ctx context.Context, org uuid.UUID, kind, subject string) (run models.Run, ok bool, err error) {
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		run, ok, err = tx.LiveRun(kind, subject)
		return err
	})
	return run, ok, err
}

// Failures lists the records that a run could not take, by object and id, after the given one. more tells that there
// are others behind. Faults: NotFound, Invalid.
func (s *Service) Failures(ctx context.Context, org, id uuid.UUID, afterObject, afterID string, limit int) (rows []models.RunFailure, more bool, err error) {
	limit, err = limitOf(limit)
	if err != nil {
		return nil, false, err
	}
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		if _, err := tx.Run(id); err != nil {
			return err
		}
		rows, err = tx.RunFailures(id, afterObject, afterID, limit+1)
		return err
	})
	if len(rows) > limit {
		rows, more = rows[:limit], true
	}
	return rows, more, err
}

// Cancel asks a run to stop and returns it; it ends as cancelled within seconds, through its workflow. Faults:
// NotFound, Conflict when it has ended already.
func (s *Service) Cancel(ctx context.Context, p auth.Principal, id uuid.UUID) (run models.Run, err error) {
	var live bool
	err = s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		if _, err := tx.Run(id); err != nil {
			return err
		}
		if live, err = tx.RequestCancel(id, s.clock().UTC()); err != nil {
			return err
		}
		if run, err = tx.Run(id); err != nil || !live {
			return err
		}
		return s.log(tx, p, "cancel_run", run)
	})
	if err != nil {
		return models.Run{}, err
	}
	if !live {
		return run, fault.New(fault.Conflict, "the run has already ended as %s", run.Status)
	}
	s.bell.ring(run.OrgID, run.ID, false)
	if s.starter == nil {
		return run, nil
	}
	if err := s.starter.Cancel(ctx, run); err != nil {
		return run, fmt.Errorf("cancel workflow: %w", err)
	}
	return run, nil
}

// Progress is what a running job reports; see store.RunProgress.
type Progress = store.RunProgress

// Progress writes how far a run is and tells watchers, at most four times a second. A run that has ended stays as it is.
func (s *Service) Progress(ctx context.Context, org, id uuid.UUID, p Progress) error {
	err := s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		_, err := tx.UpdateRun(id, p, s.clock().UTC())
		return err
	})
	if err == nil {
		s.bell.ring(org, id, false)
	}
	return err
}

// Changed tells watchers to read a run again after its row was changed in a transaction of somebody else.
func (s *Service) Changed(org, id uuid.UUID) { s.bell.ring(org, id, false) }

// End says how a run ended; Code and Message are those of a failure.
type End struct {
	Status  models.RunStatus
	Code    string
	Message string
}

// Finish closes a run. Closing one that has ended changes nothing, so it may be repeated.
func (s *Service) Finish(ctx context.Context, org, id uuid.UUID, e End) error {
	err := s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		_, err := tx.EndRun(id, store.RunEnd{Status: e.Status, ErrorCode: e.Code, ErrorMessage: e.Message, At: s.clock().UTC()})
		return err
	})
	if err == nil {
		s.bell.ring(org, id, true)
	}
	return err
}

// Wait returns a run as soon as it has ended, or as it is after max; for Prefer: wait=N. Faults: NotFound.
func (s *Service) Wait(ctx context.Context, org, id uuid.UUID, limit time.Duration) (models.Run, error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	changes := s.Subscribe(waiting, org, id)
	for {
		run, err := s.Get(ctx, org, id)
		if err != nil || !run.Status.Live() {
			return run, err
		}
		poll := time.NewTimer(time.Second) // in case a notification is lost
		select {
		case <-waiting.Done():
			poll.Stop()
			if err := ctx.Err(); err != nil {
				return run, err
			}
			return s.Get(ctx, org, id)
		case <-changes:
		case <-poll.C:
		}
		poll.Stop()
	}
}

// Subscribe returns a channel that receives whenever the run changed, until ctx ends. Read the run again on each.
func (s *Service) Subscribe(ctx context.Context, org, id uuid.UUID) <-chan struct{} {
	if s.hub == nil {
		return nil
	}
	return s.hub.Subscribe(ctx, org, id)
}

func limitOf(n int) (int, error) {
	if n == 0 {
		return 50, nil
	}
	if n < 0 || n > MaxLimit {
		return 0, fault.WithFields("the limit is out of range", fault.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", MaxLimit)})
	}
	return n, nil
}
