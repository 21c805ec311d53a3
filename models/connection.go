package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// ConnectionStatus is where a connection stands; "syncing" is derived from a live run and never stored.
type ConnectionStatus string

// The statuses of a connection.
const (
	ConnDisconnected ConnectionStatus = "disconnected"
	ConnConnected    ConnectionStatus = "connected"
	ConnSyncing      ConnectionStatus = "syncing"
	ConnError        ConnectionStatus = "error"
	ConnReauthorize  ConnectionStatus = "reauthorization_required"
)

// Connection is an organization's tie to one provider; there is at most one per provider.
type Connection struct {
	OrgID                uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID                   uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider             Provider
	Status               ConnectionStatus
	AccountID            string // the remote account; never swapped silently
	AccountLabel         string
	Scopes               StringArray `gorm:"type:text[]"`
	ConnectedBy          string
	ConnectedAt          *time.Time
	LastSyncAt           *time.Time
	NextSyncAt           *time.Time
	ErrorCode            *string
	ErrorMessage         *string
	ErrorAt              *time.Time
	Schema               json.RawMessage `gorm:"type:jsonb"`
	DiscoveredAt         *time.Time
	MappingVersion       int64
	CreatedAt, UpdatedAt time.Time
}

// ConnectionGrant is a connection's credentials, sealed.
type ConnectionGrant struct {
	OrgID        uuid.UUID `gorm:"type:uuid;primaryKey"`
	ConnectionID uuid.UUID `gorm:"type:uuid;primaryKey"`
	Sealed       []byte
	Version      int64
	UpdatedAt    time.Time
}

// StoredMapping is a FieldMapping of one organization and provider.
type StoredMapping struct {
	OrgID        uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider     Provider  `gorm:"primaryKey"`
	FieldMapping `gorm:"embedded"`
}

// TableName names the table of mappings.
func (StoredMapping) TableName() string { return "field_mappings" }

// SyncCursor is how far one object of a connection has been read.
type SyncCursor struct {
	OrgID          uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider       Provider  `gorm:"primaryKey"`
	Object         string    `gorm:"primaryKey"`
	Cursor         string
	Pulled         int64
	FullRunID      *uuid.UUID `gorm:"type:uuid"` // the full enumeration in progress
	FullDone       bool       // it has come to its complete end
	TrackSeen      bool       // it notes what it meets, so that the rest can be found deleted
	CompletedAt    *time.Time
	DeletionsSince *time.Time
	UpdatedAt      time.Time
}

// RawRecord is a provider's record as it came.
type RawRecord struct {
	OrgID           uuid.UUID       `gorm:"type:uuid;primaryKey"`
	Provider        Provider        `gorm:"primaryKey"`
	Object          string          `gorm:"primaryKey"`
	ExternalID      string          `gorm:"primaryKey"`
	Payload         json.RawMessage `gorm:"type:jsonb"`
	SourceUpdatedAt *time.Time
	DeletedAt       *time.Time
	MergedInto      *string
	ContentHash     []byte
	ReceivedAt      time.Time
}

// RecordLink ties a provider's record to the canonical record it became.
type RecordLink struct {
	OrgID      uuid.UUID `gorm:"type:uuid;primaryKey"`
	Provider   Provider  `gorm:"primaryKey"`
	Object     string    `gorm:"primaryKey"`
	ExternalID string    `gorm:"primaryKey"`
	RecordType RecordType
	RecordID   uuid.UUID  `gorm:"type:uuid"` // the winner's after a merge
	MergedFrom *uuid.UUID `gorm:"type:uuid"` // after a merge, the record it was before
}

// MappingVersion is a mapping that canonical rows were made with: canonical field to provider field.
type MappingVersion struct {
	OrgID     uuid.UUID `gorm:"type:uuid;primaryKey"`
	ID        int32     `gorm:"primaryKey;autoIncrement:false"`
	Provider  Provider
	Object    string
	Hash      []byte
	Entries   map[string]string `gorm:"serializer:json"`
	CreatedAt time.Time
}
