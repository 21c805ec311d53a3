package readiness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/arr"
	"revarch/analytics/readiness"
	engine "revarch/analytics/scoring"
	"revarch/models"
	"revarch/services/scoring"
	"revarch/store"
)

// batchSize is how many accounts one transaction judges.
const batchSize = 2000

// Refresh judges every live account anew, stores what is wrong with each and since when, and the organization's counts.
// Call it after scoring. It may be repeated at any point.
func (s *Service) Refresh(ctx context.Context, org uuid.UUID) (map[string]int64, error) {
	now := s.Clock().UTC()
	tally, err := s.walk(ctx, org, func(tx *store.Tx, after, last uuid.UUID, issues []models.AccountIssue) error {
		for i := range issues {
			issues[i].FirstSeenAt = now
		}
		return tx.ReplaceIssues(ctx, after, last, issues)
	})
	if err != nil {
		return nil, err
	}
	c := tally.Counts()
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error { return tx.SaveReadiness(now, c) })
	return map[string]int64{"tracked_accounts": int64(c.Tracked), "scoring_ready_accounts": int64(c.Ready)}, err
}

// Scorer scores an organization and then refreshes its readiness, for the job that does both.
type Scorer struct {
	Scoring   *scoring.Service
	Readiness *Service
}

// ScoreOrg is scoring.Service.ScoreOrg with the counts of the refresh beside its own.
func (s Scorer) ScoreOrg(ctx context.Context, org, run uuid.UUID, progress func(done, total int64)) (map[string]int64, error) {
	counts, err := s.Scoring.ScoreOrg(ctx, org, run, progress)
	if err != nil {
		return counts, err
	}
	more, err := s.Readiness.Refresh(ctx, org)
	maps.Copy(counts, more)
	return counts, err
}

// walk judges the live accounts batch by batch. store gets the issues of each batch, nil to keep none; the last call
// covers the ids behind the last account, so that nothing of accounts that are gone stays.
func (s *Service) walk(ctx context.Context, org uuid.UUID, keep func(tx *store.Tx, after, last uuid.UUID, issues []models.AccountIssue) error) (readiness.Tally, error) {
	w := judge{sets: map[string]*engine.RuleSet{}, keep: keep}
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		o, today, err := tx.OrganizationDay(s.Clock())
		if err != nil {
			return err
		}
		w.today, w.grace = today, o.RenewalGraceDays
		since, err := tx.ActivitySource()
		if since != nil {
			days := int(s.Clock().Sub(*since) / (24 * time.Hour))
			w.tally.ActivitySourceDays = &days
		}
		return err
	})
	for done := false; err == nil && !done; {
		err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
			var err error
			done, err = w.batch(tx)
			return err
		})
	}
	return w.tally, err
}

type judge struct {
	today time.Time
	grace int
	tally readiness.Tally
	after uuid.UUID
	sets  map[string]*engine.RuleSet
	keep  func(tx *store.Tx, after, last uuid.UUID, issues []models.AccountIssue) error
}

func (w *judge) batch(tx *store.Tx) (done bool, err error) {
	rows, err := tx.ReadinessBatch(w.after, batchSize, w.today)
	if err != nil {
		return false, err
	}
	last := uuid.Max
	if done = len(rows) < batchSize; !done {
		last = rows[len(rows)-1].ID
	}
	var issues []models.AccountIssue
	if len(rows) > 0 {
		if issues, err = w.judgeAll(tx, rows); err != nil {
			return false, err
		}
	}
	if w.keep != nil {
		if err := w.keep(tx, w.after, last, issues); err != nil {
			return false, err
		}
	}
	w.after = last
	return done, nil
}

