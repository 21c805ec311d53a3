package testkit

import (
	"os"
	"testing"
)

// TemporalAddress is host:port of a Temporal server that all tests of one command share: namespace "default", with the
// search attributes of production, in memory. Tests keep apart by task queue and workflow id. Without a server, the test
// fails.
func TemporalAddress(tb testing.TB) string {
	tb.Helper()
	address := os.Getenv(TemporalVariable)
	if address == "" {
		tb.Fatalf("%s is not set: make build makes bin/temporal; then %s", TemporalVariable, howToRun)
	}
	return address
}
