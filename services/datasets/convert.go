package datasets

import (
	"encoding/hex"
	"encoding/json"

	files "revarch/datasets"
	"revarch/models"
)

func toRelease(r models.EduRelease) Release {
	out := Release{
		ID: r.ID, Vintage: Vintage{r.VintageYear, r.VintageBasis, r.VintageLabel}, Release: r.Release, Scope: string(r.Scope),
		SourceName: r.SourceName, SHA256: hex.EncodeToString(r.SHA256), Rows: r.Rows, BadRows: r.BadRows, Checks: []files.Check{},
		Status: string(r.Status), Failure: r.Failure, RunID: r.RunID, CreatedAt: r.CreatedAt.UTC(),
	}
	if r.LoadedAt != nil {
		at := r.LoadedAt.UTC()
		out.LoadedAt = &at
	}
	_ = json.Unmarshal(r.Checks, &out.Checks) // ours; an empty list is the worst that can come of it
	return out
}

func toInstitution(i *files.Institution) models.EduInstitution {
	return models.EduInstitution{
		UNITID: i.UNITID, OPEID: i.OPEID, EIN: i.EIN, Name: i.Name, NormalizedName: files.NormalizeName(i.Name), Alias: i.Alias,
		Address: i.Address, City: i.City, State: i.State, FIPS: i.FIPS, ZIP: i.ZIP, County: i.County, CountyFIPS: i.CountyFIPS, Website: i.Website,
		SystemName: i.SystemName, Sector: i.Sector, ICLevel: i.ICLevel, Control: i.Control, Carnegie: i.Carnegie, CarnegieEdition: i.CarnegieEdition,
		Locale: i.Locale, SizeClass: i.SizeClass, DegreeGranting: i.DegreeGranting, HBCU: i.HBCU, Tribal: i.Tribal, CyActive: i.CyActive,
		ClosedAt: i.ClosedAt, ClosedOn: i.ClosedOn, DeathYear: i.DeathYear, NewID: i.NewID, Latitude: i.Latitude, Longitude: i.Longitude,
	}
}

// District is a row of the CCD directory as it is stored, but for its release.
func District(d *files.District) models.EduDistrict {
	return models.EduDistrict{
		LEAID: d.LEAID, StateLEAID: d.StateLEAID, Name: d.Name, NormalizedName: files.NormalizeName(d.Name), Phone: d.Phone,
		Address: d.Address, City: d.City, State: d.State, FIPS: d.FIPS, ZIP: d.ZIP, County: d.County, CountyFIPS: d.CountyFIPS, Website: d.Website,
		LEAType: d.LEAType, Status: d.Status, GradeLow: d.GradeLow, GradeHigh: d.GradeHigh, Charter: d.Charter, Enrollment: d.Enrollment,
		Latitude: d.Latitude, Longitude: d.Longitude,
	}
}

// rosterDistrict is the district that a SAIPE row is about.
func rosterDistrict(p *files.Poverty) models.EduDistrict {
	return models.EduDistrict{LEAID: p.LEAID, Name: p.Name, NormalizedName: files.NormalizeName(p.Name), State: p.State, FIPS: p.FIPS}
}

func toPoverty(p *files.Poverty) models.EduPoverty {
	return models.EduPoverty{
		LEAID: p.LEAID, State: p.State, Population: int64(p.Population), Children5to17: int64(p.Children5to17),
		ChildrenInPoverty: int64(p.ChildrenInPoverty), EstimateYear: p.EstimateYear,
	}
}
