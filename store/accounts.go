package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"revarch/models"
)

// AccountFilter selects live accounts; zero fields select everything. Texts are compared whatever their case.
type AccountFilter struct {
	Query      string // part of the name or the domain, or a whole NCES id or UNITID
	Normalized string // Query in the form of normalized_name, "" for none
	Segment    string
	Territory  string // part of its name
	State      string
	Status     string
}

// AccountSort is an order of accounts; each ends with the id.
type AccountSort string

// The orders. Numbers run from the highest to the lowest with unknown ones last, names from A to Z.
const (
	AccountsByRisk   AccountSort = "risk"
	AccountsByHealth AccountSort = "health"
	AccountsByARR    AccountSort = "arr"
	AccountsByName   AccountSort = "name"
)

// AccountPosition is a place in an order of accounts: the last account's value of the order, nil when it is unknown.
type AccountPosition struct {
	Number *float64  `json:"n,omitempty"`
	Text   *string   `json:"t,omitempty"`
	ID     uuid.UUID `json:"i"`
}

// AccountSummary is an account with what lists show of it.
type AccountSummary struct {
	ID                              uuid.UUID
	Name                            string
	Segment, Territory, State, City *string
	Status, Domain                  *string
	NCESID                          *string `gorm:"column:nces_id"`
	UNITID                          *string `gorm:"column:unitid"`
	ARRCents                        *int64  `gorm:"column:arr_cents"`
	Health, Risk                    *float32
	HealthCoverage, RiskCoverage    *float32 // nil: not scored yet
}

