package xls

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// Flags of a string.
const (
	flagWide = 1 << 0 // two bytes a character
	flagExt  = 1 << 2 // followed by phonetic text
	flagRich = 1 << 3 // followed by formatting runs
)

// spans reads bytes that run over a record and the CONTINUE records after it.
type spans struct {
	rec *recordReader
	cur []byte
}

// advance moves on to the next CONTINUE record.
func (s *spans) advance() error {
	for len(s.cur) == 0 {
		kind, err := s.rec.peekKind()
		if err != nil {
			return err
		}
		if kind != recContinue {
			return fmt.Errorf("%w: the shared strings end early", ErrCorrupt)
		}
		if _, s.cur, err = s.rec.next(); err != nil {
			return err
		}
	}
	return nil
}

// fill copies the next bytes, wherever record borders fall.
func (s *spans) fill(p []byte) error {
	for len(p) > 0 {
		if err := s.advance(); err != nil {
			return err
		}
		n := copy(p, s.cur)
		p, s.cur = p[n:], s.cur[n:]
	}
	return nil
}

func (s *spans) skip(n int64) error {
	for n > 0 {
		if err := s.advance(); err != nil {
			return err
		}
		step := min(n, int64(len(s.cur)))
		s.cur, n = s.cur[step:], n-step
	}
	return nil
}

// readStrings reads the shared string table.
func readStrings(rec *recordReader, body []byte) ([]string, error) {
	s := &spans{rec: rec, cur: body}
	var head [8]byte
	if err := s.fill(head[:]); err != nil {
		return nil, err
	}
	count := int64(binary.LittleEndian.Uint32(head[4:]))
	if count > rec.src.size/3 { // a string takes three bytes at least
		return nil, fmt.Errorf("%w: it announces more strings than fit", ErrCorrupt)
	}
	table := make([]string, 0, min(count, 1<<16))
	var units []uint16
	for range count {
		text, err := s.sharedString(&units)
		if err != nil {
			return nil, err
		}
		table = append(table, text)
	}
	return table, nil
}

// sharedString reads one string. Where its characters cross into a CONTINUE record, a new flag byte says how wide the
// rest of them are.
func (s *spans) sharedString(units *[]uint16) (string, error) {
	var head [3]byte
	if err := s.fill(head[:]); err != nil {
		return "", err
	}
	flags := head[2]
	var trailing int64
	var extra [4]byte
	if flags&flagRich != 0 {
		if err := s.fill(extra[:2]); err != nil {
			return "", err
		}
		trailing = 4 * int64(binary.LittleEndian.Uint16(extra[:]))
	}
	if flags&flagExt != 0 {
		if err := s.fill(extra[:4]); err != nil {
			return "", err
		}
		trailing += int64(binary.LittleEndian.Uint32(extra[:]))
	}
	*units = (*units)[:0]
	for left := int(binary.LittleEndian.Uint16(head[:])); left > 0; {
		if len(s.cur) == 0 {
			if err := s.advance(); err != nil {
				return "", err
			}
			flags, s.cur = s.cur[0], s.cur[1:]
			continue
		}
		width := 1 + int(flags&flagWide)
		n := min(left, len(s.cur)/width)
		if n == 0 {
			return "", fmt.Errorf("%w: a character is cut in two", ErrCorrupt)
		}
		*units = appendUnits(*units, s.cur[:n*width], width)
		s.cur, left = s.cur[n*width:], left-n
	}
	text := string(utf16.Decode(*units))
	return text, s.skip(trailing)
}

func appendUnits(units []uint16, b []byte, width int) []uint16 {
	for i := 0; i < len(b); i += width {
		if width == 2 {
			units = append(units, binary.LittleEndian.Uint16(b[i:]))
		} else {
			units = append(units, uint16(b[i])) // the low half of a character, so Latin-1
		}
	}
	return units
}

// shortString decodes a string inside one record whose length takes lenBytes bytes, and returns the bytes after it.
func shortString(b []byte, lenBytes int) (string, []byte, error) {
	if len(b) < lenBytes+1 {
		return "", nil, fmt.Errorf("%w: a text is cut off", ErrCorrupt)
	}
	n := int(b[0])
	if lenBytes == 2 {
		n = int(binary.LittleEndian.Uint16(b))
	}
	flags := b[lenBytes]
	b = b[lenBytes+1:]
	if flags&flagRich != 0 {
		b = b[min(2, len(b)):]
	}
	if flags&flagExt != 0 {
		b = b[min(4, len(b)):]
	}
	width := 1 + int(flags&flagWide)
	if len(b) < n*width {
		return "", nil, fmt.Errorf("%w: a text is cut off", ErrCorrupt)
	}
	return string(utf16.Decode(appendUnits(nil, b[:n*width], width))), b[n*width:], nil
}
