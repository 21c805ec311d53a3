package imports

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

const (
	maxRecord = 1 << 20 // bytes of a row: a longer one is a quote that nobody closed
	buffer    = 64 << 10
)

// Problem says what is wrong with a row; Column is "" for the row as a whole.
type Problem struct {
	Line   int64  `json:"line" doc:"Line of the file where the row starts, 1 is the header"`
	Column string `json:"column" doc:"Empty when the row as a whole is wrong"`
	Reason string `json:"reason"`
}

// file reads rows of a resource out of CSV.
type file struct {
	res  *resource
	at   []int // position of each of the resource's columns in the file, -1 for none
	size int   // fields of a row

	bound *bounded
	csv   *csv.Reader
	base  int64 // offset where csv began
	start int64 // lines before it
	last  int64 // lines read up to the end of the last row
}

// bounded keeps a row from taking all the memory there is.
type bounded struct {
	r    io.Reader
	left int
}

var errLong = errors.New("the row does not end")

// Read reads what may still be read of the row.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

var (
	bomUTF8 = []byte("\xef\xbb\xbf")
	notCSV  = []struct{ magic, says string }{
		{"PK\x03\x04", "The file is an Excel workbook or an archive. Save it as CSV UTF-8 and send that."},
		{"\xd0\xcf\x11\xe0", "The file is an Excel workbook. Save it as CSV UTF-8 and send that."},
		{"\x1f\x8b", "The file is compressed. Send the CSV itself."},
		{"\xff\xfe", "The file is UTF-16 text. Save it as CSV UTF-8 and send that."},
		{"\xfe\xff", "The file is UTF-16 text. Save it as CSV UTF-8 and send that."},
	}
)

// recognize refuses what the first bytes tell to be no CSV in UTF-8.
func recognize(head []byte) error {
	for _, n := range notCSV {
		if bytes.HasPrefix(head, []byte(n.magic)) {
			return fault.New(fault.BadFile, "%s", n.says)
		}
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(head, bomUTF8))) == 0 {
		return fault.New(fault.BadFile, "The file is empty. Its first line must name the columns.")
	}
	return nil
}

// openFile reads the header. Faults: BadFile, Invalid with one field error per wrong column.
func openFile(res *resource, r io.ReaderAt, size int64) (*file, error) {
	head := make([]byte, min(size, 4096))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := recognize(head); err != nil {
		return nil, err
	}
	f := &file{res: res}
	base := int64(0)
	if bytes.HasPrefix(head, bomUTF8) {
		base = int64(len(bomUTF8))
	}
	f.seek(r, size, base, 0)
	f.bound.left = maxRecord
	names, err := f.csv.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fault.New(fault.BadFile, "The file is empty. Its first line must name the columns.")
	case err != nil && !errors.Is(err, errLong) && !isParse(err):
		return nil, err
	case err != nil || slices.ContainsFunc(names, func(s string) bool { return !utf8.ValidString(s) }):
		return nil, fault.New(fault.BadFile, "The first line cannot be read as CSV in UTF-8. It must name the columns: %s.", strings.Join(res.names(), ", "))
	}
	f.last = f.lines(names)
	return f, f.header(names)
}

func (f *file) header(names []string) error {
	f.at, f.size = make([]int, len(f.res.columns)), len(names)
	for i := range f.at {
		f.at[i] = -1
	}
	valid := strings.Join(f.res.names(), ", ")
	var bad []fault.FieldError
	for i, raw := range names {
		name := strings.ToLower(strings.TrimSpace(raw))
		k := slices.IndexFunc(f.res.columns, func(c column) bool { return c.name == name })
		where := fmt.Sprintf("column %d", i+1)
		switch {
		case k < 0 && len(names) == 1 && strings.ContainsAny(name, ";\t|"):
			bad = append(bad, fault.FieldError{Field: where, Message: "columns must be separated by commas"})
		case k < 0:
			bad = append(bad, fault.FieldError{Field: where, Message: "unknown; valid columns are " + valid})
		case f.at[k] >= 0:
			bad = append(bad, fault.FieldError{Field: where, Message: name + " is there twice"})
		default:
			f.at[k] = i
		}
		if len(bad) == 50 { // more would tell nothing new
			break
		}
	}
	for i, c := range f.res.columns {
		if c.required && f.at[i] < 0 {
			bad = append(bad, fault.FieldError{Field: c.name, Message: "the column is missing"})
		}
	}
	if len(bad) > 0 {
		return fault.WithFields("The header of the file does not fit; valid columns are "+valid+".", bad...)
	}
	return nil
}