func like(s string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

// where adds the filter to a query over accounts a.
func (f AccountFilter) where(q *gorm.DB) *gorm.DB {
	q = q.Where("a.deleted_at IS NULL")
	if f.Query != "" {
		match := "a.name ILIKE ? OR a.domain ILIKE ? OR a.nces_id = ? OR a.unitid = ?"
		args := []any{like(f.Query), like(f.Query), f.Query, f.Query}
		if f.Normalized != "" {
			match += " OR a.normalized_name LIKE ?"
			args = append(args, like(f.Normalized))
		}
		q = q.Where("("+match+")", args...)
	}
	if f.Segment != "" {
		q = q.Where("a.segment = ?", f.Segment)
	}
	if f.Territory != "" {
		q = q.Where("a.territory ILIKE ?", like(f.Territory))
	}
	if f.State != "" {
		q = q.Where("upper(a.state) = upper(?)", f.State)
	}
	if f.Status != "" {
		q = q.Where("a.status = ?", f.Status)
	}
	return q
}

// CountAccounts counts the selected accounts.
func (tx *Tx) CountAccounts(f AccountFilter) (int64, error) {
	var n int64
	err := f.where(tx.db.Table("accounts a").Where("a.org_id = ?", tx.org)).Count(&n).Error
	return n, maybe(err, "count accounts")
}

// ranked says where the number of an order lives: a table with one row per account at most.
var ranked = map[AccountSort]struct{ table, column, cast, only string }{
	AccountsByRisk:   {"scores", "composite", "real", " AND r.model = 'risk'"},
	AccountsByHealth: {"scores", "composite", "real", " AND r.model = 'health'"},
	AccountsByARR:    {"account_arr", "arr_cents", "bigint", ""},
}

type placed struct {
	ID     uuid.UUID
	Number *float64
	Text   *string
}

// AccountPage lists up to limit accounts in an order after a position, nil for the beginning, with the position of each.
// few says that the filter selects few accounts: then they are sorted, not looked for along the order.
func (tx *Tx) AccountPage(f AccountFilter, sort AccountSort, after *AccountPosition, limit int, few bool) ([]AccountSummary, []AccountPosition, error) {
	// A page is small beside its tables whatever the planner thinks of a thousand ids.
	if err := tx.db.Exec("SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)").Error; err != nil {
		return nil, nil, fmt.Errorf("pin plans: %w", err)
	}
	find := tx.accountPlaces
	if _, byNumber := ranked[sort]; few && byNumber {
		find = tx.accountsSorted
	}
	places, err := find(f, sort, after, limit)
	if err != nil || len(places) == 0 {
		return nil, nil, err
	}
	ids := make([]uuid.UUID, len(places))
	for i, p := range places {
		ids[i] = p.ID
	}
	var rows []AccountSummary
	err = tx.db.Raw(`SELECT a.id, a.name, a.segment, a.territory, a.state, a.city, a.status, a.domain, a.nces_id, a.unitid, r.arr_cents,
		h.composite AS health, k.composite AS risk, h.coverage AS health_coverage, k.coverage AS risk_coverage FROM accounts a
		LEFT JOIN account_arr r ON r.org_id = a.org_id AND r.account_id = a.id
		LEFT JOIN scores h ON h.org_id = a.org_id AND h.account_id = a.id AND h.model = 'health'
		LEFT JOIN scores k ON k.org_id = a.org_id AND k.account_id = a.id AND k.model = 'risk'
		WHERE a.org_id = ? AND a.id IN ?`, tx.org, ids).Scan(&rows).Error
	if err != nil {
		return nil, nil, fmt.Errorf("load accounts: %w", err)
	}
	byID := make(map[uuid.UUID]AccountSummary, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	out, at := make([]AccountSummary, 0, len(places)), make([]AccountPosition, 0, len(places))
	for _, p := range places {
		if r, ok := byID[p.ID]; ok {
			out, at = append(out, r), append(at, AccountPosition{p.Number, p.Text, p.ID})
		}
	}
	return out, at, nil
}

// accountPlaces finds the ids of a page. An order by a number walks its index: first the accounts that have one, then
// those that have none, so that a page costs what it shows.
func (tx *Tx) accountPlaces(f AccountFilter, sort AccountSort, after *AccountPosition, limit int) ([]placed, error) {
	var out []placed
	r, byNumber := ranked[sort]
	if !byNumber {
		q := f.where(tx.db.Table("accounts a").Where("a.org_id = ?", tx.org)).Select("a.id, a.name AS text").Order("a.name, a.id").Limit(limit)
		if after != nil && after.Text != nil {
			q = q.Where("(a.name, a.id) > (?, ?)", *after.Text, after.ID)
		}
		err := q.Scan(&out).Error
		return out, maybe(err, "list accounts")
	}
	if after == nil || after.Number != nil {
		q := f.where(tx.db.Table(r.table+" r").Joins("JOIN accounts a ON a.org_id = r.org_id AND a.id = r.account_id").
			Where("r.org_id = ?"+r.only, tx.org)).Where("r." + r.column + " IS NOT NULL").
			Select("a.id, r." + r.column + "::double precision AS number").Order("r." + r.column + " DESC NULLS LAST, r.account_id").Limit(limit)
		if after != nil {
			q = q.Where(fmt.Sprintf("r.%[1]s <= ?::%[2]s AND (r.%[1]s < ?::%[2]s OR r.account_id > ?)", r.column, r.cast), *after.Number, *after.Number, after.ID)
		}
		if err := q.Scan(&out).Error; err != nil {
			return nil, fmt.Errorf("list ranked accounts: %w", err)
		}
		if len(out) == limit {
			return out, nil
		}
		after = nil // on with those that have no number
	}
	q := f.where(tx.db.Table("accounts a").Where("a.org_id = ?", tx.org)).
		Where("NOT EXISTS (SELECT 1 FROM " + r.table + " r WHERE r.org_id = a.org_id AND r.account_id = a.id" + r.only + " AND r." + r.column + " IS NOT NULL)").
		Select("a.id").Order("a.id").Limit(limit - len(out))
	if after != nil {
		q = q.Where("a.id > ?", after.ID)
	}
	var rest []placed
	if err := q.Scan(&rest).Error; err != nil {
		return nil, fmt.Errorf("list unranked accounts: %w", err)
	}
	return append(out, rest...), nil
}

// accountsSorted finds the ids of a page by sorting all that the filter selects.
func (tx *Tx) accountsSorted(f AccountFilter, sort AccountSort, after *AccountPosition, limit int) ([]placed, error) {
	r := ranked[sort]
	q := f.where(tx.db.Table("accounts a").Joins("LEFT JOIN "+r.table+" r ON r.org_id = a.org_id AND r.account_id = a.id"+r.only).Where("a.org_id = ?", tx.org)).
		Select("a.id, r." + r.column + "::double precision AS number").Order("r." + r.column + " DESC NULLS LAST, a.id").Limit(limit)
	switch {
	case after == nil:
	case after.Number == nil:
		q = q.Where("r."+r.column+" IS NULL AND a.id > ?", after.ID)
	default:
		q = q.Where(fmt.Sprintf("(r.%[1]s < ?::%[2]s OR r.%[1]s = ?::%[2]s AND a.id > ? OR r.%[1]s IS NULL)", r.column, r.cast), *after.Number, *after.Number, after.ID)
	}
	var out []placed
	err := q.Scan(&out).Error
	return out, maybe(err, "sort accounts")
}

// Account loads an account, deleted ones too. Faults: NotFound.
func (tx *Tx) Account(id uuid.UUID) (models.Account, error) {
	var a models.Account
	err := tx.db.Where("org_id = ? AND id = ?", tx.org, id).Take(&a).Error
	return a, notFound(err, "no account %s", id)
}

// Owner returns the user who owns an account in its CRM; ok is false when none is named or known.
func (tx *Tx) Owner(a models.Account) (u models.CRMUser, ok bool, err error) {
	if a.OwnerExternalID == nil {
		return u, false, nil
	}
	res := tx.db.Where("org_id = ? AND provider = ? AND external_id = ? AND deleted_at IS NULL", tx.org, a.Provider, *a.OwnerExternalID).Limit(1).Find(&u)
	return u, res.RowsAffected == 1, maybe(res.Error, "load owner")
}

// AccountMatch returns the official record an account is tied to; ok is false for none.
func (tx *Tx) AccountMatch(id uuid.UUID) (m models.AccountMatch, ok bool, err error) {
	res := tx.db.Where("org_id = ? AND account_id = ?", tx.org, id).Limit(1).Find(&m)
	return m, res.RowsAffected == 1, maybe(res.Error, "load match")
}

// AccountLines returns the subscription lines of an account.
func (tx *Tx) AccountLines(id uuid.UUID) ([]models.SubscriptionLine, error) {
	var out []models.SubscriptionLine
	err := tx.db.Where("org_id = ? AND account_id = ?", tx.org, id).Order("id").Find(&out).Error
	return out, maybe(err, "load subscription lines")
}

// ContactRow is a contact with when there last was an activity with it, and its account's name.
type ContactRow struct {
	models.Contact `gorm:"embedded"`
	LastOn         *time.Time
	AccountName    *string
}

// Contacts lists up to limit live contacts by id after one; account nil lists those of all accounts.
func (tx *Tx) Contacts(account *uuid.UUID, after uuid.UUID, limit int) ([]ContactRow, error) {
	q := tx.db.Table("contacts c").Select(`c.*, a.name AS account_name, (SELECT max(v.on_date) FROM activities v WHERE v.org_id = c.org_id
		AND v.contact_id = c.id AND v.deleted_at IS NULL AND `+happened+`) AS last_on`).
		Joins("LEFT JOIN accounts a ON a.org_id = c.org_id AND a.id = c.account_id").
		Where("c.org_id = ? AND c.deleted_at IS NULL AND c.id > ?", tx.org, after).Order("c.id").Limit(limit)
	if account != nil {
		q = q.Where("c.account_id = ?", *account)
	}
	var out []ContactRow
	err := q.Scan(&out).Error
	return out, maybe(err, "list contacts")
}

// OpportunityRow is a deal with its account's and its owner's name.
type OpportunityRow struct {
	models.Opportunity `gorm:"embedded"`
	AccountName        *string
	OwnerName          *string
}

// OpportunityFilter selects deals; zero fields select everything.
type OpportunityFilter struct {
	AccountID *uuid.UUID
	Open      *bool
	Owner     string // external id
}

// Opportunities lists up to limit live deals by id after one.
func (tx *Tx) Opportunities(f OpportunityFilter, after uuid.UUID, limit int) ([]OpportunityRow, error) {
	q := tx.db.Table("opportunities o").Select("o.*, a.name AS account_name, u.name AS owner_name").
		Joins("LEFT JOIN accounts a ON a.org_id = o.org_id AND a.id = o.account_id").
		Joins("LEFT JOIN crm_users u ON u.org_id = o.org_id AND u.provider = o.provider AND u.external_id = o.owner_external_id AND u.deleted_at IS NULL").
		Where("o.org_id = ? AND o.deleted_at IS NULL AND o.id > ?", tx.org, after).Order("o.id").Limit(limit)
	if f.AccountID != nil {
		q = q.Where("o.account_id = ?", *f.AccountID)
	}
	if f.Open != nil {
		q = q.Where("o.is_closed = ?", !*f.Open)
	}
	if f.Owner != "" {
		q = q.Where("o.owner_external_id = ?", f.Owner)
	}
	var out []OpportunityRow
	err := q.Scan(&out).Error
	return out, maybe(err, "list opportunities")
}

// Activities lists the latest live activities of an account.
func (tx *Tx) Activities(account uuid.UUID, limit int) ([]models.Activity, error) {
	var out []models.Activity
	err := tx.db.Where("org_id = ? AND account_id = ? AND deleted_at IS NULL", tx.org, account).
		Order("on_date DESC NULLS LAST, id DESC").Limit(limit).Find(&out).Error
	return out, maybe(err, "list activities")
}

// RecordObjects names the provider objects that an account was made from; merged records count.
func (tx *Tx) RecordObjects(id uuid.UUID) ([]models.RecordLink, error) {
	var out []models.RecordLink
	err := tx.db.Where("org_id = ? AND record_id = ?", tx.org, id).Order("provider, object, external_id").Find(&out).Error
	return out, maybe(err, "load record links")
}
