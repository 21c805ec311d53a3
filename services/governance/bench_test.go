package governance_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkVerify walks a chain of 200,000 entries, as an operator's command does.
func BenchmarkVerify(b *testing.B) {
	s := setup(b, 200_000)
	for b.Loop() {
		v, err := s.log.Verify(b.Context(), s.org)
		require.NoError(b, err)
		require.True(b, v.OK)
		require.EqualValues(b, 200_000, v.Entries)
	}
}

// BenchmarkCheck is what one reader of that log's newest page costs after the first, with one entry written in between.
func BenchmarkCheck(b *testing.B) {
	s := setup(b, 200_000)
	require.True(b, s.check(50))
	for b.Loop() {
		s.write()
		require.True(b, s.check(50))
	}
}
