package datasets

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"revarch/datasets/xls"
	"revarch/fault"
)

const (
	sniffLen      = 64 << 10
	maxUnpacked   = 8 << 30 // bytes; a longer stream is a decompression bomb
	maxZipMembers = 200
	gzipMagic     = "\x1f\x8b"
	zipMagic      = "PK\x03\x04"
	zipEmptyMagic = "PK\x05\x06"
	utf8BOM       = "\xef\xbb\xbf"
	unpackFirst   = "Unpack it and load the inner file."
)

// packing is how a file was wrapped.
type packing string

const (
	packedNot  packing = ""
	packedGzip packing = "gzip"
	packedZip  packing = "zip"
)

// source is one readable file after unwrapping: the upload itself, or a member of a zip.
type source struct {
	name    string // the innermost name known
	packing packing
	open    func(context.Context) (io.ReadCloser, error)
	plain   io.ReaderAt // set when the bytes are not packed
	size    int64
}

// unwrap lists what may be the data file in src: one entry, or the members of a zip that are not documentation.
func unwrap(name string, src io.ReaderAt, size int64) ([]source, error) {
	head := make([]byte, 8)
	n, err := src.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	switch {
	case n == 0 || size == 0:
		return nil, fault.New(fault.BadFile, "The file is empty. Download it again.")
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		open := func(ctx context.Context) (io.ReadCloser, error) {
			return openGzip(ctx, io.NewSectionReader(src, 0, size))
		}
		inner := strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".GZ")
		if z, err := gzip.NewReader(io.NewSectionReader(src, 0, size)); err == nil && z.Name != "" && yearInName(inner) == 0 {
			inner = path.Base(strings.ReplaceAll(z.Name, `\`, "/"))
		}
		return []source{{name: inner, packing: packedGzip, open: open}}, nil
	case bytes.HasPrefix(head, []byte(zipMagic)), bytes.HasPrefix(head, []byte(zipEmptyMagic)):
		return zipMembers(base, src, size)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) {
		return io.NopCloser(guard(ctx, io.NewSectionReader(src, 0, size))), nil
	}
	return []source{{name: base, open: open, plain: src, size: size}}, nil
}

func openGzip(ctx context.Context, r io.Reader) (io.ReadCloser, error) {
	z, err := gzip.NewReader(bufio.NewReaderSize(r, sniffLen))
	if err != nil {
		return nil, readFault(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{guard(ctx, z), z}, nil
}

// zipMembers lists the members that can be data; an Office workbook in zip form is told apart here.
func zipMembers(name string, src io.ReaderAt, size int64) ([]source, error) {
	z, err := zip.NewReader(src, size)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadFile, "The zip file %q is damaged or cut off. Download it again.", name)
	}
	if len(z.File) > maxZipMembers {
		return nil, fault.New(fault.BadFile, "The zip file %q has %d members. Unpack it and load the one with the data.", name, len(z.File))
	}
	var out []source
	for _, f := range z.File {
		base := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		switch ext := strings.ToLower(path.Ext(base)); {
		case f.Name == "[Content_Types].xml":
			return nil, fault.New(fault.BadFile, "%q is an .xlsx workbook. Save it as CSV (UTF-8), or load the .xls or CSV file as published.", name)
		case f.FileInfo().IsDir(), strings.HasPrefix(base, "."), strings.HasPrefix(f.Name, "__MACOSX/"):
		case ext == ".csv", ext == ".txt", ext == ".xls", ext == ".tsv", ext == ".gz":
			out = append(out, source{name: strings.TrimSuffix(base, ".gz"), packing: packedZip, open: func(ctx context.Context) (io.ReadCloser, error) {
				r, err := f.Open()
				if err != nil {
					return nil, readFault(err)
				}
				return struct {
					io.Reader
					io.Closer
				}{guard(ctx, r), r}, nil
			}})
		}
	}
	if len(out) == 0 {
		return nil, fault.New(fault.BadFile, "The zip file %q holds no .csv, .txt or .xls file.", name)
	}
	return out, nil
}

// start opens the source and looks at its beginning; a gzip inside a zip is unwrapped too.
func (s source) start(ctx context.Context) (*bufio.Reader, []byte, io.Closer, error) {
	rc, err := s.open(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	br := bufio.NewReaderSize(rc, sniffLen)
	head, err := br.Peek(sniffLen)
	if err == nil || errors.Is(err, io.EOF) {
		if s.packing != packedNot && bytes.HasPrefix(head, []byte(gzipMagic)) {
			z, err := openGzip(ctx, br)
			if err != nil {
				_ = rc.Close()
				return nil, nil, nil, err
			}
			br = bufio.NewReaderSize(z, sniffLen)
			head, err = br.Peek(sniffLen)
			if err != nil && !errors.Is(err, io.EOF) {
				_ = rc.Close()
				return nil, nil, nil, err
			}
		}
		return br, head, rc, nil
	}
	_ = rc.Close()
	return nil, nil, nil, err
}

// guarded makes a reader stop with its context and at a length no real file has, and gives its errors a meaning.
type guarded struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func guard(ctx context.Context, r io.Reader) io.Reader { return &guarded{ctx, r, maxUnpacked} }

func (g *guarded) Read(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.r.Read(p)
	if g.left -= int64(n); g.left < 0 {
		return n, fault.New(fault.TooLarge, "The file unpacks to more than 8 GiB; no supported dataset is that large.")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = readFault(err)
	}
	return n, err
}

// readFault tells damage of the packing from other failures.
func readFault(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fault.Wrap(err, fault.BadFile, "The compressed file ends early: it was cut off on the way. Download it again.")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zip.ErrChecksum),
		errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrAlgorithm), errors.As(err, &corrupt):
		return fault.Wrap(err, fault.BadFile, "The compressed file is damaged: its checksum or structure is wrong. Download it again.")
	}
	return err
}

// refuse names what a file is when it is neither text nor a workbook; nil if it may be either.
func refuse(name string, head []byte) error {
	trimmed := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte(utf8BOM)), " \t\r\n"))
	switch {
	case len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte(utf8BOM)))) == 0:
		return fault.New(fault.BadFile, "%q is empty. Download it again.", name)
	case bytes.HasPrefix(head, []byte(xls.Magic)):
		return nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fault.New(fault.BadFile, "%q is encoded as UTF-16. Save it as CSV in UTF-8 and load it again.", name)
	case bytes.HasPrefix(trimmed, []byte("<!doctype html")), bytes.HasPrefix(trimmed, []byte("<html")),
		bytes.HasPrefix(trimmed, []byte("<?xml")), bytes.HasPrefix(trimmed, []byte("<head")):
		return fault.New(fault.BadFile, "%q is a web page and not a data file: the address probably answered with an error or a landing page. Open it in a browser and download the file itself.", name)
	case bytes.HasPrefix(head, []byte("%PDF")):
		return fault.New(fault.BadFile, "%q is a PDF. Load the data file and not its documentation.", name)
	case bytes.HasPrefix(head, []byte(zipMagic)), bytes.HasPrefix(head, []byte(gzipMagic)):
		return fault.New(fault.BadFile, "%q is packed more than once. %s", name, unpackFirst)
	case bytes.IndexByte(head, 0) >= 0:
		return fault.New(fault.BadFile, "%q is a binary file and not a CSV, text or .xls file.", name)
	}
	return nil
}
