package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// GovernanceEntry is one write, or one refused or failed write, in an organization's hash-chained log.
type GovernanceEntry struct {
	OrgID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	Seq         int64     `gorm:"primaryKey;autoIncrement:false"`
	ID          uuid.UUID `gorm:"type:uuid"`
	At          time.Time
	ActorKind   string // user, key or engine
	ActorID     string
	ActorLabel  string
	KeyPrefix   string
	Surface     string // mcp, rest or engine
	Tool        string
	Outcome     string          // ok, denied or failed
	Args        json.RawMessage `gorm:"type:jsonb"`
	SubjectType string
	SubjectID   string
	Before      json.RawMessage `gorm:"type:jsonb"`
	After       json.RawMessage `gorm:"type:jsonb"`
	Reason      string
	RequestID   string
	PrevHash    []byte
	Hash        []byte // SHA-256(prev_hash + RFC 8785 JSON of the entry)
}

// TableName names the log.
func (GovernanceEntry) TableName() string { return "governance_log" }

// GovernanceHead is the newest entry of an organization's chain, locked by each write.
type GovernanceHead struct {
	OrgID uuid.UUID `gorm:"type:uuid;primaryKey"`
	Seq   int64
	Hash  []byte
}

// IdempotencyKey keeps the answer of a write for a day under the caller's key.
type IdempotencyKey struct {
	OrgID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	Principal   string    `gorm:"primaryKey"`
	Key         string    `gorm:"primaryKey"`
	Tool        string
	RequestHash []byte
	Response    json.RawMessage `gorm:"type:jsonb"`
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// Task is a piece of work for a person.
type Task struct {
	OrgID       uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID          uuid.UUID `gorm:"type:uuid;primaryKey"`
	Title       string
	Status      string // OPEN, IN_PROGRESS, BLOCKED, DONE, CANCELLED
	Assignee    string
	Priority    string     // LOW, MEDIUM, HIGH, URGENT
	DueDate     *time.Time `gorm:"type:date"`
	SourceType  string     // NBA, signal, play, MQL handoff, manual
	SourceID    *uuid.UUID `gorm:"type:uuid"`
	AccountID   *uuid.UUID `gorm:"type:uuid"`
	CreatedBy   string
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
	CompletedAt *time.Time
}
