package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/models"
)

// factColumns pairs the features that are facts with the account column each comes from, as an expression over %s, the
// row. Money is in currency units, a date in days since 1970-01-01, a flag 0 or 1.
var factColumns = []struct{ feature, expr string }{
	{"arr", "%s.arr_cents::double precision / 100"},
	{"renewal_date", "(%s.renewal_date - date '1970-01-01')::double precision"},
	{"seats", "%s.seats::double precision"},
	{"active_28d", "%s.active_28d::double precision"},
	{"active_prior_28d", "%s.active_prior_28d::double precision"},
	{"products_owned", "%s.products_owned::double precision"},
	{"products_live", "%s.products_live::double precision"},
	{"tickets_open", "%s.tickets_open::double precision"},
	{"p1_open", "%s.p1_open::double precision"},
	{"tickets_90d", "%s.tickets_90d::double precision"},
	{"csat_90d", "%s.csat_90d"},
	{"overdue_days", "%s.overdue_days::double precision"},
	{"onboarding_pct", "%s.onboarding_pct"},
	{"goals_met_pct", "%s.goals_met_pct"},
	{"enrollment", "%s.enrollment::double precision"},
	{"competitor_seen", "CASE WHEN %s.competitor = '' THEN 0 WHEN %s.competitor IS NOT NULL THEN 1 END::double precision"},
}

// FactFeatures names the features of accounts that are kept as facts.
func FactFeatures() []string {
	out := make([]string, len(factColumns))
	for i, f := range factColumns {
		out[i] = f.feature
	}
	return out
}

// factsOfNew writes the first facts of new accounts; factsOfChanged one row per feature that differs from what is
// stored. Both take org, now and the source. A fact is known strictly after the one it replaces, whatever the clock does.
var factsOfNew, factsOfChanged = factStatements()

func factStatements() (ofNew, ofChanged string) {
	var first, both []string
	for _, f := range factColumns {
		staged, stored := strings.ReplaceAll(f.expr, "%s", "s"), strings.ReplaceAll(f.expr, "%s", "a")
		first = append(first, fmt.Sprintf("('%s', %s)", f.feature, staged))
		both = append(both, fmt.Sprintf("('%s', %s, %s)", f.feature, staged, stored))
	}
	const insert = `INSERT INTO feature_facts (org_id, account_id, feature, known_at, valid_at, value, source_ref) SELECT $1, s.record_id, f.feature, `
	ofNew = insert + `$2, COALESCE(s.source_updated_at, $2), f.value, $3 FROM stage_accounts s CROSS JOIN LATERAL (VALUES ` +
		strings.Join(first, ", ") + `) f (feature, value) WHERE s.mapped AND s.record_new AND f.value IS NOT NULL`
	ofChanged = insert + `GREATEST($2, (SELECT max(p.known_at) + interval '1 microsecond' FROM feature_facts p
		WHERE p.org_id = $1 AND p.account_id = s.record_id AND p.feature = f.feature)), COALESCE(s.source_updated_at, $2), f.value, $3
		FROM stage_accounts s JOIN accounts a ON a.org_id = $1 AND a.id = s.record_id CROSS JOIN LATERAL (VALUES ` +
		strings.Join(both, ", ") + `) f (feature, value, old) WHERE s.mapped AND NOT s.record_new AND f.value IS DISTINCT FROM f.old`
	return ofNew, ofChanged
}

// FactsAt returns the value of each feature of the accounts as it was known at a moment. A feature that was unknown then
// is missing. At most a few thousand accounts per call.
func (tx *Tx) FactsAt(ctx context.Context, accounts []uuid.UUID, at time.Time) ([]models.FeatureFact, error) {
	var out []models.FeatureFact
	if len(accounts) == 0 {
		return out, nil
	}
	err := tx.db.WithContext(ctx).Raw(`SELECT * FROM (SELECT DISTINCT ON (account_id, feature) * FROM feature_facts
		WHERE org_id = ? AND account_id IN ? AND known_at <= ? ORDER BY account_id, feature, known_at DESC) f WHERE value IS NOT NULL`,
		tx.org, accounts, at).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return out, nil
}
