package xls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Record kinds that a table can hold.
const (
	recFormula    = 0x0006
	recEOF        = 0x000A
	recFilePass   = 0x002F
	recContinue   = 0x003C
	recBoundSheet = 0x0085
	recMulRK      = 0x00BD
	recRString    = 0x00D6
	recSST        = 0x00FC
	recLabelSST   = 0x00FD
	recNumber     = 0x0203
	recLabel      = 0x0204
	recBoolErr    = 0x0205
	recString     = 0x0207
	recRK         = 0x027E
	recBOF        = 0x0809
)

const biff8 = 0x0600

// recordReader walks the records of a workbook stream: two bytes of kind, two of length, then the body.
type recordReader struct {
	src  *stream
	off  int64 // of the next record
	buf  []byte
	data []byte // read ahead from src; starts at dataOff
	from int64
}

// next returns the next record; its body is valid until the following call. A stream that ends here is cut off.
func (r *recordReader) next() (uint16, []byte, error) {
	head, err := r.bytes(4)
	if err != nil {
		return 0, nil, err
	}
	kind, n := binary.LittleEndian.Uint16(head), int(binary.LittleEndian.Uint16(head[2:]))
	body, err := r.bytes(n)
	return kind, body, err
}

const readAhead = 128 << 10

// bytes returns the next n bytes out of the read-ahead window.
func (r *recordReader) bytes(n int) ([]byte, error) {
	if have := r.from + int64(len(r.data)) - r.off; r.off < r.from || have < int64(n) {
		if r.off+int64(n) > r.src.size {
			return nil, ErrTruncated
		}
		if r.buf == nil {
			r.buf = make([]byte, readAhead)
		}
		got, err := r.src.ReadAt(r.buf, r.off)
		if got < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = ErrTruncated
			}
			return nil, err
		}
		r.data, r.from = r.buf[:got], r.off
	}
	at := r.off - r.from
	r.off += int64(n)
	return r.data[at : at+int64(n)], nil
}

// peekKind returns the kind of the next record without consuming it.
func (r *recordReader) peekKind() (uint16, error) {
	off := r.off
	head, err := r.bytes(4)
	r.off = off
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(head), nil
}

// globals is what the workbook says about all sheets.
type globals struct {
	sheet   string
	offset  int64
	strings []string
}

// readGlobals reads the first substream: where the worksheets are, and the shared strings.
func readGlobals(src *stream) (globals, error) {
	var g globals
	rec := recordReader{src: src}
	kind, body, err := rec.next()
	if err != nil {
		return g, err
	}
	if kind != recBOF || len(body) < 4 {
		return g, ErrTooOld
	}
	if binary.LittleEndian.Uint16(body) != biff8 {
		return g, ErrTooOld
	}
	for {
		kind, body, err := rec.next()
		if err != nil {
			return g, err
		}
		switch kind {
		case recFilePass:
			return g, ErrEncrypted
		case recBoundSheet:
			if g.offset == 0 {
				if err := g.sheetAt(body); err != nil {
					return g, err
				}
			}
		case recSST:
			if g.strings, err = readStrings(&rec, body); err != nil {
				return g, err
			}
		case recEOF:
			if g.offset == 0 {
				return g, fmt.Errorf("%w: it has no worksheet", ErrCorrupt)
			}
			return g, nil
		}
	}
}

// sheetAt takes over a BOUNDSHEET record if it is a worksheet (not a chart or macro sheet).
func (g *globals) sheetAt(body []byte) error {
	if len(body) < 8 {
		return fmt.Errorf("%w: a worksheet entry is too short", ErrCorrupt)
	}
	if body[5] != 0 {
		return nil
	}
	name, _, err := shortString(body[6:], 1)
	if err != nil {
		return err
	}
	g.sheet, g.offset = name, int64(binary.LittleEndian.Uint32(body))
	return nil
}
