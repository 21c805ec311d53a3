package crma

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"revarch/connectors"
	"revarch/fault"
)

// position is what a cursor holds. Between runs only High and Runs matter; inside a run the rest says where to go on.
type position struct {
	Object  string    `json:"o"`
	Deleted bool      `json:"d,omitzero"` // a stream of deletions
	Runs    int64     `json:"n,omitzero"` // complete runs: the cursor differs after each, even if nothing was new
	High    time.Time `json:"h,omitzero"` // start of the last complete run: everything stamped before it was read

	Running bool      `json:"r,omitzero"`
	Start   time.Time `json:"s,omitzero"` // the provider's clock when this run's first query began
	From    time.Time `json:"f,omitzero"` // lower bound of this run
	At      time.Time `json:"t,omitzero"` // last row read, with ID
	ID      string    `json:"i,omitzero"`
	Locator string    `json:"l,omitzero"` // next page of the query under way
	Total   int64     `json:"c,omitzero"` // rows of the query under way, as announced
	Read    int64     `json:"k,omitzero"` // rows of the query under way read so far
	Full    int64     `json:"a,omitzero"` // rows of the whole run, announced by its first query; -1 unknown
}

// decode reads a cursor of the object. Faults: CursorDead for anything that is not one.
func decode(c connectors.Cursor, object string, deleted bool) (position, error) {
	if c == "" {
		return position{Object: object, Deleted: deleted}, nil
	}
	dead := fault.New(fault.CursorDead, "The position of the last sync of %s cannot be read.", object)
	raw, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil {
		return position{}, dead
	}
	var p position
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(&p) != nil || dec.More() || p.Object != object || p.Deleted != deleted {
		return position{}, dead
	}
	if (p.ID != "" && longID(p.ID) != p.ID) || (p.ID == "") != p.At.IsZero() || (p.Locator != "" && checkLocator(p.Locator) != nil) {
		return position{}, dead
	}
	return p, nil
}

// encode writes the cursor.
func (p position) encode() (connectors.Cursor, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return connectors.Cursor(base64.RawURLEncoding.EncodeToString(raw)), nil
}

// begin starts a run after a complete one: from the overlap before it, or from the start if there was none.
func (p position) begin() position {
	next := position{Object: p.Object, Deleted: p.Deleted, Runs: p.Runs, High: p.High, Running: true, Full: -1}
	if !p.High.IsZero() {
		next.From = p.High.Add(-Overlap)
	}
	return next
}

// finish ends the run: what it did not see can only be stamped after its start minus the overlap.
func (p position) finish() position {
	high := p.High
	if p.Start.After(high) {
		high = p.Start
	}
	return position{Object: p.Object, Deleted: p.Deleted, Runs: p.Runs + 1, High: high}
}

// requery forgets the query under way; the next page is a new query behind the last row read.
func (p position) requery() position {
	p.Locator, p.Total, p.Read = "", 0, 0
	return p
}

// advance moves behind a page. Rows of a query's later pages show their present values in the order of the query's
// start: one that changed since carries a stamp from the far end, so only stamps before the run's start are a place
// to go on from.
func (p position) advance(recs []connectors.Record, later bool) position {
	for _, r := range recs {
		if !later || r.UpdatedAt.Before(p.Start) {
			p.At, p.ID = r.UpdatedAt, r.ExternalID
		}
	}
	p.Read += int64(len(recs))
	return p
}
