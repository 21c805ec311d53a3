package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/store"
)

const (
	chunkRows = 5000
	dropRows  = 50_000
)

// chunk is what is read of a file at once.
type chunk struct {
	rows      []store.ImportRow
	problems  []Problem // at most MaxProblems
	read, bad int64
	done      bool
}

// chunk reads the next rows.
func (f *file) chunk() (chunk, error) {
	c := chunk{rows: make([]store.ImportRow, 0, chunkRows)}
	for c.read < chunkRows {
		row, problems, err := f.next()
		if errors.Is(err, io.EOF) {
			c.done = true
			return c, nil
		}
		if err != nil {
			return c, err
		}
		c.read++
		row.Refused = len(problems) > 0
		if !row.Refused || row.Key != "" || row.AccountKey != "" || row.ProductKey != "" {
			c.rows = append(c.rows, row)
		}
		if !row.Refused {
			continue
		}
		c.bad++
		c.problems = append(c.problems, problems[:min(len(problems), MaxProblems-len(c.problems))]...)
	}
	return c, nil
}

// Staged is how far a file is read.
type Staged struct {
	Rows int64
	Bad  int64
}

// Stage reads and checks the file of a run into the staging table; started again it goes on where the last chunk was
// committed. progress may be nil.
func (s *Service) Stage(ctx context.Context, org, run uuid.UUID, in RunInput, progress func(rows int64)) (Staged, error) {
	s.sweep(ctx, org)
	var st models.Import
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		st, _, err = tx.ImportState(run)
		return err
	})
	if err != nil || st.ReadAt != nil {
		return Staged{st.Rows, st.Bad}, err
	}
	f, r, err := s.open(ctx, org, in.Resource, in.UploadID)
	if err != nil {
		return Staged{}, asBadFile(err)
	}
	if st.ByteOffset > 0 {
		f.seek(r, r.Size(), st.ByteOffset, st.Lines)
	}
	for st.ReadAt == nil {
		if err := s.stage(ctx, org, run, f, &st); err != nil {
			return Staged{}, err
		}
		if progress != nil {
			progress(st.Rows)
		}
	}
	return Staged{st.Rows, st.Bad}, nil
}

// asBadFile makes what is wrong with a header a fault of the file: the run that has it cannot be started again.
func asBadFile(err error) error {
	if fault.Is(err, fault.Invalid) {
		return fault.Wrap(err, fault.BadFile, "%s", fault.Public(err))
	}
	return err
}

// stage commits the next chunk together with where the file goes on.
func (s *Service) stage(ctx context.Context, org, run uuid.UUID, f *file, st *models.Import) error {
	c, err := f.chunk()
	if err != nil {
		return err
	}
	next, now := *st, s.now()
	next.RunID, next.ByteOffset, next.Lines = run, f.offset(), f.last
	next.Rows, next.Bad = st.Rows+c.read, st.Bad+c.bad
	if c.done {
		next.ReadAt = &now
	}
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		if err := tx.StageImport(ctx, run, c.rows); err != nil {
			return err
		}
		if st.Bad < MaxProblems {
			if err := tx.AddFailures(ctx, s.failures(run, f.res.name, c.problems)); err != nil {
				return err
			}
		}
		return tx.SaveImport(next)
	})
	if err == nil {
		*st = next
	}
	return err
}

func (s *Service) failures(run uuid.UUID, resource string, problems []Problem) []models.RunFailure {
	out := make([]models.RunFailure, 0, len(problems))
	for _, p := range problems {
		at, message := fmt.Sprintf("line %09d", p.Line), "The row "+p.Reason+"."
		if p.Column != "" {
			at, message = at+" "+p.Column, p.Column+" "+p.Reason+"."
		}
		out = append(out, models.RunFailure{
			RunID: run, Object: resource, ExternalID: at, Code: "bad_row",
			Message: fmt.Sprintf("Line %d: %s", p.Line, message), At: s.now(),
		})
	}
	return out
}

// reasons says where the problems are that show only beside other rows and what is stored.
var reasons = map[string]func(*resource) (column, reason string){
	store.ImportDuplicate: func(r *resource) (string, string) {
		if r.record == models.RecordAccountProduct {
			return "", "repeats account, product and start date of a row before it"
		}
		return r.columns[0].name, "is there already in a row before"
	},
	store.ImportUnknownAccount:   func(*resource) (string, string) { return "account_external_id", "is the id of no account" },
	store.ImportAmbiguousAccount: func(*resource) (string, string) { return "account_external_id", "is the id of several accounts" },
	store.ImportUnknownProduct:   func(*resource) (string, string) { return "sku", "is the code of no product" },
	store.ImportAmbiguousProduct: func(*resource) (string, string) { return "sku", "is the code of several products" },
	store.ImportForeignProduct: func(*resource) (string, string) {
		return "sku", "is the code of a product that is synced from a connected system; leave the row out"
	},
}

// check looks for rows that fit neither each other nor what is stored: up to limit problems, and how many rows that were
// good until then.
func check(ctx context.Context, tx *store.Tx, res *resource, run uuid.UUID, rows int64, limit int) ([]Problem, int64, error) {
	if err := tx.PlanImport(rows); err != nil {
		return nil, 0, err
	}
	found, bad, err := tx.ImportProblems(ctx, run, Provider, res.record == models.RecordProduct, limit)
	out := make([]Problem, 0, len(found))
	for _, p := range found {
		column, reason := reasons[p.Code](res)
		out = append(out, Problem{p.Line, column, reason})
	}
	return out, bad, err
}

