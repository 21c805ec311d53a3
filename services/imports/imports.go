// Package imports takes accounts, products and what accounts bought from CSV files: a file becomes an upload and a run; the
// run reads and checks it in chunks that survive any process, then makes records of all its rows in one transaction, or of
// none. What belongs here: the kinds of files, their columns, reading and checking them. What follows from records, such
// as revenue lines and facts, is as for those of a provider, in store.
package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/jobs"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/store"
)

// MaxFile is the largest file that is taken, in bytes.
const MaxFile = 512 << 20

// MaxProblems is how many bad rows an answer or a run lists; all are counted.
const MaxProblems = 1000

// Provider is the source that imported records have in links, rows and facts.
const Provider models.Provider = "csv"

// Service imports files. Log may be nil in a process that neither takes nor merges files; Clock nil is time.Now.
type Service struct {
	Store   *store.Store
	Uploads *uploads.Service
	Runs    *runs.Service
	Log     *governance.Service
	Clock   func() time.Time
}

// Actor is who asked for an import, for the log of writes.
type Actor struct {
	Kind      string    `json:"kind"`
	ID        uuid.UUID `json:"id"`
	Label     string    `json:"label"`
	KeyPrefix string    `json:"key_prefix,omitempty"`
	Surface   string    `json:"surface"`
	RequestID string    `json:"request_id,omitempty"`
}

// RunInput is what an import's run is started with.
type RunInput struct {
	UploadID uuid.UUID `json:"upload_id"`
	Resource string    `json:"resource"`
	Actor    Actor     `json:"actor"`
}

// ImportInput is a file. Name is its name where the sender told it.
type ImportInput struct {
	Resource string
	Name     string
	Body     io.Reader
}

// Import stores a file and starts the run that imports it; already tells that a file of this kind was being imported,
// and that run is returned. A file whose form or header does not fit leaves nothing. Faults: Denied, NotFound for an
// unknown resource, BadFile, Invalid with one field error per wrong column, TooLarge.
func (s *Service) Import(ctx context.Context, p auth.Principal, in ImportInput) (run models.Run, already bool, err error) {
	up, err := s.save(ctx, p, in)
	if err != nil {
		return models.Run{}, false, err
	}
	used := false
	defer func() {
		if !used {
			s.remove(ctx, p.OrgID, up.ID)
		}
	}()
	if _, _, err = s.open(ctx, p.OrgID, in.Resource, up.ID); err != nil {
		return models.Run{}, false, err
	}
	run, already, err = s.Runs.Start(ctx, p, runs.StartInput{
		Kind: models.KindImport, Subject: in.Resource,
		WorkflowID: jobs.ImportID(p.OrgID, in.Resource), Input: RunInput{UploadID: up.ID, Resource: in.Resource, Actor: Actor{
			Kind: p.Kind, ID: p.ID, Label: p.Label, KeyPrefix: p.KeyPrefix, Surface: p.Surface, RequestID: p.RequestID,
		}}, Logged: true,
	}) // the merge logs the write
	used = err == nil && !already
	return run, already, err
}

// Report is what a dry run finds.
type Report struct {
	Resource  string    `json:"resource"`
	Rows      int64     `json:"rows" doc:"Rows of the file without its header"`
	Valid     int64     `json:"valid" doc:"Rows that could be imported"`
	Bad       int64     `json:"bad" doc:"Rows that could not; a file is imported only when there are none"`
	Errors    []Problem `json:"errors" doc:"The first 1000 errors by line; a row may have several"`
	Truncated bool      `json:"truncated" doc:"There are more errors than are listed"`
}

// DryRun checks a file as an import would, and writes nothing. Faults as of Import.
func (s *Service) DryRun(ctx context.Context, p auth.Principal, in ImportInput) (Report, error) {
	up, err := s.save(ctx, p, in)
	if err != nil {
		return Report{}, err
	}
	defer s.remove(ctx, p.OrgID, up.ID)
	var out Report
	err = s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		res, err := lookup(in.Resource)
		if err != nil {
			return err
		}
		f, err := openFile(res, &held{ctx: ctx, tx: tx, upload: up}, up.Size)
		if err != nil {
			return err
		}
		if out, err = dryRun(ctx, tx, f); err != nil {
			return err
		}
		return errDry
	})
	if !errors.Is(err, errDry) {
		return Report{}, err
	}
	return out, nil
}

