package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"gorm.io/gorm/clause"

	"revarch/models"
)

// ReadinessRow is what readiness needs to know of one live account beside its lines and scores.
type ReadinessRow struct {
	ID              uuid.UUID
	Customer        bool
	Segment         string
	OpenOpportunity bool
	Contacts        int        // not deleted, with an e-mail address or a phone number
	LastOn          *time.Time // of the last activity that happened
}

// ReadinessBatch reads up to limit live accounts by id after one, as of a day.
func (tx *Tx) ReadinessBatch(after uuid.UUID, limit int, today time.Time) ([]ReadinessRow, error) {
	var out []ReadinessRow
	err := tx.db.Raw(`SELECT a.id, coalesce(a.status = 'customer', false) AS customer, coalesce(a.segment, '') AS segment,
		EXISTS (SELECT 1 FROM opportunities o WHERE o.org_id = a.org_id AND o.account_id = a.id AND NOT o.is_closed AND o.deleted_at IS NULL) AS open_opportunity,
		(SELECT count(*) FROM contacts c WHERE c.org_id = a.org_id AND c.account_id = a.id AND c.deleted_at IS NULL
			AND (coalesce(c.email, '') LIKE '%_@_%' OR coalesce(c.phone, '') <> '')) AS contacts,
		(SELECT max(v.on_date) FROM activities v WHERE v.org_id = a.org_id AND v.account_id = a.id AND v.deleted_at IS NULL
			AND v.on_date <= ?::date AND `+happened+`) AS last_on
		FROM accounts a WHERE a.org_id = ? AND a.id > ? AND a.deleted_at IS NULL ORDER BY a.id LIMIT ?`, today, tx.org, after, limit).Scan(&out).Error
	return out, maybe(err, "load accounts for readiness")
}

// LinesBetween returns the subscription lines of the accounts in a range of ids, both included.
func (tx *Tx) LinesBetween(lo, hi uuid.UUID) ([]models.SubscriptionLine, error) {
	var out []models.SubscriptionLine
	err := tx.db.Where("org_id = ? AND account_id BETWEEN ? AND ?", tx.org, lo, hi).Find(&out).Error
	return out, maybe(err, "load subscription lines")
}

// ReplaceIssues makes the issues of the accounts after one id up to another, the last included, exactly the given ones;
// an issue that stays keeps since when.
func (tx *Tx) ReplaceIssues(ctx context.Context, after, last uuid.UUID, issues []models.AccountIssue) error {
	_, err := tx.CopyStaged(ctx, "stage_issues", `CREATE TEMPORARY TABLE IF NOT EXISTS stage_issues (account_id uuid, code text, detail text,
		first_seen_at timestamptz) ON COMMIT DELETE ROWS`, []string{"account_id", "code", "detail", "first_seen_at"},
		pgx.CopyFromSlice(len(issues), func(i int) ([]any, error) {
			x := &issues[i]
			return []any{[16]byte(x.AccountID), x.Code, x.Detail, x.FirstSeenAt}, nil
		}))
	if err != nil {
		return err
	}
	if err := tx.db.Exec("ANALYZE stage_issues").Error; err != nil { // or the anti-join below may compare all with all
		return fmt.Errorf("analyze staged issues: %w", err)
	}
	err = tx.db.Exec(`DELETE FROM account_issues i WHERE i.org_id = ? AND i.account_id > ? AND i.account_id <= ?
		AND NOT EXISTS (SELECT 1 FROM stage_issues s WHERE s.account_id = i.account_id AND s.code = i.code)`, tx.org, after, last).Error
	if err != nil {
		return fmt.Errorf("drop solved issues: %w", err)
	}
	err = tx.db.Exec(`INSERT INTO account_issues (org_id, account_id, code, detail, first_seen_at)
		SELECT ?::uuid, s.account_id, s.code, s.detail, s.first_seen_at FROM stage_issues s
		ON CONFLICT (org_id, account_id, code) DO UPDATE SET detail = excluded.detail WHERE account_issues.detail <> excluded.detail`, tx.org).Error
	if err != nil {
		return fmt.Errorf("store issues: %w", err)
	}
	return nil
}

// SaveReadiness stores the counts of a refresh.
func (tx *Tx) SaveReadiness(at time.Time, counts any) error {
	b, err := json.Marshal(counts)
	if err != nil {
		return fmt.Errorf("encode readiness: %w", err)
	}
	row := models.ReadinessTally{OrgID: tx.org, CheckedAt: at, Counts: b}
	if err := tx.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
		return fmt.Errorf("save readiness: %w", err)
	}
	return nil
}

// Readiness reads the counts of the last refresh into counts; ok is false when there was none.
func (tx *Tx) Readiness(counts any) (at time.Time, ok bool, err error) {
	var row models.ReadinessTally
	res := tx.db.Where("org_id = ?", tx.org).Limit(1).Find(&row)
	if res.Error != nil || res.RowsAffected == 0 {
		return at, false, maybe(res.Error, "read readiness")
	}
	if err := json.Unmarshal(row.Counts, counts); err != nil {
		return at, false, fmt.Errorf("decode readiness: %w", err)
	}
	return row.CheckedAt, true, nil
}

// AffectedRow is one issue of an account.
type AffectedRow struct {
	models.AccountIssue `gorm:"embedded"`
	Name                string
}

// AffectedAccounts lists all issues of up to limit accounts by id after one; code narrows the accounts, "" does not.
func (tx *Tx) AffectedAccounts(code string, after uuid.UUID, limit int) ([]AffectedRow, error) {
	var out []AffectedRow
	err := tx.db.Raw(`SELECT i.*, a.name FROM account_issues i JOIN accounts a ON a.org_id = i.org_id AND a.id = i.account_id
		WHERE i.org_id = @org AND i.account_id IN (SELECT DISTINCT x.account_id FROM account_issues x JOIN accounts y ON y.org_id = x.org_id AND y.id = x.account_id
			WHERE x.org_id = @org AND x.account_id > @after AND (@code = '' OR x.code = @code) AND y.deleted_at IS NULL ORDER BY x.account_id LIMIT @limit)
		ORDER BY i.account_id, i.code`, map[string]any{"org": tx.org, "after": after, "code": code, "limit": limit}).Scan(&out).Error
	return out, maybe(err, "list affected accounts")
}

// IssueCounts counts the live accounts with each issue.
func (tx *Tx) IssueCounts() (map[string]int64, error) {
	var rows []struct {
		Code string
		N    int64
	}
	err := tx.db.Raw(`SELECT i.code, count(*) AS n FROM account_issues i JOIN accounts a ON a.org_id = i.org_id AND a.id = i.account_id
		WHERE i.org_id = ? AND a.deleted_at IS NULL GROUP BY i.code`, tx.org).Scan(&rows).Error
	out := map[string]int64{}
	for _, r := range rows {
		out[r.Code] = r.N
	}
	return out, maybe(err, "count issues")
}
