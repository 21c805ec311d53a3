package datasets

import (
	"strconv"
	"strings"
)

// ccdParser reads both layouts of the directory; columns that a layout does not have are at -1.
type ccdParser struct {
	leaid, fips, stateID, name, phone, state                     int
	addr, city, zip, zip4, mailAddr, mailCity, mailZIP, mailZIP4 int
	county, countyFIPS, web, kind, status, low, high             int
	charter, members, lat, lon, year                             int
	file                                                         int // end year of the school year

	sameYear string // the cell that told it: all rows repeat it, so it is read once
	states   stateMemo
}

func bindCCDWide(h header) rowParser {
	return &ccdParser{
		leaid: h.at("LEAID"), fips: h.at("FIPST"), stateID: h.at("STID"), name: h.at("NAME"), phone: h.at("PHONE"), state: -1,
		addr: h.at("LSTREE"), city: h.at("LCITY"), zip: h.at("LZIP"), zip4: h.at("LZIP4"),
		mailAddr: h.at("MSTREE"), mailCity: h.at("MCITY"), mailZIP: h.at("MZIP"), mailZIP4: h.at("MZIP4"),
		county: h.at("CONAME"), countyFIPS: h.at("CONUM"), web: -1, kind: h.at("TYPE", "TYPE06", "TYPE07"), status: h.at("BOUND"),
		low: h.at("GSLO"), high: h.at("GSHI"), charter: -1, members: h.at("MEMBER"),
		lat: h.at("LATCOD"), lon: h.at("LONCOD"), year: h.at("SURVYEAR"),
	}
}

func bindCCDModern(h header) rowParser {
	return &ccdParser{
		leaid: h.at("LEAID"), fips: h.at("FIPST"), stateID: h.at("ST_LEAID"), name: h.at("LEA_NAME"), phone: h.at("PHONE"), state: h.at("ST", "STABR"),
		addr: h.at("LSTREET1"), city: h.at("LCITY"), zip: h.at("LZIP"), zip4: h.at("LZIP4"),
		mailAddr: h.at("MSTREET1"), mailCity: h.at("MCITY"), mailZIP: h.at("MZIP"), mailZIP4: h.at("MZIP4"),
		county: h.at("CONAME", "NMCNTY"), countyFIPS: h.at("CONUM", "CNTY"), web: h.at("WEBSITE"), kind: h.at("LEA_TYPE"), status: h.at("SY_STATUS"),
		low: h.at("GSLO"), high: h.at("GSHI"), charter: h.at("CHARTER_LEA"), members: h.at("MEMBER"),
		lat: h.at("LATCOD", "LAT"), lon: h.at("LONCOD", "LON"), year: h.at("SCHOOL_YEAR", "SURVYEAR"),
	}
}

type districtBlock struct {
	District
	numbers
}

func (p *ccdParser) parse(c *cells) (Row, error) {
	b := &districtBlock{}
	d, n := &b.District, &b.numbers
	d.LEAID = c.digits(p.leaid, 7)
	d.StateLEAID = c.told(p.stateID)
	d.Name = c.told(p.name)
	d.Phone = c.told(p.phone)
	d.Address, d.City, d.ZIP = c.told(p.addr), c.told(p.city), c.zip(p.zip, p.zip4)
	if d.City == "" && d.ZIP == "" {
		d.Address, d.City, d.ZIP = c.told(p.mailAddr), c.told(p.mailCity), c.zip(p.mailZIP, p.mailZIP4)
	}
	d.FIPS = c.fips(p.fips)
	d.State = c.code(p.state)
	if d.State == "" {
		d.State = p.states.usps(d.FIPS)
	}
	d.County = c.told(p.county)
	d.CountyFIPS = c.digits(p.countyFIPS, 5)
	d.Website = c.told(p.web)
	d.LEAType = c.category(p.kind, n)
	d.Status = c.category(p.status, n)
	d.GradeLow, d.GradeHigh = c.code(p.low), c.code(p.high)
	d.Enrollment = c.category(p.members, n)
	d.Latitude = c.degrees(p.lat, 90, n)
	d.Longitude = c.degrees(p.lon, 180, n)
	d.Charter = p.isCharter(c, d, n)
	switch {
	case c.err != nil:
		return Row{}, c.err
	case d.LEAID == "":
		return Row{}, &RowError{Column: "LEAID", Reason: "is empty"}
	case d.Name == "":
		return Row{}, &RowError{Column: c.name(p.name), Reason: "is empty"}
	case d.FIPS == "":
		return Row{}, &RowError{Column: "FIPST", Reason: "is empty"}
	case d.LEAID[:2] != d.FIPS:
		return Row{}, &RowError{Column: "LEAID", Reason: strconv.Quote(d.LEAID) + " does not start with the state code " + d.FIPS}
	case p.states.usps(d.FIPS) == "" && !federalFIPS(d.FIPS):
		return Row{}, &RowError{Column: "FIPST", Reason: strconv.Quote(d.FIPS) + " is not a state, territory or federal agency"}
	}
	if year := c.raw(p.year); string(year) != p.sameYear {
		if endOfSchoolYear(string(year)) != p.file {
			return Row{}, &RowError{Column: c.name(p.year), Reason: strconv.Quote(clip(year)) + " is another school year than the first row's"}
		}
		p.sameYear = string(year)
	}
	return Row{District: d}, nil
}

// isCharter reads the charter column where there is one; type 7 is an agency of charter schools only.
func (p *ccdParser) isCharter(c *cells, d *District, n *numbers) *bool {
	text := strings.ToUpper(string(c.raw(p.charter)))
	switch {
	case strings.HasPrefix(text, "CHR"), text == "1":
		return n.flag(true)
	case text == "NOTCHR", text == "2", text == "3":
		return n.flag(false)
	case d.LEAType != nil && p.charter < 0:
		return n.flag(*d.LEAType == 7)
	}
	return nil
}
