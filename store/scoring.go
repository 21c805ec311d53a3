package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"revarch/models"
)

// ScoringBatch is what scoring reads of a batch of accounts, in ascending order of their ids.
type ScoringBatch struct {
	Accounts   []models.Account
	Lines      []models.SubscriptionLine
	Contacts   []ScoringContact
	Activities []ScoringActivity
}

// ScoringContact is a live contact of an account.
type ScoringContact struct {
	AccountID uuid.UUID
	ID        uuid.UUID
	Title     *string
	Champion  *bool
	LeftOn    *time.Time
	Reachable bool // has an e-mail address or a phone number
}

// ScoringActivity sums up the activities of one account with one contact, or with none, up to a day.
type ScoringActivity struct {
	AccountID   uuid.UUID
	ContactID   *uuid.UUID
	LastOn      time.Time
	Meetings90d int64
}

// happened is an activity that took place: done, or of a kind that is only written down afterwards.
const happened = "(completed_at IS NOT NULL OR type IN ('email', 'call', 'meeting'))"

// LoadScoringBatch reads up to limit live accounts after an id with what scoring needs of each, as of a day.
func (tx *Tx) LoadScoringBatch(after uuid.UUID, limit int, today time.Time) (ScoringBatch, error) {
	var b ScoringBatch
	err := tx.db.Where("org_id = ? AND id > ? AND deleted_at IS NULL", tx.org, after).Order("id").Limit(limit).Find(&b.Accounts).Error
	if err != nil || len(b.Accounts) == 0 {
		return b, maybe(err, "load accounts to score")
	}
	lo, hi := b.Accounts[0].ID, b.Accounts[len(b.Accounts)-1].ID
	if err := tx.db.Where("org_id = ? AND account_id BETWEEN ? AND ?", tx.org, lo, hi).Find(&b.Lines).Error; err != nil {
		return b, fmt.Errorf("load subscription lines: %w", err)
	}
	err = tx.db.Raw(`SELECT account_id, id, title, champion, left_on, (coalesce(email, '') LIKE '%_@_%' OR coalesce(phone, '') <> '') AS reachable
		FROM contacts WHERE org_id = ? AND account_id BETWEEN ? AND ? AND deleted_at IS NULL`, tx.org, lo, hi).Scan(&b.Contacts).Error
	if err != nil {
		return b, fmt.Errorf("load contacts: %w", err)
	}
	err = tx.db.Raw(`SELECT account_id, contact_id, max(on_date) AS last_on, count(*) FILTER (WHERE type = 'meeting' AND on_date > ?::date - 90) AS meetings90d
		FROM activities WHERE org_id = ? AND account_id BETWEEN ? AND ? AND deleted_at IS NULL AND on_date <= ?::date AND `+happened+`
		GROUP BY account_id, contact_id`, today, tx.org, lo, hi, today).Scan(&b.Activities).Error
	if err != nil {
		return b, fmt.Errorf("load activities: %w", err)
	}
	return b, nil
}

// SaveRuleSet keeps the definition of a model version; one that is there stays.
func (tx *Tx) SaveRuleSet(version string, definition []byte, at time.Time) error {
	rs := models.RuleSet{OrgID: tx.org, ModelVersion: version, Definition: definition, CreatedAt: at}
	if err := tx.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&rs).Error; err != nil {
		return fmt.Errorf("save rule set: %w", err)
	}
	return nil
}

// RuleSetDefinition returns the definition of a model version.
func (tx *Tx) RuleSetDefinition(version string) ([]byte, error) {
	var rs models.RuleSet
	err := tx.db.First(&rs, "model_version = ?", version).Error
	return rs.Definition, notFound(err, "rule set %s not found", version)
}

var scoreColumns = []string{"account_id", "model", "composite", "coverage", "model_version", "computed_at", "took_us", "body"}

