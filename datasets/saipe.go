package datasets

import (
	"fmt"
	"strconv"
)

type saipeParser struct {
	state, fips, district, name, population, children, poor int
	year                                                    int
}

func bindSAIPE(h header) rowParser {
	return &saipeParser{
		state: h.at("STATE POSTAL CODE"), fips: h.at("STATE FIPS CODE"), district: h.at("DISTRICT ID"), name: h.at("NAME"),
		population: h.at("ESTIMATED TOTAL POPULATION"), children: h.at("ESTIMATED POPULATION 5-17"), poor: h.at(saipePoor),
	}
}

func (p *saipeParser) parse(c *cells) (Row, error) {
	e := &Poverty{
		State: c.code(p.state), FIPS: c.fips(p.fips), DistrictID: c.digits(p.district, 5), Name: c.text(p.name),
		Population: c.count(p.population), Children5to17: c.count(p.children), ChildrenInPoverty: c.count(p.poor),
		EstimateYear: p.year,
	}
	switch {
	case c.err != nil:
		return Row{}, c.err
	case e.Name == "":
		return Row{}, &RowError{Column: c.name(p.name), Reason: "is empty"}
	case FIPSOf(e.State) == "" || FIPSOf(e.State) != e.FIPS:
		return Row{}, &RowError{Column: c.name(p.fips), Reason: strconv.Quote(e.FIPS) + " is not the code of " + strconv.Quote(e.State)}
	case e.DistrictID == "":
		return Row{}, &RowError{Column: c.name(p.district), Reason: "is empty"}
	case e.ChildrenInPoverty > e.Children5to17 || e.Children5to17 > e.Population:
		return Row{}, &RowError{Column: c.name(p.poor), Reason: fmt.Sprintf("%d poor children, %d children and %d people do not contain each other",
			e.ChildrenInPoverty, e.Children5to17, e.Population)}
	}
	e.LEAID = c.keep([]byte(e.FIPS + e.DistrictID))
	return Row{Poverty: e}, nil
}
