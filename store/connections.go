package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"revarch/models"
)

// PutOAuthState stores an authorization in progress and forgets those of the organization that have expired.
func (tx *Tx) PutOAuthState(st models.OAuthState) error {
	st.OrgID = tx.org
	if err := tx.db.Where("org_id = ? AND expires_at < ?", tx.org, st.CreatedAt).Delete(&models.OAuthState{}).Error; err != nil {
		return fmt.Errorf("forget expired authorizations: %w", err)
	}
	if err := tx.db.Create(&st).Error; err != nil {
		return fmt.Errorf("store authorization: %w", err)
	}
	return nil
}

// Connection loads the connection with a provider; ok is false when there never was one.
func (tx *Tx) Connection(p models.Provider) (c models.Connection, ok bool, err error) {
	res := tx.db.Where("org_id = ? AND provider = ?", tx.org, p).Limit(1).Find(&c)
	if res.Error != nil {
		return c, false, fmt.Errorf("load connection: %w", res.Error)
	}
	return c, res.RowsAffected == 1, nil
}

// LockConnection is Connection with the row locked until the transaction ends.
func (tx *Tx) LockConnection(p models.Provider) (c models.Connection, ok bool, err error) {
	res := tx.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("org_id = ? AND provider = ?", tx.org, p).Limit(1).Find(&c)
	if res.Error != nil {
		return c, false, fmt.Errorf("lock connection: %w", res.Error)
	}
	return c, res.RowsAffected == 1, nil
}

// Connections lists the organization's connections.
func (tx *Tx) Connections() ([]models.Connection, error) {
	var out []models.Connection
	if err := tx.db.Where("org_id = ?", tx.org).Order("provider").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	return out, nil
}

// EnsureConnection makes the row of a connection when it is missing, disconnected and empty, and locks it.
func (tx *Tx) EnsureConnection(p models.Provider, now time.Time) (models.Connection, error) {
	c := models.Connection{
		OrgID: tx.org, ID: models.NewID(), Provider: p, Status: models.ConnDisconnected,
		Scopes: models.StringArray{}, CreatedAt: now, UpdatedAt: now,
	}
	err := tx.db.Omit("Schema").Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "org_id"}, {Name: "provider"}}, DoNothing: true}).
		Create(&c).Error
	if err != nil {
		return c, fmt.Errorf("make connection: %w", err)
	}
	c, _, err = tx.LockConnection(p)
	return c, err
}

// SaveConnected writes that a connection stands: account, scopes, who and when, and no error.
func (tx *Tx) SaveConnected(c models.Connection, now time.Time) error {
	return tx.setConnection(c.Provider, map[string]any{
		"status": models.ConnConnected, "account_id": c.AccountID,
		"account_label": c.AccountLabel, "scopes": c.Scopes, "connected_by": c.ConnectedBy, "connected_at": c.ConnectedAt,
		"error_code": nil, "error_message": nil, "error_at": nil, "updated_at": now,
	})
}

// SetConnectionStatus writes a status and, unless code is "", the error that led to it; with "" the error is cleared.
func (tx *Tx) SetConnectionStatus(p models.Provider, status models.ConnectionStatus, code, message string, now time.Time) error {
	set := map[string]any{"status": status, "updated_at": now, "error_code": nil, "error_message": nil, "error_at": nil}
	if code != "" {
		set["error_code"], set["error_message"], set["error_at"] = code, message, now
	}
	return tx.setConnection(p, set)
}

// SetLastSync writes when a sync last ended well; an error of an earlier sync is over then.
func (tx *Tx) SetLastSync(p models.Provider, at time.Time) error {
	res := tx.db.Model(&models.Connection{}).
		Where("org_id = ? AND provider = ? AND status IN ('connected', 'error')", tx.org, p).
		Updates(map[string]any{
			"last_sync_at": at, "status": models.ConnConnected, "updated_at": at,
			"error_code": nil, "error_message": nil, "error_at": nil,
		})
	if res.Error != nil {
		return fmt.Errorf("set last sync: %w", res.Error)
	}
	return nil
}

