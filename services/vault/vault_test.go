package vault_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"revarch/fault"
	"revarch/services/vault"
)

func open(t *testing.T) (*vault.Vault, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys", "keyset.json")
	v, err := vault.Open(path)
	require.NoError(t, err)
	return v, path
}

func TestVault(t *testing.T) {
	t.Parallel()

	t.Run("the keyset is created for its owner alone and read again", func(t *testing.T) {
		t.Parallel()
		v, path := open(t)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		sealed, err := v.Seal([]byte("secret"), []byte("ad"))
		require.NoError(t, err)
		again, err := vault.Open(path)
		require.NoError(t, err)
		plain, err := again.Unseal(sealed, []byte("ad"))
		require.NoError(t, err)
		require.Equal(t, "secret", string(plain))
	})

	t.Run("a file that others may read is refused", func(t *testing.T) {
		t.Parallel()
		_, path := open(t)
		require.NoError(t, os.Chmod(path, 0o640))
		_, err := vault.Open(path)
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
	})

	t.Run("a damaged file is refused and left alone", func(t *testing.T) {
		t.Parallel()
		_, path := open(t)
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		_, err := vault.Open(path)
		require.Equal(t, fault.Conflict, fault.CodeOf(err))
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "{", string(raw))
	})

	t.Run("a secret cannot be unsealed for another organization or use", func(t *testing.T) {
		t.Parallel()
		v, _ := open(t)
		sealed, err := v.Seal([]byte("secret"), vault.AD("org-a", "crm_a", "grant"))
		require.NoError(t, err)
		for _, ad := range [][]byte{vault.AD("org-b", "crm_a", "grant"), vault.AD("org-a", "crm_b", "grant"), vault.AD("org-a", "crm_a", "verifier"), nil} {
			_, err := v.Unseal(sealed, ad)
			require.Equal(t, fault.ReauthRequired, fault.CodeOf(err))
		}
	})

	t.Run("rotation keeps old secrets readable, in other processes too", func(t *testing.T) {
		t.Parallel()
		v, path := open(t)
		other, err := vault.Open(path)
		require.NoError(t, err)
		before, err := v.Seal([]byte("old"), nil)
		require.NoError(t, err)
		require.NoError(t, v.Rotate())
		require.Equal(t, 2, v.Keys())
		after, err := v.Seal([]byte("new"), nil)
		require.NoError(t, err)
		for sealed, want := range map[string]string{string(before): "old", string(after): "new"} {
			plain, err := other.Unseal([]byte(sealed), nil)
			require.NoError(t, err)
			require.Equal(t, want, string(plain))
		}
		require.NoError(t, v.DropOldKeys())
		_, err = v.Unseal(before, nil)
		require.Error(t, err)
		plain, err := v.Unseal(after, nil)
		require.NoError(t, err)
		require.Equal(t, "new", string(plain))
	})

	t.Run("processes that start at once agree on one keyset", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "keyset.json")
		vaults := make([]*vault.Vault, 8)
		var wg sync.WaitGroup
		for i := range vaults {
			wg.Go(func() {
				v, err := vault.Open(path)
				if err == nil {
					vaults[i] = v
				}
			})
		}
		wg.Wait()
		require.NotNil(t, vaults[0])
		sealed, err := vaults[0].Seal([]byte("x"), nil)
		require.NoError(t, err)
		for _, v := range vaults {
			require.NotNil(t, v)
			_, err := v.Unseal(sealed, nil)
			require.NoError(t, err)
		}
	})

	t.Run("any secret comes back as it was and never shows in what is stored", func(t *testing.T) {
		t.Parallel()
		v, _ := open(t)
		rapid.Check(t, func(rt *rapid.T) {
			plain := rapid.SliceOfN(rapid.Byte(), 8, 200).Draw(rt, "plain")
			ad := rapid.SliceOf(rapid.Byte()).Draw(rt, "ad")
			sealed, err := v.Seal(plain, ad)
			require.NoError(rt, err)
			require.NotContains(rt, string(sealed), string(plain))
			got, err := v.Unseal(sealed, ad)
			require.NoError(rt, err)
			require.Equal(rt, plain, got)
		})
	})
}
