// Package tasks is the work that people are asked to do: making, changing and listing tasks. Every write is one
// transaction with its entry in the governance log and may be repeated under an idempotency key.
package tasks

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/idempotency"
	"revarch/services/paging"
	"revarch/store"
)

// The values a task may have.
var (
	Statuses    = []string{"OPEN", "IN_PROGRESS", "BLOCKED", "DONE", "CANCELLED"}
	Priorities  = []string{"LOW", "MEDIUM", "HIGH", "URGENT"}
	SourceTypes = []string{"NBA", "signal", "play", "MQL handoff", "manual"}
)

// Service keeps tasks.
type Service struct {
	Store   *store.Store
	Log     *governance.Service
	Clock   func() time.Time
	Cursors paging.Codec
}

// CreateInput is a new task. Empty fields take their defaults: MEDIUM, manual, nobody, no date.
type CreateInput struct {
	Title          string
	AccountID      *uuid.UUID
	Assignee       string
	DueDate        string // YYYY-MM-DD
	Priority       string
	SourceType     string
	SourceID       *uuid.UUID
	IdempotencyKey string `json:"-"`
}

// Created is a new task and its entry in the governance log.
type Created struct {
	Task              Task      `json:"task"`
	GovernanceEntryID uuid.UUID `json:"governance_entry_id" format:"uuid"`
}

// Create writes a task. Faults: Denied, Invalid, NotFound for an account that is not there, Conflict.
func (s *Service) Create(ctx context.Context, p auth.Principal, in CreateInput) (out Created, err error) {
	if err := p.Require(auth.PermWrite); err != nil {
		return out, err
	}
	due, err := in.normalize()
	if err != nil {
		return out, err
	}
	now := s.Clock().UTC().Truncate(time.Microsecond)
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		req := idempotency.Request{Key: in.IdempotencyKey, Tool: "create_task", Input: in}
		out, _, err = idempotency.Once(tx, p, now, req, func() (Created, error) { return s.create(tx, p, in, due, now) })
		return err
	})
	return out, err
}

func (s *Service) create(tx *store.Tx, p auth.Principal, in CreateInput, due *time.Time, now time.Time) (Created, error) {
	_, today, err := tx.OrganizationDay(now)
	if err != nil {
		return Created{}, err
	}
	t := models.Task{
		ID: models.NewID(), Title: in.Title, Status: "OPEN", Assignee: in.Assignee, Priority: in.Priority, DueDate: due,
		SourceType: in.SourceType, SourceID: in.SourceID, AccountID: in.AccountID, CreatedBy: p.Label, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	var accountName *string
	if in.AccountID != nil {
		name, err := tx.LiveAccountName(*in.AccountID)
		if err != nil {
			return Created{}, err
		}
		accountName = &name
	}
	if err := tx.CreateTask(&t); err != nil {
		return Created{}, err
	}
	entry, err := s.Log.Record(tx, p, governance.Entry{Tool: "create_task", Args: logged(t), SubjectType: "task", SubjectID: t.ID.String(), After: logged(t)})
	return Created{Task: ToTask(t, accountName, today), GovernanceEntryID: entry}, err
}

// normalize fills defaults, folds spellings and returns the due date.
func (in *CreateInput) normalize() (due *time.Time, err error) {
	var bad fields
	in.Title = strings.TrimSpace(in.Title)
	if n := utf8.RuneCountInString(in.Title); n < 1 || n > 500 {
		bad.add("title", "must have 1 to 500 characters")
	}
	bad.text("title", in.Title)
	if in.Priority == "" {
		in.Priority = "MEDIUM"
	}
	if in.SourceType == "" {
		in.SourceType = "manual"
	}
	bad.oneOf("priority", in.Priority, Priorities)
	bad.oneOf("source_type", in.SourceType, SourceTypes)
	in.Assignee = bad.assignee(in.Assignee)
	due = bad.date("due_date", in.DueDate)
	return due, bad.err()
}

// UpdateInput changes the fields that are not nil. An empty Assignee or DueDate clears it. Version, when given, must be
// the task's current one.
type UpdateInput struct {
	ID             uuid.UUID `json:"task_id"`
	Status         *string   `json:"status,omitempty"`
	Assignee       *string   `json:"assignee,omitempty"`
	Priority       *string   `json:"priority,omitempty"`
	DueDate        *string   `json:"due_date,omitempty"` // YYYY-MM-DD
	Version        *int64    `json:"version,omitempty"`
	IdempotencyKey string    `json:"-"`
}

// Updated is a changed task, what the change replaced, and its entry in the governance log.
type Updated struct {
	Task              Task      `json:"task"`
	Before            Task      `json:"before"`
	After             Task      `json:"after"`
	GovernanceEntryID uuid.UUID `json:"governance_entry_id" format:"uuid"`
}

// Update changes a task. Setting what is already so succeeds and changes nothing. A task that is done or cancelled can
// only be reopened, to OPEN. Faults: Denied, Invalid, NotFound, Stale, Conflict.
func (s *Service) Update(ctx context.Context, p auth.Principal, in UpdateInput) (out Updated, err error) {
	if err := p.Require(auth.PermWrite); err != nil {
		return out, err
	}
	due, err := in.normalize()
	if err != nil {
		return out, err
	}
	now := s.Clock().UTC().Truncate(time.Microsecond)
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		req := idempotency.Request{Key: in.IdempotencyKey, Tool: "update_task", Input: in}
		out, _, err = idempotency.Once(tx, p, now, req, func() (Updated, error) { return s.update(tx, p, in, due, now) })
		return err
	})
	return out, err
}

