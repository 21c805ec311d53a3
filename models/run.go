package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// RunStatus is where a run stands.
type RunStatus string

// The statuses of a run. Succeeded, failed and cancelled are final.
const (
	RunQueued    RunStatus = "queued"
	RunRunning   RunStatus = "running"
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
)

// Live reports whether the run has not ended.
func (s RunStatus) Live() bool { return s == RunQueued || s == RunRunning }

// The kinds of runs; each is carried out by the workflow of the same meaning.
const (
	KindConnectorSync = "connector_sync"
	KindRemap         = "remap_records"
	KindScore         = "score_accounts"
	KindIngest        = "ingest_dataset"
	KindMatch         = "match_accounts"
	KindImport        = "import_file"
)

// Run is a job as people see it: written before its workflow starts, kept after its history is gone.
type Run struct {
	OrgID             uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	Kind              string
	Subject           string // what it is about, such as a provider code
	Status            RunStatus
	Phase             string
	ProgressDone      int64
	ProgressTotal     *int64
	ProgressUnit      string
	Counts            map[string]int64 `gorm:"serializer:json"`
	Warnings          []RunWarning     `gorm:"serializer:json"`
	Input             json.RawMessage  `gorm:"type:jsonb"`
	ErrorCode         *string
	ErrorMessage      *string
	Trigger           string // manual, schedule or engine
	StartedBy         string
	WorkflowID        string
	CreatedAt         time.Time
	StartedAt         *time.Time
	FinishedAt        *time.Time
	CancelRequestedAt *time.Time
	UpdatedAt         time.Time
}

// RunWarning is something a person should know about a run that went on.
type RunWarning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Count   int64  `json:"count"`
}

// RunFailure is one record that a run could not take.
type RunFailure struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	RunID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	Object     string    `gorm:"primaryKey"`
	ExternalID string    `gorm:"primaryKey"`
	Code       string
	Message    string
	At         time.Time
}

// Upload is a file on its way into a workflow, stored in chunks of at most 1 MiB.
type Upload struct {
	OrgID     uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID        uuid.UUID `gorm:"type:uuid;primaryKey"`
	Name      string
	Purpose   string
	Size      int64
	Chunks    int
	SHA256    []byte `gorm:"column:sha256"`
	Complete  bool
	CreatedBy string
	CreatedAt time.Time
}

// UploadChunk is one piece of an upload.
type UploadChunk struct {
	OrgID    uuid.UUID `gorm:"type:uuid;primaryKey"`
	UploadID uuid.UUID `gorm:"type:uuid;primaryKey"`
	Seq      int       `gorm:"primaryKey"`
	Data     []byte
}
