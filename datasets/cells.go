package datasets

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

const arenaSize = 64 << 10

// cells gives typed access to one record. The first cell that is wrong stays in err; later calls go on harmlessly.
type cells struct {
	rec   [][]byte
	names []string
	utf8  bool // the file promises UTF-8, so other bytes are an error and not Windows-1252
	err   *RowError

	arena strings.Builder // texts of many rows share one allocation
	known map[string]string
}

func (c *cells) fail(i int, reason string) {
	if c.err == nil {
		c.err = &RowError{Column: c.name(i), Reason: reason}
	}
}

func (c *cells) name(i int) string {
	if i >= 0 && i < len(c.names) {
		return c.names[i]
	}
	return ""
}

// raw returns a cell without the spaces around it; nil where the column is missing.
func (c *cells) raw(i int) []byte {
	if i < 0 || i >= len(c.rec) {
		return nil
	}
	return bytes.TrimSpace(c.rec[i])
}

// text returns a cell as UTF-8. Without a byte order mark, bytes that are not UTF-8 are Windows-1252: that is how these
// files were published for years, and text in the one is never valid in the other by chance.
func (c *cells) text(i int) string {
	b := c.raw(i)
	if len(b) == 0 {
		return ""
	}
	if isASCII(b) || utf8.Valid(b) {
		return c.keep(b)
	}
	if c.utf8 {
		c.fail(i, "is not valid UTF-8")
		return ""
	}
	decoded := make([]byte, 0, len(b)+8)
	for _, x := range b {
		r := charmap.Windows1252.DecodeByte(x)
		if r == utf8.RuneError {
			c.fail(i, "holds a byte that is neither UTF-8 nor Windows-1252")
			return ""
		}
		decoded = utf8.AppendRune(decoded, r)
	}
	return c.keep(decoded)
}

// told is text without the publisher's marks for "not there".
func (c *cells) told(i int) string {
	if isNothing(c.raw(i)) {
		return ""
	}
	return c.text(i)
}

// code is told for values of few kinds, which are stored once.
func (c *cells) code(i int) string {
	b := c.raw(i)
	if isNothing(b) {
		return ""
	}
	if s, ok := c.known[string(b)]; ok {
		return s
	}
	s := c.text(i)
	if len(c.known) < 4096 {
		if c.known == nil {
			c.known = map[string]string{}
		}
		c.known[string(b)] = s
	}
	return s
}

// keep copies bytes into the arena. Strings handed out stay valid: a builder never rewrites what it holds.
func (c *cells) keep(b []byte) string {
	if c.arena.Cap()-c.arena.Len() < len(b) {
		c.arena = strings.Builder{}
		c.arena.Grow(max(arenaSize, len(b)))
	}
	n := c.arena.Len()
	c.arena.Write(b)
	return c.arena.String()[n:]
}

// digits returns a cell of digits, padded with zeros on the left to width: a spreadsheet has often eaten them.
func (c *cells) digits(i, width int) string {
	b := c.raw(i)
	if isNothing(b) {
		return ""
	}
	if len(b) > width || !allDigits(b) {
		c.fail(i, strconv.Quote(clip(b))+" is not a code of "+strconv.Itoa(width)+" digits")
		return ""
	}
	if len(b) == width {
		return c.keep(b)
	}
	var buf [16]byte
	out := buf[:width]
	for j := range out {
		out[j] = '0'
	}
	copy(out[width-len(b):], b)
	return c.keep(out)
}

// fips is digits for the two-digit state code, stored once per state.
func (c *cells) fips(i int) string {
	b := c.raw(i)
	if len(b) == 2 {
		if s, ok := c.known[string(b)]; ok {
			return s
		}
	}
	s := c.digits(i, 2)
	if s != "" {
		if c.known == nil {
			c.known = map[string]string{}
		}
		if _, ok := c.known[s]; !ok && len(c.known) < 4096 {
			c.known[s] = s
		}
	}
	return s
}