// ReplaceScores writes the scores of a batch of accounts, replacing older ones.
func (tx *Tx) ReplaceScores(ctx context.Context, scores []models.Score) error {
	_, err := tx.CopyStaged(ctx, "stage_scores", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_scores (account_id uuid, model text, composite real,
		coverage real, model_version text, computed_at timestamptz, took_us integer, body bytea) ON COMMIT DELETE ROWS`, scoreColumns,
		pgx.CopyFromSlice(len(scores), func(i int) ([]any, error) {
			s := &scores[i]
			return []any{[16]byte(s.AccountID), s.Model, s.Composite, s.Coverage, s.ModelVersion, s.ComputedAt, int32(s.TookUS), s.Body}, nil
		}))
	if err != nil {
		return err
	}
	err = tx.db.Exec(`INSERT INTO scores (org_id, account_id, model, composite, coverage, model_version, computed_at, took_us, body)
		SELECT ?::uuid, s.account_id, s.model, s.composite, s.coverage, s.model_version, s.computed_at, s.took_us, s.body FROM stage_scores s
		ON CONFLICT (org_id, account_id, model) DO UPDATE SET composite = excluded.composite, coverage = excluded.coverage,
			model_version = excluded.model_version, computed_at = excluded.computed_at, took_us = excluded.took_us, body = excluded.body`, tx.org).Error
	if err != nil {
		return fmt.Errorf("replace scores: %w", err)
	}
	return nil
}

// DropScores removes the scores of deleted accounts and of models that are switched off.
func (tx *Tx) DropScores(models []string) error {
	return tx.db.Exec(`DELETE FROM scores s WHERE s.org_id = ? AND (s.model NOT IN ?
		OR EXISTS (SELECT 1 FROM accounts a WHERE a.org_id = s.org_id AND a.id = s.account_id AND a.deleted_at IS NOT NULL))`, tx.org, models).Error
}

// ScoresOf returns the scores of an account.
func (tx *Tx) ScoresOf(account uuid.UUID) ([]models.Score, error) {
	var out []models.Score
	err := tx.db.Where("org_id = ? AND account_id = ?", tx.org, account).Order("model").Find(&out).Error
	return out, maybe(err, "load scores")
}

// ScoresBetween returns the scores of the accounts in a range of ids, both included.
func (tx *Tx) ScoresBetween(lo, hi uuid.UUID) ([]models.Score, error) {
	var out []models.Score
	err := tx.db.Where("org_id = ? AND account_id BETWEEN ? AND ?", tx.org, lo, hi).Order("account_id, model").Find(&out).Error
	return out, maybe(err, "load scores")
}

// CountLiveAccounts counts accounts that are not deleted.
func (tx *Tx) CountLiveAccounts() (int64, error) {
	var n int64
	err := tx.db.Model(&models.Account{}).Where("org_id = ? AND deleted_at IS NULL", tx.org).Count(&n).Error
	return n, maybe(err, "count accounts")
}

// OpenOpportunityAccounts lists the accounts in a range of ids that have an open opportunity.
func (tx *Tx) OpenOpportunityAccounts(lo, hi uuid.UUID) ([]uuid.UUID, error) {
	var out []uuid.UUID
	err := tx.db.Raw(`SELECT DISTINCT account_id FROM opportunities WHERE org_id = ? AND account_id BETWEEN ? AND ? AND NOT is_closed
		AND deleted_at IS NULL`, tx.org, lo, hi).Scan(&out).Error
	return out, maybe(err, "load open opportunities")
}

// MappedTargets lists the canonical fields that some connected provider fills for a record's objects.
func (tx *Tx) MappedTargets() (map[string]bool, error) {
	var names []string
	err := tx.db.Raw("SELECT DISTINCT target_field FROM field_mappings WHERE org_id = ?", tx.org).Scan(&names).Error
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, maybe(err, "load mapped fields")
}

// ActivitySource returns since when a connected provider has delivered activities, nil when none has.
func (tx *Tx) ActivitySource() (*time.Time, error) {
	var since *time.Time
	err := tx.db.Raw(`SELECT min(c.connected_at) FROM connections c WHERE c.org_id = ? AND c.status <> 'disconnected'
		AND EXISTS (SELECT 1 FROM sync_cursors k JOIN field_mappings m ON m.org_id = k.org_id AND m.provider = k.provider AND m.object = k.object
			WHERE k.org_id = c.org_id AND k.provider = c.provider AND k.completed_at IS NOT NULL AND m.target_field = 'on_date')`, tx.org).
		Row().Scan(&since)
	return since, maybe(err, "look for an activity source")
}
