package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	files "revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Registered is the release that a run loads. AlreadyLoaded tells that these very bytes were loaded before, as it.
type Registered struct {
	ReleaseID     uuid.UUID
	Label         string
	AlreadyLoaded bool
	Current       bool // of one that was already loaded
	Rows          int64
}

// Register opens a run's upload and notes the release that it is. Repeating it returns the same. What runs that have ended
// left half-loaded is removed. Faults: BadFile, NotFound.
func (s *Service) Register(ctx context.Context, org, run uuid.UUID, in RunInput) (Registered, error) {
	f, err := s.open(ctx, org, in)
	if err != nil {
		return Registered{}, err
	}
	var got Registered
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		if err := failAbandoned(tx); err != nil {
			return err
		}
		up, err := tx.Upload(in.UploadID)
		if err != nil {
			return err
		}
		row := release(f, up, in.Partial)
		row.RunID, row.CreatedAt = run, s.now()
		if mine, ok, err := tx.ReleaseOfRun(run); err != nil || ok {
			got = Registered{ReleaseID: mine.ID, Label: mine.VintageLabel}
			return err
		}
		if old, ok, err := tx.LoadedRelease(row); err != nil || ok {
			got = Registered{ReleaseID: old.ID, Label: old.VintageLabel, AlreadyLoaded: true, Current: old.Status == models.ReleaseCurrent, Rows: old.Rows}
			return err
		}
		got = Registered{ReleaseID: row.ID, Label: row.VintageLabel}
		return tx.InsertRelease(&row)
	})
	return got, err
}

func failAbandoned(tx *store.Tx) error {
	dead, err := tx.AbandonedReleases()
	for _, id := range dead {
		if err == nil {
			err = tx.FailRelease(id, "The job that loaded it was interrupted.")
		}
	}
	return err
}

func release(f *files.File, up models.Upload, partial bool) models.EduRelease {
	v := f.Vintage
	row := models.EduRelease{
		ID: models.NewID(), Dataset: string(f.Format), VintageYear: v.Year, VintageBasis: string(v.Basis), VintageLabel: v.Label,
		Release: string(v.Release), ReleaseRank: v.Release.Rank(), Token: v.Token, Scope: models.ScopeNational, Layout: f.Layout, Encoding: f.Encoding,
		SourceName: up.Name, SHA256: up.SHA256, Checks: json.RawMessage("[]"), Status: models.ReleaseLoading,
	}
	if partial {
		row.Scope = models.ScopePartial
	}
	return row
}

// Loaded counts a load.
type Loaded struct{ Rows, Bad int64 }

// Load reads the upload into the release's rows, judges the whole, and keeps the rows only if every check passed: all in
// one transaction that nobody else sees, so that whatever interrupts it leaves nothing, and repeating it is safe.
// progress may be nil; it is called now and then with the rows read. Faults: BadFile, Conflict, NotFound.
func (s *Service) Load(ctx context.Context, org, run, id uuid.UUID, in RunInput, progress func(rows int64)) (Loaded, error) {
	f, err := s.open(ctx, org, in)
	if err != nil {
		return Loaded{}, err
	}
	var got Loaded
	err = s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		row, err := tx.LockLoading(id)
		if err != nil {
			return err
		}
		if row.RunID != run {
			return fault.New(fault.Internal, "release %s belongs to another run", id)
		}
		if err := tx.DropReleaseRows(id); err != nil { // of an attempt whose answer was lost
			return err
		}
		states, err := copyRows(ctx, tx, f, id, progress)
		if err != nil {
			return err
		}
		checks, err := f.Checks()
		if err != nil {
			return err
		}
		if row.Checks, err = json.Marshal(checks); err != nil {
			return fmt.Errorf("encode checks: %w", err)
		}
		stats := f.Stats()
		row.Rows, row.BadRows = int64(stats.Rows), int64(stats.Bad)
		if row.Scope == models.ScopeNational && states < 2 {
			row.Scope = models.ScopeState
		}
		got = Loaded{row.Rows, row.BadRows}
		if err := tx.AddFailures(ctx, s.failures(run, row.Dataset, stats)); err != nil {
			return err
		}
		return tx.SaveLoaded(row)
	})
	return got, err
}

// copyRows streams the file into its tables and returns how many states were met.
func copyRows(ctx context.Context, tx *store.Tx, f *files.File, id uuid.UUID, progress func(int64)) (states int, err error) {
	tables := tablesOf(f.Format)
	for i, t := range tables {
		report := progress
		if i < len(tables)-1 { // several passes are reported as one
			report = nil
		}
		if states, err = copyTable(ctx, tx, f, t, id, report); err != nil {
			return 0, err
		}
	}
	return states, nil
}

func copyTable(ctx context.Context, tx *store.Tx, f *files.File, t target, id uuid.UUID, progress func(int64)) (states int, err error) {
	s := startStream(ctx, f, t, store.NewEduEncoder(id), progress)
	defer s.stop()
	n, err := tx.CopyEdu(ctx, t.table, s)
	// The file's own trouble comes before what the database made of its end, but not that nobody read on.
	if broken := s.failed(); broken != nil && (err == nil || ctx.Err() != nil || !errors.Is(broken, context.Canceled)) {
		return 0, broken
	}
	if err != nil {
		return 0, err
	}
	if n != int64(f.Stats().Rows) {
		return 0, fault.New(fault.Internal, "%d rows were read and %d stored", f.Stats().Rows, n)
	}
	return s.states(), nil
}

func (s *Service) failures(run uuid.UUID, dataset string, stats files.Stats) []models.RunFailure {
	var out []models.RunFailure
	for _, e := range stats.Errs {
		out = append(out, models.RunFailure{RunID: run, Object: dataset, ExternalID: fmt.Sprintf("line %d", e.Line), Code: "bad_row", Message: e.Error(), At: s.now()})
	}
	return out
}

// Published tells what readers get after a load.
type Published struct {
	Current      bool   // the release that was loaded
	CurrentLabel string // the vintage of the one that is
}

// Publish makes a loaded release the current one of its dataset unless a better one is: in one step, after which every
// reader sees the whole of it. Repeating it changes nothing. Faults: Conflict.
func (s *Service) Publish(ctx context.Context, org, id uuid.UUID) (Published, error) {
	var got Published
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		current, err := tx.PublishRelease(id, s.now())
		got = Published{Current: current.ID == id, CurrentLabel: current.VintageLabel}
		return err
	})
	return got, err
}

// Close ends an ingestion: a release of the run that was not published is failed and its rows removed, and the upload is
// removed. Repeating it changes nothing.
func (s *Service) Close(ctx context.Context, org, run uuid.UUID, in RunInput, failure string) error {
	err := s.Store.InOrg(ctx, org, func(tx *store.Tx) error {
		mine, ok, err := tx.ReleaseOfRun(run)
		if err != nil || !ok {
			return err
		}
		return tx.FailRelease(mine.ID, failure)
	})
	return errors.Join(err, s.Uploads.Remove(ctx, org, in.UploadID))
}

// Warnings are what an operator should know of an ingestion that went well.
func Warnings(r Registered, p Published) []models.RunWarning {
	switch {
	case r.AlreadyLoaded:
		return []models.RunWarning{{Code: "already_loaded", Count: 1, Message: "These very bytes were loaded before as " + r.Label + "; nothing was changed."}}
	case !p.Current:
		return []models.RunWarning{{
			Code: "not_current", Count: 1,
			Message: r.Label + " is loaded and can be asked for; " + p.CurrentLabel + " stays the current one because it is newer, wider or more final.",
		}}
	}
	return nil
}
