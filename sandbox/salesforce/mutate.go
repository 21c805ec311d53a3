package salesforce

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"revarch/sandbox/data"
)

// now is the stamp of a change: whole seconds, as the provider keeps them.
func (s *store) now() time.Time { return s.clock().UTC().Truncate(time.Second) }

// create makes a record.
func (s *store) create(object string, body map[string]json.RawMessage, strict bool) (*row, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.createLocked(object, body, strict)
}

func (s *store) createLocked(object string, body map[string]json.RawMessage, strict bool) (*row, *apiError) {
	t, failure := s.table(object)
	if failure != nil {
		return nil, failure
	}
	set, failure := t.read(body, s.hiddenFrom(t, strict), strict, true)
	if failure != nil {
		return nil, failure
	}
	t.serial++
	now := appendTime(nil, s.now())
	full := values{
		t.at.id: appendString(nil, makeID(t.Prefix, 1<<50+t.serial)), t.at.deleted: []byte("false"),
		t.at.created: now, t.at.modified: now, t.at.system: now,
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		switch v, given := set[i]; {
		case given:
			full[i] = v
		case full[i] != nil:
		case !f.Nillable && defaultOf(f.Name) != nil:
			full[i] = defaultOf(f.Name)
		case f.Type == "boolean":
			full[i] = []byte("false")
		default:
			full[i] = []byte("null")
		}
	}
	s.derive(t, full, set, func(i int) []byte { return full[i] })
	var e encoder
	for i := range t.Fields {
		e.json(full[i])
	}
	r := e.row(t.object)
	return r, s.keep(t, r)
}

// hiddenFrom returns the fields that a writer cannot see; the administration sees all.
func (s *store) hiddenFrom(t *table, strict bool) map[string]bool {
	if !strict {
		return nil
	}
	return s.hidden(t.Name)
}

// keep stores a new version and journals it.
func (s *store) keep(t *table, r *row) *apiError {
	if err := s.save(t, r); err != nil {
		return fail(http.StatusInternalServerError, "UNKNOWN_EXCEPTION", "%v", err)
	}
	t.put(r)
	return nil
}

// live finds a record that is not in the recycle bin.
func (t *table) live(id string) (*row, *apiError) {
	full, ok := normalID(id)
	r := t.byID[full]
	switch {
	case !ok || r == nil:
		return nil, fail(http.StatusNotFound, "NOT_FOUND", "Provided external ID field does not exist or is not accessible: %s", id)
	case r.deleted:
		return nil, fail(http.StatusNotFound, "ENTITY_IS_DELETED", "entity is deleted")
	}
	return r, nil
}

// update changes a record and moves its stamps.
func (s *store) update(object, id string, body map[string]json.RawMessage, strict bool) (*row, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updateLocked(object, id, body, strict)
}

func (s *store) updateLocked(object, id string, body map[string]json.RawMessage, strict bool) (*row, *apiError) {
	t, failure := s.table(object)
	if failure != nil {
		return nil, failure
	}
	old, failure := t.live(id)
	if failure != nil {
		return nil, failure
	}
	set, failure := t.read(body, s.hiddenFrom(t, strict), strict, false)
	if failure != nil {
		return nil, failure
	}
	now := appendTime(nil, s.now())
	changed := values{t.at.modified: now, t.at.system: now}
	maps.Copy(changed, set)
	s.derive(t, changed, set, func(i int) []byte {
		if v, ok := changed[i]; ok {
			return v
		}
		return old.val(i)
	})
	r := old.with(t.object, changed)
	return r, s.keep(t, r)
}

// derive fills in what the provider computes from other fields, unless set names it.
func (s *store) derive(t *table, into, set values, get func(int) []byte) {
	put := func(name string, v []byte) {
		if i, ok := t.index(name); ok && set[i] == nil {
			into[i] = v
		}
	}
	str := func(name string) string {
		i, _ := t.index(name)
		return unquote(get(i))
	}
	touched := func(name string) bool {
		i, _ := t.index(name)
		return set[i] != nil
	}
	var e encoder
	switch t.Name {
	case "Contact":
		if touched("FirstName") || touched("LastName") {
			e.str(strings.TrimSpace(str("FirstName") + " " + str("LastName")))
			put("Name", e.raw)
		}
	case "Opportunity":
		for _, stage := range data.Stages {
			if stage.Name != str("StageName") || !touched("StageName") {
				continue
			}
			closed, won, probability, forecast := encoder{}, encoder{}, encoder{}, encoder{}
			closed.bool(stage.Closed)
			won.bool(stage.Won)
			probability.double(stage.Probability)
			forecast.str(stage.Forecast)
			put("IsClosed", closed.raw)
			put("IsWon", won.raw)
			put("Probability", probability.raw)
			put("ForecastCategoryName", forecast.raw)
			put("LastStageChangeDate", appendTime(nil, s.now()))
		}
	case "Task":
		if touched("Status") || touched("WhatId") || len(into) == len(t.Fields) {
			done := str("Status") == "Completed"
			e.bool(done)
			put("IsClosed", e.raw)
			if done && touched("Status") {
				put("CompletedDateTime", appendTime(nil, s.now()))
			}
			put("AccountId", s.accountOf(str("WhatId")))
		}
	}
}

