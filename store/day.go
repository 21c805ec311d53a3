package store

import (
	"time"
	_ "time/tzdata" // the zones of organizations are known on every machine

	"revarch/fault"
	"revarch/models"
)

// OrganizationDay returns the organization and the calendar day it is there at a moment, as midnight UTC.
func (tx *Tx) OrganizationDay(now time.Time) (models.Org, time.Time, error) {
	o, err := tx.Organization()
	if err != nil {
		return o, time.Time{}, err
	}
	loc, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return o, time.Time{}, fault.Wrap(err, fault.Internal, "the organization's time zone is unknown")
	}
	y, m, d := now.In(loc).Date()
	return o, time.Date(y, m, d, 0, 0, 0, 0, time.UTC), nil
}
