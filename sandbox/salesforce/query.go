package salesforce

import (
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"revarch/sandbox/control"
)

const (
	maxBatch = 2000
	minBatch = 200
)

// locators remember what is left of answers that did not fit a page. The oldest dies when there are too many, as at
// the provider; a restart kills all, and none is ever given out again: an old one must not open another query.
type locators struct {
	mu    sync.Mutex
	open  map[string]*cursor
	queue []string
}

// cursor is a query's whole result with what is needed to write its pages.
type cursor struct {
	id    string
	query *compiled
	rows  []*row
	batch int
}

const maxLocators = 50

func newLocators() *locators { return &locators{open: map[string]*cursor{}} }

func (l *locators) add(c *cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	c.id = makeID("01g", binary.NativeEndian.Uint64(random[:]))
	l.open[c.id] = c
	if l.queue = append(l.queue, c.id); len(l.queue) > maxLocators {
		delete(l.open, l.queue[0])
		l.queue = l.queue[1:]
	}
}

func (l *locators) get(id string) *cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id]
}

func (s *Server) query(w http.ResponseWriter, r *http.Request) *apiError {
	text := r.URL.Query().Get("q")
	if text == "" {
		return fail(http.StatusBadRequest, "MALFORMED_QUERY", "A query string has to be specified")
	}
	q, failure := parse(text)
	if failure != nil {
		return failure
	}
	c, failure := s.store.compile(q)
	if failure != nil {
		return failure
	}
	rows := s.store.run(c, strings.Contains(r.URL.Path, "/queryAll"))
	cur := &cursor{query: c, rows: rows, batch: batchSize(r.Header.Get("Sforce-Query-Options"))}
	if len(rows) > cur.batch && !q.count {
		s.locators.add(cur)
	}
	writePage(w, r, cur, 0)
	return nil
}

func batchSize(options string) int {
	for opt := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(opt), "=")
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && strings.EqualFold(strings.TrimSpace(key), "batchSize") {
			return min(maxBatch, max(minBatch, n))
		}
	}
	return maxBatch
}

// more serves the page that a nextRecordsUrl names.
func (s *Server) more(w http.ResponseWriter, r *http.Request) *apiError {
	id, offset, _ := strings.Cut(r.PathValue("locator"), "-")
	n, err := strconv.Atoi(offset)
	c := s.locators.get(id)
	if _, hit := s.chaos.Strikes(control.DeadCursor, r); hit || err != nil || c == nil || n < 0 || n > len(c.rows) {
		return fail(http.StatusBadRequest, "INVALID_QUERY_LOCATOR", "invalid query locator")
	}
	writePage(w, r, c, n)
	return nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 1<<20); return &b }}

// writePage writes one page by copying ready-made values: no reflection, one buffer.
func writePage(w http.ResponseWriter, r *http.Request, c *cursor, from int) {
	buf := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer buffers.Put(buf)
	v, q := r.PathValue("v"), c.query
	b := append((*buf)[:0], `{"totalSize":`...)
	b = strconv.AppendInt(b, int64(len(c.rows)), 10)
	to := min(len(c.rows), from+c.batch)
	switch {
	case q.count:
		b = append(b, `,"done":true,"records":[]}`...)
	case to < len(c.rows):
		b = append(b, `,"done":false,"nextRecordsUrl":"/services/data/`...)
		b = append(b, v+"/query/"+c.id+"-"+strconv.Itoa(to)+`","records":[`...)
	default:
		b = append(b, `,"done":true,"records":[`...)
	}
	if !q.count {
		b = q.appendRows(b, c.rows[from:to], v)
		b = append(b, `]}`...)
	}
	*buf = b
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the client has gone away
}

func (c *compiled) appendRows(b []byte, rows []*row, v string) []byte {
	head := `{"attributes":{"type":"` + c.table.Name + `","url":"/services/data/` + v + `/sobjects/` + c.table.Name + `/`
	keys := make([]string, len(c.cols))
	for i, col := range c.cols {
		keys[i] = `,"` + c.table.Fields[col].Name + `":`
	}
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, head...)
		b = append(b, r.id...)
		b = append(b, `"}`...)
		for k, col := range c.cols {
			b = append(b, keys[k]...)
			b = append(b, r.val(col)...)
		}
		b = append(b, '}')
	}
	return b
}
