package activities

import (
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// RunRef names the run that an activity works for.
type RunRef struct {
	OrgID uuid.UUID `json:"org_id"`
	RunID uuid.UUID `json:"run_id"`
}

// SyncRef names a run of one connection.
type SyncRef struct {
	RunRef
	Provider models.Provider `json:"provider"`
}

// PlanInput asks what a sync has to do.
type PlanInput struct {
	SyncRef
	Full bool `json:"full,omitempty"` // enumerate every object again
}

// Plan is what a sync has to do: its objects in the order of the provider.
type Plan struct {
	Objects  []PlannedObject `json:"objects"`
	ResumeAt time.Time       `json:"resume_at,omitzero"` // nothing was planned; ask again then
	Reason   string          `json:"reason,omitempty"`
}

// PlannedObject is one object to read.
type PlannedObject struct {
	Name  string   `json:"name"`
	After []string `json:"after,omitempty"` // objects that must be complete before
	Full  bool     `json:"full,omitempty"`  // from the start, and what is met no more was deleted
}

// ObjectInput names one object of a sync.
type ObjectInput struct {
	SyncRef
	Object string `json:"object"`
	Full   bool   `json:"full,omitempty"`
	After  string `json:"after,omitempty"` // of PullDeletions: where to go on
	// ConfirmDeletions is for TombstoneUnseen: a person has agreed to however many.
	ConfirmDeletions bool `json:"confirm_deletions,omitempty"`
}

// BatchResult is what a batch of pages brought. Counts are for the live view: the run's row has them exactly, since
// pages that an interrupted attempt has committed are in it, too.
type BatchResult struct {
	Pages    int              `json:"pages"`
	Counts   map[string]int64 `json:"counts,omitempty"`
	Done     bool             `json:"done,omitempty"`
	Full     bool             `json:"full,omitempty"`     // the object is enumerated from the start
	Next     string           `json:"next,omitempty"`     // of PullDeletions: where to go on
	ResumeAt time.Time        `json:"resume_at,omitzero"` // the provider asks to wait until then
	Reason   string           `json:"reason,omitempty"`   // the code of why
	Skipped  string           `json:"skipped,omitempty"`  // the code of why the object cannot be read at all
}

// CountResult is what a step counted; Skipped tells that there was nothing that could do it.
type CountResult struct {
	Counts  map[string]int64 `json:"counts,omitempty"`
	Skipped bool             `json:"skipped,omitempty"`
}

// RemapInput asks to map the next stored records of one object again.
type RemapInput struct {
	SyncRef
	Object string `json:"object"`
	After  string `json:"after,omitempty"`
}

// RemapPlan lists the objects to map again and the version of the mapping.
type RemapPlan struct {
	Version int64    `json:"version"`
	Objects []string `json:"objects"`
}

// RemapResult is what a batch of remapping brought, and the version of the mapping it read.
type RemapResult struct {
	Next    string           `json:"next,omitempty"`
	Done    bool             `json:"done,omitempty"`
	Version int64            `json:"version"`
	Counts  map[string]int64 `json:"counts,omitempty"`
}

// FinishInput says how a run ended. Provider is set when the run synced a connection, Synced when its records are
// complete whatever came after.
type FinishInput struct {
	RunRef
	Provider models.Provider  `json:"provider,omitempty"`
	Synced   bool             `json:"synced,omitempty"`
	Status   models.RunStatus `json:"status"`
	Code     string           `json:"code,omitempty"`
	Message  string           `json:"message,omitempty"`
}

// ConnectionRef names a connection.
type ConnectionRef struct {
	OrgID    uuid.UUID       `json:"org_id"`
	Provider models.Provider `json:"provider"`
}
