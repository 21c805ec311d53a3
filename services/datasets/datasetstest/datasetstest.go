// Package datasetstest makes official-layout files of any size and measures how fast they load. What belongs here: what
// tests and benchmarks of several packages share about datasets. Programs do not import it.
package datasetstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"revarch/auth"
	files "revarch/datasets"
	"revarch/fault"
	"revarch/models"
	"revarch/services/datasets"
	"revarch/services/governance"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/store"
)

const ccdHeader = "SCHOOL_YEAR,FIPST,STATENAME,ST,LEA_NAME,STATE_AGENCY_NO,UNION,ST_LEAID,LEAID,MSTREET1,MCITY,MSTATE,MZIP,MZIP4,LSTREET1,LCITY,LSTATE,LZIP,LZIP4,PHONE,WEBSITE,SY_STATUS,SY_STATUS_TEXT,UPDATED_STATUS,EFFECTIVE_DATE,LEA_TYPE,LEA_TYPE_TEXT,CHARTER_LEA,GSLO,GSHI,LEVEL\r\n"

// Directory returns a CCD directory of the school year that ends in year, with n invented districts in all states, in
// the layout and by the naming of its publisher.
func Directory(year, n int) (name string, data []byte) {
	var out bytes.Buffer
	out.Grow(n*330 + len(ccdHeader))
	out.WriteString(ccdHeader)
	states := files.StateCodes()
	per := n/len(states) + 1
	for i := range n {
		state := states[i/per]
		fips := files.FIPSOf(state)
		fmt.Fprintf(&out, "%d-%d,%s,STATE NAME,%s,Invented District %d,01,,%s-%d,%s%05d,%d Mill Road,Old Mill,%s,35950,1234,%d Mill Road,Old Mill,%s,35950,1234,(256)555-0100,http://www.district%d.example,1,Open,1,08/29/2022,1,Regular public school district,NOTCHR,PK,12,Other\r\n",
			year-1, year, fips, state, i, state, i, fips, i%per, i%9999, state, i%9999, state, i)
	}
	return fmt.Sprintf("ccd_lea_029_%02d%02d_w_1a_083023.csv", (year-1)%100, year%100), out.Bytes()
}

// Measure is how long a file of so many rows took.
type Measure struct {
	Rows   int
	Bytes  int64
	Upload time.Duration // streaming it into chunks
	Load   time.Duration // from chunks through every check to being published
	Copy   time.Duration // the owner's COPY of the same rows, parsed and encoded before, into the same table
}

// Ratio is how many times the COPY loading takes.
func (m Measure) Ratio() float64 { return float64(m.Load) / float64(m.Copy) }

// MeasureLoad grows the CCD layout to n rows and loads it as the worker's role, beside the owner's COPY of its rows. The
// system organization must exist. It leaves a release behind.
func MeasureLoad(ctx context.Context, worker *store.Store, ownerURL string, system uuid.UUID, year, n int) (Measure, error) {
	name, data := Directory(year, n)
	m := Measure{Rows: n, Bytes: int64(len(data))}
	var err error
	if m.Copy, err = measureCopy(ctx, ownerURL, name, data); err != nil {
		return m, err
	}
	up := &uploads.Service{Store: worker}
	svc := &datasets.Service{Store: worker, Uploads: up, Runs: runs.New(worker, nil, nil, nil), Log: &governance.Service{Store: worker, Clock: time.Now}}
	p := auth.Principal{OrgID: system, Kind: "engine", Label: "bench", System: true, Surface: "engine"}
	began := time.Now()
	run, _, err := svc.Ingest(ctx, p, datasets.IngestInput{Dataset: datasets.Auto, Name: name, Body: bytes.NewReader(data)})
	if err != nil {
		return m, err
	}
	m.Upload = time.Since(began)
	m.Load, err = Carry(ctx, svc, run)
	return m, err
}

// Carry carries out the run of an ingestion as its workflow does, and returns how long it took to be published.
func Carry(ctx context.Context, svc *datasets.Service, run models.Run) (time.Duration, error) {
	var in datasets.RunInput
	if err := json.Unmarshal(run.Input, &in); err != nil {
		return 0, err
	}
	began := time.Now()
	loaded, err := steps(ctx, svc, run, in)
	took, end := time.Since(began), runs.End{Status: models.RunSucceeded}
	if err != nil {
		end = runs.End{Status: models.RunFailed, Code: string(fault.CodeOf(err)), Message: fault.Public(err)}
	}
	counts := map[string]int64{"read": loaded.Rows + loaded.Bad, "loaded": loaded.Rows, "failed": loaded.Bad}
	return took, errors.Join(err, svc.Close(ctx, run.OrgID, run.ID, in, end.Message),
		svc.Runs.Progress(ctx, run.OrgID, run.ID, runs.Progress{Counts: counts}), svc.Runs.Finish(ctx, run.OrgID, run.ID, end))
}

func steps(ctx context.Context, svc *datasets.Service, run models.Run, in datasets.RunInput) (loaded datasets.Loaded, err error) {
	reg, err := svc.Register(ctx, run.OrgID, run.ID, in)
	if err != nil || reg.AlreadyLoaded {
		return loaded, err
	}
	if loaded, err = svc.Load(ctx, run.OrgID, run.ID, reg.ReleaseID, in, func(int64) {}); err != nil {
		return loaded, err
	}
	_, err = svc.Publish(ctx, run.OrgID, reg.ReleaseID)
	return loaded, err
}

// measureCopy copies the parsed rows in one COPY and removes them again.
func measureCopy(ctx context.Context, ownerURL, name string, data []byte) (time.Duration, error) {
	f, err := files.Open(ctx, name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	release := models.NewID()
	e := store.NewEduEncoder(release)
	for row, err := range f.Rows(ctx) {
		if err != nil {
			return 0, err
		}
		d := datasets.District(row.District)
		e.District(&d)
	}
	rows := e.Take(nil)
	conn, err := pgx.Connect(ctx, ownerURL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	began := time.Now()
	if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows), store.EduDistricts.CopySQL()); err != nil {
		return 0, err
	}
	took := time.Since(began)
	_, err = conn.Exec(ctx, "DELETE FROM edu.districts WHERE release_id = $1", release)
	return took, err
}
