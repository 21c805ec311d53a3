package salesforce

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"revarch/sandbox/control"
	"revarch/sandbox/data"
)

const rosterPrefix = "crm_a/roster/"

type savedRoster struct {
	Entries []data.RosterEntry `json:"entries"`
	At      time.Time          `json:"at"`
}

// SetRoster renames the institutions and remembers the roster; it returns how many records changed.
func (s *Server) SetRoster(roster []data.RosterEntry) (int, error) {
	s.rosterMu.Lock()
	defer s.rosterMu.Unlock()
	if slices.Equal(roster, s.Roster()) {
		return 0, nil
	}
	at := s.store.now()
	n, err := s.store.setRoster(roster, at)
	if err != nil {
		return 0, err
	}
	s.rosters++ // all of them are replayed in turn, so that every stamp comes out as it was
	return n, s.cfg.Journal.Put(rosterPrefix+itoa(s.rosters), savedRoster{roster, at})
}

// Roster returns the roster in force.
func (s *Server) Roster() []data.RosterEntry {
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	return s.store.gen.Config().Roster
}

// Status says what there is and what was asked.
func (s *Server) Status() control.ProviderStatus {
	out := control.ProviderStatus{Provider: Provider, APILimit: s.cfg.DailyLimit, Failures: s.chaos.List()}
	out.Grants, out.TokenRequests = s.oauth.Counts()
	s.usage.mu.Lock()
	out.APIUsed = s.usage.used
	s.usage.mu.Unlock()
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	for _, t := range s.store.list {
		c := control.ObjectCount{Object: t.Name}
		c.Live, c.Deleted = t.counts()
		if n := len(t.rows); n > 0 {
			c.LatestChanged = time.UnixMilli(t.rows[n-1].stamp).UTC()
		}
		out.Objects = append(out.Objects, c)
	}
	return out
}

// Admin serves the administration of this provider's records below its mount point, which must be stripped before.
func (s *Server) Admin(mux *http.ServeMux, prefix string) {
	mux.HandleFunc("GET "+prefix+"/records/{object}", s.adminList)
	mux.HandleFunc("POST "+prefix+"/records/{object}", s.adminWrite)
	mux.HandleFunc("GET "+prefix+"/records/{object}/{id}", s.adminGet)
	mux.HandleFunc("PATCH "+prefix+"/records/{object}/{id}", s.adminWrite)
	mux.HandleFunc("DELETE "+prefix+"/records/{object}/{id}", func(w http.ResponseWriter, r *http.Request) {
		finish(w, s.store.remove(r.PathValue("object"), r.PathValue("id"), r.URL.Query().Get("hard") == "true"))
	})
	mux.HandleFunc("POST "+prefix+"/records/{object}/{id}/undelete", func(w http.ResponseWriter, r *http.Request) {
		finish(w, s.store.undelete(r.PathValue("object"), r.PathValue("id")))
	})
	mux.HandleFunc("POST "+prefix+"/records/{object}/{id}/merge", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Losers []string `json:"losers"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
			writeError(w, fail(http.StatusBadRequest, "JSON_PARSER_ERROR", "%v", err))
			return
		}
		finish(w, s.store.merge(r.PathValue("object"), r.PathValue("id"), in.Losers))
	})
	mux.HandleFunc("POST "+prefix+"/burst", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Count int    `json:"count"`
			Seed  uint64 `json:"seed"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil || in.Count < 0 || in.Count > 1_000_000 {
			writeError(w, fail(http.StatusBadRequest, "JSON_PARSER_ERROR", "count must be between 0 and 1000000"))
			return
		}
		out, failure := s.store.burst(in.Count, in.Seed)
		if failure != nil {
			writeError(w, failure)
			return
		}
		writeJSON(w, http.StatusOK, out)
	})
}

func finish(w http.ResponseWriter, failure *apiError) {
	if failure != nil {
		writeError(w, failure)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) adminWrite(w http.ResponseWriter, r *http.Request) {
	fields, failure := body(w, r)
	if failure != nil {
		writeError(w, failure)
		return
	}
	var made *row
	if id := r.PathValue("id"); id == "" {
		made, failure = s.store.create(r.PathValue("object"), fields, false)
	} else {
		made, failure = s.store.update(r.PathValue("object"), id, fields, false)
	}
	if failure != nil {
		writeError(w, failure)
		return
	}
	s.writeRecord(w, r.PathValue("object"), made)
}

func (s *Server) writeRecord(w http.ResponseWriter, object string, r *row) {
	t, failure := s.store.table(object)
	if failure != nil {
		writeError(w, failure)
		return
	}
	writeJSON(w, http.StatusOK, control.Record{ID: r.id, Fields: r.object(t.object)})
}

func (s *Server) adminGet(w http.ResponseWriter, r *http.Request) {
	t, failure := s.store.table(r.PathValue("object"))
	if failure != nil {
		writeError(w, failure)
		return
	}
	id, _ := normalID(r.PathValue("id"))
	s.store.mu.RLock()
	found := t.byID[id]
	s.store.mu.RUnlock()
	if found == nil {
		writeError(w, fail(http.StatusNotFound, "NOT_FOUND", "no such record: %s", r.PathValue("id")))
		return
	}
	s.writeRecord(w, t.Name, found)
}

// adminList answers with the ids of all live records, in the order of their ids' last change.
func (s *Server) adminList(w http.ResponseWriter, r *http.Request) {
	t, failure := s.store.table(r.PathValue("object"))
	if failure != nil {
		writeError(w, failure)
		return
	}
	ids := []string{}
	s.store.mu.RLock()
	for _, r := range t.rows {
		if !r.deleted {
			ids = append(ids, r.id)
		}
	}
	s.store.mu.RUnlock()
	writeJSON(w, http.StatusOK, map[string][]string{"ids": ids})
}
