package store

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/fault"
	"revarch/models"
)

// The tables of schema edu belong to no organization. Their queries are on Tx all the same: whoever asks is somebody, and
// the runs that write them are the system organization's.

// InsertRelease writes a release that is about to be loaded.
func (tx *Tx) InsertRelease(r *models.EduRelease) error {
	if err := tx.db.Create(r).Error; err != nil {
		return fmt.Errorf("insert release: %w", err)
	}
	return nil
}

// ReleaseOfRun loads the release that a run has made; ok is false when it has made none yet.
func (tx *Tx) ReleaseOfRun(run uuid.UUID) (r models.EduRelease, ok bool, err error) {
	res := tx.db.Where("run_id = ?", run).Limit(1).Find(&r)
	return r, res.RowsAffected == 1, maybe(res.Error, "look for the run's release")
}

// LoadedRelease finds a release that was loaded from the same bytes as the same thing; ok is false when there is none.
func (tx *Tx) LoadedRelease(like models.EduRelease) (r models.EduRelease, ok bool, err error) {
	res := tx.db.Where("dataset = ? AND sha256 = ? AND vintage_year = ? AND release = ? AND (scope = 'partial') = ? AND status IN ('current', 'superseded')",
		like.Dataset, like.SHA256, like.VintageYear, like.Release, like.Scope == models.ScopePartial).Order("loaded_at DESC").Limit(1).Find(&r)
	return r, res.RowsAffected == 1, maybe(res.Error, "look for a loaded release")
}

// Release loads a release. Faults: NotFound.
func (tx *Tx) Release(id uuid.UUID) (models.EduRelease, error) {
	var r models.EduRelease
	err := tx.db.Where("id = ?", id).Take(&r).Error
	return r, notFound(err, "no release %s", id)
}

// Releases lists the releases of a dataset, or of all with "": newest vintage first, then the last that came.
func (tx *Tx) Releases(dataset string) ([]models.EduRelease, error) {
	q := tx.db.Order("dataset, vintage_year DESC, created_at DESC, id DESC")
	if dataset != "" {
		q = q.Where("dataset = ?", dataset)
	}
	var out []models.EduRelease
	return out, maybe(q.Find(&out).Error, "list releases")
}

// LockLoading locks a release that is being loaded, so that one attempt at a time works on it. Faults: Conflict when it
// is not being loaded any more.
func (tx *Tx) LockLoading(id uuid.UUID) (models.EduRelease, error) {
	var r models.EduRelease
	if err := tx.db.Raw("SELECT * FROM edu.releases WHERE id = ? FOR UPDATE", id).Scan(&r).Error; err != nil {
		return r, fmt.Errorf("lock release: %w", err)
	}
	if r.Status != models.ReleaseLoading {
		return r, fault.New(fault.Conflict, "the release is no longer being loaded; start the ingestion again")
	}
	return r, nil
}

