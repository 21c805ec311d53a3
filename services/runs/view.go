package runs

import (
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// View is a run as api and tools show it.
type View struct {
	ID          uuid.UUID           `json:"id" format:"uuid"`
	Kind        string              `json:"kind"`
	Subject     string              `json:"subject"`
	Status      models.RunStatus    `json:"status" enum:"queued,running,succeeded,failed,cancelled"`
	Phase       string              `json:"phase"`
	Progress    ViewProgress        `json:"progress"`
	Counts      map[string]int64    `json:"counts"`
	Warnings    []models.RunWarning `json:"warnings"`
	Error       *ViewError          `json:"error"`
	Trigger     string              `json:"trigger"`
	StartedBy   string              `json:"started_by"`
	CreatedAt   time.Time           `json:"created_at"`
	StartedAt   *time.Time          `json:"started_at"`
	FinishedAt  *time.Time          `json:"finished_at"`
	Cancelling  bool                `json:"cancelling" doc:"a person asked to stop it and it has not stopped yet"`
	WorkflowID  string              `json:"workflow_id"`
	TemporalURL *string             `json:"temporal_url" doc:"for operators only"`
}

// ViewProgress is how far a run is; Total is null while unknown.
type ViewProgress struct {
	Done  int64  `json:"done"`
	Total *int64 `json:"total"`
	Unit  string `json:"unit"`
}

// ViewError is why a run failed.
type ViewError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ToView shows a run. temporalUI is the address of the Temporal UI with namespace, such as
// http://127.0.0.1:8233/namespaces/revarch, for operators, and "" for everybody else.
func ToView(r models.Run, temporalUI string) View {
	v := View{
		ID: r.ID, Kind: r.Kind, Subject: r.Subject, Status: r.Status, Phase: r.Phase,
		Progress: ViewProgress{Done: r.ProgressDone, Total: r.ProgressTotal, Unit: r.ProgressUnit},
		Counts:   r.Counts, Warnings: r.Warnings, Trigger: r.Trigger, StartedBy: r.StartedBy, CreatedAt: r.CreatedAt.UTC(),
		StartedAt: utc(r.StartedAt), FinishedAt: utc(r.FinishedAt), Cancelling: r.Status.Live() && r.CancelRequestedAt != nil,
		WorkflowID: r.WorkflowID,
	}
	if v.Counts == nil {
		v.Counts = map[string]int64{}
	}
	if v.Warnings == nil {
		v.Warnings = []models.RunWarning{}
	}
	if r.ErrorCode != nil {
		v.Error = &ViewError{Code: *r.ErrorCode}
		if r.ErrorMessage != nil {
			v.Error.Message = *r.ErrorMessage
		}
	}
	if temporalUI != "" {
		link := strings.TrimSuffix(temporalUI, "/") + "/workflows/" + url.PathEscape(r.WorkflowID)
		v.TemporalURL = &link
	}
	return v
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
