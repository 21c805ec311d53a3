package datasets

import (
	"context"
	"errors"
	"io"
	"iter"
	"unicode/utf8"

	"revarch/fault"
)

// File is an opened data file whose format, layout and vintage are known. It is not safe for concurrent use.
type File struct {
	Name     string // innermost name: of the zip member, or without .gz
	Format   Format
	Layout   string // which arrangement of columns of the format
	Vintage  Vintage
	Packing  string // gzip, zip or ""
	Encoding string // xls, utf-8 (promised by a byte order mark) or windows-1252 (the default, UTF-8 understood)
	Columns  []string

	src      source
	head     recognized
	shape    Shape
	partial  bool
	nameYear int // year in the name where the content tells one too, else 0
	tally    *tally
	badRows  []RowError
	complete bool
}

// Stats counts the rows of a pass.
type Stats struct {
	Rows int        // good rows
	Bad  int        // rows that could not be used
	Errs []RowError // the first of them, at most 20
}

// Option changes how a file is opened.
type Option func(*options)

type options struct {
	partial bool
	year    int
	release Release
}

// AllowPartial accepts a part of the country: no least number of rows or states, no national sums.
func AllowPartial() Option { return func(o *options) { o.partial = true } }

// WithYear tells the vintage's year (see Vintage.Year) for a file whose name and content do not.
func WithYear(year int) Option { return func(o *options) { o.year = year } }

// WithRelease tells how final the publication is, for a file whose name does not.
func WithRelease(r Release) Option { return func(o *options) { o.release = r } }

// Open recognizes the file in src by content and reads its vintage; name is a hint for the vintage and for messages. A
// file that cannot be what it should be is a fault.BadFile error that says why.
func Open(ctx context.Context, name string, src io.ReaderAt, size int64, opts ...Option) (*File, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	s, head, err := locate(ctx, name, src, size)
	if err != nil {
		return nil, err
	}
	f := &File{
		Name: s.name, Format: head.layout.format, Layout: head.layout.name, Packing: string(s.packing), Encoding: head.encoding,
		Columns: head.columns, src: s, head: head, shape: shapeOf(head.layout, o.partial), partial: o.partial, tally: newTally(),
	}
	return f, f.setVintage(ctx, name, o)
}

// setVintage combines what name, content and caller tell; the content wins, and the check named vintage reports a clash.
func (f *File) setVintage(ctx context.Context, outer string, o options) error {
	v := vintageOf(f.Format, f.Name)
	if v.Year == 0 {
		if w := vintageOf(f.Format, outer); w.Year != 0 {
			v = w
		}
	}
	if o.year != 0 {
		v = v.withYear(f.Format, o.year)
	}
	if o.release != "" {
		v.Release = o.release
	}
	switch content := f.head.year; {
	case content != 0 && v.Year != 0:
		f.nameYear = v.Year
		v = v.withYear(f.Format, content)
	case content != 0:
		v = v.withYear(f.Format, content)
	case v.Year == 0 && f.Format == FormatIPEDSHD:
		year, err := f.yearByClosures(ctx)
		if err != nil {
			return err
		}
		if year != 0 {
			v = v.withYear(f.Format, year)
		}
	}
	f.Vintage = v
	if v.Year == 0 {
		return fault.New(fault.BadFile, "Neither the name %q nor the content tells which year the file is of. Give it its published name (%s) or state the year.", f.Name, publishedName(f.Format))
	}
	return nil
}

func publishedName(f Format) string {
	switch f {
	case FormatIPEDSHD:
		return "such as hd2023.csv"
	case FormatSAIPE:
		return "such as ussd23.xls"
	}
	return "such as ccd_lea_029_2223_w_1a_083023.csv"
}

// yearByClosures reads the file for the year in which most of its institutions closed: that is the year of the fall.
func (f *File) yearByClosures(ctx context.Context) (int, error) {
	for _, err := range f.rows(ctx) {
		if _, bad := errors.AsType[*RowError](err); err != nil && !bad {
			return 0, err
		}
	}
	if died := f.tally.deathYear(); died != 0 {
		return died + 1, nil
	}
	return 0, nil
}

