// Package scoring computes and shows the scores of an organization's accounts: it reads what scoring needs in batches,
// runs the engine of analytics/scoring, stores compact scores, and renders them with where each value came from.
package scoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/analytics/scoring"
	"revarch/models"
	"revarch/store"
)

// batchSize is how many accounts one transaction scores.
const batchSize = 2000

// Enabled are the models that are scored; the others are not available yet.
var Enabled = []scoring.Model{scoring.Health, scoring.Risk}

// Service scores accounts.
type Service struct {
	Store *store.Store
	Clock func() time.Time
}

// RuleSet returns the rules an organization's scores are computed with.
func (s *Service) RuleSet(context.Context, uuid.UUID) (*scoring.RuleSet, error) {
	cfg := scoring.DefaultConfig()
	cfg.Models = map[scoring.Model]bool{}
	for _, m := range Enabled {
		cfg.Models[m] = true
	}
	return scoring.NewRuleSet(cfg)
}

// ScoreOrg scores every live account and returns how many scores were stored and how many lacked data. It may be
// repeated at any point: scores are replaced, never doubled.
func (s *Service) ScoreOrg(ctx context.Context, org, _ uuid.UUID, progress func(done, total int64)) (map[string]int64, error) {
	rs, err := s.RuleSet(ctx, org)
	if err != nil {
		return nil, err
	}
	definition, err := json.Marshal(rs)
	if err != nil {
		return nil, fmt.Errorf("encode rule set: %w", err)
	}
	var total int64
	var m moment
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		if err := tx.SaveRuleSet(rs.ModelVersion(), definition, s.Clock()); err != nil {
			return err
		}
		if total, err = tx.CountLiveAccounts(); err != nil {
			return err
		}
		m, err = s.moment(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{"accounts_scored": 0, "insufficient_data": 0}
	eng := &engine{rs: rs, m: m, clock: s.Clock}
	for after := uuid.Nil; ; {
		var n int
		err := s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
			b, err := tx.LoadScoringBatch(after, batchSize, m.today)
			if err != nil || len(b.Accounts) == 0 {
				return err
			}
			n, after = len(b.Accounts), b.Accounts[len(b.Accounts)-1].ID
			scores, insufficient := eng.score(org, b)
			counts["insufficient_data"] += insufficient
			if err := tx.ReplaceScores(ctx, scores); err != nil {
				return err
			}
			return tx.ReplaceAccountARR(ctx, eng.arr)
		})
		if err != nil {
			return counts, err
		}
		if n == 0 {
			break
		}
		counts["accounts_scored"] += int64(n)
		if progress != nil {
			progress(counts["accounts_scored"], total)
		}
	}
	names := make([]string, len(Enabled))
	for i, x := range Enabled {
		names[i] = x.String()
	}
	return counts, s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		if err := tx.DropScores(names); err != nil {
			return err
		}
		return tx.DropAccountARR()
	})
}

// moment reads what a computation needs to know beside the accounts.
func (s *Service) moment(tx *store.Tx) (moment, error) {
	o, today, err := tx.OrganizationDay(s.Clock())
	if err != nil {
		return moment{}, err
	}
	m := moment{today: today, graceDays: o.RenewalGraceDays}
	if m.mapped, err = tx.MappedTargets(); err != nil {
		return m, err
	}
	since, err := tx.ActivitySource()
	m.activitySource = since != nil
	return m, err
}

// engine scores batches with the buffers of the one before.
type engine struct {
	rs       *scoring.RuleSet
	m        moment
	clock    func() time.Time
	features scoring.Features
	results  scoring.Results
	arr      []models.AccountARR // of the last batch
}

func (e *engine) score(org uuid.UUID, b store.ScoringBatch) (scores []models.Score, insufficient int64) {
	ppl := group(b, e.m.today)
	lines := map[uuid.UUID][]models.SubscriptionLine{}
	for _, l := range b.Lines {
		lines[l.AccountID] = append(lines[l.AccountID], l)
	}
	scores = make([]models.Score, 0, len(b.Accounts)*len(Enabled))
	version := e.rs.ModelVersion()
	e.arr = e.arr[:0]
	for i := range b.Accounts {
		a := &b.Accounts[i]
		start := e.clock()
		total := ARROf(lines[a.ID], e.m.today, e.m.graceDays)
		fill(&e.features, a, total, ppl[a.ID], e.m)
		e.rs.ScoreAll(segmentOf(a), &e.features, &e.results)
		took := e.clock().Sub(start)
		e.arr = append(e.arr, models.AccountARR{OrgID: org, AccountID: a.ID, ARRCents: KnownARR(total), AsOf: e.m.today})
		for _, model := range Enabled {
			r := &e.results.Of[model]
			sc := models.Score{
				OrgID: org, AccountID: a.ID, Model: model.String(), Coverage: float32(r.Coverage), ModelVersion: version,
				ComputedAt: start, TookUS: int(took.Microseconds()), Body: e.rs.Encode(nil, r),
			}
			if r.Scored {
				c := float32(r.Composite)
				sc.Composite = &c
			} else {
				insufficient++
			}
			scores = append(scores, sc)
		}
	}
	return scores, insufficient
}

func segmentOf(a *models.Account) scoring.Segment {
	if a.Segment == nil {
		return scoring.NoSegment
	}
	return scoring.ParseSegment(*a.Segment)
}

// Rendered is a score with its decomposition and levers. ScoreView is how surfaces show it.
type Rendered struct {
	scoring.Rendered
	Levers []scoring.Lever `json:"levers"` // what would change this most
}

// Of returns an account's scores, rendered by the rules they were computed with.
func (s *Service) Of(ctx context.Context, org, account uuid.UUID) (out map[string]Rendered, err error) {
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		out, err = s.In(tx, account)
		return err
	})
	return out, err
}

// In is Of inside a transaction of the account's organization.
func (s *Service) In(tx *store.Tx, account uuid.UUID) (map[string]Rendered, error) {
	scores, err := tx.ScoresOf(account)
	if err != nil {
		return nil, err
	}
	out, sets := map[string]Rendered{}, map[string]*scoring.RuleSet{}
	for _, sc := range scores {
		r, err := render(tx, sets, sc)
		if err != nil {
			return nil, err
		}
		out[sc.Model] = Rendered{r.Rounded(), scoring.Levers(r)}
	}
	return out, nil
}

// render shows a stored score by the rule set of its version; sets caches them.
func render(tx *store.Tx, sets map[string]*scoring.RuleSet, sc models.Score) (scoring.Rendered, error) {
	rs := sets[sc.ModelVersion]
	if rs == nil {
		def, err := tx.RuleSetDefinition(sc.ModelVersion)
		if err != nil {
			return scoring.Rendered{}, err
		}
		if rs, err = scoring.LoadRuleSet(def); err != nil {
			return scoring.Rendered{}, err
		}
		sets[sc.ModelVersion] = rs
	}
	return scoring.Render(rs, scoring.Compact(sc.Body), scoring.Stamp{ComputedAt: sc.ComputedAt.UTC(), Took: time.Duration(sc.TookUS) * time.Microsecond})
}
