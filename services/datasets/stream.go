package datasets

import (
	"context"
	"errors"
	"io"

	files "revarch/datasets"
	"revarch/store"
)

// target is a table and how a row of a file becomes one of its rows.
type target struct {
	table  store.EduTable
	encode func(*store.EduEncoder, files.Row)
}

// tablesOf lists what a format fills. SAIPE is a roster of districts, too.
func tablesOf(f files.Format) []target {
	switch f {
	case files.FormatIPEDSHD:
		return []target{{store.EduInstitutions, func(e *store.EduEncoder, r files.Row) { i := toInstitution(r.Institution); e.Institution(&i) }}}
	case files.FormatCCDDirectory:
		return []target{{store.EduDistricts, func(e *store.EduEncoder, r files.Row) { d := District(r.District); e.District(&d) }}}
	case files.FormatSAIPE:
		return []target{
			{store.EduPovertyRows, func(e *store.EduEncoder, r files.Row) { p := toPoverty(r.Poverty); e.Poverty(&p) }},
			{store.EduDistricts, func(e *store.EduEncoder, r files.Row) { d := rosterDistrict(r.Poverty); e.District(&d) }},
		}
	}
	return nil
}

const (
	blockSize     = 128 << 10 // bytes handed over at once
	blocksWaiting = 4
	reportEvery   = 2000 // rows
)

// stream parses and encodes in a goroutine of its own while COPY reads: parsing, sending and storing overlap.
type stream struct {
	blocks chan []byte
	free   chan []byte
	cancel context.CancelFunc
	block  []byte // what is left of the block being read
	whole  []byte // it as it was, to be used again

	err  error // of the file; set before blocks is closed
	seen map[string]struct{}
}

func startStream(ctx context.Context, f *files.File, t target, e *store.EduEncoder, progress func(int64)) *stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{blocks: make(chan []byte, blocksWaiting), free: make(chan []byte, blocksWaiting+2), cancel: cancel, seen: map[string]struct{}{}}
	go func() {
		defer close(s.blocks)
		s.err = s.produce(ctx, f, t, e, progress)
	}()
	return s
}

func (s *stream) produce(ctx context.Context, f *files.File, t target, e *store.EduEncoder, progress func(int64)) error {
	n, state := int64(0), ""
	for row, err := range f.Rows(ctx) {
		if _, bad := errors.AsType[*files.RowError](err); bad {
			continue // counted by the file, and judged by its checks
		}
		if err != nil {
			return err
		}
		if now := stateOf(row); now != state { // files are sorted by state
			state = now
			s.seen[state] = struct{}{}
		}
		t.encode(e, row)
		if n++; n%reportEvery == 0 && progress != nil {
			progress(n)
		}
		if e.Len() >= blockSize {
			if err := s.hand(ctx, e); err != nil {
				return err
			}
		}
	}
	return s.hand(ctx, e)
}

// hand gives what was encoded to the reader and goes on in a block that it is done with.
func (s *stream) hand(ctx context.Context, e *store.EduEncoder) error {
	var next []byte
	select {
	case next = <-s.free:
	default:
		next = make([]byte, 0, blockSize+blockSize/4)
	}
	select {
	case s.blocks <- e.Take(next):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read gives COPY the next bytes, or the file's error.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.block) == 0 {
		if s.whole != nil {
			select {
			case s.free <- s.whole:
			default:
			}
			s.whole = nil
		}
		next, ok := <-s.blocks
		if !ok {
			if s.err != nil {
				return 0, s.err
			}
			return 0, io.EOF
		}
		s.block, s.whole = next, next
	}
	n := copy(p, s.block)
	s.block = s.block[n:]
	return n, nil
}

// stop ends the goroutine and waits for it.
func (s *stream) stop() {
	s.cancel()
	for range s.blocks {
	}
}

// failed returns the file's error once the stream has stopped.
func (s *stream) failed() error {
	s.stop()
	return s.err
}

// states returns how many states were met.
func (s *stream) states() int { return len(s.seen) }

func stateOf(r files.Row) string {
	switch {
	case r.District != nil:
		return r.District.FIPS
	case r.Institution != nil:
		return r.Institution.State
	}
	return r.Poverty.State
}