// CopyEdu streams text rows, as an EduEncoder makes them, into a table of schema edu and returns how many they were. It
// stops with the error of r.
func (tx *Tx) CopyEdu(ctx context.Context, t EduTable, r io.Reader) (int64, error) {
	var n int64
	err := tx.pgx(func(c *pgx.Conn) error {
		tag, err := c.PgConn().CopyFrom(ctx, r, t.CopySQL())
		n = tag.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("copy into edu.%s: %w", t.name, err)
	}
	return n, nil
}

// DropReleaseRows deletes the rows of a release from every table.
func (tx *Tx) DropReleaseRows(id uuid.UUID) error {
	for _, t := range []EduTable{EduInstitutions, EduDistricts, EduPovertyRows} {
		if err := tx.db.Exec("DELETE FROM edu."+t.name+" WHERE release_id = ?", id).Error; err != nil {
			return fmt.Errorf("drop rows of release: %w", err)
		}
	}
	return nil
}

// SaveLoaded notes what a load counted and found.
func (tx *Tx) SaveLoaded(r models.EduRelease) error {
	err := tx.db.Model(&models.EduRelease{}).Where("id = ?", r.ID).
		Updates(map[string]any{"rows": r.Rows, "bad_rows": r.BadRows, "checks": r.Checks, "scope": r.Scope}).Error
	return maybe(err, "save release")
}

// PublishRelease ends the loading of a release: it becomes the dataset's current one unless there is a better one. It
// returns the release that is current afterwards. Publishing one twice changes nothing.
func (tx *Tx) PublishRelease(id uuid.UUID, now time.Time) (current models.EduRelease, err error) {
	r, err := tx.Release(id)
	if err != nil {
		return current, err
	}
	if err := tx.db.Exec("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "edu/"+r.Dataset).Error; err != nil {
		return current, fmt.Errorf("lock dataset: %w", err)
	}
	res := tx.db.Where("dataset = ? AND status = 'current'", r.Dataset).Limit(1).Find(&current)
	if res.Error != nil {
		return current, fmt.Errorf("look for the current release: %w", res.Error)
	}
	if r, err = tx.Release(id); err != nil { // under the lock
		return current, err
	}
	switch r.Status {
	case models.ReleaseCurrent, models.ReleaseSuperseded:
		return current, nil
	case models.ReleaseFailed:
		return current, fault.New(fault.Conflict, "the release is no longer being loaded; start the ingestion again")
	}
	status := models.ReleaseSuperseded
	if res.RowsAffected == 0 || r.Better(current) {
		if err := tx.db.Exec("UPDATE edu.releases SET status = 'superseded' WHERE dataset = ? AND status = 'current'", r.Dataset).Error; err != nil {
			return current, fmt.Errorf("supersede release: %w", err)
		}
		status = models.ReleaseCurrent
	}
	if err := tx.db.Exec("UPDATE edu.releases SET status = ?, loaded_at = ? WHERE id = ?", status, now, id).Error; err != nil {
		return current, fmt.Errorf("publish release: %w", err)
	}
	if status == models.ReleaseCurrent {
		return tx.Release(id)
	}
	return current, nil
}

// FailRelease closes a release that was being loaded and drops its rows; one that is not is left alone.
func (tx *Tx) FailRelease(id uuid.UUID, failure string) error {
	res := tx.db.Exec("UPDATE edu.releases SET status = 'failed', failure = ?, loaded_at = NULL WHERE id = ? AND status = 'loading'", failure, id)
	if res.Error != nil || res.RowsAffected == 0 {
		return maybe(res.Error, "fail release")
	}
	return tx.DropReleaseRows(id)
}

// AbandonedReleases lists releases that are being loaded by a run that has ended. Call it in the system organization.
func (tx *Tx) AbandonedReleases() ([]uuid.UUID, error) {
	var out []uuid.UUID
	err := tx.db.Raw(`SELECT e.id FROM edu.releases e WHERE e.status = 'loading' AND NOT EXISTS (
		SELECT 1 FROM runs r WHERE r.org_id = ? AND r.id = e.run_id AND r.status IN ('queued', 'running'))`, tx.org).Scan(&out).Error
	return out, maybe(err, "list abandoned releases")
}

// RosterRow is a district or an institution that exists today.
type RosterRow struct {
	ID, Name, City, State string
	Size                  *int // children of 5 to 17 of a district; NULL for an institution
	SizeClass             *int // IPEDS size class of an institution
}

// SampleDistricts picks n open districts of the current roster in an order that the seed alone decides.
func (tx *Tx) SampleDistricts(n int, seed string) ([]RosterRow, error) {
	var out []RosterRow
	err := tx.db.Raw(`SELECT d.leaid AS id, d.name, COALESCE(d.city, '') AS city, d.state, COALESCE(d.enrollment, p.children_5_17) AS size
		FROM edu.current_districts d LEFT JOIN edu.current_poverty p USING (leaid)
		WHERE NOT d.closed AND COALESCE(d.lea_type, 1) IN (1, 2) AND length(d.state) = 2
		ORDER BY md5(d.leaid || ?), d.leaid LIMIT ?`, seed, n).Scan(&out).Error
	return out, maybe(err, "sample districts")
}

// SampleInstitutions picks n open, degree-granting institutions of the current roster in an order that the seed alone decides.
func (tx *Tx) SampleInstitutions(n int, seed string) ([]RosterRow, error) {
	var out []RosterRow
	err := tx.db.Raw(`SELECT unitid AS id, name, city, state, size_class FROM edu.current_institutions
		WHERE NOT closed AND degree_granting IS TRUE AND COALESCE(sector, 99) <> 0
		ORDER BY md5(unitid || ?), unitid LIMIT ?`, seed, n).Scan(&out).Error
	return out, maybe(err, "sample institutions")
}

// CopySQL is the statement that CopyEdu runs, for measurements beside it.
func (t EduTable) CopySQL() string {
	return "COPY edu." + t.name + " (" + strings.Join(t.columns, ", ") + ") FROM STDIN"
}
