package tools_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/models"
)

// passing is what differs between two answers that say the same: ids, instants, hashes, times.
var passing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)|[0-9a-f]{64}|"lag_minutes":\d+`)

// TestNoToolLeaksAnotherOrganization drives every tool that there is as one organization with ids, names and cursors of
// another: what comes back must be just what made-up ones bring. A new tool is driven without a change here.
func TestNoToolLeaksAnotherOrganization(t *testing.T) {
	t.Parallel()
	s := setup(t)
	alpha, beta := s.tenant("Alpha", 7), s.tenant("Beta", 3)
	_, secret := s.key(beta.org, auth.Scopes...)
	c := s.connect(secret)
	_, alphaSecret := s.key(alpha.org, auth.Scopes...)
	ac := s.connect(alphaSecret)
	secrets := []string{"Alpha", alpha.account, alpha.contact, alpha.run, alpha.entry, alpha.org.String()}

	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, list.Tools)
	// Reads first: what is written here holds the foreign ids that were sent.
	slices.SortStableFunc(list.Tools, func(a, b mcp.Tool) int { return rank(a) - rank(b) })
	for _, tool := range list.Tools {
		props, required := inputs(t, tool)
		calls := []trial{{tool.Name, idsOnly(props, required, alpha.id), idsOnly(props, required, madeUp)}}
		for name, prop := range props {
			theirs, none := idsOnly(props, required, beta.id), idsOnly(props, required, beta.id)
			switch {
			case isID(name, prop):
				theirs[name], none[name] = alpha.id(name), madeUp(name)
			case name == "cursor":
				got := call(t, ac, tool.Name, withSamples(tool.Name, map[string]any{"limit": 1}))
				if got.Data["next_cursor"] == nil {
					continue
				}
				theirs[name], none[name] = got.Data["next_cursor"], "bWFkZSB1cA"
				theirs["limit"], none["limit"] = 1, 1
			case prop["type"] == "string" && prop["enum"] == nil && prop["format"] == nil && prop["pattern"] == nil && *tool.Annotations.ReadOnlyHint:
				theirs[name], none[name] = "Alpha", "Nobody"
			default:
				continue
			}
			calls = append(calls, trial{tool.Name, theirs, none})
		}
		for _, x := range calls {
			got, want := call(t, c, x.tool, withSamples(x.tool, x.theirs)), call(t, c, x.tool, withSamples(x.tool, x.none))
			require.Equal(t, passing.ReplaceAllString(rendered(t, want), "*"), passing.ReplaceAllString(rendered(t, got), "*"), "%s %v", x.tool, x.theirs)
			for _, leak := range secrets {
				if !echoes(x.theirs, leak) {
					require.NotContains(t, rendered(t, got), leak, "%s %v", x.tool, x.theirs)
				}
			}
		}
	}
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM tasks WHERE org_id = $1 AND status = 'OPEN' AND priority = 'MEDIUM'", alpha.org), "nothing of theirs was written")
}

// trial is a call with what belongs to another organization, and the same with what belongs to nobody.
type trial struct {
	tool         string
	theirs, none map[string]any
}

func rank(t mcp.Tool) int {
	if *t.Annotations.ReadOnlyHint {
		return 0
	}
	return 1
}

func madeUp(string) string { return models.NewID().String() }

// idsOnly fills in the required ids.
func idsOnly(props map[string]map[string]any, required []string, id func(string) string) map[string]any {
	out := map[string]any{}
	for _, name := range required {
		if isID(name, props[name]) {
			out[name] = id(name)
		}
	}
	return out
}

func withSamples(tool string, args map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, samples[tool])
	maps.Copy(out, args)
	return out
}

// echoes tells that a secret was sent, so that a message may name it back.
func echoes(args map[string]any, secret string) bool {
	for _, v := range args {
		if v == secret {
			return true
		}
	}
	return false
}

func rendered(tb testing.TB, a answer) string {
	tb.Helper()
	raw, err := json.Marshal([]any{a.IsError, a.Text, a.Data})
	require.NoError(tb, err)
	return string(raw)
}