// accountOf returns the account that a record belongs to, as JSON.
func (s *store) accountOf(id string) []byte {
	if t := s.byName["account"]; t.byID[id] != nil {
		return appendString(nil, id)
	}
	for _, name := range []string{"opportunity", "asset"} {
		t := s.byName[name]
		if r := t.byID[id]; r != nil {
			i, _ := t.index("AccountId")
			return bytes.Clone(r.val(i))
		}
	}
	return []byte("null")
}

// remove moves a record to the recycle bin, or ends it for good.
func (s *store) remove(object, id string, hard bool) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, failure := s.table(object)
	if failure != nil {
		return failure
	}
	if hard {
		full, _ := normalID(id)
		if t.byID[full] == nil {
			return fail(http.StatusNotFound, "NOT_FOUND", "no such record: %s", id)
		}
		at := s.now()
		if err := s.journal.Put(rowKey(t, full), saved{Gone: &at}); err != nil {
			return fail(http.StatusInternalServerError, "UNKNOWN_EXCEPTION", "%v", err)
		}
		t.purgeRow(full, at)
		return nil
	}
	old, failure := t.live(id)
	if failure != nil {
		return failure
	}
	return s.flag(t, old, values{t.at.deleted: []byte("true")})
}

// flag changes system fields and moves the system's stamp.
func (s *store) flag(t *table, old *row, changed values) *apiError {
	changed[t.at.system] = appendTime(nil, s.now())
	changed[t.at.modified] = changed[t.at.system]
	return s.keep(t, old.with(t.object, changed))
}

// undelete takes a record out of the recycle bin.
func (s *store) undelete(object, id string) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, failure := s.table(object)
	if failure != nil {
		return failure
	}
	full, _ := normalID(id)
	old := t.byID[full]
	if old == nil || !old.deleted {
		return fail(http.StatusBadRequest, "UNDELETE_FAILED", "Entity is not in the recycle bin")
	}
	changed := values{t.at.deleted: []byte("false")}
	if t.at.master >= 0 {
		changed[t.at.master] = []byte("null")
	}
	return s.flag(t, old, changed)
}

// merge deletes the losers in favor of the winner and moves their children to it.
func (s *store) merge(object, winner string, losers []string) *apiError {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, failure := s.table(object)
	if failure != nil {
		return failure
	}
	if t.at.master < 0 {
		return fail(http.StatusBadRequest, "INVALID_TYPE", "%s cannot be merged", t.Name)
	}
	top, failure := t.live(winner)
	if failure != nil {
		return failure
	}
	for _, id := range losers {
		old, failure := t.live(id)
		if failure != nil {
			return failure
		}
		if old.id == top.id {
			return fail(http.StatusBadRequest, "INVALID_ID_FIELD", "a record cannot be merged with itself")
		}
		if failure := s.flag(t, old, values{t.at.deleted: []byte("true"), t.at.master: appendString(nil, top.id)}); failure != nil {
			return failure
		}
		if failure := s.adopt(t.Name, old.id, top.id); failure != nil {
			return failure
		}
	}
	return s.flag(t, top, values{})
}

// adopt points every live reference to one record at another.
func (s *store) adopt(object, from, to string) *apiError {
	want, target := appendString(nil, from), appendString(nil, to)
	for _, t := range s.list {
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Type != "reference" || i == t.at.master || !contains(f.ReferenceTo, object) {
				continue
			}
			var found []*row
			for _, r := range t.rows {
				if !r.deleted && bytes.Equal(r.val(i), want) {
					found = append(found, r)
				}
			}
			for _, r := range found {
				if failure := s.flag(t, r, values{i: target}); failure != nil {
					return failure
				}
			}
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}
