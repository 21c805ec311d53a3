package matching_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	files "revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/matching"
	"revarch/testkit"
)

// system is a database with a small roster and one organization.
type system struct {
	t       *testing.T
	db      testkit.DB
	svc     *matching.Service
	manager auth.Principal
}

func setup(t *testing.T) *system {
	t.Helper()
	s := &system{t: t, db: testkit.Database(t, testkit.Product(t))}
	st := testkit.OpenStore(t, s.db.Worker, 4)
	s.svc = &matching.Service{Store: st, Log: &governance.Service{Store: st, Clock: time.Now}}
	s.manager = auth.Principal{OrgID: s.db.NewOrg(t, "Org"), Kind: "user", ID: models.NewID(), Label: "m@example.com", Role: auth.Manager, Surface: "rest"}

	ccd, saipe, hd := s.release("ccd_lea_directory"), s.release("saipe_districts"), s.release("ipeds_hd")
	for _, d := range []struct{ release, id, name, state, status string }{
		{ccd, "4800001", "Abbott ISD", "TX", "1"},
		{ccd, "4800002", "Cedar Creek Charter", "TX", "1"},
		{ccd, "4800003", "Gone ISD", "TX", "2"},
		{ccd, "4800004", "Prairie CISD", "TX", "1"},
		{ccd, "4800005", "Prairie Independent School District", "TX", "1"},
		{saipe, "4800001", "Abbott Independent School District", "TX", ""},
		{saipe, "3500010", "Cañon Verde Municipal Schools", "NM", ""},
		{saipe, "4800004", "Prairie Consolidated Independent School District", "TX", ""},
		{saipe, "0100009", "Summit City", "AL", ""},
	} {
		s.db.Exec(t, "INSERT INTO edu.districts (release_id, leaid, name, normalized_name, state, status) VALUES ($1, $2, $3, $4, $5, NULLIF($6, '')::int)",
			d.release, d.id, d.name, files.NormalizeName(d.name), d.state, d.status)
	}
	for _, i := range []struct{ id, name, state, active string }{
		{"123456", "Mesa State University", "NM", "t"},
		{"012345", "Twin College", "TX", "t"},
		{"123457", "Twin College", "TX", "t"},
		{"123458", "Once College", "TX", "t"},
		{"123459", "Once College", "TX", "f"},
		{"123460", "Summit City", "AL", "t"},
	} {
		s.db.Exec(t, "INSERT INTO edu.institutions (release_id, unitid, name, normalized_name, state, cy_active) VALUES ($1, $2, $3, $4, $5, $6)",
			hd, i.id, i.name, files.NormalizeName(i.name), i.state, i.active == "t")
	}
	return s
}

func (s *system) release(dataset string) string {
	s.t.Helper()
	id := models.NewID().String()
	s.db.Exec(s.t, `INSERT INTO edu.releases (id, dataset, vintage_year, vintage_basis, vintage_label, release, release_rank, layout, encoding, source_name, sha256, status, run_id, created_at)
		VALUES ($1, $2, 2023, 'school_year', 'x', 'final', 2, '', '', '', '', 'current', gen_random_uuid(), now())`, id, dataset)
	return id
}

type account struct{ name, state, buyer, nces, unitid string }

func (s *system) add(org uuid.UUID, a account) uuid.UUID {
	s.t.Helper()
	id := models.NewID()
	s.db.Exec(s.t, `INSERT INTO accounts (org_id, id, provider, external_id, name, normalized_name, state, buyer_type, nces_id, unitid, mapping_id)
		VALUES ($1, $2::uuid, 'crm_a', ($2::uuid)::text, $3, $4, NULLIF($5, ''), NULLIF($6, ''), NULLIF($7, ''), NULLIF($8, ''), 0)`,
		org, id, a.name, files.NormalizeName(a.name), a.state, a.buyer, a.nces, a.unitid)
	return id
}

