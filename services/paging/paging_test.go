package paging_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/fault"
	"revarch/services/paging"
)

func TestCursorBelongsToItsOrganizationListAndFilters(t *testing.T) {
	t.Parallel()
	type position struct{ After string }
	c := paging.New([]byte("secret"))
	org := uuid.New()
	cursor, err := c.Encode(org, "accounts", map[string]string{"segment": "SMB"}, position{"x"})
	require.NoError(t, err)

	var got position
	require.NoError(t, c.Decode(cursor, org, "accounts", map[string]string{"segment": "SMB"}, &got))
	require.Equal(t, "x", got.After)
	require.NoError(t, c.Decode("", org, "accounts", nil, &got))

	for name, err := range map[string]error{
		"another organization": c.Decode(cursor, uuid.New(), "accounts", map[string]string{"segment": "SMB"}, &got),
		"another list":         c.Decode(cursor, org, "tasks", map[string]string{"segment": "SMB"}, &got),
		"other filters":        c.Decode(cursor, org, "accounts", map[string]string{"segment": "Enterprise"}, &got),
		"another key":          paging.New([]byte("other")).Decode(cursor, org, "accounts", map[string]string{"segment": "SMB"}, &got),
		"a cut cursor":         c.Decode(cursor[:len(cursor)-2], org, "accounts", map[string]string{"segment": "SMB"}, &got),
		"no cursor at all":     c.Decode("!!", org, "accounts", nil, &got),
	} {
		require.True(t, fault.Is(err, fault.Invalid), name)
	}
}