func (w *judge) judgeAll(tx *store.Tx, rows []store.ReadinessRow) ([]models.AccountIssue, error) {
	lo, hi := rows[0].ID, rows[len(rows)-1].ID
	lines, err := tx.LinesBetween(lo, hi)
	if err != nil {
		return nil, err
	}
	linesOf := map[uuid.UUID][]models.SubscriptionLine{}
	for _, l := range lines {
		linesOf[l.AccountID] = append(linesOf[l.AccountID], l)
	}
	stored, err := tx.ScoresBetween(lo, hi)
	if err != nil {
		return nil, err
	}
	scoresOf := map[uuid.UUID][]readiness.Score{}
	for _, sc := range stored {
		x, err := w.score(tx, sc)
		if err != nil {
			return nil, err
		}
		scoresOf[sc.AccountID] = append(scoresOf[sc.AccountID], x)
	}
	var out []models.AccountIssue
	for _, r := range rows {
		total := scoring.ARROf(linesOf[r.ID], w.today, w.grace)
		a := readiness.Account{
			Customer: r.Customer, OpenOpportunity: r.OpenOpportunity, Contacts: r.Contacts, Segment: r.Segment,
			ARRCents: total.ARRCents, Pilot: total.Pilot, Scores: scoresOf[r.ID],
		}
		if r.LastOn != nil {
			days := int(arr.DateOf(w.today) - arr.DateOf(r.LastOn.UTC()))
			a.LastActivityDays = &days
		}
		found, _ := w.tally.Add(&a)
		for _, c := range found.List() {
			out = append(out, models.AccountIssue{AccountID: r.ID, Code: c.String(), Detail: detail(c, &a)})
		}
	}
	return out, nil
}

// score works a stored score out again as far as readiness needs it.
func (w *judge) score(tx *store.Tx, sc models.Score) (readiness.Score, error) {
	rs := w.sets[sc.ModelVersion]
	if rs == nil {
		def, err := tx.RuleSetDefinition(sc.ModelVersion)
		if err != nil {
			return readiness.Score{}, err
		}
		if rs, err = engine.LoadRuleSet(def); err != nil {
			return readiness.Score{}, err
		}
		w.sets[sc.ModelVersion] = rs
	}
	var r engine.Result
	if err := rs.Decode(engine.Compact(sc.Body), &r); err != nil {
		return readiness.Score{}, errors.Join(fmt.Errorf("score %s of account %s", sc.Model, sc.AccountID), err)
	}
	out := readiness.Score{Model: modelOf(r.Model), Coverage: r.Coverage, Contributions: make([]float64, engine.NumCategories)}
	if r.Scored {
		out.Composite = &r.Composite
	}
	for i, rule := range rs.Rules(r.Model) {
		out.Contributions[rule.Category] += r.Rules[i].Contribution
	}
	return out, nil
}

func modelOf(m engine.Model) readiness.Model {
	switch m {
	case engine.Health:
		return readiness.Health
	case engine.Risk:
		return readiness.Risk
	}
	return readiness.Other
}

// detail says in words what an issue is at one account.
func detail(c readiness.Code, a *readiness.Account) string {
	switch c {
	case readiness.NoContacts:
		return "no contact with an e-mail address or a phone number"
	case readiness.MissingSegment:
		return "the segment is not set"
	case readiness.NegativeARR:
		return "the lines in force sum to less than zero"
	case readiness.ZeroARR:
		return "a customer without recurring revenue in force"
	case readiness.NoRecentActivity:
		if a.LastActivityDays == nil {
			return "no activity is known"
		}
		return fmt.Sprintf("the last activity was %d days ago", *a.LastActivityDays)
	case readiness.ScoreImbalance:
		return imbalance(a)
	}
	return ""
}

func imbalance(a *readiness.Account) string {
	var health, risk *float64
	for _, s := range a.Scores {
		if s.Coverage < 0.5 {
			return fmt.Sprintf("a score rests on only %d%% of its data", int(math.Floor(s.Coverage*100)))
		}
		switch s.Model {
		case readiness.Health:
			health = s.Composite
		case readiness.Risk:
			risk = s.Composite
		}
	}
	if health != nil && risk != nil && (*health >= 75 && *risk >= 55 || *health < 40 && *risk < 35) {
		return fmt.Sprintf("health %.0f and risk %.0f contradict each other", *health, *risk)
	}
	return "one category makes up most of a score"
}