// seek goes on at an offset that is the end of a row; lines are those before it.
func (f *file) seek(r io.ReaderAt, size, offset, lines int64) {
	f.base, f.start, f.last = offset, lines, lines
	f.bound = &bounded{r: io.NewSectionReader(r, offset, size-offset), left: maxRecord}
	f.csv = csv.NewReader(bufio.NewReaderSize(f.bound, buffer))
	f.csv.FieldsPerRecord, f.csv.ReuseRecord = -1, true
}

func (f *file) offset() int64 { return f.base + f.csv.InputOffset() }

// lines returns how many lines are read up to the end of a record.
func (f *file) lines(record []string) int64 {
	at, _ := f.csv.FieldPos(0)
	n := f.start + int64(at)
	for _, field := range record {
		n += int64(strings.Count(field, "\n"))
	}
	return n
}

// next reads the next row; problems tell that it cannot be used. io.EOF ends the file; faults: BadFile.
func (f *file) next() (row store.ImportRow, problems []Problem, err error) {
	f.bound.left = maxRecord + buffer
	record, err := f.csv.Read()
	if errors.Is(err, errLong) {
		return row, nil, fault.New(fault.BadFile, "The row at line %d does not end: a quote is never closed.", f.last+1)
	}
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		f.last = f.start + int64(p.Line)
		return row, []Problem{{Line: f.start + int64(p.StartLine), Reason: quoteReason(p)}}, nil
	}
	if err != nil {
		return row, nil, err
	}
	at, _ := f.csv.FieldPos(0)
	row.Line, f.last = f.start+int64(at), f.lines(record)
	for _, field := range record {
		if !utf8.ValidString(field) {
			return row, nil, fault.New(fault.BadFile, "Line %d is not UTF-8. Save the file as CSV UTF-8 and send it again.", row.Line)
		}
	}
	if len(record) != f.size {
		return row, []Problem{{Line: row.Line, Reason: fmt.Sprintf("has %d fields, the header has %d", len(record), f.size)}}, nil
	}
	problems = f.parse(record, &row)
	return row, problems, nil
}

func quoteReason(p *csv.ParseError) string {
	if errors.Is(p.Err, csv.ErrQuote) && p.Line > p.StartLine {
		return "opens a quote that is never closed"
	}
	return "has misplaced quotes: put the whole field in quotes and double those inside"
}

func isParse(err error) bool {
	_, ok := errors.AsType[*csv.ParseError](err)
	return ok
}

// parse reads the cells of a row. A row with problems keeps its keys, as far as they can be read: rows after it may
// repeat them.
func (f *file) parse(record []string, row *store.ImportRow) (problems []Problem) {
	cells := make([]*string, len(f.res.columns), len(f.res.columns)+len(f.res.extra))
	bad := make([]bool, len(cells))
	for i, c := range f.res.columns {
		value := ""
		if f.at[i] >= 0 {
			value = strings.TrimSpace(record[f.at[i]])
		}
		if value == "" {
			if c.required {
				problems = append(problems, Problem{row.Line, c.name, "is empty"})
			}
			continue
		}
		cell, reason := c.parse(value)
		if strings.ContainsRune(value, 0) {
			reason = "contains a NUL character"
		}
		if reason != "" {
			problems, bad[i] = append(problems, Problem{row.Line, c.name, reason}), true
			continue
		}
		cells[i] = &cell
	}
	row.ID, row.Cells = models.NewID(), []*string{}
	f.res.keys(cells, bad, row)
	if len(problems) > 0 {
		return problems
	}
	if column, reason := f.res.row(cells, row); reason != "" {
		problems = append(problems, Problem{row.Line, column, reason})
	}
	return problems
}
