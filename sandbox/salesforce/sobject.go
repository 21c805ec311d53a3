package salesforce

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

const maxBody = 1 << 20

// written is the answer to a write.
type written struct {
	ID      string `json:"id"`
	Success bool   `json:"success"`
	Errors  []any  `json:"errors"`
	Created *bool  `json:"created,omitempty"` // of an upsert
}

func body(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, *apiError) {
	var out map[string]json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&out); err != nil {
		return nil, fail(http.StatusBadRequest, "JSON_PARSER_ERROR", "The HTTP entity body could not be read as a JSON object: %v", err)
	}
	return out, nil
}

// writable refuses objects that clients may only read.
func (s *Server) writable(r *http.Request) (*table, *apiError) {
	t, failure := s.store.table(r.PathValue("object"))
	if failure == nil && t.Name == "User" {
		failure = fail(http.StatusForbidden, "INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id")
	}
	return t, failure
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.writable(r)
	if failure != nil {
		return failure
	}
	fields, failure := body(w, r)
	if failure != nil {
		return failure
	}
	made, failure := s.store.create(t.Name, fields, true)
	if failure != nil {
		return failure
	}
	w.Header().Set("Location", "/services/data/"+r.PathValue("v")+"/sobjects/"+t.Name+"/"+made.id)
	writeJSON(w, http.StatusCreated, written{ID: made.id, Success: true, Errors: []any{}})
	return nil
}

func (s *Server) patch(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.writable(r)
	if failure != nil {
		return failure
	}
	fields, failure := body(w, r)
	if failure != nil {
		return failure
	}
	if _, failure = s.store.update(t.Name, r.PathValue("id"), fields, true); failure != nil {
		return failure
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.writable(r)
	if failure != nil {
		return failure
	}
	if failure = s.store.remove(t.Name, r.PathValue("id"), false); failure != nil {
		return failure
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// get answers with one record, all its fields or those named.
func (s *Server) get(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.store.table(r.PathValue("object"))
	if failure != nil {
		return failure
	}
	c := &compiled{table: t, query: &query{}, hidden: s.hidden(t.Name)}
	for i := range t.Fields {
		if !c.hidden[strings.ToLower(t.Fields[i].Name)] {
			c.cols = append(c.cols, i)
		}
	}
	if list := r.URL.Query().Get("fields"); list != "" {
		c.cols = nil
		for f := range strings.SplitSeq(list, ",") {
			i, failure := c.column(name{text: strings.TrimSpace(f)})
			if failure != nil {
				return failure
			}
			c.cols = append(c.cols, i)
		}
	}
	s.store.mu.RLock()
	found, failure := t.live(r.PathValue("id"))
	s.store.mu.RUnlock()
	if failure != nil {
		return failure
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_, _ = w.Write(c.appendRows(nil, []*row{found}, r.PathValue("v"))) // the client has gone away
	return nil
}

// upsert creates or changes the record whose external id has this value: repeating it does not double anything.
func (s *Server) upsert(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.writable(r)
	if failure != nil {
		return failure
	}
	col, ok := t.index(r.PathValue("ext"))
	if !ok || !t.Fields[col].ExternalID {
		return fail(http.StatusNotFound, "NOT_FOUND", "Provided external ID field does not exist or is not accessible: %s", r.PathValue("ext"))
	}
	fields, failure := body(w, r)
	if failure != nil {
		return failure
	}
	key := t.Fields[col].Name
	for given := range fields {
		if strings.EqualFold(given, key) {
			return fail(http.StatusBadRequest, "INVALID_FIELD", "The %s field should not be specified in the sobject data.", key)
		}
	}
	made, created, failure := s.store.upsert(t, col, r.PathValue("value"), fields)
	if failure != nil {
		return failure
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	writeJSON(w, status, written{ID: made.id, Success: true, Errors: []any{}, Created: &created})
	return nil
}

func (s *store) upsert(t *table, col int, value string, fields map[string]json.RawMessage) (*row, bool, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range t.rows {
		if !r.deleted && strings.EqualFold(r.str(col), value) {
			made, failure := s.updateLocked(t.Name, r.id, fields, true)
			return made, false, failure
		}
	}
	fields[t.Fields[col].Name] = appendString(nil, value)
	made, failure := s.createLocked(t.Name, fields, true)
	return made, true, failure
}

// deletions lists what was deleted between two times, at most 30 days back.
func (s *Server) deletions(w http.ResponseWriter, r *http.Request) *apiError {
	t, failure := s.store.table(r.PathValue("object"))
	if failure != nil {
		return failure
	}
	q := r.URL.Query()
	start, ok := parseTime(q.Get("start"))
	if !ok {
		return badTime("start")
	}
	end, ok := parseTime(q.Get("end"))
	if !ok {
		return badTime("end")
	}
	now := s.cfg.Clock().UTC().Truncate(time.Second)
	earliest := now.AddDate(0, 0, -30)
	switch {
	case !start.Before(end):
		return fail(http.StatusBadRequest, "INVALID_REPLICATION_DATE", "startDate before endDate")
	case start.Before(earliest):
		return fail(http.StatusBadRequest, "INVALID_REPLICATION_DATE", "startDate is before the earliest available date %s", earliest.Format(timeLayout))
	}
	type gone struct {
		ID string `json:"id"`
		At string `json:"deletedDate"`
	}
	list := []gone{}
	within := func(at time.Time) bool { return !at.Before(start) && at.Before(end) }
	s.store.mu.RLock()
	for _, r := range t.rows[t.from(start.UnixMilli(), ""):] {
		if at := time.UnixMilli(r.stamp).UTC(); r.deleted && within(at) {
			list = append(list, gone{r.id, at.Format(timeLayout)})
		}
	}
	for _, p := range t.purged {
		if within(p.at) {
			list = append(list, gone{p.id, p.at.Format(timeLayout)})
		}
	}
	s.store.mu.RUnlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"deletedRecords": list, "earliestDateAvailable": earliest.Format(timeLayout),
		"latestDateCovered": now.Format(timeLayout),
	})
	return nil
}
