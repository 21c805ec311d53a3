package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/paging"
)

// governanceAPI reads the log of writes.
type governanceAPI struct {
	log     *governance.Service
	cursors paging.Codec
}

// GovernanceEntry is one write in the log.
type GovernanceEntry struct {
	EntryID     uuid.UUID       `json:"entry_id" format:"uuid"`
	At          time.Time       `json:"at"`
	Actor       string          `json:"actor"`
	ActorKind   string          `json:"actor_kind" doc:"user, key or engine"`
	KeyPrefix   string          `json:"key_prefix"`
	Surface     string          `json:"surface" doc:"mcp, rest or engine"`
	Tool        string          `json:"tool"`
	Outcome     string          `json:"outcome" doc:"ok, denied or failed"`
	Args        json.RawMessage `json:"args"`
	SubjectType string          `json:"subject_type"`
	SubjectID   string          `json:"subject_id"`
	Before      json.RawMessage `json:"before"`
	After       json.RawMessage `json:"after"`
	Reason      string          `json:"reason"`
	RequestID   string          `json:"request_id"`
	PrevHash    string          `json:"prev_hash" doc:"Hex"`
	Hash        string          `json:"hash" doc:"Hex SHA-256 of the previous hash and the entry's canonical JSON"`
}

type governanceInput struct {
	Tool      string    `query:"tool" maxLength:"200"`
	Actor     string    `query:"actor" maxLength:"320" doc:"E-mail, key name or id"`
	SubjectID string    `query:"subject_id" maxLength:"100"`
	Since     time.Time `query:"since"`
	Until     time.Time `query:"until"`
	Limit     int       `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor    string    `query:"cursor" maxLength:"200"`
}

type governanceOutput struct {
	Body struct {
		Entries    []GovernanceEntry `json:"entries"`
		ChainOK    bool              `json:"chain_ok" doc:"Whether the chain checks: these entries and all new ones just now, the whole of it within the hour"`
		NextCursor *string           `json:"next_cursor"`
	}
}

// Register adds the operations.
func (a *governanceAPI) Register(h huma.API, _ *gin.RouterGroup) {
	huma.Register(h, operation("get-governance-log", http.MethodGet, "/governance-log", "List writes, newest first", "Governance", auth.PermRead), a.list)
}

func (a *governanceAPI) list(ctx context.Context, in *governanceInput) (*governanceOutput, error) {
	p := auth.From(ctx)
	f := governance.Filter{Tool: in.Tool, Actor: in.Actor, SubjectID: in.SubjectID, Since: in.Since, Until: in.Until, Limit: in.Limit + 1}
	filters := []any{in.Tool, in.Actor, in.SubjectID, in.Since, in.Until}
	if err := a.cursors.Decode(in.Cursor, p.OrgID, "governance-log", filters, &f.BeforeSeq); err != nil {
		return nil, problem(err)
	}
	rows, err := a.log.List(ctx, p, f)
	if err != nil {
		return nil, problem(err)
	}
	out := &governanceOutput{}
	if out.Body.ChainOK, err = a.log.Check(ctx, p.OrgID, rows); err != nil {
		return nil, problem(err)
	}
	out.Body.Entries = []GovernanceEntry{}
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		if out.Body.NextCursor, err = next(a.cursors, p.OrgID, "governance-log", filters, rows[len(rows)-1].Seq); err != nil {
			return nil, problem(err)
		}
	}
	for _, e := range rows {
		out.Body.Entries = append(out.Body.Entries, toGovernanceEntry(e))
	}
	return out, nil
}

func toGovernanceEntry(e models.GovernanceEntry) GovernanceEntry {
	return GovernanceEntry{
		e.ID, e.At, e.ActorLabel, e.ActorKind, e.KeyPrefix, e.Surface, e.Tool, e.Outcome, e.Args, e.SubjectType, e.SubjectID,
		e.Before, e.After, e.Reason, e.RequestID, hex.EncodeToString(e.PrevHash), hex.EncodeToString(e.Hash),
	}
}
