package tools

import (
	"encoding/json"

	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/paging"
)

// Deps are the services the tools work on.
type Deps struct {
	Identity *identity.Service
	Log      *governance.Service
	Cursors  paging.Codec
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
