package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"revarch/fault"
)

// The members of the archive, in their order.
const (
	dumpName     = "database.dump"
	keysetName   = "keyset.json"
	manifestName = "manifest.json"
)

// archiveFormat is the version of the archive's layout.
const archiveFormat = 1

const (
	blockSize   = 512
	maxManifest = 1 << 20 // bytes
	maxKeyset   = 1 << 20 // bytes
)

// Manifest says what a backup holds.
type Manifest struct {
	Format        int       `json:"format"`
	Program       string    `json:"program"`        // version of the program that wrote it
	SchemaVersion int64     `json:"schema_version"` // newest migration applied
	PostgreSQL    int       `json:"postgresql"`     // major version of the server
	PgDump        int       `json:"pg_dump"`        // major version of the tool
	CreatedAt     time.Time `json:"created_at"`
	Files         []File    `json:"files"`
}

// File is one member of the archive.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

func (m Manifest) file(name string) (File, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// header is the tar header of a member. The GNU format has one block whatever the size, so it can be written last.
func header(name string, size int64, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatGNU})
	if err == nil && b.Len() != blockSize {
		err = errors.New("the tar header is not one block")
	}
	return b.Bytes(), err
}

// append adds a member of unknown size: write streams it, then its header is put before it.
func appendMember(f *os.File, name string, at time.Time, write func(io.Writer) error) (File, error) {
	start, err := f.Seek(blockSize, io.SeekCurrent)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	if err := write(io.MultiWriter(f, sum)); err != nil {
		return File{}, err
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return File{}, err
	}
	head, err := header(name, end-start, at)
	if err == nil {
		_, err = f.WriteAt(head, start-blockSize)
	}
	if err == nil {
		_, err = f.Write(make([]byte, (blockSize-end%blockSize)%blockSize))
	}
	return File{Name: name, Size: end - start, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// finish adds the manifest and the two empty blocks that end a tar file.
func finish(f *os.File, m Manifest) error {
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if _, err := appendMember(f, manifestName, m.CreatedAt, func(w io.Writer) error {
		_, err := w.Write(append(body, '\n'))
		return err
	}); err != nil {
		return err
	}
	if _, err := f.Write(make([]byte, 2*blockSize)); err != nil {
		return err
	}
	return f.Sync()
}

// archive is an opened backup whose members agree with its manifest.
type archive struct {
	manifest Manifest
	dump     *io.SectionReader
	keyset   []byte // nil when the backup has none
}

// verify reads the whole file once and holds every member against the manifest, before anything is restored.
func verify(f *os.File) (archive, error) {
	var a archive
	members, sums, body := map[string]File{}, map[string]int64{}, []byte(nil)
	r := tar.NewReader(f)
	for {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return a, fault.Wrap(err, fault.BadFile, "%s is no backup, or it was cut short", f.Name())
		}
		// The reader has consumed the header and nothing after it.
		if sums[head.Name], err = f.Seek(0, io.SeekCurrent); err != nil {
			return a, fmt.Errorf("read backup: %w", err)
		}
		sum, keep := sha256.New(), io.Discard
		var small bytes.Buffer
		if head.Name == manifestName || head.Name == keysetName {
			if head.Size > max(maxManifest, maxKeyset) {
				return a, fault.New(fault.BadFile, "%s is no backup: %s is too large", f.Name(), head.Name)
			}
			keep = &small
		}
		n, err := io.Copy(io.MultiWriter(sum, keep), r) //nolint:gosec // G110: nothing is decompressed
		if err != nil {
			return a, fault.Wrap(err, fault.BadFile, "%s was cut short", f.Name())
		}
		members[head.Name] = File{Name: head.Name, Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}
		switch head.Name {
		case manifestName:
			body = small.Bytes()
		case keysetName:
			a.keyset = small.Bytes()
		}
	}
	if body == nil {
		return a, fault.New(fault.BadFile, "%s has no manifest: it is no backup, or it was cut short", f.Name())
	}
	if err := json.Unmarshal(body, &a.manifest); err != nil {
		return a, fault.Wrap(err, fault.BadFile, "the manifest of %s cannot be read", f.Name())
	}
	if a.manifest.Format != archiveFormat {
		return a, fault.New(fault.BadFile, "%s has format %d and this program reads format %d", f.Name(), a.manifest.Format, archiveFormat)
	}
	delete(members, manifestName)
	for _, want := range a.manifest.Files {
		if members[want.Name] != want {
			return a, fault.New(fault.BadFile, "%s is damaged: %s does not have the checksum of the manifest", f.Name(), want.Name)
		}
		delete(members, want.Name)
	}
	dump, ok := a.manifest.file(dumpName)
	if !ok || len(members) > 0 {
		return a, fault.New(fault.BadFile, "%s is no backup: its members are not those of its manifest", f.Name())
	}
	a.dump = io.NewSectionReader(f, sums[dumpName], dump.Size)
	return a, nil
}
