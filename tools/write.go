package tools

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/tasks"
)

var createTask = define(Spec{
	Name: "create_task", Title: "Create a task", Category: "write", Effect: Add,
	Description: "Creates a task and its governance log entry; send idempotency_key so that a retry adds nothing. To change a task use update_task.",
}, func(ctx context.Context, d Deps, in createTaskIn) (createTaskOut, error) {
	made, err := d.Tasks.Create(ctx, auth.From(ctx), tasks.CreateInput{
		Title: in.Title, AccountID: optional(in.AccountID), Assignee: in.Assignee,
		DueDate: in.DueDate, Priority: in.Priority, SourceType: in.SourceType, SourceID: optional(in.SourceID), IdempotencyKey: in.IdempotencyKey,
	})
	return createTaskOut{made}, err
})

type createTaskIn struct {
	Title          string    `json:"title" doc:"what is to be done" minLength:"1" maxLength:"500"`
	AccountID      uuid.UUID `json:"account_id,omitzero" doc:"the account it is about" format:"uuid"`
	Assignee       string    `json:"assignee,omitempty" doc:"e-mail or name" maxLength:"320"`
	DueDate        string    `json:"due_date,omitempty" doc:"YYYY-MM-DD" format:"date"`
	Priority       string    `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT" default:"MEDIUM"`
	SourceType     string    `json:"source_type,omitempty" doc:"what asked for it" enum:"NBA,signal,play,MQL handoff,manual" default:"manual"`
	SourceID       uuid.UUID `json:"source_id,omitzero" doc:"the signal, play or lead it came from" format:"uuid"`
	IdempotencyKey string    `json:"idempotency_key,omitempty" doc:"same key within 24 h: same answer, one task" maxLength:"200"`
}

type createTaskOut struct{ tasks.Created }

// Summary says that the task is there.
func (o createTaskOut) Summary() string {
	due := "without a due date"
	if o.Task.DueDate != nil {
		due = "due " + *o.Task.DueDate
	}
	return fmt.Sprintf("Task %s created: %s priority, %s.", o.Task.TaskID, o.Task.Priority, due)
}

var updateTask = define(Spec{
	Name: "update_task", Title: "Update a task", Category: "write", Effect: Set,
	Description: "Changes status, assignee, priority or due date of a task and returns it before and after. To find its id use list_tasks.",
}, func(ctx context.Context, d Deps, in updateTaskIn) (updateTaskOut, error) {
	done, err := d.Tasks.Update(ctx, auth.From(ctx), tasks.UpdateInput{
		ID: in.TaskID, Status: in.Status, Assignee: in.Assignee,
		Priority: in.Priority, DueDate: in.DueDate, IdempotencyKey: in.IdempotencyKey,
	})
	return updateTaskOut{done}, err
})

// updateTaskIn tells an absent field, which stays, from an empty one, which clears.
type updateTaskIn struct {
	TaskID         uuid.UUID `json:"task_id" format:"uuid"`
	Status         *string   `json:"status,omitempty" enum:"OPEN,IN_PROGRESS,BLOCKED,DONE,CANCELLED" nullable:"false"`
	Assignee       *string   `json:"assignee,omitempty" doc:"e-mail or name; empty for nobody" maxLength:"320" nullable:"false"`
	Priority       *string   `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT" nullable:"false"`
	DueDate        *string   `json:"due_date,omitempty" doc:"YYYY-MM-DD; empty for none" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"YYYY-MM-DD or empty" nullable:"false"`
	IdempotencyKey string    `json:"idempotency_key,omitempty" doc:"same key within 24 h: same answer, one change" maxLength:"200"`
}

type updateTaskOut struct{ tasks.Updated }

// Summary says where the task stands now.
func (o updateTaskOut) Summary() string {
	return fmt.Sprintf("Task %s is now %s with priority %s.", o.Task.TaskID, o.Task.Status, o.Task.Priority)
}

