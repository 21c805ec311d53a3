// Package datasets loads official education files into the platform's tables and reads them back: an operator's file
// becomes an upload and a run; the run's steps register a release, load its rows, and publish it once every check has
// passed. What belongs here: releases, what is in them, and the client that sends files. How a file is read is in the
// package datasets beside services; who is tied to what is in services/matching.
package datasets

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	files "revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/store"
)

// MaxFile is the largest file that is taken, in bytes.
const MaxFile = 512 << 20

// Auto stands for the dataset that the file turns out to be.
const Auto = "auto"

// Service keeps the official datasets. Log may be nil in a process that takes no files, Clock nil is time.Now.
type Service struct {
	Store   *store.Store
	Uploads *uploads.Service
	Runs    *runs.Service
	Log     *governance.Service
	Clock   func() time.Time
}

// IngestInput is a file and what its sender knows of it.
type IngestInput struct {
	Dataset string // a format, or Auto
	Name    string // the file's published name; a hint for its vintage
	Year    int    // of the vintage, where neither name nor content tell it; 0 for unknown
	Release string // how final the publication is, where the name does not tell; "" for unknown
	Partial bool   // it is a part of the country: loaded without the checks of a whole, never in place of a whole
	Body    io.Reader
}

// RunInput is what an ingestion's run is started with.
type RunInput struct {
	UploadID uuid.UUID `json:"upload_id"`
	Dataset  string    `json:"dataset"`
	Vintage  string    `json:"vintage"`
	Year     int       `json:"year,omitempty"`
	Release  string    `json:"release,omitempty"`
	Partial  bool      `json:"partial,omitempty"`
}

// IngestID is the workflow id of an ingestion: one release of a vintage is loaded at a time.
func IngestID(dataset, vintage string) string { return "ingest/" + dataset + "/" + vintage }

// Ingest stores a file, recognizes it and starts the run that loads it; already tells that this vintage was being
// loaded, and that run is returned. A file that cannot be loaded leaves nothing. Only the platform's operators may.
// Faults: Denied, Invalid, NotFound for an unknown dataset, BadFile, TooLarge.
func (s *Service) Ingest(ctx context.Context, p auth.Principal, in IngestInput) (run models.Run, already bool, err error) {
	if err := s.check(p, &in); err != nil {
		return models.Run{}, false, err
	}
	up, err := s.Uploads.Save(ctx, p, in.Body, uploads.SaveInput{Name: in.Name, Purpose: "dataset", Limit: MaxFile})
	if err != nil {
		return models.Run{}, false, err
	}
	used := false
	defer func() {
		if !used {
			_ = s.Uploads.Remove(context.WithoutCancel(ctx), p.OrgID, up.ID) // the sweep finds what this leaves
		}
	}()
	input := RunInput{UploadID: up.ID, Dataset: in.Dataset, Year: in.Year, Release: in.Release, Partial: in.Partial}
	f, err := s.open(ctx, p.OrgID, input)
	if err != nil {
		return models.Run{}, false, err
	}
	input.Dataset, input.Vintage = string(f.Format), vintageSlug(f.Vintage.Label)
	run, already, err = s.Runs.Start(ctx, p, runs.StartInput{
		Kind: models.KindIngest, Subject: input.Dataset + "/" + input.Vintage,
		WorkflowID: IngestID(input.Dataset, input.Vintage), Input: input, Logged: true,
	})
	if err != nil || already {
		return run, already, err
	}
	used = true
	return run, false, s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		_, err := s.Log.Record(tx, p, governance.Entry{
			Tool: "ingest-dataset", SubjectType: "dataset", SubjectID: run.Subject,
			Args: map[string]any{"name": in.Name, "bytes": up.Size, "partial": in.Partial}, After: map[string]any{"run_id": run.ID},
		})
		return err
	})
}

