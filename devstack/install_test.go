package devstack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/fault"
)

func TestChooseBinaries(t *testing.T) {
	t.Parallel()
	have := []pgBinaries{{"/old", 14}, {"/path", 15}, {"/new", 17}}
	for name, c := range map[string]struct {
		major int
		want  string
	}{
		"a new cluster takes the first that is new enough":   {0, "/path"},
		"an existing cluster takes its own version":          {17, "/new"},
		"an existing cluster may be older than a new one is": {14, "/old"},
		"no version is taken in place of another":            {16, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := chooseBinaries(have, c.major)
			require.Equal(t, c.want, got.dir)
			require.Equal(t, c.want != "", ok)
		})
	}
}

func TestMayEnter(t *testing.T) {
	t.Parallel()
	a := account{name: "postgres", uid: 5, gid: 6}
	require.False(t, mayEnter(0o700, 0, 0, a), "another's folder")
	require.True(t, mayEnter(0o711, 0, 0, a), "open to all")
	require.True(t, mayEnter(0o710, 0, 6, a), "open to its group")
	require.False(t, mayEnter(0o701, 0, 6, a), "closed to its group, though open to others")
	require.False(t, mayEnter(0o077, 5, 6, a), "closed to its owner")
	require.True(t, mayEnter(0o000, 5, 6, account{uid: 0}), "root")
}

func TestCanEnterNamesTheFolderInTheWay(t *testing.T) {
	t.Parallel()
	shut := t.TempDir()
	require.NoError(t, os.Chmod(shut, 0o700))
	inner := filepath.Join(shut, "data")
	require.NoError(t, os.Mkdir(inner, 0o711))
	err := account{name: "somebody", uid: 54321, gid: 54321}.canEnter(inner)
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "user somebody")
	require.ErrorContains(t, err, "cannot enter "+shut+" (mode 0700)")
}

func TestBackoffGoesPastTenSeconds(t *testing.T) {
	t.Parallel()
	total := time.Duration(0)
	for n := 1; n <= 6; n++ {
		require.LessOrEqual(t, backoff(n), backoff(n+1))
		total += backoff(n)
	}
	require.Greater(t, total, 10*time.Second)
	require.Equal(t, 5*time.Second, backoff(1000))
}

func npmTarball(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	archive := tar.NewWriter(gz)
	for name, body := range members {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body)), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, gz.Close())
	return buf.Bytes()
}

func TestUnpackNPM(t *testing.T) {
	t.Parallel()

	t.Run("binaries can be run by all and listed links are made", func(t *testing.T) {
		t.Parallel()
		dest := filepath.Join(t.TempDir(), "package")
		require.NoError(t, unpackNPM(npmTarball(t, map[string]string{
			"package/native/bin/postgres":       "binary",
			"package/native/lib/libpq.so.5.17":  "library",
			"package/native/pg-symlinks.json":   `[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so.5"}]`,
			"package/native/share/timezone/UTC": "zone",
		}), dest))
		info, err := os.Stat(filepath.Join(dest, "native", "bin", "postgres"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
		body, err := os.ReadFile(filepath.Join(dest, "native", "lib", "libpq.so.5"))
		require.NoError(t, err)
		require.Equal(t, "library", string(body))
	})

	for name, members := range map[string]map[string]string{
		"a member outside the package":       {"package/../../evil": "x"},
		"a link that leads out of it":        {"package/native/pg-symlinks.json": `[{"source":"../../etc/passwd","target":"native/x"}]`},
		"a list of links that is not a list": {"package/native/pg-symlinks.json": `{`},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			require.Error(t, unpackNPM(npmTarball(t, members), filepath.Join(t.TempDir(), "package")))
		})
	}

	t.Run("a package cut short is refused", func(t *testing.T) {
		t.Parallel()
		whole := npmTarball(t, map[string]string{"package/a": "x"})
		require.Error(t, unpackNPM(whole[:len(whole)/2], filepath.Join(t.TempDir(), "package")))
	})
}

func TestFetchedPackageMustBeThePinnedOne(t *testing.T) {
	t.Parallel()
	pkg, ok := fetchedPackage("linux", "amd64")
	require.True(t, ok)
	require.True(t, fault.Is(checkIntegrity([]byte("something else"), pkg), fault.Unavailable))
	_, ok = fetchedPackage("plan9", "amd64")
	require.False(t, ok)
}
