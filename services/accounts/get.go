package accounts

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/scoring"
	"revarch/services/tasks"
	"revarch/store"
)

// How much of each list one account shows.
const (
	maxContacts      = 500
	maxOpportunities = 500
	maxProducts      = 500
	maxActivities    = 50
	maxTasks         = 200
)

// Get returns a live account in full. Faults: Denied; NotFound, which names the account that a merged one became.
func (s *Service) Get(ctx context.Context, p auth.Principal, id uuid.UUID) (out Detail, err error) {
	if err := p.Require(auth.PermRead); err != nil {
		return out, err
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		a, err := live(tx, id)
		if err != nil {
			return err
		}
		if out, err = s.detail(ctx, tx, a); err != nil {
			return err
		}
		m := out.Account.Match
		if m == nil || m.ID == nil {
			return nil
		}
		officials, err := tx.Officials([]string{*m.ID})
		if len(officials) > 0 {
			m.Name = &officials[0].Name
		}
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	return out, nil
}

// Health returns an account's name and scores with where their values came from. Faults: as Get.
func (s *Service) Health(ctx context.Context, p auth.Principal, id uuid.UUID) (name string, out AccountScores, err error) {
	if err := p.Require(auth.PermRead); err != nil {
		return "", out, err
	}
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		a, err := live(tx, id)
		if err != nil {
			return err
		}
		contacts, err := tx.Contacts(&id, uuid.Nil, maxContacts)
		if err != nil {
			return err
		}
		activities, err := tx.Activities(id, maxActivities)
		if err != nil {
			return err
		}
		prov, _, err := provenance(tx, a, contacts, activities)
		if err != nil {
			return err
		}
		name = a.Name
		out, err = s.scores(tx, id, prov)
		return err
	})
	return name, out, err
}

func live(tx *store.Tx, id uuid.UUID) (models.Account, error) {
	a, err := tx.Account(id)
	switch {
	case err != nil:
		return a, err
	case a.MergedInto != nil:
		return a, fault.New(fault.NotFound, "account %s was merged into %s; read that one", id, *a.MergedInto)
	case a.DeletedAt != nil:
		return a, fault.New(fault.NotFound, "no account %s", id)
	}
	return a, nil
}

func (s *Service) detail(ctx context.Context, tx *store.Tx, a models.Account) (Detail, error) {
	out := Detail{Account: toAccount(a), DistrictIntelligenceReason: "not_available", Truncated: []string{}}
	o, today, err := tx.OrganizationDay(s.Clock())
	if err != nil {
		return out, err
	}
	lines, err := tx.AccountLines(a.ID)
	if err != nil {
		return out, err
	}
	out.Account.Currency = o.ReportingCurrency
	out.Account.ARRCents = scoring.KnownARR(scoring.ARROf(lines, today, o.RenewalGraceDays))
	links, err := tx.RecordObjects(a.ID)
	if err != nil {
		return out, err
	}
	out.Account.Sources = systems(links)
	if out.Account.Match, err = match(tx, a.ID); err != nil {
		return out, err
	}
	owner, ok, err := tx.Owner(a)
	if err != nil {
		return out, err
	}
	if ok {
		out.Account.OwnerName, out.Account.OwnerEmail = &owner.Name, owner.Email
	}
	contacts, err := tx.Contacts(&a.ID, uuid.Nil, maxContacts+1)
	if err != nil {
		return out, err
	}
	contacts = cut(contacts, maxContacts, "contacts", &out.Truncated)
	deals, err := tx.Opportunities(store.OpportunityFilter{AccountID: &a.ID}, uuid.Nil, maxOpportunities+1)
	if err != nil {
		return out, err
	}
	deals = cut(deals, maxOpportunities, "opportunities", &out.Truncated)
	bought, err := tx.AccountProducts(ctx, a.ID, today, o.RenewalGraceDays, maxProducts+1)
	if err != nil {
		return out, err
	}
	out.Products = toProducts(cut(bought, maxProducts, "products", &out.Truncated))
	activities, err := tx.Activities(a.ID, maxActivities+1)
	if err != nil {
		return out, err
	}
	activities = cut(activities, maxActivities, "activities", &out.Truncated)
	todo, err := tx.Tasks(store.TaskFilter{AccountID: &a.ID}, nil, maxTasks+1)
	if err != nil {
		return out, err
	}
	todo = cut(todo, maxTasks, "tasks", &out.Truncated)
	out.Contacts, out.Opportunities, out.Activities = toContacts(contacts), toOpportunities(deals), toActivities(activities)
	out.Tasks = make([]tasks.Task, 0, len(todo))
	for _, t := range todo {
		out.Tasks = append(out.Tasks, tasks.ToTask(t.Task, t.AccountName, today))
	}
	prov, sources, err := provenance(tx, a, contacts, activities)
	if err != nil {
		return out, err
	}
	out.Sources = sources
	out.Scores, err = s.scores(tx, a.ID, prov)
	return out, err
}

func (s *Service) scores(tx *store.Tx, id uuid.UUID, prov scoring.Provenance) (AccountScores, error) {
	rendered, err := s.Scores.In(tx, id)
	if err != nil {
		return AccountScores{}, err
	}
	view := func(model string) *scoring.ScoreView {
		r, ok := rendered[model]
		if !ok {
			return nil
		}
		v := scoring.ToView(r, prov)
		return &v
	}
	out := AccountScores{Health: view("health"), Risk: view("risk"), Priority: view("priority"), Expansion: view("expansion")}
	if out.Health == nil || out.Risk == nil {
		reason := "not_scored"
		out.Reason = &reason
	}
	return out, nil
}

// provenance says where the values of an account, its contacts and its activities came from: each row names the mapping
// it was made with.
func provenance(tx *store.Tx, a models.Account, contacts []store.ContactRow, activities []models.Activity) (scoring.Provenance, []ValueSource, error) {
	records := map[int32]models.RecordType{a.MappingID: models.RecordAccount}
	for _, c := range contacts {
		records[c.MappingID] = models.RecordContact
	}
	for _, x := range activities {
		records[x.MappingID] = models.RecordActivity
	}
	ids := slices.Sorted(maps.Keys(records))
	versions, err := tx.MappingVersions(ids...)
	if err != nil {
		return nil, nil, err
	}
	prov := scoring.Provenance{}
	for _, id := range ids {
		prov.Add(records[id], versions[id])
	}
	return prov, toSources(versions[a.MappingID]), nil
}

func match(tx *store.Tx, id uuid.UUID) (*OfficialMatch, error) {
	m, ok, err := tx.AccountMatch(id)
	if err != nil || !ok {
		return nil, err
	}
	return &OfficialMatch{Kind: m.Kind, Status: m.Status, ID: m.OfficialID, Method: m.Method, Candidates: append([]string{}, m.Candidates...)}, nil
}

// cut shortens a list and notes its name when it held more.
func cut[T any](rows []T, limit int, name string, truncated *[]string) []T {
	if len(rows) <= limit {
		return rows
	}
	*truncated = append(*truncated, name)
	return rows[:limit]
}