// errDry rolls a dry run back.
var errDry = errors.New("dry run")

func dryRun(ctx context.Context, tx *store.Tx, f *file) (Report, error) {
	run := models.NewID() // of no run: nobody else sees its rows
	var st models.Import
	var found []Problem
	truncated := false
	for done := false; !done; {
		c, err := f.chunk()
		if err != nil {
			return Report{}, err
		}
		if err := tx.StageImport(ctx, run, c.rows); err != nil {
			return Report{}, err
		}
		st.Rows, st.Bad, done = st.Rows+c.read, st.Bad+c.bad, c.done
		keep := min(len(c.problems), MaxProblems-len(found))
		truncated = truncated || keep < len(c.problems)
		found = append(found, c.problems[:keep]...)
	}
	more, bad, err := check(ctx, tx, f.res, run, st.Rows, MaxProblems+1)
	if err != nil {
		return Report{}, err
	}
	all := merge(found, more)
	if len(all) > MaxProblems {
		all, truncated = all[:MaxProblems], true
	}
	st.Bad += bad
	return Report{
		Resource: f.res.name, Rows: st.Rows, Valid: st.Rows - st.Bad, Bad: st.Bad, Errors: all,
		Truncated: truncated,
	}, nil
}

// held reads an upload on the connection of a transaction: a dry run that waited for another one could wait for itself.
type held struct {
	ctx    context.Context
	tx     *store.Tx
	upload models.Upload
	from   int // sequence of the first of chunks
	chunks [][]byte
}

// ReadAt reads at an offset, a few chunks at a time.
func (h *held) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		if off >= h.upload.Size {
			return n, io.EOF
		}
		seq := int(off / store.ChunkSize)
		if seq < h.from || seq >= h.from+len(h.chunks) {
			if h.chunks, err = h.tx.Chunks(h.ctx, h.upload.ID, seq, 4); err != nil {
				return n, err
			}
			if h.from = seq; len(h.chunks) == 0 {
				return n, fault.New(fault.Conflict, "the file was removed while it was being read; send it again")
			}
		}
		m := copy(p[n:], h.chunks[seq-h.from][off%store.ChunkSize:])
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

// Template returns the header of a resource's files.
func (s *Service) Template(p auth.Principal, name string) ([]byte, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, err
	}
	res, err := lookup(name)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join(res.names(), ",") + "\r\n"), nil
}

// save checks who asks and what the first bytes look like, and stores the file.
func (s *Service) save(ctx context.Context, p auth.Principal, in ImportInput) (models.Upload, error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Upload{}, err
	}
	if _, err := lookup(in.Resource); err != nil {
		return models.Upload{}, err
	}
	body := bufio.NewReaderSize(in.Body, 4096)
	head, err := body.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		if fault.CodeOf(err) != fault.Internal {
			return models.Upload{}, err
		}
		return models.Upload{}, fault.Wrap(err, fault.Unavailable, "the file broke off; send it again")
	}
	if err := recognize(bytes.Clone(head)); err != nil {
		return models.Upload{}, err
	}
	name := path.Base(strings.ReplaceAll(in.Name, `\`, "/"))
	if name == "." || name == "/" || len(name) > 255 {
		name = in.Resource + ".csv"
	}
	return s.Uploads.Save(ctx, p, body, uploads.SaveInput{Name: name, Purpose: "import", Limit: MaxFile})
}

func (s *Service) remove(ctx context.Context, org, upload uuid.UUID) {
	_ = s.Uploads.Remove(context.WithoutCancel(ctx), org, upload) // the sweep finds what this leaves
}

// open reads the header of an upload.
func (s *Service) open(ctx context.Context, org uuid.UUID, name string, upload uuid.UUID) (*file, *uploads.Reader, error) {
	res, err := lookup(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.Uploads.Open(ctx, org, upload)
	if err != nil {
		return nil, nil, err
	}
	f, err := openFile(res, r, r.Size())
	return f, r, err
}

func (s *Service) now() time.Time {
	if s.Clock == nil {
		return time.Now().UTC().Truncate(time.Microsecond)
	}
	return s.Clock().UTC().Truncate(time.Microsecond)
}
