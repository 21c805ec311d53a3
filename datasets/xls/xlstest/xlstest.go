// Package xlstest writes small Excel 97-2003 workbooks, so that tests and generated samples do not need real files. What
// belongs here: just enough of the format to exercise every kind of record that package xls reads.
package xlstest

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf16"
)

// Options say how a workbook is written; the zero value is what spreadsheet programs write.
type Options struct {
	InlineText   bool // text in the cell's own record and not in the shared table
	PlainNumbers bool // every number as a float of eight bytes
	RecordLimit  int  // cut the shared strings into records of this many bytes; 0 means the format's 8224
	Small        bool // leave the stream short, so that it lands in the mini stream
}

const (
	sector     = 512
	miniSector = 64
	miniCutoff = 4096
	endOfChain = 0xFFFFFFFE
	freeSector = 0xFFFFFFFF
	fatSector  = 0xFFFFFFFD
)

// Workbook returns the bytes of a workbook with one sheet. Cells are strings, ints and float64s; nil is an empty cell.
func Workbook(rows [][]any, o Options) []byte {
	var sst sharedStrings
	sheet := sheetStream(rows, &sst, o)
	limit := o.RecordLimit
	if limit == 0 {
		limit = 8224
	}
	body := sst.records(limit)
	name := []byte{6, 0, 's', 'h', 'e', 'e', 't', '1'}
	var book bytes.Buffer
	record(&book, 0x0809, bof(5))
	offset := book.Len() + 4 + 6 + len(name) + len(body) + 4
	record(&book, 0x0085, append(append(u32(uint32(offset)), 0, 0), name...))
	book.Write(body)
	record(&book, 0x000A, nil)
	book.Write(sheet)
	return compound(book.Bytes(), o.Small)
}

func bof(kind uint16) []byte {
	b := append(u16(0x0600), u16(kind)...)
	return append(b, make([]byte, 12)...)
}

func sheetStream(rows [][]any, sst *sharedStrings, o Options) []byte {
	var out bytes.Buffer
	record(&out, 0x0809, bof(0x10))
	for r, row := range rows {
		for c := 0; c < len(row); c++ {
			at := append(append(u16(uint16(r)), u16(uint16(c))...), 0, 0)
			switch v := row[c].(type) {
			case string:
				if o.InlineText {
					record(&out, 0x0204, append(at, unicodeString(v)...))
				} else {
					record(&out, 0x00FD, append(at, u32(sst.index(v))...))
				}
			case float64:
				record(&out, 0x0203, append(at, u64(math.Float64bits(v))...))
			case int:
				n := runOfInts(row[c:])
				switch {
				case o.PlainNumbers:
					record(&out, 0x0203, append(at, u64(math.Float64bits(float64(v)))...))
				case n > 1:
					run := append(u16(uint16(r)), u16(uint16(c))...)
					for i := range n {
						run = append(append(run, 0, 0), u32(rk(row[c+i].(int)))...)
					}
					record(&out, 0x00BD, append(run, u16(uint16(c+n-1))...))
					c += n - 1
				default:
					record(&out, 0x027E, append(at, u32(rk(v))...))
				}
			}
		}
	}
	record(&out, 0x000A, nil)
	return out.Bytes()
}

func runOfInts(row []any) int {
	for i, v := range row {
		if _, ok := v.(int); !ok {
			return i
		}
	}
	return len(row)
}

func rk(v int) uint32 { return uint32(int32(v))<<2 | 2 }

// sharedStrings is the table of texts that cells name by number.
type sharedStrings struct {
	order []string
	at    map[string]uint32
	uses  uint32
}

func (s *sharedStrings) index(text string) uint32 {
	s.uses++
	if i, ok := s.at[text]; ok {
		return i
	}
	if s.at == nil {
		s.at = map[string]uint32{}
	}
	s.at[text] = uint32(len(s.order))
	s.order = append(s.order, text)
	return s.at[text]
}

// records writes the table, cut after limit bytes; a text that is cut goes on behind a new flag byte.
func (s *sharedStrings) records(limit int) []byte {
	var out bytes.Buffer
	kind := uint16(0x00FC)
	cur := append(u32(s.uses), u32(uint32(len(s.order)))...)
	flush := func() {
		record(&out, kind, cur)
		kind, cur = 0x003C, nil
	}
	for _, text := range s.order {
		full := unicodeString(text)
		if len(cur)+3 > limit {
			flush()
		}
		flags, chars := full[2], full[3:]
		cur = append(cur, full[:3]...)
		for len(chars) > 0 {
			room := (limit - len(cur)) &^ 1
			if room <= 0 {
				flush()
				cur = append(cur, flags)
				continue
			}
			n := min(room, len(chars))
			cur, chars = append(cur, chars[:n]...), chars[n:]
		}
	}
	flush()
	return out.Bytes()
}

