package store

import (
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"revarch/models"
)

// LockIdempotencyKey makes the transaction the only one with the caller's key until it ends, and returns what is stored
// under it and still valid; nil when nothing is.
func (tx *Tx) LockIdempotencyKey(principal, key string, now time.Time) (*models.IdempotencyKey, error) {
	if err := tx.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "idempotency/"+tx.org.String()+"/"+principal+"/"+key).Error; err != nil {
		return nil, fmt.Errorf("lock idempotency key: %w", err)
	}
	var row models.IdempotencyKey
	res := tx.db.Where("org_id = ? AND principal = ? AND key = ? AND expires_at > ?", tx.org, principal, key, now).Limit(1).Find(&row)
	if res.Error != nil {
		return nil, fmt.Errorf("read idempotency key: %w", res.Error)
	}
	if res.RowsAffected == 0 {
		return nil, nil
	}
	return &row, nil
}

// SaveIdempotencyKey stores an answer and forgets those of the organization that have expired.
func (tx *Tx) SaveIdempotencyKey(row models.IdempotencyKey) error {
	row.OrgID = tx.org
	if err := tx.db.Where("org_id = ? AND expires_at <= ?", tx.org, row.CreatedAt).Delete(&models.IdempotencyKey{}).Error; err != nil {
		return fmt.Errorf("forget expired idempotency keys: %w", err)
	}
	if err := tx.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
		return fmt.Errorf("save idempotency key: %w", err)
	}
	return nil
}
