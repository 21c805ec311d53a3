package uploads_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/uploads"
	"revarch/testkit"
)

type system struct {
	db    testkit.DB
	svc   *uploads.Service
	p     auth.Principal
	clock *time.Time
}

func setup(t *testing.T) *system {
	t.Helper()
	s := &system{db: testkit.Database(t, testkit.Product(t))}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s.clock = &now
	s.svc = &uploads.Service{Store: testkit.OpenStore(t, s.db.App, 4), Clock: func() time.Time { return *s.clock }}
	s.p = auth.Principal{OrgID: s.db.NewOrg(t, "Org"), Kind: "user", Label: "a@example.com"}
	return s
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func TestUploads(t *testing.T) {
	t.Parallel()

	t.Run("what was written is read at any place, by many at once", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		data := noise(9<<20 + 123)
		u, err := s.svc.Save(t.Context(), s.p, iotest.HalfReader(bytes.NewReader(data)), uploads.SaveInput{Name: "f", Purpose: "test", Limit: 10 << 20})
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		require.Equal(t, sum[:], u.SHA256)
		require.EqualValues(t, len(data), u.Size)
		require.Equal(t, 10, u.Chunks)
		r, err := s.svc.Open(t.Context(), s.p.OrgID, u.ID)
		require.NoError(t, err)
		whole, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, whole))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				pick := rand.New(rand.NewPCG(1, uint64(i)))
				for range 50 {
					off := pick.IntN(len(data))
					buf := make([]byte, pick.IntN(3<<20))
					n, err := r.ReadAt(buf, int64(off))
					if off+len(buf) > len(data) != errors.Is(err, io.EOF) || !bytes.Equal(buf[:n], data[off:off+n]) {
						t.Errorf("read %d bytes at %d: %d, %v", len(buf), off, n, err)
					}
				}
			})
		}
		wg.Wait()
	})

	t.Run("what is too large, empty or broken off leaves nothing", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		after := func(n int, err error) io.Reader {
			return io.MultiReader(bytes.NewReader(noise(n)), iotest.ErrReader(err))
		}
		for _, c := range []struct {
			body io.Reader
			want fault.Code
		}{
			{bytes.NewReader(noise(3<<20 + 1)), fault.TooLarge},
			{bytes.NewReader(nil), fault.BadFile},
			{after(2<<20, io.ErrClosedPipe), fault.Unavailable},
			{after(2<<20, io.ErrUnexpectedEOF), fault.Unavailable}, // as a body ends whose sender went away
			{after(100, io.ErrUnexpectedEOF), fault.Unavailable},
			{after(100, fault.New(fault.Invalid, "wrong")), fault.Invalid},
		} {
			_, err := s.svc.Save(t.Context(), s.p, c.body, uploads.SaveInput{Name: "f", Limit: 3 << 20})
			require.Equal(t, c.want, fault.CodeOf(err))
		}
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM uploads")+s.db.Count(t, "SELECT count(*) FROM upload_chunks"))
	})

	t.Run("abandoned and unused ones are swept, used ones stay", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		save := func() uuid.UUID {
			u, err := s.svc.Save(t.Context(), s.p, bytes.NewReader(noise(2<<20)), uploads.SaveInput{Name: "f"})
			require.NoError(t, err)
			return u.ID
		}
		abandoned, unused, used := save(), save(), save()
		s.db.Exec(t, "UPDATE uploads SET complete = false WHERE id = $1", abandoned)
		s.db.Exec(t, "INSERT INTO runs (org_id, id, kind, subject, workflow_id, status, input) VALUES ($1, gen_random_uuid(), 'k', 's', 'w', 'running', jsonb_build_object('upload_id', $2::text))", s.p.OrgID, used)
		*s.clock = s.clock.Add(25 * time.Hour)
		n, err := s.svc.Sweep(t.Context(), s.p.OrgID)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		*s.clock = s.clock.Add(7 * 24 * time.Hour)
		n, err = s.svc.Sweep(t.Context(), s.p.OrgID)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Zero(t, s.db.Count(t, "SELECT count(*) FROM uploads WHERE id = $1", unused))
		require.EqualValues(t, 2, s.db.Count(t, "SELECT count(*) FROM upload_chunks WHERE upload_id = $1", used))
	})

	t.Run("another organization cannot read one", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		u, err := s.svc.Save(t.Context(), s.p, bytes.NewReader(noise(10)), uploads.SaveInput{Name: "f"})
		require.NoError(t, err)
		other := s.db.NewOrg(t, "Other")
		_, err = s.svc.Open(t.Context(), other, u.ID)
		require.Equal(t, fault.NotFound, fault.CodeOf(err))
		require.NoError(t, s.svc.Remove(t.Context(), other, u.ID))
		require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM upload_chunks"))
	})
}
