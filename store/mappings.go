package store

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"revarch/models"
)

// MappingID returns the id of a mapping (canonical field to provider field) and makes it when it is new.
func (tx *Tx) MappingID(ref ObjectRef, entries map[string]string, now time.Time) (int32, error) {
	h := sha256.New()
	for _, target := range slices.Sorted(maps.Keys(entries)) {
		_, _ = fmt.Fprintf(h, "%q=%q;", target, entries[target])
	}
	hash := h.Sum(nil)[:16]
	find := func() (id int32, err error) {
		err = tx.db.Raw("SELECT id FROM mapping_versions WHERE org_id = ? AND provider = ? AND object = ? AND hash = ?",
			tx.org, ref.Provider, ref.Object, hash).Scan(&id).Error
		return id, err
	}
	if id, err := find(); err != nil || id != 0 {
		return id, err
	}
	if err := tx.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "mapping_versions/"+tx.org.String()).Error; err != nil {
		return 0, fmt.Errorf("lock mapping versions: %w", err)
	}
	if id, err := find(); err != nil || id != 0 {
		return id, err
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return 0, fmt.Errorf("encode mapping: %w", err)
	}
	var id int32
	err = tx.db.Raw(`INSERT INTO mapping_versions (org_id, id, provider, object, hash, entries, created_at)
		SELECT ?::uuid, COALESCE(max(id), 0) + 1, ?, ?, ?, ?::jsonb, ? FROM mapping_versions WHERE org_id = ? RETURNING id`,
		tx.org, ref.Provider, ref.Object, hash, string(text), now, tx.org).Scan(&id).Error
	if err != nil {
		return 0, fmt.Errorf("store mapping version: %w", err)
	}
	return id, nil
}

// MappingVersions returns the mappings with the ids.
func (tx *Tx) MappingVersions(ids ...int32) (map[int32]models.MappingVersion, error) {
	var rows []models.MappingVersion
	if err := tx.db.Where("org_id = ? AND id IN ?", tx.org, ids).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read mapping versions: %w", err)
	}
	out := make(map[int32]models.MappingVersion, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}
