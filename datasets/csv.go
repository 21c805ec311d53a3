package datasets

import (
	"bytes"
	"errors"
	"io"

	"revarch/fault"
)

const (
	csvBuffer    = 256 << 10
	maxRecordLen = 1 << 20 // a longer record is a quote that nobody closed
)

// csvScanner cuts delimited text into records without allocating: fields are slices of its buffer, valid until the next
// record. It accepts what R and spreadsheets write: quotes around fields, doubled quotes, line breaks inside quotes, CRLF.
type csvScanner struct {
	src   io.Reader
	comma byte
	buf   []byte
	start int // of the current record
	end   int // of the data in buf
	eof   bool

	line   int // where the current record starts
	lines  int // line breaks passed
	cut    bool
	fields [][]byte
}

func newCSVScanner(src io.Reader, comma byte) *csvScanner {
	return &csvScanner{src: src, comma: comma, buf: make([]byte, csvBuffer)}
}

// next returns the next record that is not blank; io.EOF ends the file. cut tells that no line break ended the record.
func (s *csvScanner) next() ([][]byte, error) {
	for {
		s.line = s.lines + 1
		n, err := s.lineEnd(0)
		if err != nil {
			return nil, err
		}
		raw := s.buf[s.start : s.start+n]
		var used int
		if bytes.IndexByte(raw, '"') < 0 {
			s.fields, used = s.split(raw), n
		} else if used, err = s.splitQuoted(n); err != nil {
			return nil, err
		}
		s.start += used
		s.cut = true
		if s.start < s.end && s.buf[s.start] == '\n' {
			s.start, s.cut = s.start+1, false
		}
		if len(s.fields) > 1 || len(s.fields[0]) > 0 {
			return s.fields, nil
		}
	}
}

// lineEnd returns the distance from the record's start to the first line break at or after from, or to the end of the
// file. It moves and refills the buffer as needed.
func (s *csvScanner) lineEnd(from int) (int, error) {
	for {
		if i := bytes.IndexByte(s.buf[s.start+from:s.end], '\n'); i >= 0 {
			s.lines++
			return from + i, nil
		}
		from = s.end - s.start
		if s.eof {
			if from == 0 {
				return 0, io.EOF
			}
			return from, nil
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

func (s *csvScanner) fill() error {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxRecordLen {
			return fault.New(fault.BadFile, "The record that starts on line %d is longer than 1 MiB: a quotation mark is probably not closed, or this is not a CSV file.", s.line)
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.src.Read(s.buf[s.end:])
	s.end += n
	if errors.Is(err, io.EOF) {
		s.eof = true
		return nil
	}
	return err
}

// split cuts a line without quotes.
func (s *csvScanner) split(raw []byte) [][]byte {
	raw = trimCR(raw)
	out := s.fields[:0]
	for {
		i := bytes.IndexByte(raw, s.comma)
		if i < 0 {
			return append(out, raw)
		}
		out = append(out, raw[:i])
		raw = raw[i+1:]
	}
}

// span is a field's place, counted from the record's start: the buffer may move while a record is read.
type span struct{ from, to int }

// splitQuoted cuts a record whose first line ends after n bytes; quoted fields may go on over more lines. Doubled quotes
// are closed up in place. It returns the length of the record.
func (s *csvScanner) splitQuoted(n int) (int, error) {
	var stack [96]span
	spans := stack[:0]
	at := 0
	for {
		var f span
		var err error
		if at < n && s.buf[s.start+at] == '"' {
			if f, at, n, err = s.quotedField(at+1, n); err != nil {
				return 0, err
			}
		} else {
			f = span{at, n}
			if i := bytes.IndexByte(s.buf[s.start+at:s.start+n], s.comma); i >= 0 {
				f.to = at + i
			}
			at = f.to
			f.to -= len(s.buf[s.start+f.from:s.start+f.to]) - len(trimCR(s.buf[s.start+f.from:s.start+f.to]))
		}
		spans = append(spans, f)
		if at >= n {
			break
		}
		at++ // the delimiter
	}
	out := s.fields[:0]
	for _, f := range spans {
		out = append(out, s.buf[s.start+f.from:s.start+f.to])
	}
	s.fields = out
	return n, nil
}

// quotedField reads a field from behind its opening quote up to the delimiter; n is where the line ends so far.
func (s *csvScanner) quotedField(at, n int) (f span, next, end int, err error) {
	f = span{at, at}
	for {
		b := s.buf[s.start : s.start+n]
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 { // the field goes on behind the line break
			if s.start+n >= s.end && s.eof {
				return f, 0, 0, fault.New(fault.BadFile, "The file is cut off: a quotation mark opened on line %d is never closed. Download it again.", s.line)
			}
			f.to += copy(b[f.to:], b[at:])
			m, err := s.lineEnd(n + 1)
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return f, 0, 0, err
			}
			s.buf[s.start+f.to] = '\n'
			f.to++
			at, n = n+1, m
			continue
		}
		f.to += copy(b[f.to:], b[at:at+i])
		at += i + 1
		if at < n && b[at] == '"' {
			b[f.to] = '"'
			f.to++
			at++
			continue
		}
		rest := len(b) - at // lenient: text between the closing quote and the delimiter belongs to the field
		if j := bytes.IndexByte(b[at:], s.comma); j >= 0 {
			rest = j
		}
		f.to += copy(b[f.to:], trimCR(b[at:at+rest]))
		return f, at + rest, n, nil
	}
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}
