package governance_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
	"revarch/services/governance"
	"revarch/store"
	"revarch/testkit"
)

// system is an organization with a log, past which the tests look and meddle as the superuser.
type system struct {
	tb    testing.TB
	db    testkit.DB
	org   uuid.UUID
	log   *governance.Service
	p     auth.Principal
	ahead atomic.Int64 // nanoseconds that the service's clock is ahead
}

func setup(tb testing.TB, entries int) *system {
	tb.Helper()
	s := &system{tb: tb, db: testkit.Database(tb, testkit.Product(tb))}
	s.org = s.db.NewOrg(tb, "Alpha")
	s.log = &governance.Service{Store: testkit.OpenStore(tb, s.db.App, 4), Clock: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }}
	s.p = auth.Principal{OrgID: s.org, Kind: "key", ID: models.NewID(), Label: "key", Scopes: auth.Scopes, Surface: "rest"}
	s.fill(entries)
	return s
}

// fill writes a chain as the service would have, at the speed of COPY.
func (s *system) fill(n int) {
	s.tb.Helper()
	var rows [][]any
	var prev []byte
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		e := models.GovernanceEntry{
			OrgID: s.org, Seq: int64(i + 1), ID: models.NewID(), At: at.Add(time.Duration(i) * time.Second), ActorKind: "key", ActorID: s.p.ID.String(),
			ActorLabel: "key", Surface: "mcp", Tool: "update_task", Outcome: "ok", Args: json.RawMessage(fmt.Sprintf(`{"task_id":"t-%d","priority":"HIGH","note":"as agreed"}`, i)),
			SubjectType: "task", SubjectID: fmt.Sprint(i), Before: json.RawMessage(`{"status":"OPEN","priority":"LOW","version":1}`),
			After: json.RawMessage(`{"status":"OPEN","priority":"HIGH","version":2}`), PrevHash: prev,
		}
		hash, err := store.GovernanceHash(&e)
		require.NoError(s.tb, err)
		if prev == nil {
			e.PrevHash = []byte{}
		}
		rows = append(rows, []any{e.OrgID, e.Seq, e.ID, e.At, e.ActorKind, e.ActorID, e.ActorLabel, e.Surface, e.Tool, e.Outcome, e.Args, e.SubjectType, e.SubjectID, e.Before, e.After, e.PrevHash, hash})
		prev = hash
	}
	conn, err := pgx.Connect(s.tb.Context(), s.db.Superuser)
	require.NoError(s.tb, err)
	defer func() { _ = conn.Close(s.tb.Context()) }()
	_, err = conn.CopyFrom(s.tb.Context(), pgx.Identifier{"governance_log"}, []string{
		"org_id", "seq", "id", "at", "actor_kind", "actor_id", "actor_label", "surface", "tool", "outcome", "args", "subject_type", "subject_id", "before", "after", "prev_hash", "hash",
	}, pgx.CopyFromRows(rows))
	require.NoError(s.tb, err)
	if n > 0 {
		s.db.Exec(s.tb, "INSERT INTO governance_heads (org_id, seq, hash) VALUES ($1, $2, $3)", s.org, n, prev)
	}
}
