package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/connections"
	"revarch/services/runs"
)

var listConnectors = define(Spec{
	Name: "list_connectors", Title: "Connectors", Category: "connector_observability", Effect: Read,
	Description: "Every connector with status, health, last sync, lag in minutes and last error. For single runs use get_sync_log.",
}, func(ctx context.Context, d Deps, in listConnectorsIn) (listConnectorsOut, error) {
	out := listConnectorsOut{}
	var err error
	if out.Connectors, err = d.Connections.List(ctx, auth.From(ctx), models.ProviderKind(in.Kind)); err != nil {
		return out, err
	}
	if len(out.Connectors) == 0 {
		out.Note = "there is no connector of this kind yet; call without kind to see those there are"
	}
	return out, nil
})

type listConnectorsIn struct {
	Kind string `json:"kind,omitempty" doc:"only connectors of this kind" enum:"crm,workspace,district_intel,product_usage,support"`
}

type listConnectorsOut struct {
	Connectors []connections.Summary `json:"connectors"`
	Note       string                `json:"note,omitempty"`
}

// Summary counts the connectors and those in trouble.
func (o listConnectorsOut) Summary() string {
	connected, trouble := 0, 0
	for _, c := range o.Connectors {
		if c.Health != connections.NotConnected {
			connected++
			if c.Health != connections.Healthy {
				trouble++
			}
		}
	}
	return fmt.Sprintf("%d connectors: %d connected, %d of them not healthy.", len(o.Connectors), connected, trouble)
}

var getSyncLog = define(Spec{
	Name: "get_sync_log", Title: "Sync log", Category: "connector_observability", Effect: Read,
	Description: "Sync runs, newest first, with status, record counts and error. For where each connector stands now use list_connectors.",
}, func(ctx context.Context, d Deps, in syncLogIn) (syncLogOut, error) {
	p := auth.From(ctx)
	out := syncLogOut{}
	filters := []any{in.Connector, in.Since}
	ask := runs.ListInput{Since: in.Since}
	if in.Cursor != "" {
		ask.After = &runs.Position{}
		if err := d.Cursors.Decode(in.Cursor, p.OrgID, "get_sync_log", filters, ask.After); err != nil {
			return out, err
		}
	}
	var err error
	out.Runs, out.NextCursor, out.Truncated, err = capped(in.Limit, func(limit int) ([]syncRun, *string, error) {
		ask.Limit = limit
		page, err := d.Connections.SyncLog(ctx, p, models.Provider(in.Connector), ask)
		if err != nil || page.Next == nil {
			return toSyncRuns(page.Runs), nil, err
		}
		next, err := d.Cursors.Encode(p.OrgID, "get_sync_log", filters, page.Next)
		return toSyncRuns(page.Runs), &next, err
	})
	if len(out.Runs) == 0 {
		out.Note = "no sync matches; leave out since and connector, or look at list_connectors whether anything is connected"
	}
	return out, err
})

type syncLogIn struct {
	Connector string    `json:"connector,omitempty" doc:"only runs of this connector" enum:"crm_a,crm_b,crm_c,workspace_a,workspace_b,district_intel"`
	Since     time.Time `json:"since,omitzero" doc:"RFC 3339"`
	Cursor    string    `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit     int       `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type syncLogOut struct {
	Runs       []syncRun `json:"runs"`
	Truncated  bool      `json:"truncated"`
	NextCursor *string   `json:"next_cursor"`
	Note       string    `json:"note,omitempty"`
}

// Summary counts the runs and those that failed.
func (o syncLogOut) Summary() string {
	failed := 0
	for _, r := range o.Runs {
		if r.Status == models.RunFailed {
			failed++
		}
	}
	return fmt.Sprintf("%d sync runs, %d failed.", len(o.Runs), failed)
}

type syncRun struct {
	RunID      uuid.UUID        `json:"run_id" format:"uuid"`
	Provider   string           `json:"provider"`
	Trigger    string           `json:"trigger"`
	Status     models.RunStatus `json:"status"`
	StartedAt  *time.Time       `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"`
	Read       int64            `json:"read"`
	Created    int64            `json:"created"`
	Updated    int64            `json:"updated"`
	Unchanged  int64            `json:"unchanged"`
	Deleted    int64            `json:"deleted"`
	Failed     int64            `json:"failed"`
	Error      *runs.ViewError  `json:"error"`
}

func toSyncRuns(rows []models.Run) []syncRun {
	out := make([]syncRun, 0, len(rows))
	for _, r := range rows {
		v, n := runs.ToView(r, ""), r.Counts
		out = append(out, syncRun{
			r.ID, r.Subject, r.Trigger, r.Status, v.StartedAt, v.FinishedAt,
			n["read"], n["created"], n["updated"], n["unchanged"], n["deleted"], n["failed"], v.Error,
		})
	}
	return out
}
