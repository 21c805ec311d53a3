package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/store"
)

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	eachBatch    = 1000
)

// Filter selects tasks; zero fields select everything.
type Filter struct {
	Assignee   string // whole, whatever the case
	Status     string
	AccountID  *uuid.UUID
	SourceType string
	Priority   string
	Overdue    bool
}

// ListInput asks for a page of tasks.
type ListInput struct {
	Filter
	Cursor string
	Limit  int // 0 is DefaultLimit
}

// Page is a page of tasks, by due date with those without one last. NextCursor is nil at the end.
type Page struct {
	Tasks      []Task      `json:"tasks"`
	Summary    TaskSummary `json:"summary"`
	NextCursor *string     `json:"next_cursor"`
}

// position is a place in the list.
type position struct {
	Due *time.Time `json:"d"`
	ID  uuid.UUID  `json:"i"`
}

// List returns a page of tasks with counts over all statuses. Faults: Denied, Invalid.
func (s *Service) List(ctx context.Context, p auth.Principal, in ListInput) (Page, error) {
	out := Page{Tasks: []Task{}}
	if err := in.check(p); err != nil {
		return out, err
	}
	var pos position
	if err := s.Cursors.Decode(in.Cursor, p.OrgID, "tasks", in.Filter, &pos); err != nil {
		return out, err
	}
	var after *store.TaskPosition
	if in.Cursor != "" {
		after = &store.TaskPosition{Due: pos.Due, ID: pos.ID}
	}
	limit := in.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		_, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		rows, err := tx.Tasks(in.store(today), after, limit+1)
		if err != nil {
			return err
		}
		if len(rows) > limit {
			rows = rows[:limit]
			last := rows[limit-1]
			next, err := s.Cursors.Encode(p.OrgID, "tasks", in.Filter, position{last.DueDate, last.ID})
			if err != nil {
				return err
			}
			out.NextCursor = &next
		}
		out.Tasks = toTasks(rows, today)
		out.Summary, err = summary(tx, in.Filter, today)
		return err
	})
	return out, err
}

func summary(tx *store.Tx, f Filter, today time.Time) (TaskSummary, error) {
	f.Status = ""
	n, overdue, err := tx.TaskCounts(f.store(today))
	return TaskSummary{n["OPEN"], n["IN_PROGRESS"], n["BLOCKED"], n["DONE"], n["CANCELLED"], overdue}, err
}

// Each calls fn with every selected task, batch by batch, in the order of List. Faults: Denied, Invalid.
func (s *Service) Each(ctx context.Context, p auth.Principal, f Filter, fn func([]Task) error) error {
	in := ListInput{Filter: f}
	if err := in.check(p); err != nil {
		return err
	}
	var after *store.TaskPosition
	for {
		var batch []Task
		err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
			_, today, err := tx.OrganizationDay(s.Clock())
			if err != nil {
				return err
			}
			rows, err := tx.Tasks(f.store(today), after, eachBatch)
			if n := len(rows); n > 0 {
				after = &store.TaskPosition{Due: rows[n-1].DueDate, ID: rows[n-1].ID}
			}
			batch = toTasks(rows, today)
			return err
		})
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := fn(batch); err != nil {
			return err
		}
	}
}

func (f Filter) store(today time.Time) store.TaskFilter {
	return store.TaskFilter{
		Assignee: strings.TrimSpace(f.Assignee), Status: f.Status, AccountID: f.AccountID, SourceType: f.SourceType,
		Priority: f.Priority, Overdue: f.Overdue, Today: today,
	}
}

func (in ListInput) check(p auth.Principal) error {
	if err := p.Require(auth.PermRead); err != nil {
		return err
	}
	var bad fields
	if in.Limit < 0 || in.Limit > MaxLimit {
		bad.add("limit", fmt.Sprintf("must be 1 to %d", MaxLimit))
	}
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{{"status", in.Status, Statuses}, {"priority", in.Priority, Priorities}, {"source_type", in.SourceType, SourceTypes}} {
		if f.value != "" {
			bad.oneOf(f.name, f.value, f.allowed)
		}
	}
	return bad.err()
}

// fields collects what is wrong with an input.
type fields []fault.FieldError

func (f *fields) add(name, message string) {
	*f = append(*f, fault.FieldError{Field: name, Message: message})
}

func (f *fields) oneOf(name, value string, allowed []string) {
	if slices.Contains(allowed, value) {
		return
	}
	f.add(name, "must be one of "+strings.Join(allowed, ", "))
}

// text refuses what a text column cannot hold.
func (f *fields) text(name, v string) {
	if strings.ContainsRune(v, 0) || !utf8.ValidString(v) {
		f.add(name, "must be text without NUL characters")
	}
}

// assignee folds the case of an e-mail address.
func (f *fields) assignee(v string) string {
	v = strings.TrimSpace(v)
	if utf8.RuneCountInString(v) > 320 {
		f.add("assignee", "must have at most 320 characters")
	}
	f.text("assignee", v)
	if strings.Contains(v, "@") {
		v = strings.ToLower(v)
	}
	return v
}

// date reads a day as midnight UTC; nil for an empty one.
func (f *fields) date(name, v string) *time.Time {
	if v == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, v)
	if err != nil || day.Year() < 1900 || day.Year() > 2200 {
		f.add(name, "must be a date such as 2026-03-01")
		return nil
	}
	return &day
}

func (f *fields) err() error {
	if len(*f) == 0 {
		return nil
	}
	return fault.WithFields("the task is not valid: "+(*f)[0].Field+" "+(*f)[0].Message, *f...)
}
