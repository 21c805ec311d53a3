package scoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/analytics/scoring"
)

// BenchmarkScoreAll scores one account by all four models and reports rule evaluations per second on one core.
func BenchmarkScoreAll(b *testing.B) {
	rs := defaults(b)
	f := full()
	var out scoring.Results
	rs.ScoreAll(scoring.Enterprise, f, &out)
	b.ReportAllocs()
	rules := 0
	for b.Loop() {
		rs.ScoreAll(scoring.Enterprise, f, &out)
		rules += 57
	}
	b.ReportMetric(float64(rules)/b.Elapsed().Seconds(), "rules/s")
}

// BenchmarkScoreAndEncode adds the stored form.
func BenchmarkScoreAndEncode(b *testing.B) {
	rs := defaults(b)
	f := full()
	var out scoring.Results
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	rules := 0
	for b.Loop() {
		rs.ScoreAll(scoring.Enterprise, f, &out)
		buf = buf[:0]
		for m := range out.Of {
			buf = rs.Encode(buf, &out.Of[m])
		}
		rules += 57
	}
	b.ReportMetric(float64(rules)/b.Elapsed().Seconds(), "rules/s")
}

// BenchmarkRender renders one stored score with its decomposition.
func BenchmarkRender(b *testing.B) {
	rs := defaults(b)
	var out scoring.Results
	rs.ScoreAll(scoring.Enterprise, full(), &out)
	c := rs.Encode(nil, &out.Of[scoring.Risk])
	for b.Loop() {
		if _, err := scoring.Render(rs, c, scoring.Stamp{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	rs := defaults(t)
	f := full()
	var out scoring.Results
	buf := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		rs.ScoreAll(scoring.Enterprise, f, &out)
		buf = buf[:0]
		for m := range out.Of {
			buf = rs.Encode(buf, &out.Of[m])
		}
	}))
}