func (s *Service) update(tx *store.Tx, p auth.Principal, in UpdateInput, due *time.Time, now time.Time) (Updated, error) {
	_, today, err := tx.OrganizationDay(now)
	if err != nil {
		return Updated{}, err
	}
	before, err := tx.LockTask(in.ID)
	if err != nil {
		return Updated{}, err
	}
	if in.Version != nil && *in.Version != before.Version {
		return Updated{}, fault.New(fault.Stale, "the task was changed by someone else and is now at version %d; read it again", before.Version)
	}
	after, err := in.apply(before, due, now)
	if err != nil {
		return Updated{}, err
	}
	if after.Version != before.Version {
		if err := tx.SaveTask(&after); err != nil {
			return Updated{}, err
		}
	}
	accountName, err := tx.AccountName(after.AccountID)
	if err != nil {
		return Updated{}, err
	}
	entry, err := s.Log.Record(tx, p, governance.Entry{
		Tool: "update_task", Args: in, SubjectType: "task", SubjectID: in.ID.String(),
		Before: logged(before), After: logged(after),
	})
	shown := ToTask(after, accountName, today)
	return Updated{Task: shown, Before: ToTask(before, accountName, today), After: shown, GovernanceEntryID: entry}, err
}

// apply returns the task as it will be; its version counts up when something differs.
func (in UpdateInput) apply(t models.Task, due *time.Time, now time.Time) (models.Task, error) {
	was := t
	if in.Status != nil && *in.Status != t.Status {
		if closed(t.Status) && *in.Status != "OPEN" {
			return t, fault.New(fault.Conflict, "the task is %s; set it to OPEN before %s", t.Status, *in.Status)
		}
		t.Status, t.CompletedAt = *in.Status, nil
		if t.Status == "DONE" {
			t.CompletedAt = &now
		}
	}
	if in.Assignee != nil {
		t.Assignee = *in.Assignee
	}
	if in.Priority != nil {
		t.Priority = *in.Priority
	}
	if in.DueDate != nil {
		t.DueDate = due
	}
	sameDay := (t.DueDate == nil) == (was.DueDate == nil) && (t.DueDate == nil || t.DueDate.Equal(*was.DueDate))
	if t.Status != was.Status || t.Assignee != was.Assignee || t.Priority != was.Priority || !sameDay {
		t.Version++
		t.UpdatedAt = now
	}
	return t, nil
}

func (in *UpdateInput) normalize() (due *time.Time, err error) {
	var bad fields
	if in.Status == nil && in.Assignee == nil && in.Priority == nil && in.DueDate == nil {
		return nil, fault.New(fault.Invalid, "nothing to change: send status, assignee, priority or due_date")
	}
	if in.Status != nil {
		bad.oneOf("status", *in.Status, Statuses)
	}
	if in.Priority != nil {
		bad.oneOf("priority", *in.Priority, Priorities)
	}
	if in.Assignee != nil {
		folded := bad.assignee(*in.Assignee)
		in.Assignee = &folded
	}
	if in.DueDate != nil {
		due = bad.date("due_date", *in.DueDate)
	}
	return due, bad.err()
}

func closed(status string) bool { return slices.Contains([]string{"DONE", "CANCELLED"}, status) }