// zip joins a ZIP code and its extension, with the zeros that spreadsheets drop put back.
func (c *cells) zip(i, ext int) string {
	b := c.raw(i)
	if isNothing(b) {
		return ""
	}
	five, four, _ := bytes.Cut(b, []byte("-"))
	if len(four) == 0 && allDigits(five) && len(five) > 5 && len(five) <= 9 {
		five, four = five[:len(five)-4], five[len(five)-4:]
	}
	if len(four) == 0 {
		four = c.raw(ext)
	}
	if len(five) > 5 || !allDigits(five) {
		return c.text(i) // a foreign or mistyped code is kept as it is
	}
	var buf [10]byte
	out := append(buf[:0], "00000"[:5-len(five)]...)
	out = append(out, five...)
	if len(four) == 4 && allDigits(four) && !bytes.Equal(four, []byte("0000")) {
		out = append(append(out, '-'), four...)
	}
	return c.keep(out)
}

// numbers holds what the pointers of one row point to, so that a row is one allocation.
type numbers struct {
	ints   [8]int
	floats [2]float64
	flags  [4]bool
	nInts  int8
	nFlts  int8
	nFlags int8
}

// category reads a code; the publishers' marks -1 not reported, -2 not applicable, -3 and -9 not available are nil.
func (c *cells) category(i int, n *numbers) *int {
	b := c.raw(i)
	if isNothing(b) {
		return nil
	}
	v, ok := parseInt(b)
	if !ok {
		c.fail(i, strconv.Quote(clip(b))+" is not a whole number")
		return nil
	}
	if v < 0 {
		return nil
	}
	p := &n.ints[n.nInts]
	n.nInts++
	*p = v
	return p
}

// flag reads 1 as yes and 2 (or 3) as no.
func (c *cells) flag(i int, n *numbers) *bool {
	b := c.raw(i)
	if isNothing(b) {
		return nil
	}
	v, ok := parseInt(b)
	if !ok || v > 3 {
		c.fail(i, strconv.Quote(clip(b))+" is not 1 (yes) or 2 (no)")
		return nil
	}
	if v < 1 {
		return nil
	}
	return n.flag(v == 1)
}

func (n *numbers) flag(v bool) *bool {
	p := &n.flags[n.nFlags]
	n.nFlags++
	*p = v
	return p
}

// degrees reads a coordinate; one outside ±limit or at exactly 0 is a mark for unknown in some releases.
func (c *cells) degrees(i int, limit float64, n *numbers) *float64 {
	b := c.raw(i)
	if isNothing(b) {
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > limit {
		c.fail(i, strconv.Quote(clip(b))+" is not a coordinate")
		return nil
	}
	if v == 0 {
		return nil
	}
	p := &n.floats[n.nFlts]
	n.nFlts++
	*p = v
	return p
}

// count reads a number of people, which must be there.
func (c *cells) count(i int) int {
	b := c.raw(i)
	v, ok := parseInt(b)
	if !ok || v < 0 {
		c.fail(i, strconv.Quote(clip(b))+" is not a count")
		return 0
	}
	return v
}

// isNothing tells the marks for a value that is not there, as all three publishers write them.
func isNothing(b []byte) bool {
	switch len(b) {
	case 0:
		return true
	case 1:
		return b[0] == '.' || b[0] == 'M' || b[0] == 'N'
	case 2:
		return b[0] == '-' && (b[1] == '1' || b[1] == '2' || b[1] == '3' || b[1] == '9')
	}
	return false
}

func parseInt(b []byte) (int, bool) {
	neg := len(b) > 1 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 12 || !allDigits(b) {
		return 0, false
	}
	v := 0
	for _, d := range b {
		v = v*10 + int(d-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

func allDigits(b []byte) bool {
	for _, d := range b {
		if d < '0' || d > '9' {
			return false
		}
	}
	return len(b) > 0
}

func isASCII(b []byte) bool {
	for _, x := range b {
		if x >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip shortens a value for a message.
func clip(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), 40)]), "?")
	if len(b) > 40 {
		s += "…"
	}
	return s
}