var getGovernanceLog = define(Spec{
	Name: "get_governance_log", Title: "Governance log", Category: "write", Effect: Read,
	Description: "Every write on every surface, newest first, with who, before and after, and whether the hash chain checks (chain_ok).",
}, func(ctx context.Context, d Deps, in governanceIn) (governanceOut, error) {
	p := auth.From(ctx)
	out := governanceOut{Entries: []governanceEntry{}}
	f := governance.Filter{Tool: in.Tool, Actor: in.Actor, SubjectID: in.SubjectID, Since: in.Since, Until: in.Until, Limit: in.Limit + 1}
	filters := []any{in.Tool, in.Actor, in.SubjectID, in.Since, in.Until}
	if err := d.Cursors.Decode(in.Cursor, p.OrgID, "get_governance_log", filters, &f.BeforeSeq); err != nil {
		return out, err
	}
	rows, err := d.Log.List(ctx, p, f)
	if err != nil {
		return out, err
	}
	if out.ChainOK, err = d.Log.Check(ctx, p.OrgID, rows); err != nil {
		return out, err
	}
	more := len(rows) > in.Limit
	for _, e := range rows[:min(len(rows), in.Limit)] {
		out.Entries = append(out.Entries, toGovernanceEntry(e))
	}
	if out.Entries, out.Truncated = fit(out.Entries); more || out.Truncated {
		next, err := d.Cursors.Encode(p.OrgID, "get_governance_log", filters, rows[len(out.Entries)-1].Seq)
		out.NextCursor = &next
		return out, err
	}
	if len(out.Entries) == 0 {
		out.Note = "no entry matches; actor and tool are matched whole, so leave one out"
	}
	return out, nil
})

type governanceIn struct {
	Tool      string    `json:"tool,omitempty" doc:"only writes of this tool or operation" maxLength:"200"`
	Actor     string    `json:"actor,omitempty" doc:"e-mail, key name or id" maxLength:"320"`
	SubjectID string    `json:"subject_id,omitempty" doc:"only writes to this record" maxLength:"100"`
	Since     time.Time `json:"since,omitzero" doc:"RFC 3339"`
	Until     time.Time `json:"until,omitzero" doc:"RFC 3339, excluded"`
	Cursor    string    `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit     int       `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type governanceOut struct {
	Entries    []governanceEntry `json:"entries"`
	ChainOK    bool              `json:"chain_ok"`
	Truncated  bool              `json:"truncated"`
	NextCursor *string           `json:"next_cursor"`
	Note       string            `json:"note,omitempty"`
}

// Summary says how many entries came and whether the chain checks.
func (o governanceOut) Summary() string {
	state := "the chain checks"
	if !o.ChainOK {
		state = "THE CHAIN DOES NOT CHECK"
	}
	return fmt.Sprintf("%d log entries; %s.", len(o.Entries), state)
}

type governanceEntry struct {
	EntryID     uuid.UUID  `json:"entry_id" format:"uuid"`
	At          time.Time  `json:"at"`
	Actor       string     `json:"actor"`
	ActorKind   string     `json:"actor_kind"`
	KeyPrefix   string     `json:"key_prefix"`
	Surface     string     `json:"surface"`
	Tool        string     `json:"tool"`
	Outcome     string     `json:"outcome"`
	Args        openObject `json:"args" doc:"what was asked for; null for nothing"`
	SubjectType string     `json:"subject_type"`
	SubjectID   string     `json:"subject_id"`
	Before      openObject `json:"before" doc:"the subject before; null for none"`
	After       openObject `json:"after" doc:"the subject after; null for none"`
	Reason      string     `json:"reason"`
	RequestID   string     `json:"request_id"`
	PrevHash    string     `json:"prev_hash"`
	Hash        string     `json:"hash"`
}

// openObject is a JSON object whose members differ from row to row; nil is null.
type openObject json.RawMessage

// Schema says that the members are open.
func (openObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, AdditionalProperties: true}
}

// MarshalJSON writes the object as it is stored.
func (o openObject) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

func toGovernanceEntry(e models.GovernanceEntry) governanceEntry {
	return governanceEntry{
		e.ID, e.At.UTC(), e.ActorLabel, e.ActorKind, e.KeyPrefix, e.Surface, e.Tool, e.Outcome, openObject(e.Args), e.SubjectType, e.SubjectID,
		openObject(e.Before), openObject(e.After), e.Reason, e.RequestID, hex.EncodeToString(e.PrevHash), hex.EncodeToString(e.Hash),
	}
}
