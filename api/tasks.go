package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/services/tasks"
)

// Tasks is the work that people are asked to do.
type Tasks struct{ Tasks *tasks.Service }

// TaskPage is a page of tasks.
type TaskPage tasks.Page

// CreatedTask is a new task and its entry in the governance log.
type CreatedTask tasks.Created

// UpdatedTask is a changed task with what the change replaced.
type UpdatedTask tasks.Updated

// TaskFilter narrows lists and exports of tasks alike.
type TaskFilter struct {
	Assignee   string `query:"assignee" maxLength:"320"`
	Status     string `query:"status" enum:"OPEN,IN_PROGRESS,BLOCKED,DONE,CANCELLED"`
	Priority   string `query:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	SourceType string `query:"source_type" enum:"NBA,signal,play,MQL handoff,manual"`
	AccountID  string `query:"account_id" format:"uuid"`
	Overdue    bool   `query:"overdue" doc:"Only overdue ones"`
}

func (f TaskFilter) filter() tasks.Filter {
	return tasks.Filter{Assignee: f.Assignee, Status: f.Status, Priority: f.Priority, SourceType: f.SourceType, AccountID: optionalID(f.AccountID), Overdue: f.Overdue}
}

// optionalID reads an id that huma has validated; nil for none.
func optionalID(s string) *uuid.UUID {
	id, err := uuid.Parse(s)
	if err != nil {
		return nil
	}
	return &id
}

type listTasksInput struct {
	TaskFilter
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"500"`
}

type createTaskInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Repeating a request under the same key within 24 hours gives the first answer"`
	Body struct {
		Title      string     `json:"title" minLength:"1" maxLength:"500"`
		AccountID  *uuid.UUID `json:"account_id,omitempty" format:"uuid"`
		Assignee   string     `json:"assignee,omitempty" maxLength:"320"`
		DueDate    string     `json:"due_date,omitempty" format:"date"`
		Priority   string     `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT" default:"MEDIUM"`
		SourceType string     `json:"source_type,omitempty" enum:"NBA,signal,play,MQL handoff,manual" default:"manual"`
		SourceID   *uuid.UUID `json:"source_id,omitempty" format:"uuid"`
	}
}

// clearable is a text field of a PATCH body: absent leaves it, null clears it.
type clearable struct{ text *string }

// UnmarshalJSON reads a text or null.
func (c *clearable) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if c.text = s; s == nil {
		c.text = new(string)
	}
	return nil
}

// Schema describes the field.
func (clearable) Schema(huma.Registry) *huma.Schema {
	n := 320
	return &huma.Schema{Type: huma.TypeString, Nullable: true, MaxLength: &n}
}

type updateTaskInput struct {
	ID   uuid.UUID `path:"id" format:"uuid"`
	Key  string    `header:"Idempotency-Key" maxLength:"200" doc:"Repeating a request under the same key within 24 hours gives the first answer"`
	Body struct {
		Status   *string   `json:"status,omitempty" enum:"OPEN,IN_PROGRESS,BLOCKED,DONE,CANCELLED"`
		Assignee clearable `json:"assignee,omitempty" doc:"null for nobody"` //nolint:modernize // what marks it optional in the schema
		Priority *string   `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT"`
		DueDate  clearable `json:"due_date,omitempty" doc:"YYYY-MM-DD; null for none"` //nolint:modernize // what marks it optional in the schema
		Version  *int64    `json:"version,omitempty" doc:"The version that was read; another one is refused"`
	}
}

type createdTaskOutput struct {
	Status int
	Body   CreatedTask
}

// Register adds the operations.
func (a *Tasks) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("list-tasks", http.MethodGet, "/tasks", "List tasks by due date", "Tasks", auth.PermRead),
		func(ctx context.Context, in *listTasksInput) (*struct{ Body TaskPage }, error) {
			page, err := a.Tasks.List(ctx, auth.From(ctx), tasks.ListInput{Filter: in.filter(), Cursor: in.Cursor, Limit: in.Limit})
			return &struct{ Body TaskPage }{TaskPage(page)}, problem(err)
		})
	create := operation("create-task", http.MethodPost, "/tasks", "Create a task", "Tasks", auth.PermWrite)
	create.DefaultStatus, create.Errors = http.StatusCreated, []int{404, 409, 422}
	huma.Register(h, create, func(ctx context.Context, in *createTaskInput) (*createdTaskOutput, error) {
		b := in.Body
		got, err := a.Tasks.Create(ctx, auth.From(ctx), tasks.CreateInput{
			Title: b.Title, AccountID: b.AccountID, Assignee: b.Assignee, DueDate: b.DueDate,
			Priority: b.Priority, SourceType: b.SourceType, SourceID: b.SourceID, IdempotencyKey: in.Key,
		})
		if err != nil {
			return nil, problem(err)
		}
		return &createdTaskOutput{http.StatusCreated, CreatedTask(got)}, nil
	})
	update := operation("update-task", http.MethodPatch, "/tasks/{id}", "Change a task", "Tasks", auth.PermWrite)
	update.Errors = []int{404, 409, 412, 422}
	huma.Register(h, update, func(ctx context.Context, in *updateTaskInput) (*struct{ Body UpdatedTask }, error) {
		b := in.Body
		got, err := a.Tasks.Update(ctx, auth.From(ctx), tasks.UpdateInput{
			ID: in.ID, Status: b.Status, Assignee: b.Assignee.text, Priority: b.Priority,
			DueDate: b.DueDate.text, Version: b.Version, IdempotencyKey: in.Key,
		})
		return &struct{ Body UpdatedTask }{UpdatedTask(got)}, problem(err)
	})
}
