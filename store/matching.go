package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"revarch/fault"
	"revarch/models"
)

// matchSQL computes what the matches of an organization should be, from $org. An id of the current roster decides; then
// name and state do, among what the buyer type allows and what is open. A LEAID has 7 digits, a UNITID 6, so the ids of
// both kinds never meet.
const matchSQL = `WITH acc AS MATERIALIZED (
  SELECT a.id, a.normalized_name AS name, upper(btrim(a.state)) AS state, a.buyer_type,
    CASE WHEN btrim(a.nces_id) ~ '^[0-9]{1,7}$' THEN lpad(btrim(a.nces_id), 7, '0') END AS leaid,
    CASE WHEN btrim(a.unitid) ~ '^[0-9]{1,6}$' THEN lpad(btrim(a.unitid), 6, '0') END AS unitid
  FROM accounts a WHERE a.org_id = @org AND a.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM account_matches m WHERE m.org_id = @org AND m.account_id = a.id AND m.method = 'manual')
), districts AS MATERIALIZED (
  SELECT leaid, state, normalized_name, other_normalized_name, closed FROM edu.current_districts
), institutions AS MATERIALIZED (
  SELECT unitid, state, normalized_name, closed FROM edu.current_institutions
), names AS MATERIALIZED (
  SELECT 'k12' AS buyer, leaid AS official, state, normalized_name AS name FROM districts WHERE NOT closed
  UNION SELECT 'k12', leaid, state, other_normalized_name FROM districts WHERE NOT closed AND other_normalized_name <> ''
  UNION SELECT 'higher_ed', unitid, state, normalized_name FROM institutions WHERE NOT closed
), exact AS MATERIALIZED (
  SELECT acc.id, 'k12' AS buyer, acc.buyer_type, d.leaid AS official FROM acc JOIN districts d ON d.leaid = acc.leaid
  UNION ALL SELECT acc.id, 'higher_ed', acc.buyer_type, i.unitid FROM acc JOIN institutions i ON i.unitid = acc.unitid
), by_id AS (
  SELECT e.id, e.official, 'exact_id' AS method FROM exact e
  -- Both kinds of id: the buyer type decides.
  WHERE e.buyer_type IS NULL OR e.buyer = e.buyer_type OR NOT EXISTS (SELECT 1 FROM exact o WHERE o.id = e.id AND o.buyer = e.buyer_type)
), by_name AS (
  SELECT acc.id, n.official, 'name_state' AS method FROM acc JOIN names n ON n.name = acc.name AND n.state = acc.state
  WHERE acc.name <> '' AND (acc.buyer_type IS NULL OR n.buyer = acc.buyer_type)
    AND NOT EXISTS (SELECT 1 FROM exact e WHERE e.id = acc.id)
), wanted AS (
  SELECT id, min(method) AS method, array_agg(DISTINCT official ORDER BY official) AS candidates
  FROM (SELECT * FROM by_id UNION ALL SELECT * FROM by_name) found GROUP BY id
), rows AS (
  SELECT id, method, CASE WHEN length(candidates[1]) = 7 OR length(candidates[cardinality(candidates)]) = 7 THEN 'district' ELSE 'institution' END AS kind,
    CASE WHEN cardinality(candidates) = 1 THEN 'matched' ELSE 'ambiguous' END AS status,
    CASE WHEN cardinality(candidates) = 1 THEN candidates[1] END AS official,
    CASE WHEN cardinality(candidates) = 1 THEN '{}'::text[] ELSE candidates END AS candidates
  FROM wanted
)`

// MatchAccounts rewrites the organization's matches as they should be: what changed is written, what holds no longer is
// removed, and what a person decided stays. It returns how many rows were written and removed.
func (tx *Tx) MatchAccounts(now time.Time) (written, removed int64, err error) {
	// One run at a time; and with fresh tables the planner would take thousands of names for one.
	err = tx.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0)), set_config('enable_nestloop', 'off', true)", "match/"+tx.org.String()).Error
	if err != nil {
		return 0, 0, fmt.Errorf("lock matches: %w", err)
	}
	var got struct{ Written, Removed int64 }
	err = tx.db.Raw(matchSQL+`, gone AS (
  DELETE FROM account_matches m WHERE m.org_id = @org AND (m.method <> 'manual' AND NOT EXISTS (SELECT 1 FROM rows r WHERE r.id = m.account_id)
    OR EXISTS (SELECT 1 FROM accounts a WHERE a.org_id = @org AND a.id = m.account_id AND a.deleted_at IS NOT NULL))
  RETURNING 1
), put AS (
  INSERT INTO account_matches AS m (org_id, account_id, kind, status, official_id, method, candidates, matched_at)
  SELECT @org, id, kind, status, official, method, candidates, @now FROM rows
  ON CONFLICT (org_id, account_id) DO UPDATE SET kind = excluded.kind, status = excluded.status, official_id = excluded.official_id,
    method = excluded.method, candidates = excluded.candidates, matched_at = excluded.matched_at
  WHERE m.method <> 'manual' AND (m.kind, m.status, m.official_id, m.method, m.candidates)
    IS DISTINCT FROM (excluded.kind, excluded.status, excluded.official_id, excluded.method, excluded.candidates)
  RETURNING 1
) SELECT (SELECT count(*) FROM put) AS written, (SELECT count(*) FROM gone) AS removed`,
		map[string]any{"org": tx.org, "now": now}).Scan(&got).Error
	if err != nil {
		return 0, 0, fmt.Errorf("match accounts: %w", err)
	}
	return got.Written, got.Removed, nil
}

