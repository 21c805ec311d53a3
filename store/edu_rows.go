package store

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// EduTable is a table of schema edu that files are loaded into.
type EduTable struct {
	name    string
	columns []string // in the order in which the encoder writes them
}

// The tables, and the order of their columns.
var (
	EduInstitutions = EduTable{"institutions", []string{
		"release_id", "unitid", "opeid", "ein", "name", "normalized_name", "alias", "address", "city",
		"state", "fips", "zip", "county", "county_fips", "website", "system_name", "sector", "ic_level", "control", "carnegie", "carnegie_edition",
		"locale", "size_class", "degree_granting", "hbcu", "tribal", "cy_active", "closed_at", "closed_on", "death_year", "new_id", "latitude", "longitude",
	}}
	EduDistricts = EduTable{"districts", []string{
		"release_id", "leaid", "state_leaid", "name", "normalized_name", "phone", "address", "city", "state",
		"fips", "zip", "county", "county_fips", "website", "lea_type", "status", "grade_low", "grade_high", "charter", "enrollment", "latitude", "longitude",
	}}
	EduPovertyRows = EduTable{"poverty", []string{"release_id", "leaid", "state", "population", "children_5_17", "children_in_poverty", "estimate_year"}}
)

// EduEncoder writes rows in the text form of COPY. A driver's encoding of values one by one costs as much as parsing the
// file does; this costs a tenth of it.
type EduEncoder struct {
	buf     []byte
	release string
}

// NewEduEncoder returns an encoder for the rows of one release.
func NewEduEncoder(release uuid.UUID) *EduEncoder { return &EduEncoder{release: release.String()} }

// Len is how many bytes are waiting.
func (e *EduEncoder) Len() int { return len(e.buf) }

// Take returns what was written; the encoder goes on in next, which may be nil.
func (e *EduEncoder) Take(next []byte) []byte {
	out := e.buf
	e.buf = next[:0]
	return out
}

// Institution writes a row of EduInstitutions; its ReleaseID is ignored.
func (e *EduEncoder) Institution(i *models.EduInstitution) {
	e.begin()
	e.text(i.UNITID, i.OPEID, i.EIN, i.Name, i.NormalizedName, i.Alias, i.Address, i.City, i.State, i.FIPS, i.ZIP, i.County, i.CountyFIPS, i.Website, i.SystemName)
	e.ints(i.Sector, i.ICLevel, i.Control, i.Carnegie)
	e.text(i.CarnegieEdition)
	e.ints(i.Locale, i.SizeClass)
	e.bools(i.DegreeGranting, i.HBCU, i.Tribal, i.CyActive)
	e.text(i.ClosedAt)
	e.date(i.ClosedOn)
	e.ints(i.DeathYear)
	e.text(i.NewID)
	e.floats(i.Latitude, i.Longitude)
	e.end()
}

// District writes a row of EduDistricts; its ReleaseID is ignored.
func (e *EduEncoder) District(d *models.EduDistrict) {
	e.begin()
	e.text(d.LEAID, d.StateLEAID, d.Name, d.NormalizedName, d.Phone, d.Address, d.City, d.State, d.FIPS, d.ZIP, d.County, d.CountyFIPS, d.Website)
	e.ints(d.LEAType, d.Status)
	e.text(d.GradeLow, d.GradeHigh)
	e.bools(d.Charter)
	e.ints(d.Enrollment)
	e.floats(d.Latitude, d.Longitude)
	e.end()
}

// Poverty writes a row of EduPovertyRows; its ReleaseID is ignored.
func (e *EduEncoder) Poverty(p *models.EduPoverty) {
	e.begin()
	e.text(p.LEAID, p.State)
	for _, n := range []int64{p.Population, p.Children5to17, p.ChildrenInPoverty, int64(p.EstimateYear)} {
		e.next()
		e.buf = strconv.AppendInt(e.buf, n, 10)
	}
	e.end()
}

func (e *EduEncoder) begin() { e.buf = append(e.buf, e.release...) }

func (e *EduEncoder) end() { e.buf = append(e.buf, '\n') }

func (e *EduEncoder) next() { e.buf = append(e.buf, '\t') }

func (e *EduEncoder) null() { e.buf = append(e.buf, '\\', 'N') }

// text writes cells; the few bytes that mean something to COPY are escaped, and a zero byte, which text cannot hold, is
// left out.
func (e *EduEncoder) text(cells ...string) {
	for _, s := range cells {
		e.next()
		from := 0
		for i := range len(s) {
			c := s[i]
			if c >= ' ' && c != '\\' {
				continue
			}
			e.buf = append(e.buf, s[from:i]...)
			from = i + 1
			switch c {
			case '\\':
				e.buf = append(e.buf, '\\', '\\')
			case '\t':
				e.buf = append(e.buf, '\\', 't')
			case '\n':
				e.buf = append(e.buf, '\\', 'n')
			case '\r':
				e.buf = append(e.buf, '\\', 'r')
			case 0:
			default:
				e.buf = append(e.buf, c)
			}
		}
		e.buf = append(e.buf, s[from:]...)
	}
}

func (e *EduEncoder) ints(cells ...*int) {
	for _, n := range cells {
		e.next()
		if n == nil {
			e.null()
		} else {
			e.buf = strconv.AppendInt(e.buf, int64(*n), 10)
		}
	}
}

func (e *EduEncoder) floats(cells ...*float64) {
	for _, f := range cells {
		e.next()
		if f == nil {
			e.null()
		} else {
			e.buf = strconv.AppendFloat(e.buf, *f, 'g', -1, 64)
		}
	}
}

func (e *EduEncoder) bools(cells ...*bool) {
	for _, b := range cells {
		e.next()
		switch {
		case b == nil:
			e.null()
		case *b:
			e.buf = append(e.buf, 't')
		default:
			e.buf = append(e.buf, 'f')
		}
	}
}

func (e *EduEncoder) date(t *time.Time) {
	e.next()
	if t == nil {
		e.null()
	} else {
		e.buf = t.AppendFormat(e.buf, time.DateOnly)
	}
}
