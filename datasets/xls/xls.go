// Package xls reads the first worksheet of a binary Excel workbook (BIFF8 inside an OLE2 compound file) row by row. What
// belongs here: the two file formats, as far as published statistical tables use them, and nothing about any dataset.
//
// Input is hostile until shown otherwise: every offset, length and chain is checked, allocations are bounded by the size
// of the file, and a file that ends early or loops is an error, never a shorter table.
package xls

import (
	"errors"
	"fmt"
	"io"
)

// Magic is how every OLE2 compound file starts.
const Magic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// MaxSize is the largest workbook that Open accepts, in bytes; BIFF8 ends at 65,536 rows of 256 columns.
const MaxSize = 64 << 20

// What can be wrong with a workbook; errors of this package wrap one of these.
var (
	ErrNotWorkbook = errors.New("not an Excel 97-2003 workbook")
	ErrTruncated   = errors.New("the workbook ends early")
	ErrCorrupt     = errors.New("the workbook is damaged")
	ErrEncrypted   = errors.New("the workbook is protected by a password")
	ErrTooOld      = errors.New("the workbook is older than Excel 97")
	ErrTooLarge    = errors.New("the workbook is too large")
)

// Sheet is the first worksheet of a workbook. It is not safe for concurrent use.
type Sheet struct {
	name    string
	rec     recordReader
	strings []string
	row     []string
	rowNum  int // of row; -1 before the first cell
	pending cell
	held    bool // pending waits for the next call
	done    bool
	formula cell   // a formula whose text follows in a STRING record
	multi   []cell // a run of numbers, handed out from multiAt
	multiAt int
}

type cell struct {
	row, col int
	text     string
}

const maxColumns = 256

// Open finds the first worksheet of the workbook in src and reads the shared strings.
func Open(src io.ReaderAt, size int64) (*Sheet, error) {
	if size > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, size, int64(MaxSize))
	}
	stream, err := openStream(src, size)
	if err != nil {
		return nil, err
	}
	globals, err := readGlobals(stream)
	if err != nil {
		return nil, err
	}
	s := &Sheet{name: globals.sheet, strings: globals.strings, rowNum: -1, row: make([]string, 0, 16)}
	s.rec = recordReader{src: stream, off: globals.offset}
	kind, body, err := s.rec.next()
	if err != nil {
		return nil, err
	}
	if kind != recBOF || len(body) < 4 {
		return nil, fmt.Errorf("%w: the first worksheet is not where the workbook says", ErrCorrupt)
	}
	return s, nil
}

// Name returns the name of the worksheet.
func (s *Sheet) Name() string { return s.name }

// Next returns the next row that has cells: its number, counted from 1, and its cells as text, "" where there is none.
// Whole numbers are printed without a decimal point. The slice is valid until the following call; io.EOF ends the sheet.
func (s *Sheet) Next() (int, []string, error) {
	s.row = s.row[:0]
	s.rowNum = -1
	for {
		c, err := s.nextCell()
		if errors.Is(err, io.EOF) {
			if s.rowNum < 0 {
				return 0, nil, io.EOF
			}
			return s.rowNum + 1, s.row, nil
		}
		if err != nil {
			return 0, nil, err
		}
		switch {
		case s.rowNum < 0:
			s.rowNum = c.row
		case c.row < s.rowNum:
			return 0, nil, fmt.Errorf("%w: row %d comes after row %d", ErrCorrupt, c.row+1, s.rowNum+1)
		case c.row > s.rowNum:
			s.pending, s.held = c, true
			return s.rowNum + 1, s.row, nil
		}
		for len(s.row) <= c.col {
			s.row = append(s.row, "")
		}
		s.row[c.col] = c.text
	}
}
