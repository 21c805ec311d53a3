package tasks

import (
	"time"

	"github.com/google/uuid"

	"revarch/models"
	"revarch/store"
)

// Task is a task as every surface shows it.
type Task struct {
	TaskID      uuid.UUID  `json:"task_id" format:"uuid"`
	Title       string     `json:"title"`
	Status      string     `json:"status" enum:"OPEN,IN_PROGRESS,BLOCKED,DONE,CANCELLED"`
	Assignee    *string    `json:"assignee" doc:"Who is to do it; null for nobody"`
	Priority    string     `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	DueDate     *string    `json:"due_date" format:"date"`
	Overdue     bool       `json:"overdue" doc:"Due before today in the organization's time zone, and neither done nor cancelled"`
	SourceType  string     `json:"source_type" enum:"NBA,signal,play,MQL handoff,manual"`
	SourceID    *uuid.UUID `json:"source_id" format:"uuid"`
	AccountID   *uuid.UUID `json:"account_id" format:"uuid"`
	AccountName *string    `json:"account_name"`
	CreatedBy   string     `json:"created_by"`
	Version     int64      `json:"version" doc:"Counts up with each change"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	CompletedAt *time.Time `json:"completed_at"`
}

// TaskSummary counts the tasks of a list by status, whatever status the list itself is narrowed to.
type TaskSummary struct {
	Open       int64 `json:"open"`
	InProgress int64 `json:"in_progress"`
	Blocked    int64 `json:"blocked"`
	Done       int64 `json:"done"`
	Cancelled  int64 `json:"cancelled"`
	Overdue    int64 `json:"overdue" doc:"Of those that are neither done nor cancelled"`
}

// ToTask shows a task as of the organization's day.
func ToTask(t models.Task, accountName *string, today time.Time) Task {
	out := Task{
		TaskID: t.ID, Title: t.Title, Status: t.Status, Priority: t.Priority, SourceType: t.SourceType, SourceID: t.SourceID,
		AccountID: t.AccountID, AccountName: accountName, CreatedBy: t.CreatedBy, Version: t.Version,
		CreatedAt: t.CreatedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
	if t.Assignee != "" {
		out.Assignee = &t.Assignee
	}
	if t.DueDate != nil {
		day := t.DueDate.Format(time.DateOnly)
		out.DueDate = &day
		out.Overdue = t.DueDate.Before(today) && !closed(t.Status)
	}
	if t.CompletedAt != nil {
		at := t.CompletedAt.UTC()
		out.CompletedAt = &at
	}
	return out
}

func toTasks(rows []store.TaskRow, today time.Time) []Task {
	out := make([]Task, 0, len(rows))
	for _, r := range rows {
		out = append(out, ToTask(r.Task, r.AccountName, today))
	}
	return out
}

// logged is what the governance log keeps of a task before and after a write.
func logged(t models.Task) map[string]any {
	out := map[string]any{
		"title": t.Title, "status": t.Status, "assignee": t.Assignee, "priority": t.Priority, "due_date": nil,
		"source_type": t.SourceType, "source_id": t.SourceID, "account_id": t.AccountID, "version": t.Version,
	}
	if t.DueDate != nil {
		out["due_date"] = t.DueDate.Format(time.DateOnly)
	}
	return out
}
