// Package uploads keeps files on their way into a workflow: streamed into PostgreSQL in chunks of 1 MiB, each in a
// transaction of its own, read back at any place, and removed when nobody needs them. What belongs here: bytes. What
// they mean is the business of who reads them.
package uploads

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// How long uploads live that nobody comes back for.
const (
	abandonedAfter = 24 * time.Hour     // never completed
	unusedAfter    = 7 * 24 * time.Hour // complete, and no live run reads it
	dropAtOnce     = 64                 // chunks per transaction
)

// Service writes, reads and removes uploads. Clock nil is time.Now.
type Service struct {
	Store *store.Store
	Clock func() time.Time
}

// SaveInput describes an upload. Limit is its largest size in bytes; 0 is no limit.
type SaveInput struct {
	Name    string
	Purpose string
	Limit   int64
}

// Save streams a file into the principal's organization, holding one chunk in memory, and returns the upload with its
// size and SHA-256. What a failure leaves behind is removed, at the latest by a later Save. Faults: TooLarge, BadFile
// when it is empty, Unavailable when the sender stops in the middle.
func (s *Service) Save(ctx context.Context, p auth.Principal, r io.Reader, in SaveInput) (models.Upload, error) {
	s.sweep(ctx, p.OrgID)
	u := models.Upload{ID: models.NewID(), OrgID: p.OrgID, Name: in.Name, Purpose: in.Purpose, CreatedBy: p.Label, CreatedAt: s.now()}
	if err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error { return tx.InsertUpload(&u) }); err != nil {
		return models.Upload{}, err
	}
	err := s.write(ctx, &u, r, in.Limit)
	if err == nil {
		err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error { return tx.CompleteUpload(u) })
	}
	if err != nil {
		if gone := s.Remove(context.WithoutCancel(ctx), p.OrgID, u.ID); gone != nil {
			slog.WarnContext(ctx, "refused upload not removed yet", "org_id", p.OrgID, "error", gone)
		}
		return models.Upload{}, err
	}
	u.Complete = true
	return u, nil
}

// fill reads until buf is full or r ends. Unlike io.ReadFull it keeps the end of r, io.EOF, apart from a body that broke
// off, which net/http and multipart report as io.ErrUnexpectedEOF.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}

func (s *Service) write(ctx context.Context, u *models.Upload, r io.Reader, limit int64) error {
	sum, buf := sha256.New(), make([]byte, store.ChunkSize)
	for {
		n, err := fill(r, buf)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			if fault.CodeOf(err) != fault.Internal {
				return err
			}
			return fault.Wrap(err, fault.Unavailable, "the upload broke off after %d bytes; send the file again", u.Size+int64(n))
		}
		if n > 0 {
			if u.Size += int64(n); limit > 0 && u.Size > limit {
				return fault.New(fault.TooLarge, "the file is larger than %s, the most that is taken", inMiB(limit))
			}
			sum.Write(buf[:n])
			seq := u.Chunks
			if err := s.Store.InOrg(ctx, u.OrgID, func(tx *store.Tx) error { return tx.AddChunk(ctx, u.ID, seq, buf[:n]) }); err != nil {
				return err
			}
			u.Chunks++
		}
		if last {
			break
		}
	}
	if u.Size == 0 {
		return fault.New(fault.BadFile, "The file is empty. Download it again.")
	}
	u.SHA256 = sum.Sum(nil)
	return nil
}

// Remove deletes an upload in bounded transactions; one that is gone already is no error.
func (s *Service) Remove(ctx context.Context, org, id uuid.UUID) error {
	for done := false; !done; {
		err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
			done, err = tx.DropChunks(id, dropAtOnce)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes the organization's uploads that were abandoned or that nobody will read again.
func (s *Service) Sweep(ctx context.Context, org uuid.UUID) (removed int, err error) {
	var stale []uuid.UUID
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		stale, err = tx.StaleUploads(s.now().Add(-abandonedAfter), s.now().Add(-unusedAfter))
		return err
	})
	for _, id := range stale {
		if err == nil {
			err = s.Remove(ctx, org, id)
			removed++
		}
	}
	return removed, err
}

func (s *Service) sweep(ctx context.Context, org uuid.UUID) {
	if _, err := s.Sweep(ctx, org); err != nil {
		slog.WarnContext(ctx, "stale uploads not removed", "org_id", org, "error", err)
	}
}

func (s *Service) now() time.Time {
	if s.Clock == nil {
		return time.Now().UTC()
	}
	return s.Clock().UTC()
}

func inMiB(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