// SaveSchema writes what was discovered.
func (tx *Tx) SaveSchema(p models.Provider, schema json.RawMessage, now time.Time) error {
	return tx.setConnection(p, map[string]any{"schema": string(schema), "discovered_at": now, "updated_at": now})
}

func (tx *Tx) setConnection(p models.Provider, set map[string]any) error {
	res := tx.db.Model(&models.Connection{}).Where("org_id = ? AND provider = ?", tx.org, p).Updates(set)
	if res.Error != nil {
		return fmt.Errorf("update connection: %w", res.Error)
	}
	return nil
}

// Grant loads the sealed grant of a connection; ok is false when there is none.
func (tx *Tx) Grant(connection uuid.UUID) (g models.ConnectionGrant, ok bool, err error) {
	res := tx.db.Where("org_id = ? AND connection_id = ?", tx.org, connection).Limit(1).Find(&g)
	if res.Error != nil {
		return g, false, fmt.Errorf("load grant: %w", res.Error)
	}
	return g, res.RowsAffected == 1, nil
}

// LockGrant is Grant with the row locked until the transaction ends. Take this lock before that of the connection.
func (tx *Tx) LockGrant(connection uuid.UUID) (g models.ConnectionGrant, ok bool, err error) {
	res := tx.db.Clauses(clause.Locking{Strength: "UPDATE"}).
		Where("org_id = ? AND connection_id = ?", tx.org, connection).Limit(1).Find(&g)
	if res.Error != nil {
		return g, false, fmt.Errorf("lock grant: %w", res.Error)
	}
	return g, res.RowsAffected == 1, nil
}

// PutGrant stores a sealed grant with its version, replacing what is there.
func (tx *Tx) PutGrant(g models.ConnectionGrant) error {
	g.OrgID = tx.org
	err := tx.db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "org_id"}, {Name: "connection_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"sealed", "version", "updated_at"}),
	}).Create(&g).Error
	if err != nil {
		return fmt.Errorf("store grant: %w", err)
	}
	return nil
}

// DeleteGrant erases the grant of a connection.
func (tx *Tx) DeleteGrant(connection uuid.UUID) error {
	err := tx.db.Where("org_id = ? AND connection_id = ?", tx.org, connection).Delete(&models.ConnectionGrant{}).Error
	if err != nil {
		return fmt.Errorf("erase grant: %w", err)
	}
	return nil
}

// Mappings lists the field mappings of a provider, or of all with "", by object and target field.
func (tx *Tx) Mappings(p models.Provider) ([]models.StoredMapping, error) {
	q := tx.db.Where("org_id = ?", tx.org)
	if p != "" {
		q = q.Where("provider = ?", p)
	}
	var out []models.StoredMapping
	if err := q.Order("provider, object, target_field").Find(&out).Error; err != nil {
		return nil, fmt.Errorf("list mappings: %w", err)
	}
	return out, nil
}

// ReplaceMappings makes the given entries the mapping of a provider and returns the new version. Lock the connection before.
func (tx *Tx) ReplaceMappings(p models.Provider, entries []models.FieldMapping, now time.Time) (int64, error) {
	if err := tx.db.Where("org_id = ? AND provider = ?", tx.org, p).Delete(&models.StoredMapping{}).Error; err != nil {
		return 0, fmt.Errorf("clear mappings: %w", err)
	}
	rows := make([]models.StoredMapping, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, models.StoredMapping{OrgID: tx.org, Provider: p, FieldMapping: e})
	}
	if len(rows) > 0 {
		if err := tx.db.CreateInBatches(rows, 500).Error; err != nil {
			return 0, fmt.Errorf("store mappings: %w", err)
		}
	}
	var version int64
	err := tx.db.Raw(`UPDATE connections SET mapping_version = mapping_version + 1, updated_at = ?
		WHERE org_id = ? AND provider = ? RETURNING mapping_version`, now, tx.org, p).Scan(&version).Error
	if err != nil {
		return 0, fmt.Errorf("raise mapping version: %w", err)
	}
	return version, nil
}
