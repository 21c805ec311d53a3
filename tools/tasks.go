package tools

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/tasks"
)

var listTasks = define(Spec{
	Name: "list_tasks", Title: "Tasks", Category: "tasks", Effect: Read,
	Description: "Tasks by due date with an overdue flag, and counts per status. To add one use create_task, to change one update_task.",
}, func(ctx context.Context, d Deps, in listTasksIn) (listTasksOut, error) {
	p := auth.From(ctx)
	ask := tasks.ListInput{Filter: tasks.Filter{
		Assignee: in.Assignee, Status: in.Status, AccountID: optional(in.AccountID),
		SourceType: in.SourceType, Priority: in.Priority,
	}, Cursor: in.Cursor}
	out := listTasksOut{}
	var err error
	out.Tasks, out.NextCursor, out.Truncated, err = capped(in.Limit, func(limit int) ([]tasks.Task, *string, error) {
		ask.Limit = limit
		page, err := d.Tasks.List(ctx, p, ask)
		out.Counts = page.Summary
		return page.Tasks, page.NextCursor, err
	})
	if len(out.Tasks) == 0 {
		out.Note = "no task matches; leave out a filter (assignee is matched whole), or add one with create_task"
	}
	return out, err
})

type listTasksIn struct {
	Assignee   string    `json:"assignee,omitempty" doc:"whole e-mail or name" maxLength:"320"`
	Status     string    `json:"status,omitempty" enum:"OPEN,IN_PROGRESS,BLOCKED,DONE,CANCELLED"`
	AccountID  uuid.UUID `json:"account_id,omitzero" format:"uuid"`
	SourceType string    `json:"source_type,omitempty" doc:"what asked for it" enum:"NBA,signal,play,MQL handoff,manual"`
	Priority   string    `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT"`
	Cursor     string    `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit      int       `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type listTasksOut struct {
	Tasks      []tasks.Task      `json:"tasks"`
	Counts     tasks.TaskSummary `json:"summary"`
	Truncated  bool              `json:"truncated"`
	NextCursor *string           `json:"next_cursor"`
	Note       string            `json:"note,omitempty"`
}

// Summary counts the tasks that wait and those that are late.
func (o listTasksOut) Summary() string {
	return fmt.Sprintf("%d tasks on this page; %d open, %d in progress, %d overdue in all.",
		len(o.Tasks), o.Counts.Open, o.Counts.InProgress, o.Counts.Overdue)
}
