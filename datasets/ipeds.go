package datasets

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// ipedsParser holds where the columns of an HD file are; their number and order change every year.
type ipedsParser struct {
	unitid, opeid, ein, name, alias, addr, city, state, zip, fips, county, countyFIPS, web, system int
	sector, level, control, carnegie, locale, size, degree, hbcu, tribal                           int
	active, closed, death, newID, lat, lon                                                         int
	edition                                                                                        string
	states                                                                                         stateMemo
}

func bindIPEDS(h header) rowParser {
	p := &ipedsParser{
		unitid: h.at("UNITID"), opeid: h.at("OPEID"), ein: h.at("EIN"), name: h.at("INSTNM"), alias: h.at("IALIAS"),
		addr: h.at("ADDR"), city: h.at("CITY"), state: h.at("STABBR"), zip: h.at("ZIP"), fips: h.at("FIPS"),
		county: h.at("COUNTYNM"), countyFIPS: h.at("COUNTYCD"), web: h.at("WEBADDR"), system: h.at("F1SYSNAM"),
		sector: h.at("SECTOR"), level: h.at("ICLEVEL"), control: h.at("CONTROL"), locale: h.at("LOCALE"),
		size: h.at("INSTSIZE"), degree: h.at("DEGGRANT"), hbcu: h.at("HBCU"), tribal: h.at("TRIBAL"),
		active: h.at("CYACTIVE"), closed: h.at("CLOSEDAT"), death: h.at("DEATHYR"), newID: h.at("NEWID"),
		lat: h.at("LATITUDE"), lon: h.at("LONGITUD"), carnegie: -1,
	}
	for _, edition := range []string{"C21BASIC", "C18BASIC", "C15BASIC", "CCBASIC", "CARNEGIE"} {
		if i := h.at(edition); i >= 0 {
			p.carnegie, p.edition = i, edition
			break
		}
	}
	return p
}

// institutionBlock is a row and what its pointers point to.
type institutionBlock struct {
	Institution
	numbers
	closed time.Time
}

func (p *ipedsParser) parse(c *cells) (Row, error) {
	b := &institutionBlock{}
	in, n := &b.Institution, &b.numbers
	in.UNITID = string6(c, p.unitid)
	in.OPEID = opeid(c, p.opeid)
	in.EIN = c.told(p.ein)
	in.Name = c.text(p.name)
	in.Alias = c.told(p.alias)
	in.Address = c.text(p.addr)
	in.City = c.text(p.city)
	in.State = c.code(p.state)
	in.FIPS = c.fips(p.fips)
	in.ZIP = c.zip(p.zip, -1)
	in.County = c.told(p.county)
	in.CountyFIPS = c.digits(p.countyFIPS, 5)
	in.Website = c.told(p.web)
	in.SystemName = c.told(p.system)
	in.Sector = c.category(p.sector, n)
	in.ICLevel = c.category(p.level, n)
	in.Control = c.category(p.control, n)
	in.Carnegie = c.category(p.carnegie, n)
	if in.Carnegie != nil {
		in.CarnegieEdition = p.edition
	}
	in.Locale = c.category(p.locale, n)
	in.SizeClass = c.category(p.size, n)
	in.DeathYear = c.category(p.death, n)
	in.DegreeGranting = c.flag(p.degree, n)
	in.HBCU = c.flag(p.hbcu, n)
	in.Tribal = c.flag(p.tribal, n)
	in.CyActive = c.flag(p.active, n)
	in.NewID = c.digits(p.newID, 6)
	in.Latitude = c.degrees(p.lat, 90, n)
	in.Longitude = c.degrees(p.lon, 180, n)
	if in.ClosedAt = c.told(p.closed); in.ClosedAt != "" {
		if at, ok := ParseClosedAt(in.ClosedAt); ok {
			b.closed = at
			in.ClosedOn = &b.closed
		}
	}
	switch {
	case c.err != nil:
		return Row{}, c.err
	case in.Name == "":
		return Row{}, &RowError{Column: "INSTNM", Reason: "is empty"}
	case p.states.usps(in.FIPS) == in.State && in.State != "":
		return Row{Institution: in}, nil
	case FIPSOf(in.State) == "":
		return Row{}, &RowError{Column: "STABBR", Reason: strconv.Quote(in.State) + " is not a state or territory"}
	default:
		return Row{}, &RowError{Column: "FIPS", Reason: in.FIPS + " is not the code of " + in.State}
	}
}

// string6 reads a UNITID, which never starts with a zero.
func string6(c *cells, i int) string {
	b := c.raw(i)
	if len(b) != 6 || !allDigits(b) || b[0] == '0' {
		c.fail(i, strconv.Quote(clip(b))+" is not a UNITID of 6 digits")
		return ""
	}
	return c.keep(b)
}

// opeid pads an OPEID to eight characters; branches carry letters (022631A1). A spreadsheet turns some, such as 0210E5, into
// a power of ten: what it was cannot be told any more, so it is nothing.
func opeid(c *cells, i int) string {
	b := c.raw(i)
	if isNothing(b) || bytes.Contains(b, []byte("E+")) {
		return ""
	}
	if allDigits(b) {
		return c.digits(i, 8)
	}
	if len(b) > 8 || !isASCII(b) {
		c.fail(i, strconv.Quote(clip(b))+" is not an OPEID of 8 characters")
		return ""
	}
	return c.keep(append([]byte("00000000"[:8-len(b)]), b...))
}

// ParseClosedAt reads a closing date in any of the ways that IPEDS prints it; a date without a day is its first day.
func ParseClosedAt(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, form := range []string{"1/2/2006", "1/2/06", "1/2006", "Jan-06", "Jan-2006", "2006-01-02", "2006"} {
		if at, err := time.Parse(form, s); err == nil && at.Year() >= 1900 && at.Year() < 2100 {
			return at, true
		}
	}
	return time.Time{}, false
}