// Rows reads the file from its beginning. A *RowError comes with a Row that has only a line, and the rows after it still
// come; any other error is the last thing. Each call starts over, with counts at zero.
func (f *File) Rows(ctx context.Context) iter.Seq2[Row, error] { return f.rows(ctx) }

func (f *File) rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		f.tally, f.badRows, f.complete = newTally(), nil, false
		t, err := f.head.openTable(ctx, f.src)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer t.close()
		parser := f.head.layout.bind(newHeader(f.Columns))
		switch p := parser.(type) {
		case *saipeParser:
			p.year = f.Vintage.Year
		case *ccdParser:
			p.file = f.head.year
		}
		c := &cells{names: f.Columns, utf8: f.Encoding == encodingUTF8}
		for {
			line, rec, err := t.next()
			if errors.Is(err, io.EOF) {
				f.complete = true
				return
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			row, err := f.row(c, parser, t, line, rec)
			if !yield(row, err) {
				return
			}
			if _, bad := errors.AsType[*RowError](err); err != nil && !bad {
				return
			}
		}
	}
}

// row parses and counts one record.
func (f *File) row(c *cells, parser rowParser, t table, line int, rec [][]byte) (Row, error) {
	c.rec, c.err = rec, nil
	row, err := f.parse(c, parser, t, line)
	row.Line = line
	if err == nil && !f.tally.first(row.Key()) {
		f.tally.duplicates++
		err = &RowError{Column: "", Reason: "repeats the key " + row.Key() + " of an earlier row"}
	}
	if err == nil {
		f.tally.add(row)
		return row, nil
	}
	if bad, ok := errors.AsType[*RowError](err); ok {
		bad.Line = line
		f.tally.bad++
		if len(f.badRows) < 20 {
			f.badRows = append(f.badRows, *bad)
		}
	}
	return Row{Line: line}, err
}

func (f *File) parse(c *cells, parser rowParser, t table, line int) (Row, error) {
	want := len(f.Columns)
	if len(c.rec) < want {
		if t.cutOff() {
			return Row{}, fault.New(fault.BadFile, "The file is cut off: its last line, %d, ends after %d of %d columns. Download it again.", line, len(c.rec), want)
		}
		if f.Encoding != encodingXLS { // a worksheet leaves empty cells at the end of a row out
			return Row{}, &RowError{Reason: "has fewer columns than the header"}
		}
	}
	for _, extra := range c.rec[min(want, len(c.rec)):] {
		if len(extra) > 0 {
			return Row{}, &RowError{Reason: "has more columns than the header"}
		}
	}
	if c.utf8 {
		for i, cell := range c.rec {
			if !utf8.Valid(cell) {
				return Row{}, fault.New(fault.BadFile, "The file starts with a UTF-8 byte order mark, but line %d, column %s is not UTF-8: it was saved in the wrong encoding. Download it again, or save it as UTF-8.", line, c.name(i))
			}
		}
	}
	return parser.parse(c)
}

// Stats returns the counts of the pass so far.
func (f *File) Stats() Stats { return Stats{Rows: f.tally.rows, Bad: f.tally.bad, Errs: f.badRows} }

// Checks judges the file's shape after a full pass over Rows, and is a fault.BadFile error when a check failed.
func (f *File) Checks() ([]Check, error) {
	if !f.complete {
		return nil, fault.New(fault.Internal, "checks before the file was read to its end")
	}
	checks := f.tally.checks(f)
	return checks, failure(f, checks)
}

// Verify reads the whole file and judges it, without keeping a row.
func (f *File) Verify(ctx context.Context) (Stats, []Check, error) {
	for _, err := range f.Rows(ctx) {
		if _, bad := errors.AsType[*RowError](err); err != nil && !bad {
			return f.Stats(), nil, err
		}
	}
	checks, err := f.Checks()
	return f.Stats(), checks, err
}
