package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/models"
)

// Deletion says that a record is gone at the source.
type Deletion struct {
	ExternalID string
	RecordID   uuid.UUID // the canonical record made from it, Nil if none
	At         time.Time // at the source; zero when unknown
	MergedInto string    // external id of the winner of a merge, "" otherwise
}

// DeleteRecords marks raw and canonical records deleted. Rows that point at them stay.
func (tx *Tx) DeleteRecords(ctx context.Context, ref ObjectRef, deletions []Deletion, now time.Time) error {
	b, org, t := &pgx.Batch{}, tx.orgArg(), tableOf(ref.Record)
	ids := make([][16]byte, 0, len(deletions))
	for _, d := range deletions {
		b.Queue(`UPDATE raw_records SET deleted_at = COALESCE(deleted_at, $5), merged_into = COALESCE(NULLIF($6::text, ''), merged_into),
			source_updated_at = GREATEST(source_updated_at, $7) WHERE org_id = $1 AND external_id = $4 AND object = $3 AND provider = $2`,
			org, string(ref.Provider), ref.Object, d.ExternalID, now, d.MergedInto, timeOrNil(d.At))
		if d.RecordID != uuid.Nil {
			ids = append(ids, d.RecordID)
		}
	}
	if t.name != "" && len(ids) > 0 {
		b.Queue("UPDATE "+t.name+" SET deleted_at = $3, updated_at = $3 WHERE org_id = $1 AND id = ANY ($2) AND deleted_at IS NULL", org, ids, now)
	}
	if (ref.Record == models.RecordAccount || ref.Record == models.RecordAccountProduct) && len(ids) > 0 {
		b.Queue("DELETE FROM subscription_lines WHERE org_id = $1 AND id = ANY ($2)", org, ids) // a line has the id of what it is of
	}
	return tx.run(ctx, "delete records", b)
}

// child is a column that refers to a record, and the external id it was read from.
type child struct{ table, column, external string }

// linked are the records that others refer to, in the order in which links are resolved.
var linked = []models.RecordType{models.RecordAccount, models.RecordContact, models.RecordOpportunity, models.RecordProduct}

// children lists, per record, the columns that refer to it.
var children = func() map[models.RecordType][]child {
	out := map[models.RecordType][]child{}
	for _, record := range []models.RecordType{
		models.RecordContact, models.RecordOpportunity, models.RecordActivity, models.RecordAccountProduct,
		models.RecordProductPrice, models.RecordOrderLine,
	} {
		for _, l := range Links(record) {
			out[l.Record] = append(out[l.Record], child{tableOf(record).name, l.Column, l.External})
		}
	}
	return out
}()