func (s *system) match() map[string]int64 {
	s.t.Helper()
	counts, err := s.svc.MatchOrg(s.t.Context(), s.manager.OrgID)
	require.NoError(s.t, err)
	return counts
}

func (s *system) of(id uuid.UUID) matching.Match {
	s.t.Helper()
	page, err := s.svc.List(s.t.Context(), s.manager, matching.ListInput{Limit: 200})
	require.NoError(s.t, err)
	for _, m := range page.Matches {
		if m.AccountID == id {
			return m
		}
	}
	require.Fail(s.t, "account is not listed")
	return matching.Match{}
}

func TestMatching(t *testing.T) {
	t.Parallel()

	t.Run("id decides before name and state, and nothing is guessed", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		for name, c := range map[string]struct {
			account
			method, official string
			candidates       []string
		}{
			"an id wins over a name":                     {account{"Something Else", "TX", "", "4800001", ""}, "exact_id", "4800001", nil},
			"an id that lost its zero":                   {account{"Any", "", "k12", "100009", ""}, "exact_id", "0100009", nil},
			"a UNITID":                                   {account{"Any", "", "higher_ed", "", "123456"}, "exact_id", "123456", nil},
			"an id of a closed one":                      {account{"Any", "", "", "4800003", ""}, "exact_id", "4800003", nil},
			"two ids, the buyer type decides":            {account{"Any", "", "higher_ed", "4800001", "123456"}, "exact_id", "123456", nil},
			"two ids and no buyer type":                  {account{"Any", "", "", "4800001", "123456"}, "exact_id", "", []string{"123456", "4800001"}},
			"an unknown id falls back on the name":       {account{"Abbott Independent School District", "TX", "", "9999999", ""}, "name_state", "4800001", nil},
			"a name that only SAIPE has":                 {account{"Canon Verde Municipal Schools", "NM", "k12", "", ""}, "name_state", "3500010", nil},
			"a lower-case state":                         {account{"Abbott ISD", "tx", "", "", ""}, "name_state", "4800001", nil},
			"a name of two districts":                    {account{"Prairie ISD", "TX", "k12", "", ""}, "name_state", "4800005", nil},
			"a name of two colleges":                     {account{"Twin College", "TX", "higher_ed", "", ""}, "name_state", "", []string{"012345", "123457"}},
			"a name of an open and a closed one":         {account{"Once College", "TX", "", "", ""}, "name_state", "123458", nil},
			"a name of both kinds":                       {account{"Summit City", "AL", "", "", ""}, "name_state", "", []string{"0100009", "123460"}},
			"a name of both kinds, the buyer type tells": {account{"Summit City", "AL", "higher_ed", "", ""}, "name_state", "123460", nil},
			"a name in another state":                    {account{"Abbott ISD", "NM", "", "", ""}, "", "", nil},
			"a name without a state":                     {account{"Abbott ISD", "", "", "", ""}, "", "", nil},
			"a closed one by name":                       {account{"Gone ISD", "TX", "", "", ""}, "", "", nil},
			"a district as higher_ed":                    {account{"Abbott ISD", "TX", "higher_ed", "", ""}, "", "", nil},
			"garbage for an id":                          {account{"Nobody", "TX", "", "48-00001; x", "a"}, "", "", nil},
		} {
			id := s.add(s.manager.OrgID, c.account)
			counts := s.match()
			m := s.of(id)
			require.Equal(t, c.method, m.Method, name)
			if c.official != "" {
				require.NotNil(t, m.Official, name)
				require.Equal(t, c.official, m.Official.ID, name)
				require.NotEmpty(t, m.Official.Name, name)
			} else {
				require.Nil(t, m.Official, name)
			}
			var got []string
			for _, o := range m.Candidates {
				require.NotEmpty(t, o.Name, name)
				got = append(got, o.ID)
			}
			require.Equal(t, c.candidates, got, name)
			require.EqualValues(t, min(1, len(c.method)), counts["matches_changed"], name)
		}
		counts := s.match()
		require.Zero(t, counts["matches_changed"], "a second run changes nothing")
		require.Equal(t, map[string]int64{"matched_by_id": 5, "matched_by_name": 6, "matched_by_hand": 0, "match_ambiguous": 3, "match_none": 5, "matches_changed": 0},
			counts)
	})

	t.Run("what holds no longer is removed", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		renamed := s.add(s.manager.OrgID, account{name: "Abbott ISD", state: "TX"})
		deleted := s.add(s.manager.OrgID, account{name: "Abbott ISD", state: "TX"})
		require.EqualValues(t, 2, s.match()["matched_by_name"])
		s.db.Exec(t, "UPDATE accounts SET normalized_name = 'another' WHERE id = $1", renamed)
		s.db.Exec(t, "UPDATE accounts SET deleted_at = now() WHERE id = $1", deleted)
		require.EqualValues(t, 2, s.match()["matches_changed"])
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM account_matches"))
	})

	t.Run("a decision stays and is in the log", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		id := s.add(s.manager.OrgID, account{name: "Twin College", state: "TX"})
		s.match()
		require.Equal(t, "ambiguous", s.of(id).Status)
		m, err := s.svc.Resolve(t.Context(), s.manager, id, "123457")
		require.NoError(t, err)
		require.Equal(t, "manual", m.Method)
		require.EqualValues(t, 1, s.match()["matched_by_hand"])
		require.Equal(t, "123457", s.of(id).Official.ID)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM governance_log WHERE tool = 'match-account' AND before->>'status' = 'ambiguous' AND after->>'official_id' = '123457'"))
		for _, bad := range []string{"999999", "12", "abcdefg"} {
			_, err = s.svc.Resolve(t.Context(), s.manager, id, bad)
			require.Equal(t, fault.Invalid, fault.CodeOf(err), bad)
		}
		rep := s.manager
		rep.Role = auth.Rep
		_, err = s.svc.Resolve(t.Context(), rep, id, "123457")
		require.Equal(t, fault.Denied, fault.CodeOf(err))
	})

	t.Run("organizations do not see or touch each other's matches", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		other := s.manager
		other.OrgID = s.db.NewOrg(t, "Other")
		mine, theirs := s.add(s.manager.OrgID, account{name: "Abbott ISD", state: "TX"}), s.add(other.OrgID, account{name: "Abbott ISD", state: "TX"})
		require.EqualValues(t, 1, s.match()["matches_changed"])
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM account_matches"))
		_, err := s.svc.MatchOrg(t.Context(), other.OrgID)
		require.NoError(t, err)
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM account_matches WHERE org_id = $1 AND account_id = $2", other.OrgID, theirs))
		page, err := s.svc.List(t.Context(), other, matching.ListInput{})
		require.NoError(t, err)
		require.Len(t, page.Matches, 1)
		require.Equal(t, theirs, page.Matches[0].AccountID)
		_, err = s.svc.Resolve(t.Context(), other, mine, "4800001")
		require.Equal(t, fault.NotFound, fault.CodeOf(err))
		orgs, err := s.svc.Orgs(t.Context())
		require.NoError(t, err)
		require.Len(t, orgs, 2)
	})

	t.Run("pages have every account once", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		for range 7 {
			s.add(s.manager.OrgID, account{name: "Twin College", state: "TX"})
		}
		s.match()
		seen, after := map[uuid.UUID]bool{}, uuid.Nil
		for pages := 0; pages == 0 || after != uuid.Nil; pages++ {
			page, err := s.svc.List(t.Context(), s.manager, matching.ListInput{Status: "ambiguous", After: after, Limit: 3})
			require.NoError(t, err)
			for _, m := range page.Matches {
				require.False(t, seen[m.AccountID])
				seen[m.AccountID] = true
			}
			after = page.Next
		}
		require.Len(t, seen, 7)
	})
}