// merge puts problems in the order of the file.
func merge(lists ...[]Problem) []Problem {
	all := append([]Problem{}, slices.Concat(lists...)...)
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// Merged is what became of the rows of a file.
type Merged struct {
	Read, Created, Updated, Unchanged int64
	Scores                            bool // scores depend on what was imported
}

// Merge makes records of all rows of a staged file, with the counts of the run and an entry in the log, in one
// transaction; done again it changes nothing. A file with bad rows changes nothing at all: they are noted as failures of
// the run, and the fault is BadFile.
func (s *Service) Merge(ctx context.Context, org, run uuid.UUID, in RunInput) (Merged, error) {
	f, _, err := s.open(ctx, org, in.Resource, in.UploadID)
	if err != nil {
		return Merged{}, asBadFile(err)
	}
	out := Merged{Scores: f.res.scores}
	var refused error
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		refused = nil
		st, ok, err := tx.ImportState(run)
		switch {
		case err != nil:
			return err
		case !ok || st.ReadAt == nil:
			return fault.New(fault.Internal, "the file of run %s is not read", run)
		case st.MergedAt != nil:
			return nil
		}
		problems, bad, err := check(ctx, tx, f.res, run, st.Rows, MaxProblems)
		if err != nil {
			return err
		}
		if bad += st.Bad; bad > 0 {
			refused, err = s.refuse(ctx, tx, st, f.res, problems, bad)
			return err
		}
		return s.merge(ctx, tx, st, f, in, &out)
	})
	return out, errors.Join(err, refused)
}

// refuse notes why nothing is imported.
func (s *Service) refuse(ctx context.Context, tx *store.Tx, st models.Import, res *resource, problems []Problem, bad int64) (refused, err error) {
	if err := tx.AddFailures(ctx, s.failures(st.RunID, res.name, problems)); err != nil {
		return nil, err
	}
	first, err := tx.RunFailures(st.RunID, "", "", 1)
	if err != nil {
		return nil, err
	}
	_, err = tx.UpdateRun(st.RunID, store.RunProgress{
		Done: &st.Rows, Total: &st.Rows,
		Counts: map[string]int64{"read": st.Rows, "failed": bad, "unchanged": st.Rows - bad},
	}, s.now())
	text := fmt.Sprintf("%d of %d rows cannot be imported, so nothing was changed.", bad, st.Rows)
	if len(first) > 0 {
		text += " " + first[0].Message
	}
	return fault.New(fault.BadFile, "%s", text), err
}

func (s *Service) merge(ctx context.Context, tx *store.Tx, st models.Import, f *file, in RunInput, out *Merged) (err error) {
	now := s.now()
	m := store.Merge{
		ObjectRef: store.ObjectRef{Provider: Provider, Object: f.res.name, Record: f.res.record},
		SourceRef: string(Provider) + ":" + st.RunID.String(), Now: now,
	}
	if m.MappingID, err = tx.MappingID(m.ObjectRef, f.res.entries(), now); err != nil {
		return err
	}
	out.Read = st.Rows
	if out.Created, out.Updated, out.Unchanged, err = tx.MergeImport(ctx, m, st.RunID, f.res.cells(f.at)); err != nil {
		return err
	}
	st.MergedAt = &now
	if err := tx.SaveImport(st); err != nil {
		return err
	}
	counts := map[string]int64{"read": out.Read, "created": out.Created, "updated": out.Updated, "unchanged": out.Unchanged, "failed": 0}
	if _, err := tx.UpdateRun(st.RunID, store.RunProgress{Done: &st.Rows, Total: &st.Rows, Counts: counts}, now); err != nil {
		return err
	}
	who := auth.Principal{
		OrgID: tx.Org(), Kind: in.Actor.Kind, ID: in.Actor.ID, Label: in.Actor.Label, KeyPrefix: in.Actor.KeyPrefix,
		Surface: in.Actor.Surface, RequestID: in.Actor.RequestID,
	}
	_, err = s.Log.Record(tx, who, governance.Entry{
		Tool: "import-file", SubjectType: "import", SubjectID: f.res.name,
		Args: map[string]any{"resource": f.res.name, "upload_id": in.UploadID}, After: map[string]any{"run_id": st.RunID, "counts": counts},
	})
	return err
}

// Close removes what an import leaves behind: its staged rows and its upload. It may come again.
func (s *Service) Close(ctx context.Context, org, run uuid.UUID, in RunInput) error {
	if err := s.drop(ctx, org, run); err != nil {
		return err
	}
	return s.Uploads.Remove(ctx, org, in.UploadID)
}

func (s *Service) drop(ctx context.Context, org, run uuid.UUID) error {
	for done := false; !done; {
		err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
			if done, err = tx.DropImportRows(run, dropRows); err != nil || !done {
				return err
			}
			return tx.DropImport(run)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the staged rows of runs that were ended from outside.
func (s *Service) sweep(ctx context.Context, org uuid.UUID) {
	var stale []uuid.UUID
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) (err error) {
		stale, err = tx.StaleImports()
		return err
	})
	for _, run := range stale {
		if err == nil {
			err = s.drop(ctx, org, run)
		}
	}
}