// ApplyMerges lets the winner of each merge stand for its loser: links and children of the loser point to the winner.
// Merges whose winner is not stored yet wait for the next call. It returns how many it applied.
func (tx *Tx) ApplyMerges(ctx context.Context, ref ObjectRef, now time.Time) (int64, error) {
	if len(children[ref.Record]) == 0 {
		return 0, nil
	}
	winnerOf := map[uuid.UUID]uuid.UUID{}
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT l.record_id, w.record_id FROM raw_records r
			JOIN record_links l USING (org_id, provider, object, external_id)
			JOIN record_links w ON w.org_id = r.org_id AND w.provider = r.provider AND w.object = r.object AND w.external_id = r.merged_into
			WHERE r.org_id = $1 AND r.provider = $2 AND r.object = $3 AND r.merged_into IS NOT NULL
			AND l.merged_from IS NULL AND w.record_id <> l.record_id ORDER BY l.external_id`, tx.orgArg(), string(ref.Provider), ref.Object)
		if err != nil {
			return err
		}
		var loser, winner [16]byte
		_, err = pgx.ForEachRow(rows, []any{&loser, &winner}, func() error {
			if w := follow(winnerOf, winner); w != uuid.UUID(loser) { // a circle of merges stays open at its end
				winnerOf[loser] = w
			}
			return nil
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find merges: %w", err)
	}
	if len(winnerOf) == 0 {
		return 0, nil
	}
	losers, winners := make([][16]byte, 0, len(winnerOf)), make([][16]byte, 0, len(winnerOf))
	for l := range winnerOf {
		losers, winners = append(losers, l), append(winners, follow(winnerOf, l))
	}
	return int64(len(losers)), tx.run(ctx, "apply merges", tx.mergeBatch(ref, losers, winners, now))
}

// follow walks a chain of merges to the record that stands at its end.
func follow(winnerOf map[uuid.UUID]uuid.UUID, id uuid.UUID) uuid.UUID {
	for {
		next, ok := winnerOf[id]
		if !ok {
			return id
		}
		id = next
	}
}

func (tx *Tx) mergeBatch(ref ObjectRef, losers, winners [][16]byte, now time.Time) *pgx.Batch {
	b, org := &pgx.Batch{}, tx.orgArg()
	const pairs = " FROM unnest($2::uuid[], $3::uuid[]) m (loser, winner)"
	b.Queue(`UPDATE record_links l SET merged_from = COALESCE(l.merged_from, l.record_id), record_id = m.winner`+pairs+
		` WHERE l.org_id = $1 AND l.record_id = m.loser`, org, losers, winners)
	if ref.Record == models.RecordAccount {
		b.Queue(`UPDATE accounts a SET merged_into = l.record_id, deleted_at = COALESCE(a.deleted_at, $3), updated_at = $3 FROM record_links l
			WHERE l.org_id = $1 AND l.record_id = ANY ($2) AND a.org_id = $1 AND a.id = l.merged_from
			AND a.merged_into IS DISTINCT FROM l.record_id`, org, winners, now)
	}
	for _, c := range children[ref.Record] {
		b.Queue("UPDATE "+c.table+" c SET "+c.column+" = m.winner, updated_at = $4"+pairs+" WHERE c.org_id = $1 AND c."+c.column+" = m.loser",
			org, losers, winners, now)
	}
	return b
}

// Unmerge gives records that came back to life their own identity again, and the children that name them.
func (tx *Tx) Unmerge(ctx context.Context, ref ObjectRef, externalIDs []string, now time.Time) error {
	if len(externalIDs) == 0 {
		return nil
	}
	b, org := &pgx.Batch{}, tx.orgArg()
	args := []any{org, string(ref.Provider), ref.Object, externalIDs}
	const links = ` FROM record_links l WHERE l.org_id = $1 AND l.provider = $2 AND l.object = $3 AND l.external_id = ANY ($4)
		AND l.merged_from IS NOT NULL`
	for _, c := range children[ref.Record] {
		b.Queue("UPDATE "+c.table+" c SET "+c.column+" = l.merged_from, updated_at = $5"+links+" AND c.org_id = $1 AND c.provider = $2 AND c."+
			c.column+" = l.record_id AND c."+c.external+" = l.external_id", append(args, now)...)
	}
	b.Queue(`UPDATE record_links SET record_id = merged_from, merged_from = NULL WHERE org_id = $1 AND provider = $2 AND object = $3
		AND external_id = ANY ($4) AND merged_from IS NOT NULL`, args...)
	return tx.run(ctx, "undo merges", b)
}

// ResolveLinks ties children to accounts and contacts that arrived after them or were merged since. It returns how many
// children it tied and how many still name an account that is not known.
func (tx *Tx) ResolveLinks(ctx context.Context, provider models.Provider, now time.Time) (resolved, orphans int64, err error) {
	for _, record := range linked {
		for _, c := range children[record] {
			late := tx.db.Exec(`UPDATE `+c.table+` c SET `+c.column+` = l.record_id, updated_at = ? FROM record_links l
				WHERE c.org_id = ? AND c.provider = ? AND c.`+c.column+` IS NULL AND c.`+c.external+` IS NOT NULL
				AND l.org_id = c.org_id AND l.provider = c.provider AND l.record_type = ? AND l.external_id = c.`+c.external,
				now, tx.org, provider, record)
			if late.Error != nil {
				return 0, 0, fmt.Errorf("resolve links of %s: %w", c.table, late.Error)
			}
			moved := tx.db.Exec(`UPDATE `+c.table+` c SET `+c.column+` = l.record_id, updated_at = ? FROM record_links l
				WHERE l.org_id = ? AND l.provider = ? AND l.merged_from IS NOT NULL AND l.record_type = ?
				AND c.org_id = l.org_id AND c.`+c.column+` = l.merged_from`, now, tx.org, provider, record)
			if moved.Error != nil {
				return 0, 0, fmt.Errorf("move merged links of %s: %w", c.table, moved.Error)
			}
			resolved += late.RowsAffected + moved.RowsAffected
			if record != models.RecordAccount {
				continue
			}
			var n int64
			if err := tx.db.Raw(`SELECT count(*) FROM `+c.table+` WHERE org_id = ? AND provider = ? AND account_id IS NULL
				AND account_external_id IS NOT NULL AND deleted_at IS NULL`, tx.org, provider).Scan(&n).Error; err != nil {
				return 0, 0, fmt.Errorf("count orphans of %s: %w", c.table, err)
			}
			orphans += n
		}
	}
	return resolved, orphans, tx.deriveSales(ctx, provider, now)
}

// PendingMerges lists the objects of a provider that have merges waiting for their winner.
func (tx *Tx) PendingMerges(provider models.Provider) ([]ObjectRef, error) {
	var out []ObjectRef
	err := tx.db.Raw(`SELECT DISTINCT r.provider, r.object, l.record_type AS record FROM raw_records r
		JOIN record_links l USING (org_id, provider, object, external_id)
		WHERE r.org_id = ? AND r.provider = ? AND r.merged_into IS NOT NULL AND l.merged_from IS NULL`, tx.org, provider).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("find pending merges: %w", err)
	}
	return out, nil
}
