package xls

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// nextCell returns the next cell with a value; io.EOF ends the sheet.
func (s *Sheet) nextCell() (cell, error) {
	if s.held {
		s.held = false
		return s.pending, nil
	}
	for {
		if s.multiAt < len(s.multi) {
			s.multiAt++
			return s.multi[s.multiAt-1], nil
		}
		if s.done {
			return cell{}, io.EOF
		}
		kind, body, err := s.rec.next()
		if err != nil {
			return cell{}, err
		}
		switch kind {
		case recEOF:
			s.done = true
			continue
		case recBOF:
			if err := s.skipSubstream(); err != nil {
				return cell{}, err
			}
			continue
		case recMulRK:
			if err := s.readMulRK(body); err != nil {
				return cell{}, err
			}
			continue
		}
		c, ok, err := s.decode(kind, body)
		if err != nil || ok {
			return c, err
		}
	}
}

// skipSubstream passes over an embedded chart, which comes with its own start and end.
func (s *Sheet) skipSubstream() error {
	for depth := 1; depth > 0; {
		kind, _, err := s.rec.next()
		if err != nil {
			return err
		}
		switch kind {
		case recBOF:
			depth++
		case recEOF:
			depth--
		}
	}
	return nil
}

// decode reads a record that holds one cell; ok is false for records that hold none.
func (s *Sheet) decode(kind uint16, body []byte) (c cell, ok bool, err error) {
	if kind == recString {
		c, s.formula = s.formula, cell{}
		c.text, _, err = shortString(body, 2)
		return c, err == nil, err
	}
	size := cellSize(kind)
	if size == 0 {
		return c, false, nil
	}
	if len(body) < size {
		return c, false, fmt.Errorf("%w: a cell is cut off", ErrCorrupt)
	}
	c.row, c.col = int(binary.LittleEndian.Uint16(body)), int(binary.LittleEndian.Uint16(body[2:]))
	if c.col >= maxColumns {
		return c, false, fmt.Errorf("%w: a cell lies in column %d", ErrCorrupt, c.col+1)
	}
	value := body[6:]
	switch kind {
	case recLabelSST:
		i := binary.LittleEndian.Uint32(value)
		if int64(i) >= int64(len(s.strings)) {
			return c, false, fmt.Errorf("%w: a cell names text %d of %d", ErrCorrupt, i, len(s.strings))
		}
		c.text = s.strings[i]
	case recNumber:
		c.text = formatNumber(math.Float64frombits(binary.LittleEndian.Uint64(value)))
	case recRK:
		c.text = formatNumber(rkNumber(binary.LittleEndian.Uint32(value)))
	case recLabel, recRString:
		if c.text, _, err = shortString(value, 2); err != nil {
			return c, false, err
		}
	case recBoolErr:
		if value[1] != 0 {
			return c, false, nil // an error such as #N/A is no value
		}
		c.text = strconv.Itoa(int(value[0]))
	case recFormula:
		return s.decodeFormula(c, value)
	}
	return c, true, nil
}

// cellSize is the least length of a record that holds one cell, 0 for any other record.
func cellSize(kind uint16) int {
	switch kind {
	case recNumber, recFormula:
		return 14
	case recLabelSST, recRK:
		return 10
	case recLabel, recRString:
		return 9
	case recBoolErr:
		return 8
	}
	return 0
}

// decodeFormula takes the value that was stored with a formula; a text follows in a record of its own.
func (s *Sheet) decodeFormula(c cell, value []byte) (cell, bool, error) {
	if value[6] != 0xFF || value[7] != 0xFF {
		c.text = formatNumber(math.Float64frombits(binary.LittleEndian.Uint64(value)))
		return c, true, nil
	}
	switch value[0] {
	case 0:
		s.formula = c
	case 1:
		c.text = strconv.Itoa(int(value[2]))
		return c, true, nil
	}
	return c, false, nil
}

func (s *Sheet) readMulRK(body []byte) error {
	if len(body) < 12 || (len(body)-6)%6 != 0 {
		return fmt.Errorf("%w: a run of numbers is cut off", ErrCorrupt)
	}
	row, col := int(binary.LittleEndian.Uint16(body)), int(binary.LittleEndian.Uint16(body[2:]))
	n := (len(body) - 6) / 6
	if col+n > maxColumns {
		return fmt.Errorf("%w: a cell lies in column %d", ErrCorrupt, col+n)
	}
	s.multi, s.multiAt = s.multi[:0], 0
	for i := range n {
		rk := binary.LittleEndian.Uint32(body[4+6*i+2:])
		s.multi = append(s.multi, cell{row, col + i, formatNumber(rkNumber(rk))})
	}
	return nil
}

// rkNumber unpacks a number stored in 30 bits: an integer or the top of a float, either of them times 100.
func rkNumber(rk uint32) float64 {
	var v float64
	if rk&2 != 0 {
		v = float64(int32(rk) >> 2)
	} else {
		v = math.Float64frombits(uint64(rk&^3) << 32)
	}
	if rk&1 != 0 {
		v /= 100
	}
	return v
}

func formatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
