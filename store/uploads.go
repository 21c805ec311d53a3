package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/fault"
	"revarch/models"
)

// ChunkSize is the length of every chunk of an upload but its last, in bytes.
const ChunkSize = 1 << 20

// InsertUpload writes a new upload that has no chunks yet.
func (tx *Tx) InsertUpload(u *models.Upload) error {
	u.OrgID = tx.org
	if err := tx.db.Create(u).Error; err != nil {
		return fmt.Errorf("insert upload: %w", err)
	}
	return nil
}

// AddChunk writes the next chunk of an upload. Faults: Conflict when the upload is gone.
func (tx *Tx) AddChunk(ctx context.Context, upload uuid.UUID, seq int, data []byte) error {
	var n int64
	err := tx.pgx(func(c *pgx.Conn) error {
		tag, err := c.Exec(ctx, `INSERT INTO upload_chunks (org_id, upload_id, seq, data)
			SELECT org_id, id, $3, $4 FROM uploads WHERE org_id = $1 AND id = $2 AND NOT complete`, tx.orgArg(), [16]byte(upload), seq, data)
		n = tag.RowsAffected()
		return err
	})
	if err != nil {
		return fmt.Errorf("insert chunk: %w", err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "the upload was removed while it was being written; send the file again")
	}
	return nil
}

// CompleteUpload marks an upload whole.
func (tx *Tx) CompleteUpload(u models.Upload) error {
	err := tx.db.Model(&models.Upload{}).Where("org_id = ? AND id = ?", tx.org, u.ID).
		Updates(map[string]any{"size": u.Size, "chunks": u.Chunks, "sha256": u.SHA256, "complete": true}).Error
	if err != nil {
		return fmt.Errorf("complete upload: %w", err)
	}
	return nil
}

// Upload loads an upload. Faults: NotFound.
func (tx *Tx) Upload(id uuid.UUID) (models.Upload, error) {
	var u models.Upload
	err := tx.db.Where("org_id = ? AND id = ?", tx.org, id).Take(&u).Error
	return u, notFound(err, "no upload %s", id)
}

// Chunks returns up to n chunks of an upload from seq on, in order.
func (tx *Tx) Chunks(ctx context.Context, upload uuid.UUID, seq, n int) ([][]byte, error) {
	var out [][]byte
	err := tx.pgx(func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT data FROM upload_chunks WHERE org_id = $1 AND upload_id = $2 AND seq >= $3 AND seq < $4 ORDER BY seq`,
			tx.orgArg(), [16]byte(upload), seq, seq+n)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return out, nil
}

// DropChunks removes up to n chunks of an upload and, once it has none left, the upload; done tells that it is gone. What
// an interrupted caller left is removed by the next.
func (tx *Tx) DropChunks(upload uuid.UUID, n int) (done bool, err error) {
	res := tx.db.Exec(`DELETE FROM upload_chunks WHERE org_id = ? AND upload_id = ? AND seq IN
		(SELECT seq FROM upload_chunks WHERE org_id = ? AND upload_id = ? ORDER BY seq DESC LIMIT ?)`, tx.org, upload, tx.org, upload, n)
	if res.Error != nil {
		return false, fmt.Errorf("drop chunks: %w", res.Error)
	}
	if res.RowsAffected == int64(n) {
		return false, nil
	}
	if err := tx.db.Exec("DELETE FROM uploads WHERE org_id = ? AND id = ?", tx.org, upload).Error; err != nil {
		return false, fmt.Errorf("drop upload: %w", err)
	}
	return true, nil
}

// StaleUploads lists uploads that nobody will read any more: those never completed, and those whose run has ended or
// never came, each written before its moment.
func (tx *Tx) StaleUploads(incomplete, complete time.Time) ([]uuid.UUID, error) {
	var out []uuid.UUID
	err := tx.db.Raw(`SELECT u.id FROM uploads u WHERE u.org_id = ? AND CASE WHEN u.complete THEN u.created_at < ? AND NOT EXISTS (
			SELECT 1 FROM runs r WHERE r.org_id = u.org_id AND r.status IN ('queued', 'running') AND r.input->>'upload_id' = u.id::text)
		ELSE u.created_at < ? END ORDER BY u.created_at LIMIT 100`, tx.org, complete, incomplete).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list stale uploads: %w", err)
	}
	return out, nil
}