// unicodeString is a text with its length and width, one byte a character where that is enough.
func unicodeString(text string) []byte {
	units := utf16.Encode([]rune(text))
	wide := byte(0)
	for _, u := range units {
		if u > 0xFF {
			wide = 1
		}
	}
	b := append(u16(uint16(len(units))), wide)
	for _, u := range units {
		if wide == 1 {
			b = append(b, u16(u)...)
		} else {
			b = append(b, byte(u))
		}
	}
	return b
}

func record(out *bytes.Buffer, kind uint16, body []byte) {
	if len(body) > 0xFFFF {
		panic("xlstest: a record of " + strconv.Itoa(len(body)) + " bytes")
	}
	out.Write(u16(kind))
	out.Write(u16(uint16(len(body))))
	out.Write(body)
}

// compound puts the stream into an OLE2 file: allocation table, directory, then the stream.
func compound(stream []byte, small bool) []byte {
	size := len(stream)
	if !small && size < miniCutoff {
		size = miniCutoff
	}
	mini := size < miniCutoff
	data := padded(append(stream, make([]byte, size-len(stream))...), sector)
	var extra []byte // the mini sectors' own table
	if mini {
		var table []byte
		for i := range (size + miniSector - 1) / miniSector {
			table = append(table, u32(uint32(i+1))...)
		}
		copy(table[len(table)-4:], u32(endOfChain))
		extra = padded(table, sector)
	}
	fatSectors := 1
	for (len(data)+len(extra))/sector+1+fatSectors > fatSectors*sector/4 {
		fatSectors++
	}
	var fat []byte
	for range fatSectors {
		fat = append(fat, u32(fatSector)...)
	}
	fat = append(fat, u32(endOfChain)...) // the directory
	link := func(n int) {
		for i := range n {
			next := uint32(len(fat)/4 + 1)
			if i == n-1 {
				next = endOfChain
			}
			fat = append(fat, u32(next)...)
		}
	}
	first := len(fat) / 4
	link(len(data) / sector)
	miniFirst := uint32(endOfChain)
	if mini {
		miniFirst = uint32(len(fat) / 4)
		link(len(extra) / sector)
	}
	for len(fat) < fatSectors*sector {
		fat = append(fat, u32(freeSector)...)
	}
	dir := make([]byte, sector)
	if mini {
		entry(dir[0:], "Root Entry", 5, first, len(data))
		entry(dir[128:], "Workbook", 2, 0, size)
	} else {
		entry(dir[0:], "Root Entry", 5, 0, 0)
		entry(dir[128:], "Workbook", 2, first, size)
	}
	out := append(header(fatSectors, miniFirst), fat...)
	out = append(out, dir...)
	return append(append(out, data...), extra...)
}

func header(fatSectors int, miniFirst uint32) []byte {
	h := make([]byte, sector)
	copy(h, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	copy(h[24:], []byte{0x3e, 0, 3, 0, 0xfe, 0xff, 9, 0, 6, 0})
	copy(h[44:], u32(uint32(fatSectors)))
	copy(h[48:], u32(uint32(fatSectors))) // the directory follows the table
	copy(h[56:], u32(miniCutoff))
	copy(h[60:], u32(miniFirst))
	copy(h[68:], u32(endOfChain))
	for i := range 109 {
		n := uint32(freeSector)
		if i < fatSectors {
			n = uint32(i)
		}
		copy(h[76+4*i:], u32(n))
	}
	return h
}

func entry(b []byte, name string, kind byte, first, size int) {
	for i, u := range utf16.Encode([]rune(name)) {
		copy(b[2*i:], u16(u))
	}
	copy(b[64:], u16(uint16(2*len(name)+2)))
	b[66] = kind
	for _, at := range []int{68, 72, 76} {
		copy(b[at:], u32(freeSector))
	}
	copy(b[116:], u32(uint32(first)))
	copy(b[120:], u32(uint32(size)))
}

func padded(b []byte, unit int) []byte {
	if rest := len(b) % unit; rest > 0 {
		b = append(b, make([]byte, unit-rest)...)
	}
	return b
}

func u16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
