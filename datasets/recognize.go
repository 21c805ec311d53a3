package datasets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"revarch/datasets/xls"
	"revarch/fault"
)

// Encodings of a file.
const (
	encodingXLS    = "xls"
	encodingUTF8   = "utf-8"
	encodingLegacy = "windows-1252"
)

const headerWithin = 6 // the header is among the first rows; titles may come before it

// recognized is what the beginning of a file tells.
type recognized struct {
	layout   layout
	encoding string
	columns  []string
	comma    byte
	skip     int // records up to and with the header
	year     int // told by the content: end of the school year, or year of the estimates; 0 if not
}

// table is a file as records, whatever its encoding.
type table interface {
	next() (line int, rec [][]byte, err error)
	cutOff() bool // the last record was not ended
	close()
}

// locate finds the data file in src and recognizes it.
func locate(ctx context.Context, name string, src io.ReaderAt, size int64) (source, recognized, error) {
	candidates, err := unwrap(name, src, size)
	if err != nil {
		return source{}, recognized{}, err
	}
	if len(candidates) == 1 {
		head, err := recognize(ctx, candidates[0])
		return candidates[0], head, err
	}
	var found []source
	var heads []recognized
	for _, c := range candidates {
		head, err := recognize(ctx, c)
		if err != nil && fault.CodeOf(err) != fault.BadFile {
			return source{}, recognized{}, err
		}
		if err == nil {
			found, heads = append(found, c), append(heads, head)
		}
	}
	pick := chooseMember(found)
	if pick < 0 {
		var names []string
		for _, c := range candidates {
			names = append(names, c.name)
		}
		list := strings.Join(names[:min(len(names), 10)], ", ")
		if len(found) == 0 {
			return source{}, recognized{}, fault.New(fault.BadFile, "None of the files in %q (%s) is a supported dataset. Supported are: %s.", name, list, titles())
		}
		return source{}, recognized{}, fault.New(fault.BadFile, "%q holds several data files (%s). %s", name, list, unpackFirst)
	}
	return found[pick], heads[pick], nil
}

// chooseMember picks the only member, or the revised twin of a pair; -1 if that does not decide it.
func chooseMember(found []source) int {
	if len(found) == 1 {
		return 0
	}
	if len(found) != 2 {
		return -1
	}
	stem := func(s source) string {
		base, _, _ := strings.Cut(strings.ToLower(s.name), ".")
		return base
	}
	for i, s := range found {
		if stem(s) == stem(found[1-i])+"_rv" {
			return i
		}
	}
	return -1
}

// recognize looks for a known header at the beginning of a file.
func recognize(ctx context.Context, s source) (recognized, error) {
	br, head, closer, err := s.start(ctx)
	if err != nil {
		return recognized{}, err
	}
	defer func() { _ = closer.Close() }()
	if err := refuse(s.name, head); err != nil {
		return recognized{}, err
	}
	r := recognized{encoding: encodingLegacy, comma: ','}
	var t table
	if bytes.HasPrefix(head, []byte(xls.Magic)) {
		r.encoding = encodingXLS
		if t, err = openSheet(s, br); err != nil {
			return recognized{}, err
		}
	} else {
		if bytes.HasPrefix(head, []byte(utf8BOM)) {
			r.encoding = encodingUTF8
			if _, err := br.Discard(len(utf8BOM)); err != nil {
				return recognized{}, err
			}
		}
		line, _, _ := bytes.Cut(head, []byte("\n"))
		if bytes.Count(line, []byte("\t")) > bytes.Count(line, []byte(",")) {
			r.comma = '\t'
		}
		t = &textTable{scan: newCSVScanner(br, r.comma)}
	}
	return findHeader(s.name, t, r)
}

// findHeader reads the first records until one is a header, then the first row of data for the year it tells.
func findHeader(name string, t table, r recognized) (recognized, error) {
	var partial error
	seen := ""
	for i := range headerWithin {
		_, rec, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		names := make([]string, len(rec))
		for j, cell := range rec {
			names[j] = foldColumn(strings.ToValidUTF8(string(cell), "?"))
		}
		h := newHeader(names)
		l, missing, ok := match(h)
		if other := lookAlike(h); other != "" && (!ok || len(missing) > 0) {
			return r, fault.New(fault.BadFile, "%q is the wrong file: it looks like %s. Supported are: %s.", name, other, titles())
		}
		if ok && len(missing) == 0 {
			r.layout, r.columns, r.skip = l, names, i+1
			return r, r.readYear(t, h, seen)
		}
		if ok && partial == nil {
			partial = fault.New(fault.BadFile, "%q looks like the %s, but these columns are missing: %s. Load the complete file as published.", name, l.format.Title(), strings.Join(missing, ", "))
		}
		seen += " " + string(bytes.Join(rec, []byte(" ")))
	}
	if partial != nil {
		return r, partial
	}
	return r, fault.New(fault.BadFile, "%q is the wrong file: no header of a supported dataset is in its first lines. Supported are: %s.", name, titles())
}

