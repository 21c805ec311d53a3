package datasets

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Kinds of roster entries, by the buyer types of accounts.
const (
	KindDistrict    = "k12"
	KindInstitution = "higher_ed"
)

// RosterEntry is a district or an institution that exists, for whoever needs real names.
type RosterEntry struct {
	Kind       string
	ID         string // LEAID or UNITID
	Name       string
	City       string // "" where no publisher tells
	State      string // USPS code
	Enrollment int    // a district's membership or children of 5 to 17; an institution's, roughly, by its size class; 0 if unknown
}

// enrollmentOfClass is about the middle of an IPEDS size class: under 1,000; to 4,999; to 9,999; to 19,999; above.
var enrollmentOfClass = map[int]int{1: 500, 2: 2_500, 3: 7_000, 4: 14_000, 5: 28_000}

// Roster picks districts and institutions of the current releases. The same seed picks the same of the same releases;
// fewer come where fewer are loaded.
func (s *Service) Roster(ctx context.Context, districts, institutions int, seed int64) ([]RosterEntry, error) {
	org, err := s.systemOrg(ctx)
	if err != nil {
		return nil, err
	}
	var k12, higher []store.RosterRow
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		key := strconv.FormatInt(seed, 10)
		if k12, err = tx.SampleDistricts(districts, key); err != nil {
			return err
		}
		higher, err = tx.SampleInstitutions(institutions, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]RosterEntry, 0, len(k12)+len(higher))
	for _, r := range k12 {
		e := RosterEntry{Kind: KindDistrict, ID: r.ID, Name: r.Name, City: r.City, State: r.State}
		if r.Size != nil {
			e.Enrollment = *r.Size
		}
		out = append(out, e)
	}
	for _, r := range higher {
		e := RosterEntry{Kind: KindInstitution, ID: r.ID, Name: r.Name, City: r.City, State: r.State}
		if r.SizeClass != nil {
			e.Enrollment = enrollmentOfClass[*r.SizeClass]
		}
		out = append(out, e)
	}
	return out, nil
}

// Current returns the ids of the releases in force, in order, so that whoever holds a roster notices when others come.
func (s *Service) Current(ctx context.Context) ([]uuid.UUID, error) {
	org, err := s.systemOrg(ctx)
	if err != nil {
		return nil, err
	}
	var out []uuid.UUID
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		all, err := tx.Releases("")
		for _, r := range all {
			if r.Status == models.ReleaseCurrent {
				out = append(out, r.ID)
			}
		}
		return err
	})
	slices.SortFunc(out, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return out, err
}

func (s *Service) systemOrg(ctx context.Context) (uuid.UUID, error) {
	orgs, err := s.Store.Orgs(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	for _, o := range orgs {
		if o.IsSystem {
			return o.OrgID, nil
		}
	}
	return uuid.Nil, fault.New(fault.Conflict, "the platform has no system organization yet; run: revarch admin")
}
