package xls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

const (
	headerSize  = 512
	dirEntry    = 128
	maxRegular  = 0xFFFFFFFA // sector numbers above are marks, not sectors
	headerDifat = 109
)

// compound is an OLE2 compound file: a small file system whose files are chains of sectors.
type compound struct {
	src        io.ReaderAt
	size       int64
	sectorSize int64
	fat        []uint32
	miniSize   int64
	miniCutoff uint32
}

// stream is one file inside a compound file; it reads at any offset.
type stream struct {
	src     io.ReaderAt
	base    int64 // offset of sector 0
	unit    int64 // bytes per sector
	sectors []uint32
	size    int64
}

// ReadAt reads across the sectors of the stream.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		if off >= s.size {
			return n, io.EOF
		}
		within := off % s.unit
		want := min(int64(len(p)-n), s.unit-within, s.size-off)
		at := s.base + int64(s.sectors[off/s.unit])*s.unit + within
		got, err := s.src.ReadAt(p[n:n+int(want)], at)
		n, off = n+got, off+int64(got)
		if int64(got) < want {
			if err == nil || errors.Is(err, io.EOF) {
				err = ErrTruncated
			}
			return n, err
		}
	}
	return n, nil
}

// openStream returns the stream that holds the workbook.
func openStream(src io.ReaderAt, size int64) (*stream, error) {
	head := make([]byte, headerSize)
	if err := readFull(src, head, 0); err != nil {
		return nil, err
	}
	if string(head[:8]) != Magic {
		return nil, ErrNotWorkbook
	}
	shift, miniShift := binary.LittleEndian.Uint16(head[30:]), binary.LittleEndian.Uint16(head[32:])
	if (shift != 9 && shift != 12) || miniShift != 6 {
		return nil, fmt.Errorf("%w: sector sizes 2^%d and 2^%d", ErrCorrupt, shift, miniShift)
	}
	c := &compound{src: src, size: size, sectorSize: 1 << shift, miniSize: 64, miniCutoff: binary.LittleEndian.Uint32(head[56:])}
	if err := c.loadFat(head); err != nil {
		return nil, err
	}
	dir, err := c.open(binary.LittleEndian.Uint32(head[48:]), -1)
	if err != nil {
		return nil, err
	}
	return c.findWorkbook(dir, binary.LittleEndian.Uint32(head[60:]))
}

// loadFat reads the sector allocation table, whose own sectors are listed in the header and in a chain after it.
func (c *compound) loadFat(head []byte) error {
	sectors := c.size / c.sectorSize
	list := make([]uint32, 0, headerDifat)
	for i := range headerDifat {
		if n := binary.LittleEndian.Uint32(head[76+4*i:]); n <= maxRegular {
			list = append(list, n)
		}
	}
	buf := make([]byte, c.sectorSize)
	perSector := int(c.sectorSize / 4)
	next := binary.LittleEndian.Uint32(head[68:])
	for hops := int64(0); next <= maxRegular; hops++ {
		if hops > sectors {
			return fmt.Errorf("%w: its sector table loops", ErrCorrupt)
		}
		if err := c.readSector(buf, next); err != nil {
			return err
		}
		for i := range perSector - 1 {
			if n := binary.LittleEndian.Uint32(buf[4*i:]); n <= maxRegular {
				list = append(list, n)
			}
		}
		next = binary.LittleEndian.Uint32(buf[4*(perSector-1):])
	}
	if int64(len(list)) > sectors/int64(perSector)+headerDifat {
		return fmt.Errorf("%w: its sector table is larger than the file", ErrCorrupt)
	}
	c.fat = make([]uint32, 0, len(list)*perSector)
	for _, n := range list {
		if err := c.readSector(buf, n); err != nil {
			return err
		}
		c.fat = appendWords(c.fat, buf)
	}
	return nil
}

func (c *compound) readSector(buf []byte, n uint32) error {
	return readFull(c.src, buf, headerOffset(c.sectorSize)+int64(n)*c.sectorSize)
}

