package uploads

import (
	"context"
	"io"
	"sync"

	"github.com/google/uuid"

	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Chunks fetched together, and kept in memory.
const (
	fetchTogether = 4
	keepWindows   = 4
)

// Reader reads an upload at any place. Chunks come in windows that are kept while they are used, and the window after
// the one being read is fetched ahead. It is safe for concurrent use.
type Reader struct {
	ctx    context.Context
	store  *store.Store
	upload models.Upload

	mu      sync.Mutex
	windows map[int]*window
	clock   int
}

// window is a few chunks in a row; ready is closed once data or err is set.
type window struct {
	ready chan struct{}
	data  [][]byte
	err   error
	used  int
}

// Open opens a complete upload for reading until ctx ends. Faults: NotFound, Conflict.
func (s *Service) Open(ctx context.Context, org, id uuid.UUID) (*Reader, error) {
	r := &Reader{ctx: ctx, store: s.Store, windows: map[int]*window{}}
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		r.upload, err = tx.Upload(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !r.upload.Complete {
		return nil, fault.New(fault.Conflict, "the upload %s is not complete; send the file again", id)
	}
	return r, nil
}

// Upload is what is being read.
func (r *Reader) Upload() models.Upload { return r.upload }

// Size is the length in bytes.
func (r *Reader) Size() int64 { return r.upload.Size }

// ReadAt reads at an offset; see io.ReaderAt.
func (r *Reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fault.New(fault.Internal, "read before the beginning of an upload")
	}
	for n < len(p) {
		if off >= r.upload.Size {
			return n, io.EOF
		}
		chunk, err := r.chunk(int(off / store.ChunkSize))
		if err != nil {
			return n, err
		}
		at := int(off % store.ChunkSize)
		if at >= len(chunk) {
			return n, fault.New(fault.Internal, "a chunk of upload %s is too short", r.upload.ID)
		}
		m := copy(p[n:], chunk[at:])
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

func (r *Reader) chunk(seq int) ([]byte, error) {
	i := seq / fetchTogether
	w := r.window(i)
	if (i+1)*fetchTogether < r.upload.Chunks {
		r.window(i + 1) // sequential readers want it next
	}
	select {
	case <-w.ready:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	if w.err != nil {
		r.mu.Lock()
		delete(r.windows, i) // the next read tries again
		r.mu.Unlock()
		return nil, w.err
	}
	if k := seq % fetchTogether; k < len(w.data) {
		return w.data[k], nil
	}
	return nil, fault.New(fault.Conflict, "the upload %s was removed while it was being read; send the file again", r.upload.ID)
}

// window returns a window, asking for it when it is not there.
func (r *Reader) window(i int) *window {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.windows[i]
	if w == nil {
		w = &window{ready: make(chan struct{})}
		r.evict()
		r.windows[i] = w
		go r.fetch(i, w)
	}
	r.clock++
	w.used = r.clock
	return w
}

// evict forgets the window that was used longest ago once there are enough.
func (r *Reader) evict() {
	if len(r.windows) < keepWindows {
		return
	}
	oldest := -1
	for i, w := range r.windows {
		if oldest < 0 || w.used < r.windows[oldest].used {
			oldest = i
		}
	}
	delete(r.windows, oldest)
}

func (r *Reader) fetch(i int, w *window) {
	defer close(w.ready)
	w.err = r.store.InOrg(r.ctx, r.upload.OrgID, func(tx *store.Tx) (err error) {
		w.data, err = tx.Chunks(r.ctx, r.upload.ID, i*fetchTogether, fetchTogether)
		return err
	})
}