// readYear takes the year from the titles above the header, or from the first row where the layout has a column for it.
func (r *recognized) readYear(t table, h header, titles string) error {
	switch r.layout.format {
	case FormatSAIPE:
		if m := titleYear.FindStringSubmatch(titles); m != nil {
			r.year = number(m[1])
		}
	case FormatCCDDirectory:
		_, rec, err := t.next()
		if errors.Is(err, io.EOF) {
			return fault.New(fault.BadFile, "The file has a header and no rows. Download it again.")
		}
		if err != nil {
			return err
		}
		i := h.at("SCHOOL_YEAR", "SURVYEAR")
		if i < len(rec) {
			r.year = endOfSchoolYear(string(rec[i]))
		}
		if r.year == 0 {
			return fault.New(fault.BadFile, "The first row does not tell its school year in the column %s.", r.columns[i])
		}
	}
	return nil
}

// openTable opens the source again, behind the header.
func (r recognized) openTable(ctx context.Context, s source) (table, error) {
	br, _, closer, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	var t table
	if r.encoding == encodingXLS {
		sheet, err := openSheet(s, br)
		_ = closer.Close()
		if err != nil {
			return nil, err
		}
		t = sheet
	} else {
		if r.encoding == encodingUTF8 {
			if _, err := br.Discard(len(utf8BOM)); err != nil {
				return nil, err
			}
		}
		t = &textTable{scan: newCSVScanner(br, r.comma), closer: closer}
	}
	for range r.skip {
		if _, _, err := t.next(); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

type textTable struct {
	scan   *csvScanner
	closer io.Closer
}

func (t *textTable) next() (int, [][]byte, error) {
	rec, err := t.scan.next()
	return t.scan.line, rec, err
}

func (t *textTable) cutOff() bool { return t.scan.cut }

func (t *textTable) close() {
	if t.closer != nil {
		_ = t.closer.Close()
	}
}

// sheetTable reads a workbook; one that is packed is unpacked into memory, at most xls.MaxSize bytes.
type sheetTable struct {
	sheet *xls.Sheet
	rec   [][]byte
	buf   []byte
}

func openSheet(s source, r io.Reader) (*sheetTable, error) {
	src, size := s.plain, s.size
	if src == nil {
		b, err := io.ReadAll(io.LimitReader(r, xls.MaxSize+1))
		if err != nil {
			return nil, err
		}
		src, size = bytes.NewReader(b), int64(len(b))
	}
	sheet, err := xls.Open(src, size)
	if err != nil {
		return nil, sheetFault(err)
	}
	return &sheetTable{sheet: sheet}, nil
}

func (t *sheetTable) next() (int, [][]byte, error) {
	for {
		line, row, err := t.sheet.Next()
		if err != nil {
			return 0, nil, sheetFault(err)
		}
		t.rec, t.buf = t.rec[:0], t.buf[:0]
		for _, text := range row {
			t.buf = append(t.buf, text...)
		}
		if len(t.buf) == 0 {
			continue
		}
		at := 0
		for _, text := range row {
			t.rec = append(t.rec, t.buf[at:at+len(text)])
			at += len(text)
		}
		return line, t.rec, nil
	}
}

func (t *sheetTable) cutOff() bool { return false }

func (t *sheetTable) close() {}

// sheetFault says what to do about a workbook that cannot be read.
func sheetFault(err error) error {
	switch {
	case errors.Is(err, xls.ErrTruncated), errors.Is(err, xls.ErrCorrupt):
		return fault.Wrap(err, fault.BadFile, "The .xls workbook is damaged or cut off. Download it again.")
	case errors.Is(err, xls.ErrEncrypted):
		return fault.Wrap(err, fault.BadFile, "The .xls workbook is protected by a password. Remove it, or load the CSV.")
	case errors.Is(err, xls.ErrTooOld):
		return fault.Wrap(err, fault.BadFile, "The .xls workbook is older than Excel 97. Save it as CSV (UTF-8) and load that.")
	case errors.Is(err, xls.ErrTooLarge):
		return fault.Wrap(err, fault.TooLarge, "The .xls workbook is larger than 64 MiB.")
	case errors.Is(err, xls.ErrNotWorkbook):
		return fault.Wrap(err, fault.BadFile, "The file is an Office file and not an .xls workbook.")
	}
	return err
}