// headerOffset is where sector 0 starts: the header takes a whole sector.
func headerOffset(sectorSize int64) int64 { return max(headerSize, sectorSize) }

// open follows a chain of sectors; size -1 means as long as the chain is.
func (c *compound) open(first uint32, size int64) (*stream, error) {
	sectors, err := chain(c.fat, first, size, c.sectorSize)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		size = int64(len(sectors)) * c.sectorSize
	}
	return &stream{src: c.src, base: headerOffset(c.sectorSize), unit: c.sectorSize, sectors: sectors, size: size}, nil
}

// chain lists the sectors of a stream; each step must lead to a sector the table knows, and none may come twice.
func chain(fat []uint32, first uint32, size, unit int64) ([]uint32, error) {
	var sectors []uint32
	for n := first; n <= maxRegular; n = fat[n] {
		if int64(n) >= int64(len(fat)) {
			return nil, fmt.Errorf("%w: a stream points outside the file", ErrTruncated)
		}
		if len(sectors) > len(fat) {
			return nil, fmt.Errorf("%w: a stream loops", ErrCorrupt)
		}
		sectors = append(sectors, n)
	}
	if size >= 0 && int64(len(sectors))*unit < size {
		return nil, fmt.Errorf("%w: a stream is shorter than its length", ErrTruncated)
	}
	return sectors, nil
}

// findWorkbook looks the workbook stream up in the directory, and in the mini stream if it is small.
func (c *compound) findWorkbook(dir *stream, miniFat uint32) (*stream, error) {
	entry := make([]byte, dirEntry)
	var root, book []byte
	old := false
	for off := int64(0); off+dirEntry <= dir.size; off += dirEntry {
		if err := readFull(dir, entry, off); err != nil {
			return nil, err
		}
		switch name := entryName(entry); {
		case entry[66] == 5 && root == nil:
			root = append([]byte(nil), entry...)
		case entry[66] == 2 && name == "Workbook" && book == nil:
			book = append([]byte(nil), entry...)
		case entry[66] == 2 && name == "Book":
			old = true
		}
	}
	if book == nil {
		if old {
			return nil, ErrTooOld
		}
		return nil, fmt.Errorf("%w: it is another kind of Office file", ErrNotWorkbook)
	}
	first, size := binary.LittleEndian.Uint32(book[116:]), int64(binary.LittleEndian.Uint32(book[120:]))
	if size >= int64(c.miniCutoff) {
		return c.open(first, size)
	}
	return c.openMini(root, miniFat, first, size)
}

func (c *compound) openMini(root []byte, miniFat, first uint32, size int64) (*stream, error) {
	if root == nil {
		return nil, fmt.Errorf("%w: it has no root", ErrCorrupt)
	}
	mini, err := c.open(binary.LittleEndian.Uint32(root[116:]), int64(binary.LittleEndian.Uint32(root[120:])))
	if err != nil {
		return nil, err
	}
	table, err := c.open(miniFat, -1)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, table.size)
	if err := readFull(table, buf, 0); err != nil {
		return nil, err
	}
	sectors, err := chain(appendWords(nil, buf), first, size, c.miniSize)
	if err != nil {
		return nil, err
	}
	return &stream{src: mini, unit: c.miniSize, sectors: sectors, size: size}, nil
}

func entryName(entry []byte) string {
	n := int(binary.LittleEndian.Uint16(entry[64:]))/2 - 1 // counts the closing zero
	if n < 1 || n > 31 {
		return ""
	}
	units := make([]uint16, n)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(entry[2*i:])
	}
	return string(utf16.Decode(units))
}

func appendWords(words []uint32, buf []byte) []uint32 {
	for i := 0; i+4 <= len(buf); i += 4 {
		words = append(words, binary.LittleEndian.Uint32(buf[i:]))
	}
	return words
}

// readFull fills buf from off, and calls the end of the file by its name.
func readFull(src io.ReaderAt, buf []byte, off int64) error {
	n, err := src.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return ErrTruncated
	}
	return err
}
