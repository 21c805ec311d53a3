package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
)

func TestPasswords(t *testing.T) {
	t.Parallel()
	phc := auth.HashPassword("correct horse")
	require.True(t, auth.CheckPassword(phc, "correct horse"))
	require.False(t, auth.CheckPassword(phc, "correct horsE"))
	require.False(t, auth.CheckPassword("", "correct horse"))
	require.False(t, auth.CheckPassword("$argon2id$v=19$m=9999999999,t=3,p=2$AAAA$AAAA", "x"))
	require.NotEqual(t, phc, auth.HashPassword("correct horse"), "the salt differs")
}

func TestKeysHaveAFixedLengthAndTheirPrefix(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		k := auth.NewKey()
		require.Len(t, k, 46)
		require.Regexp(t, "^rk_[0-9A-Za-z]{43}$", k)
		require.False(t, seen[k])
		seen[k] = true
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	org := models.NewID()
	user := func(r auth.Role) auth.Principal { return auth.Principal{OrgID: org, Kind: "user", Role: r} }
	key := func(s ...auth.Scope) auth.Principal { return auth.Principal{OrgID: org, Kind: "key", Scopes: s} }
	cases := []struct {
		name string
		p    auth.Principal
		perm auth.Permission
		want bool
	}{
		{"a viewer reads", user(auth.Viewer), auth.PermRead, true},
		{"a viewer does not write", user(auth.Viewer), auth.PermWrite, false},
		{"a rep writes", user(auth.Rep), auth.PermWrite, true},
		{"a rep does not start syncs", user(auth.Rep), auth.PermOperate, false},
		{"a manager starts syncs", user(auth.Manager), auth.PermOperate, true},
		{"a rep does not export", user(auth.Rep), auth.PermExport, false},
		{"a manager exports", user(auth.Manager), auth.PermExport, true},
		{"a reading key exports", key(auth.ScopeRead), auth.PermExport, true},
		{"a key that may not read does not export", key(auth.ScopeWriteSafe, auth.ScopeWriteDestructive, auth.ScopeAdmin), auth.PermExport, false},
		{"a manager does not make keys", user(auth.Manager), auth.PermAdmin, false},
		{"an admin makes keys", user(auth.Admin), auth.PermAdmin, true},
		{"an admin is no operator", user(auth.Admin), auth.PermPlatform, false},
		{"a reading key reads", key(auth.ScopeRead), auth.PermRead, true},
		{"a reading key does not write", key(auth.ScopeRead), auth.PermWrite, false},
		{"a safe key does not overwrite", key(auth.ScopeRead, auth.ScopeWriteSafe), auth.PermWriteDestructive, false},
		{"an admin key of a tenant is no operator", key(auth.ScopeAdmin), auth.PermPlatform, false},
		{"nobody may do nothing", auth.Principal{}, auth.PermRead, false},
		{"the engine without an organization may do nothing", auth.Principal{Kind: "engine"}, auth.PermRead, false},
	}
	require.ErrorContains(t, key(auth.ScopeAdmin).Require(auth.PermPlatform), "system organization", "no scope would help")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.p.Can(c.perm))
			err := c.p.Require(c.perm)
			require.Equal(t, c.want, err == nil)
			require.Equal(t, !c.want, fault.Is(err, fault.Denied))
		})
	}
}
