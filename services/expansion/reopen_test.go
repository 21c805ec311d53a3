package expansion_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/models"
	"revarch/services/expansion"
)

// TestReopeningWhileRegenerating moves signals back to pending after a regeneration has read them as closed and before
// it replaces the pending ones: it did not find them and must not take them for outdated either.
func TestReopeningWhileRegenerating(t *testing.T) {
	t.Parallel()
	s := setup(t)
	org, _ := s.market()
	signals := s.all(org, expansion.Filter{Status: "pending"})[:3]
	for i, from := range []string{"pitched", "won", "dismissed"} {
		s.mustMove(org, signals[i].ID, from)
	}
	var reopened []uuid.UUID
	_, err := s.svc.Generate(t.Context(), org, models.NewID(), func(int64, int64) {
		for ; len(reopened) < len(signals); reopened = append(reopened, signals[len(reopened)].ID) {
			s.mustMove(org, signals[len(reopened)].ID, "pending")
		}
	})
	require.NoError(t, err)
	require.Len(t, reopened, len(signals))
	still := func() (out []uuid.UUID) {
		for _, x := range s.all(org, expansion.Filter{Status: "pending"}) {
			for _, y := range signals {
				if x.ID == y.ID {
					out = append(out, x.ID)
				}
			}
		}
		return out
	}
	require.ElementsMatch(t, reopened, still())
	s.generate(org)
	require.ElementsMatch(t, reopened, still(), "the next one finds them again")
}
