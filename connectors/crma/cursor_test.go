package crma

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/connectors"
	"revarch/fault"
)

func TestCursorsSurviveEncoding(t *testing.T) {
	t.Parallel()
	instant := rapid.Map(rapid.Int64Range(1, 4e9), func(s int64) time.Time { return time.Unix(s, 0).UTC() })
	rapid.Check(t, func(t *rapid.T) {
		p := position{
			Object: "Account", Runs: rapid.Int64Range(0, 1e6).Draw(t, "runs"), High: instant.Draw(t, "high"),
			Running: rapid.Bool().Draw(t, "running"), Start: instant.Draw(t, "start"), From: instant.Draw(t, "from"),
			Total: rapid.Int64Range(0, 1e9).Draw(t, "total"), Read: rapid.Int64Range(0, 1e9).Draw(t, "read"), Full: -1,
		}
		if rapid.Bool().Draw(t, "has row") {
			p.At, p.ID = instant.Draw(t, "at"), longID(rapid.StringMatching(`[0-9a-zA-Z]{15}`).Draw(t, "id"))
		}
		c, err := p.encode()
		require.NoError(t, err)
		got, err := decode(c, "Account", false)
		require.NoError(t, err)
		require.Equal(t, p, got)
	})
}

func TestCursorsOfAnotherStreamAreRefused(t *testing.T) {
	t.Parallel()
	raw := func(s string) connectors.Cursor {
		return connectors.Cursor(base64.RawURLEncoding.EncodeToString([]byte(s)))
	}
	for name, c := range map[string]connectors.Cursor{
		"another object":          raw(`{"o":"Contact"}`),
		"deletions":               raw(`{"o":"Account","d":true}`),
		"an unknown field":        raw(`{"o":"Account","x":1}`),
		"two objects":             raw(`{"o":"Account"}{"o":"Account"}`),
		"an id that breaks out":   raw(`{"o":"Account","t":"2026-05-01T12:00:00Z","i":"' OR Id != '"}`),
		"a short id":              raw(`{"o":"Account","t":"2026-05-01T12:00:00Z","i":"001000000000001"}`),
		"an id without its stamp": raw(`{"o":"Account","i":"001000000000001AAA"}`),
		"a foreign locator":       raw(`{"o":"Account","l":"https://evil.example/services/data/v60.0/query/x"}`),
		"a locator by host only":  raw(`{"o":"Account","l":"//evil.example/services/data/v60.0/query/x"}`),
		"a locator out of bounds": raw(`{"o":"Account","l":"/services/data/../../secret"}`),
		"not base64":              "*",
		"not JSON":                raw("{"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(c, "Account", false)
			require.Equal(t, fault.CursorDead, fault.CodeOf(err))
		})
	}
}

func TestFinishKeepsTheHighWaterMark(t *testing.T) {
	t.Parallel()
	high, start := time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC()
	require.Equal(t, start, position{High: high, Start: start}.finish().High)
	require.Equal(t, start, position{High: start, Start: high}.finish().High, "a clock that went back loses nothing")
	require.Equal(t, start.Add(-Overlap), position{High: start}.begin().From)
	require.True(t, position{}.begin().From.IsZero(), "a first run has no lower bound")
}

func FuzzDecodeCursor(f *testing.F) {
	for _, s := range []string{"", "*", `{"o":"Account"}`, `{"o":"Account","r":true,"t":"2026-05-01T12:00:00Z","i":"001000000000001AAA","l":"/services/data/v60.0/query/01g-2000"}`} {
		f.Add(s)
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(s)))
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := decode(connectors.Cursor(s), "Account", false)
		if err != nil {
			require.Equal(t, fault.CursorDead, fault.CodeOf(err))
			return
		}
		q, err := selection{object: "Account", columns: []string{"Id"}, from: p.From, after: keyset{at: p.At, id: p.ID}}.soql()
		require.NoError(t, err)
		require.Regexp(t, `^SELECT Id FROM Account( WHERE [-+0-9A-Za-z:.'()<>= ]+)? ORDER BY SystemModstamp, Id$`, q)
	})
}