func (s *Service) check(p auth.Principal, in *IngestInput) error {
	if err := p.Require(auth.PermPlatform); err != nil {
		return err
	}
	in.Name = path.Base(strings.ReplaceAll(in.Name, `\`, "/"))
	if in.Name == "." || in.Name == "/" {
		in.Name = "upload"
	}
	var bad []fault.FieldError
	if in.Dataset != Auto {
		if err := known(in.Dataset); err != nil {
			return err
		}
	}
	if len(in.Name) > 255 {
		bad = append(bad, fault.FieldError{Field: "name", Message: "at most 255 bytes"})
	}
	if in.Year != 0 && (in.Year < 1980 || in.Year > 2100) {
		bad = append(bad, fault.FieldError{Field: "year", Message: "a year from 1980 to 2100"})
	}
	if in.Release != "" && !slices.Contains(releases, files.Release(in.Release)) {
		bad = append(bad, fault.FieldError{Field: "release", Message: "preliminary, provisional, final or revised"})
	}
	if len(bad) > 0 {
		return fault.WithFields("the file is described wrongly", bad...)
	}
	return nil
}

var releases = []files.Release{files.ReleasePreliminary, files.ReleaseProvisional, files.ReleaseFinal, files.ReleaseRevised}

func known(dataset string) error {
	if slices.Contains(files.Formats(), files.Format(dataset)) {
		return nil
	}
	var names []string
	for _, f := range files.Formats() {
		names = append(names, string(f))
	}
	return fault.New(fault.NotFound, "there is no dataset of this name; known are %s", strings.Join(names, ", "))
}

// open recognizes an upload. It is refused when it is another dataset than it was sent as.
func (s *Service) open(ctx context.Context, org uuid.UUID, in RunInput) (*files.File, error) {
	r, err := s.Uploads.Open(ctx, org, in.UploadID)
	if err != nil {
		return nil, err
	}
	var opts []files.Option
	if in.Year != 0 {
		opts = append(opts, files.WithYear(in.Year))
	}
	if in.Release != "" {
		opts = append(opts, files.WithRelease(files.Release(in.Release)))
	}
	if in.Partial {
		opts = append(opts, files.AllowPartial())
	}
	if in.Dataset != Auto { // before the year is looked for: the kind of file is the better complaint
		got, err := files.Detect(ctx, r.Upload().Name, r, r.Size())
		if err != nil {
			return nil, err
		}
		if got != files.Format(in.Dataset) {
			return nil, fault.New(fault.BadFile, "%q is the %s and not the %s. Load it as %s, or choose the right file.",
				r.Upload().Name, got.Title(), files.Format(in.Dataset).Title(), got)
		}
	}
	return files.Open(ctx, r.Upload().Name, r, r.Size(), opts...)
}

// vintageSlug makes a publisher's label part of an id.
func vintageSlug(label string) string { return strings.ReplaceAll(label, " ", "-") }

// Dataset is an official dataset and what is loaded of it.
type Dataset struct {
	Dataset  string    `json:"dataset"`
	Title    string    `json:"title"`
	Current  *Release  `json:"current" doc:"What is read when no release is asked for; null while nothing is loaded"`
	Releases []Release `json:"releases" doc:"Newest vintage first"`
}

// Release is one publication of a dataset as it was loaded.
type Release struct {
	ID         uuid.UUID     `json:"id" format:"uuid"`
	Vintage    Vintage       `json:"vintage"`
	Release    string        `json:"release" doc:"preliminary, provisional, final or revised"`
	Scope      string        `json:"scope" doc:"national, state (a whole directory of one state) or partial"`
	SourceName string        `json:"source_name"`
	SHA256     string        `json:"sha256" doc:"Of the file as it was sent, in hex"`
	Rows       int64         `json:"rows"`
	BadRows    int64         `json:"bad_rows"`
	Checks     []files.Check `json:"checks"`
	Status     string        `json:"status" enum:"loading,current,superseded,failed"`
	Failure    string        `json:"failure,omitempty"`
	RunID      uuid.UUID     `json:"run_id" format:"uuid"`
	CreatedAt  time.Time     `json:"created_at"`
	LoadedAt   *time.Time    `json:"loaded_at"`
}

// Vintage is the period that a release describes.
type Vintage struct {
	Year  int    `json:"year"`
	Basis string `json:"basis" doc:"school_year: the year it ends in; calendar_year: the year of the estimate"`
	Label string `json:"label"`
}

// List lists the datasets with their releases. Only the platform's operators may. Faults: Denied.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]Dataset, error) {
	return s.list(ctx, p, "")
}

// Get returns one dataset with its releases. Faults: Denied, NotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, dataset string) (Dataset, error) {
	if err := p.Require(auth.PermPlatform); err != nil {
		return Dataset{}, err
	}
	if err := known(dataset); err != nil {
		return Dataset{}, err
	}
	all, err := s.list(ctx, p, dataset)
	if err != nil {
		return Dataset{}, err
	}
	return all[0], nil
}

func (s *Service) list(ctx context.Context, p auth.Principal, only string) ([]Dataset, error) {
	if err := p.Require(auth.PermPlatform); err != nil {
		return nil, err
	}
	var rows []models.EduRelease
	err := s.Store.InOrg(ctx, p.OrgID, func(tx *store.Tx) (err error) {
		rows, err = tx.Releases(only)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Dataset
	for _, f := range files.Formats() {
		if only != "" && only != string(f) {
			continue
		}
		d := Dataset{Dataset: string(f), Title: f.Title(), Releases: []Release{}}
		for _, row := range rows {
			if row.Dataset != d.Dataset {
				continue
			}
			r := toRelease(row)
			if row.Status == models.ReleaseCurrent {
				d.Current = &r
			}
			d.Releases = append(d.Releases, r)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Dataset) int { return cmp.Compare(a.Dataset, b.Dataset) })
	return out, nil
}

func (s *Service) now() time.Time {
	if s.Clock == nil {
		return time.Now().UTC().Truncate(time.Microsecond)
	}
	return s.Clock().UTC().Truncate(time.Microsecond)
}
