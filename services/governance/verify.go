package governance

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"revarch/models"
	"revarch/store"
)

// Verification is the result of walking a chain.
type Verification struct {
	OK      bool
	Entries int64 // how many were walked
	BadSeq  int64 // first entry that does not check, 0 if none
}

// anchor is an entry up to which a chain was seen to check; the zero anchor is before the first.
type anchor struct {
	seq  int64
	hash []byte
}

// The pace of whole walks by readers of the log.
const (
	walkEvery  = time.Hour   // what was changed long ago is found by then, wherever it is
	brokenFor  = time.Minute // a chain that does not check is not walked anew for each reader
	walkWithin = 10 * time.Minute
)

// walks is what this process knows of chains. It is nowhere else, so nobody who can write to the database can forge it.
type walks struct {
	mu     sync.Mutex
	known  map[uuid.UUID]known
	single singleflight.Group
}

// known is what this process knows of one chain.
type known struct {
	anchor
	whole  time.Time // when the last walk from the first entry began
	broken time.Time // when it was found broken, zero if it was not
}

// Verify walks an organization's whole chain in pages: each hash must follow from the entry and the one before, no
// number may be missing, and the head must be one of them. What is written meanwhile follows the head.
func (s *Service) Verify(ctx context.Context, org uuid.UUID) (Verification, error) {
	v, _, err := s.walk(ctx, org, anchor{}, anchor{})
	return v, err
}

// Check tells a reader of the log whether an organization's chain checks, as cheaply as that can be said: the entries
// shown must hash to what they say, all that was written since the last check must follow from it, and the chain must
// still lead through the entry that was its newest then. The first reader, and one each hour, walks the whole chain.
func (s *Service) Check(ctx context.Context, org uuid.UUID, shown []models.GovernanceEntry) (bool, error) {
	for i := range shown {
		e := &shown[i]
		want, err := store.GovernanceHash(e)
		if err != nil {
			return false, err
		}
		newer := i > 0 && shown[i-1].Seq == e.Seq+1
		if !bytes.Equal(e.Hash, want) || newer && !bytes.Equal(shown[i-1].PrevHash, e.Hash) {
			return false, nil
		}
	}
	// One walk serves all who wait for it, and the first of them may go away.
	walking := s.walks.single.DoChan(org.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), walkWithin)
		defer cancel()
		return s.goOn(ctx, org)
	})
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case r := <-walking:
		ok, _ := r.Val.(bool)
		return ok, r.Err
	}
}

// goOn walks from where the last walk ended, or the whole chain when that is due, and remembers.
func (s *Service) goOn(ctx context.Context, org uuid.UUID) (bool, error) {
	s.walks.mu.Lock()
	k := s.walks.known[org]
	s.walks.mu.Unlock()
	now := s.Clock()
	if !k.broken.IsZero() && now.Sub(k.broken) < brokenFor {
		return false, nil
	}
	from := k.anchor
	whole := k.whole.IsZero() || !k.broken.IsZero() || now.Sub(k.whole) >= walkEvery
	if whole {
		from = anchor{}
	}
	v, to, err := s.walk(ctx, org, from, k.anchor)
	if err != nil {
		return false, err
	}
	if k.broken = now; v.OK {
		k.broken, k.anchor = time.Time{}, to
		if whole {
			k.whole = now
		}
	}
	s.walks.mu.Lock()
	defer s.walks.mu.Unlock()
	if s.walks.known == nil {
		s.walks.known = map[uuid.UUID]known{}
	}
	s.walks.known[org] = k
	return v.OK, nil
}

// walk checks the chain from an entry on, that one included, to its head. It must lead through the entry seen before:
// a chain that was cut or written anew does not, however well it hangs together.
func (s *Service) walk(ctx context.Context, org uuid.UUID, from, through anchor) (Verification, anchor, error) {
	v, at := Verification{OK: true}, from
	after := max(from.seq-1, 0)
	for {
		var page []models.GovernanceEntry
		var head models.GovernanceHead
		err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
			page, head, err = tx.GovernancePage(after, 500)
			return err
		})
		if err != nil {
			return v, at, err
		}
		for i := range page {
			e := &page[i]
			want, err := store.GovernanceHash(e)
			if err != nil {
				return v, at, err
			}
			again := e.Seq == from.seq // the entry that the walk starts from, whose predecessor is not known
			if e.Seq != after+1 || !bytes.Equal(e.Hash, want) || !again && !bytes.Equal(e.PrevHash, at.hash) ||
				e.Seq == head.Seq && !bytes.Equal(e.Hash, head.Hash) || e.Seq == through.seq && !bytes.Equal(e.Hash, through.hash) {
				return Verification{Entries: v.Entries, BadSeq: e.Seq}, at, nil
			}
			at, after = anchor{e.Seq, e.Hash}, e.Seq
			v.Entries++
		}
		if len(page) < 500 {
			if after < max(head.Seq, through.seq) || head.Seq == after && !bytes.Equal(head.Hash, at.hash) {
				return Verification{Entries: v.Entries, BadSeq: after + 1}, at, nil
			}
			return v, at, nil
		}
	}
}
