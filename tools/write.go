package tools

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
)

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
	v, err := d.Log.Verify(ctx, p.OrgID)
	if err != nil {
		return out, err
	}
	out.ChainOK = v.OK
	more := len(rows) > in.Limit
	for _, e := range rows[:min(len(rows), in.Limit)] {
		out.Entries = append(out.Entries, toGovernanceEntry(e))
	}
	if out.Entries, out.Truncated = fit(out.Entries); more || out.Truncated {
		out.NextCursor, err = d.Cursors.Encode(p.OrgID, "get_governance_log", filters, rows[len(out.Entries)-1].Seq)
	}
	return out, err
})

type governanceIn struct {
	Tool      string    `json:"tool,omitempty" doc:"only writes of this tool or operation" maxLength:"200"`
	Actor     string    `json:"actor,omitempty" doc:"e-mail, key name or id" maxLength:"320"`
	SubjectID string    `json:"subject_id,omitempty" doc:"only writes to this record" maxLength:"100"`
	Since     time.Time `json:"since,omitempty" doc:"RFC 3339"`
	Until     time.Time `json:"until,omitempty" doc:"RFC 3339, excluded"`
	Cursor    string    `json:"cursor,omitempty" doc:"next_cursor of the page before" maxLength:"500"`
	Limit     int       `json:"limit,omitempty" doc:"rows to return" minimum:"1" maximum:"200" default:"50"`
}

type governanceOut struct {
	Entries    []governanceEntry `json:"entries"`
	ChainOK    bool              `json:"chain_ok"`
	Truncated  bool              `json:"truncated"`
	NextCursor string            `json:"next_cursor,omitempty"`
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
	EntryID     uuid.UUID `json:"entry_id" format:"uuid"`
	At          time.Time `json:"at"`
	Actor       string    `json:"actor"`
	ActorKind   string    `json:"actor_kind"`
	KeyPrefix   string    `json:"key_prefix"`
	Surface     string    `json:"surface"`
	Tool        string    `json:"tool"`
	Outcome     string    `json:"outcome"`
	SubjectType string    `json:"subject_type"`
	SubjectID   string    `json:"subject_id"`
	Before      string    `json:"before" doc:"JSON text"`
	After       string    `json:"after" doc:"JSON text"`
	Reason      string    `json:"reason"`
	RequestID   string    `json:"request_id"`
	PrevHash    string    `json:"prev_hash"`
	Hash        string    `json:"hash"`
}

func toGovernanceEntry(e models.GovernanceEntry) governanceEntry {
	text := func(raw json.RawMessage) string {
		if raw == nil {
			return "null"
		}
		return string(raw)
	}
	return governanceEntry{e.ID, e.At.UTC(), e.ActorLabel, e.ActorKind, e.KeyPrefix, e.Surface, e.Tool, e.Outcome, e.SubjectType, e.SubjectID,
		text(e.Before), text(e.After), e.Reason, e.RequestID, hex.EncodeToString(e.PrevHash), hex.EncodeToString(e.Hash)}
}