// MatchTally counts the live accounts of an organization by how they are tied.
type MatchTally struct{ Accounts, ExactID, NameState, Manual, Ambiguous int64 }

// TallyMatches counts matches.
func (tx *Tx) TallyMatches() (MatchTally, error) {
	var t MatchTally
	err := tx.db.Raw(`SELECT (SELECT count(*) FROM accounts WHERE org_id = @org AND deleted_at IS NULL) AS accounts,
		count(*) FILTER (WHERE status = 'matched' AND method = 'exact_id') AS exact_id,
		count(*) FILTER (WHERE status = 'matched' AND method = 'name_state') AS name_state,
		count(*) FILTER (WHERE status = 'matched' AND method = 'manual') AS manual,
		count(*) FILTER (WHERE status = 'ambiguous') AS ambiguous
		FROM account_matches WHERE org_id = @org`, map[string]any{"org": tx.org}).Scan(&t).Error
	return t, maybe(err, "count matches")
}

// MatchFilter selects matches in order of account id. A page starts after After.
type MatchFilter struct {
	Status string // matched, ambiguous, unmatched; "" is every account
	After  uuid.UUID
	Limit  int
}

// AccountWithMatch is an account and what it is tied to; Status is unmatched when it is tied to nothing.
type AccountWithMatch struct {
	AccountID              uuid.UUID `gorm:"column:id"`
	Name                   string
	City, State, BuyerType *string
	NCESID                 *string `gorm:"column:nces_id"`
	UNITID                 *string `gorm:"column:unitid"`
	Status, Kind, Method   string
	OfficialID             *string
	Candidates             models.StringArray `gorm:"type:text[]"`
	MatchedAt              *time.Time
}

const accountWithMatch = `SELECT a.id, a.name, a.city, a.state, a.buyer_type, a.nces_id, a.unitid, COALESCE(m.status, 'unmatched') AS status,
	COALESCE(m.kind, '') AS kind, COALESCE(m.method, '') AS method, m.official_id, m.candidates, m.matched_at
	FROM accounts a LEFT JOIN account_matches m ON m.org_id = a.org_id AND m.account_id = a.id
	WHERE a.org_id = @org AND a.deleted_at IS NULL`

// AccountMatches lists accounts with their matches.
func (tx *Tx) AccountMatches(f MatchFilter) ([]AccountWithMatch, error) {
	var out []AccountWithMatch
	err := tx.db.Raw(accountWithMatch+` AND a.id > @after AND (@status = '' OR COALESCE(m.status, 'unmatched') = @status) ORDER BY a.id LIMIT @limit`,
		map[string]any{"org": tx.org, "after": f.After, "status": f.Status, "limit": f.Limit}).Scan(&out).Error
	return out, maybe(err, "list matches")
}

// MatchedAccount loads an account with its match, locking the account against a second decision. Faults: NotFound.
func (tx *Tx) MatchedAccount(account uuid.UUID, lock bool) (AccountWithMatch, error) {
	sql := accountWithMatch + " AND a.id = @id"
	if lock {
		sql += " FOR UPDATE OF a"
	}
	var out AccountWithMatch
	res := tx.db.Raw(sql, map[string]any{"org": tx.org, "id": account}).Scan(&out)
	if res.Error != nil {
		return out, fmt.Errorf("load match: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return out, fault.New(fault.NotFound, "account %s not found", account)
	}
	return out, nil
}

// Official is a district or an institution of the current roster.
type Official struct {
	ID, Kind, Name, City, State string
	Closed                      bool
}

// Officials loads the districts and institutions with the ids, in order of id; what the roster does not have is missing.
func (tx *Tx) Officials(ids []string) ([]Official, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var out []Official
	err := tx.db.Raw(`SELECT leaid AS id, 'district' AS kind, name, COALESCE(city, '') AS city, state, closed FROM edu.current_districts WHERE leaid IN @ids
		UNION ALL SELECT unitid, 'institution', name, city, state, closed FROM edu.current_institutions WHERE unitid IN @ids ORDER BY id`,
		map[string]any{"ids": ids}).Scan(&out).Error
	return out, maybe(err, "load officials")
}

// SaveMatch writes the match that a person chose.
func (tx *Tx) SaveMatch(m models.AccountMatch) error {
	err := tx.db.Exec(`INSERT INTO account_matches (org_id, account_id, kind, status, official_id, method, candidates, matched_at)
		VALUES (@org, @account, @kind, 'matched', @official, 'manual', '{}', @at)
		ON CONFLICT (org_id, account_id) DO UPDATE SET kind = excluded.kind, status = excluded.status, official_id = excluded.official_id,
			method = excluded.method, candidates = excluded.candidates, matched_at = excluded.matched_at`,
		map[string]any{"org": tx.org, "account": m.AccountID, "kind": m.Kind, "official": m.OfficialID, "at": m.MatchedAt}).Error
	return maybe(err, "save match")
}
