package tools_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/auth"
)

var update = flag.Bool("update", false, "write the snapshots of tools/list anew")

// TestSnapshotOfToolsList compares what a client gets from tools/list with one file per tool, so that a change of a
// name, a schema or a hint is seen in review. A tool without a file fails, and so does a file without a tool.
func TestSnapshotOfToolsList(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, secret := s.key(s.db.NewOrg(t, "Alpha"), auth.Scopes...)
	status, _, body := s.rest(secret, http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	require.Equal(t, http.StatusOK, status, body)
	var got struct {
		Result struct {
			Tools      []json.RawMessage
			NextCursor *string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Nil(t, got.Result.NextCursor, "all in one page")

	dir, order, files := filepath.Join("testdata", "tools"), []string{}, map[string][]byte{}
	for _, raw := range got.Result.Tools {
		name, text := sorted(t, raw)
		order = append(order, name)
		files[name+".json"] = text
	}
	files["order.txt"] = []byte(strings.Join(order, "\n") + "\n")
	old, err := os.ReadDir(dir)
	if *update {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		}
	} else {
		require.NoError(t, err)
	}
	for _, f := range old {
		if *update && files[f.Name()] == nil {
			require.NoError(t, os.Remove(filepath.Join(dir, f.Name())))
			continue
		}
		require.Contains(t, files, f.Name(), "there is no such tool; run make snapshots")
	}
	for name, text := range files {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, "run make snapshots")
		require.Equal(t, string(want), string(text), "%s: run make snapshots and review the difference", name)
	}
}

// sorted returns a tool's name and its JSON with sorted keys.
func sorted(t *testing.T, raw json.RawMessage) (string, []byte) {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(raw, &doc))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(doc))
	return doc["name"].(string), out.Bytes()
}
