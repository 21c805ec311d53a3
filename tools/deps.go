package tools

import (
	"encoding/json"

	"github.com/google/uuid"

	"revarch/services/accounts"
	"revarch/services/affinity"
	"revarch/services/connections"
	"revarch/services/dashboard"
	"revarch/services/expansion"
	"revarch/services/governance"
	"revarch/services/paging"
	"revarch/services/readiness"
	"revarch/services/scoring"
	"revarch/services/tasks"
)

// Deps are the services the tools work on.
type Deps struct {
	Log         *governance.Service
	Cursors     paging.Codec
	Connections *connections.Service
	Accounts    *accounts.Service
	Dashboard   *dashboard.Service
	Readiness   *readiness.Service
	Scoring     *scoring.Service
	Tasks       *tasks.Service
	Affinity    *affinity.Service
	Expansion   *expansion.Service
}

// maxAnswer keeps an answer near 8,000 tokens.
const maxAnswer = 28 << 10

// fit keeps as many leading rows as an answer may hold, at least one, and says whether any were left out.
func fit[T any](rows []T) ([]T, bool) {
	size := 0
	for i, row := range rows {
		b, err := json.Marshal(row)
		if err != nil {
			return rows, false
		}
		if size += len(b) + 1; size > maxAnswer && i > 0 {
			return rows[:i], true
		}
	}
	return rows, false
}

// capped asks for a page, and once more for fewer rows when the page does not fit into an answer, so that its cursor
// goes on right after the last row that is shown.
func capped[T any](limit int, ask func(limit int) ([]T, *string, error)) (rows []T, next *string, truncated bool, err error) {
	if rows, next, err = ask(limit); err != nil {
		return []T{}, nil, false, err
	}
	kept, cut := fit(rows)
	if !cut {
		return rows, next, false, nil
	}
	rows, next, err = ask(len(kept))
	return rows, next, true, err
}

// optional is nil for an id that was not given.
func optional(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}
