package crma

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"revarch/connectors"
	"revarch/fault"
)

// session reads one connected org.
type session struct {
	p      *Provider
	tokens connectors.TokenSource
	client *connectors.Client
	budget budget

	mu      sync.Mutex
	objects map[string]*objectState
}

// objectState is what a session has learned about an object.
type objectState struct {
	desc *describe
	lost []string // fields that a query was refused for, whatever describe says
}

// get makes one budgeted call.
func (s *session) get(ctx context.Context, call connectors.Call, out any) (connectors.Answer, error) {
	if err := s.budget.check(); err != nil {
		return connectors.Answer{}, err
	}
	return s.client.JSON(ctx, call, out)
}

// Validate makes the cheapest call that proves the credentials and names the org.
func (s *session) Validate(ctx context.Context) (connectors.Account, error) {
	g, err := s.tokens.Grant(ctx)
	if err != nil {
		return connectors.Account{}, fmt.Errorf("load grant: %w", err)
	}
	return s.p.identify(ctx, s.client, g)
}

// Count counts the live records of an object.
func (s *session) Count(ctx context.Context, object string) (int64, error) {
	if !supported(object) {
		return 0, unknownObject(object)
	}
	var out queryResult
	_, err := s.get(ctx, connectors.Call{Ref: s.p.dataPath + "/query", Query: url.Values{"q": {"SELECT COUNT() FROM " + object}}}, &out)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", object, err)
	}
	if out.TotalSize == nil {
		return -1, nil
	}
	return *out.TotalSize, nil
}

// run makes a selection, dropping columns that the org no longer lets us read until it is accepted. It returns the
// warnings about them and the provider's clock at the start of the query.
func (s *session) run(ctx context.Context, sel selection, endpoint string, batch int) (queryResult, []connectors.Warning, time.Time, error) {
	var warnings []connectors.Warning
	for range 1 + len(sel.columns) {
		q, err := sel.soql()
		if err != nil {
			return queryResult{}, nil, time.Time{}, err
		}
		var out queryResult
		began := s.p.opts.Clock()
		ans, err := s.get(ctx, connectors.Call{Ref: s.p.dataPath + "/" + endpoint, Query: url.Values{"q": {q}}, Header: batchHeader(batch)}, &out)
		if err == nil {
			return out, warnings, serverTime(ans.Header, began, s.p.opts.Clock()), nil
		}
		refusal, drift := refusedWith(err, connectors.ClassSchemaDrift)
		if !drift || refusal.Code != "INVALID_FIELD" {
			return queryResult{}, nil, time.Time{}, fmt.Errorf("query %s: %w", sel.object, err)
		}
		gone, ferr := s.forget(ctx, sel.object, sel.columns, lostField(refusal.Message))
		if ferr != nil {
			return queryResult{}, nil, time.Time{}, ferr
		}
		if len(gone) == 0 {
			return queryResult{}, nil, time.Time{}, fmt.Errorf("query %s: %w", sel.object, err)
		}
		sel.columns = slices.DeleteFunc(slices.Clone(sel.columns), func(c string) bool { return slices.Contains(gone, c) })
		warnings = append(warnings, fieldLost(sel.object, gone))
	}
	return queryResult{}, nil, time.Time{}, fault.New(fault.SchemaDrift, "No field of %s can be read any more.", sel.object)
}

// forget reads the object's description again and returns which of the columns are gone: those it lists no more, and
// the one that the refusal named. System columns are never given up.
func (s *session) forget(ctx context.Context, object string, columns []string, named string) ([]string, error) {
	s.mu.Lock()
	state := s.objects[object]
	state.desc = nil
	if named != "" {
		state.lost = append(state.lost, named)
	}
	s.mu.Unlock()
	desc, lost, err := s.describe(ctx, object)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, c := range columns {
		if !desc.has(c) || slices.ContainsFunc(lost, func(l string) bool { return strings.EqualFold(l, c) }) {
			if slices.Contains(keyColumns, c) {
				return nil, fault.New(fault.SchemaDrift, "%s has no %s any more, which reading it needs.", object, c)
			}
			gone = append(gone, c)
		}
	}
	return gone, nil
}

// queryResult is a page of a query.
type queryResult struct {
	TotalSize      *int64      `json:"totalSize"`
	Done           *bool       `json:"done"`
	NextRecordsURL string      `json:"nextRecordsUrl"`
	Records        []rawRecord `json:"records"`
}

// checkLocator accepts a link to the next page: a path on the same server below the REST API.
func checkLocator(link string) error {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || u.RawQuery != "" || strings.Contains(u.Path, "..") ||
		!strings.HasPrefix(link, "/") || !strings.Contains(u.Path, "/services/data/") {
		return fault.New(fault.Denied, "The provider's answer points to a next page outside its API. The link was not followed.")
	}
	return nil
}

func batchHeader(n int) http.Header {
	if n < minBatch {
		return nil
	}
	return http.Header{"Sforce-Query-Options": {"batchSize=" + strconv.Itoa(n)}}
}

// serverTime is the provider's clock when a request began, from the Date of its answer; without one, our clock.
func serverTime(h http.Header, began, ended time.Time) time.Time {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return began.UTC().Truncate(time.Second)
	}
	return date.Add(-ended.Sub(began)).UTC().Truncate(time.Second)
}

func fieldLost(object string, names []string) connectors.Warning {
	return connectors.Warning{
		Code: "field_lost", Count: int64(len(names)),
		Message: fmt.Sprintf("%s: no longer readable: %s", object, strings.Join(names, ", ")),
	}
}

func unknownObject(object string) error {
	if !identifier(object) {
		object = "This object"
	}
	return fault.New(fault.Invalid, "%s is not synced from this provider.", object)
}
