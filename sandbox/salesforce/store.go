package salesforce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"revarch/sandbox/data"
	"revarch/sandbox/journal"
)

// apiError is a failed request, answered as the provider does: an array with one of these.
type apiError struct {
	Status  int      `json:"-"`
	Message string   `json:"message"`
	Code    string   `json:"errorCode"`
	Fields  []string `json:"fields,omitempty"`
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

func fail(status int, code, format string, args ...any) *apiError {
	return &apiError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

const rowPrefix = "crm_a/row/"

// store holds all records. Readers may keep the rows they found after they let go of the lock.
type store struct {
	mu      sync.RWMutex
	list    []*table
	byName  map[string]*table
	gen     *data.Generator
	clock   func() time.Time
	journal *journal.Journal
	hidden  func(object string) map[string]bool
}

func newStore(gen *data.Generator, clock func() time.Time, j *journal.Journal, hidden func(string) map[string]bool) *store {
	s := &store{byName: map[string]*table{}, gen: gen, clock: clock, journal: j, hidden: hidden}
	for _, o := range newSchema() {
		t := &table{object: o, byID: map[string]*row{}}
		s.list = append(s.list, t)
		s.byName[strings.ToLower(o.Name)] = t
	}
	s.generate(gen, func(t *table, r *row) {
		t.rows = append(t.rows, r)
		t.byID[r.id] = r
	})
	for _, t := range s.list {
		t.sort()
	}
	return s
}

// generate hands over every generated record.
func (s *store) generate(gen *data.Generator, put func(*table, *row)) {
	var e encoder
	add := func(name string) {
		t := s.byName[name]
		put(t, e.row(t.object))
	}
	begin := gen.Config().Anchor.AddDate(-2, 0, 0)
	for i, u := range gen.Users {
		e.user(i, u, begin)
		add("user")
	}
	for i, p := range data.Products {
		e.product(i, p, begin)
		add("product2")
		e.price(i, p, begin)
		add("pricebookentry")
	}
	for i := range gen.Accounts() {
		st := gen.Story(i)
		e.account(&st.Account)
		add("account")
		for n := range st.Contacts {
			e.contact(i, n, &st.Contacts[n])
			add("contact")
		}
		for n := range st.Opportunities {
			e.opportunity(i, n, &st.Opportunities[n])
			add("opportunity")
			for k := range st.Opportunities[n].Lines {
				e.line(i, n, k, st.Opportunities[n].Stamps, &st.Opportunities[n].Lines[k])
				add("opportunitylineitem")
			}
		}
		for n := range st.Tasks {
			e.task(i, n, &st.Tasks[n])
			add("task")
		}
		for n := range st.Assets {
			e.asset(i, n, &st.Assets[n])
			add("asset")
		}
	}
}

// setRoster renames the institutions: every record that the new roster makes different takes its new values and a new
// stamp. What clients and tests had changed in such a record is overwritten; what was deleted stays deleted, and all
// other records stay as they are.
func (s *store) setRoster(roster []data.RosterEntry, at time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg := s.gen.Config()
	cfg.Roster = roster
	gen, err := data.New(cfg)
	if err != nil {
		return 0, err
	}
	now := appendTime(nil, at.UTC().Truncate(time.Second))
	before, stop := iter.Pull(s.rows(s.gen))
	defer stop()
	fresh := map[*table]map[string]*row{}
	changed := 0
	s.generate(gen, func(t *table, r *row) {
		was, _ := before() // both generate the same records in the same order
		old := t.byID[r.id]
		if old == nil || old.deleted || was != nil && was.id == r.id && sameContent(t.object, was, r) {
			return
		}
		if fresh[t] == nil {
			fresh[t] = map[string]*row{}
		}
		fresh[t][r.id] = r.with(t.object, map[int][]byte{t.at.created: old.val(t.at.created), t.at.modified: now, t.at.system: now})
		changed++
		err = errors.Join(err, s.journal.Drop(rowKey(t, r.id)))
	})
	for t, rows := range fresh {
		t.rows = slices.DeleteFunc(t.rows, func(r *row) bool { return rows[r.id] != nil })
		t.rows = slices.AppendSeq(t.rows, maps.Values(rows))
		maps.Copy(t.byID, rows)
		t.sort()
	}
	s.gen = gen
	return changed, err
}

// rows returns every generated record.
func (s *store) rows(gen *data.Generator) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		more := true
		s.generate(gen, func(_ *table, r *row) { more = more && yield(r) })
	}
}

// sameContent compares what a person would see: everything after the system fields.
func sameContent(o *object, a, b *row) bool {
	from := o.at.system
	return bytes.Equal(a.raw[a.ends[from]:], b.raw[b.ends[from]:])
}

func rowKey(t *table, id string) string { return rowPrefix + t.Name + "/" + id }

// saved is a changed record in the journal: its values, or that it is gone.
type saved struct {
	Values []json.RawMessage `json:"values,omitempty"`
	Gone   *time.Time        `json:"gone,omitempty"`
}

// save records a row's new version.
func (s *store) save(t *table, r *row) error {
	v := saved{Values: make([]json.RawMessage, len(t.Fields))}
	for i := range t.Fields {
		v.Values[i] = r.val(i)
	}
	return s.journal.Put(rowKey(t, r.id), v)
}

// restore replays changed records.
func (s *store) restore(entries []journal.Entry) error {
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Key, rowPrefix)
		if !ok {
			continue
		}
		name, id, _ := strings.Cut(rest, "/")
		t := s.byName[strings.ToLower(name)]
		var v saved
		if err := json.Unmarshal(entry.Value, &v); err != nil || t == nil || v.Gone == nil && (len(v.Values) == 0 || len(v.Values) > len(t.Fields)) {
			return fmt.Errorf("journal entry %s does not fit this version", entry.Key)
		}
		if t.byID[id] == nil {
			t.serial++ // a client made it: its number is taken, also when it is gone
		}
		if v.Gone != nil {
			t.purgeRow(id, *v.Gone)
			continue
		}
		var e encoder
		for _, x := range v.Values {
			e.json(x)
		}
		for i := len(v.Values); i < len(t.Fields); i++ { // an object only ever gains fields, at its end
			if t.Fields[i].Type == "boolean" {
				e.bool(false)
			} else {
				e.null()
			}
		}
		t.put(e.row(t.object))
	}
	return nil
}

// table finds an object by name.
func (s *store) table(name string) (*table, *apiError) {
	if t := s.byName[strings.ToLower(name)]; t != nil {
		return t, nil
	}
	return nil, fail(http.StatusNotFound, "NOT_FOUND", "The requested resource does not exist")
}
