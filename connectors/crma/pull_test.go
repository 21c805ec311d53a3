package crma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/fault"
)

// org answers like an org whose answers a test dictates: describe lists fields, queries go to the test.
type org struct {
	mu      sync.Mutex
	fields  []string
	usage   string
	date    time.Time // of the Date header
	queries []string  // SOQL and locators, in order
	answer  func(query string) (status int, body string)
}

func (o *org) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Date", o.date.Format(http.TimeFormat))
	if o.usage != "" {
		w.Header().Set("Sforce-Limit-Info", o.usage)
	}
	if strings.HasSuffix(r.URL.Path, "/describe") {
		d := describe{Name: "Account", Queryable: true}
		for _, f := range o.fields {
			d.Fields = append(d.Fields, describeField{Name: f, Type: "string"})
		}
		_ = json.NewEncoder(w).Encode(d)
		return
	}
	query := r.FormValue("q")
	if query == "" {
		query = r.URL.Path
	}
	o.queries = append(o.queries, query)
	status, body := o.answer(query)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

var orgFields = []string{"Id", "SystemModstamp", "Name", "Segment__c", "Seats__c"}

// row writes a record stamped so many minutes after noon.
func row(n, minute int) string {
	return fmt.Sprintf(`{"attributes":{"type":"Account","url":"/x"},"Id":"%s","SystemModstamp":"%s"}`, rowID(n),
		noon.Add(time.Duration(minute)*time.Minute).Format(jsonTime))
}

func rowID(n int) string { return longID(fmt.Sprintf("001%012d", n)) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func pageOf(total int, next string, rows ...string) (int, string) {
	done, link := next == "", ""
	if !done {
		link = fmt.Sprintf(`,"nextRecordsUrl":"%s"`, next)
	}
	return 200, fmt.Sprintf(`{"totalSize":%d,"done":%t%s,"records":[%s]}`, total, done, link, strings.Join(rows, ","))
}

func refusal(code, message string) string {
	raw, _ := json.Marshal([]apiError{{Message: message, ErrorCode: code}})
	return string(raw)
}

func openOrg(t *testing.T, o *org) connectors.Session {
	t.Helper()
	if o.fields == nil {
		o.fields = orgFields
	}
	if o.date.IsZero() {
		o.date = noon.Add(time.Hour)
	}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	p, err := New(connectors.Settings{AuthorizeURL: server.URL + "/a", TokenURL: server.URL + "/t", APIURL: server.URL, ClientID: "c"},
		Options{Clock: func() time.Time { return noon.Add(time.Hour) }})
	require.NoError(t, err)
	return p.Open(fixedToken{connectors.Grant{AccessToken: "token"}})
}

func pull(t *testing.T, s connectors.Session, after connectors.Cursor) connectors.Page {
	t.Helper()
	page, err := s.Pull(t.Context(), connectors.PullRequest{Object: "Account", Fields: []string{"Name"}, After: after})
	require.NoError(t, err)
	return page
}

func ids(recs []connectors.Record) []string {
	out := []string{}
	for _, r := range recs {
		out = append(out, r.ExternalID)
	}
	return out
}

const locator = "/services/data/v60.0/query/01gxx-2000"

func TestPullGoesOnByKeysetWhenTheLocatorIsForgotten(t *testing.T) {
	t.Parallel()
	o := &org{answer: func(q string) (int, string) {
		switch {
		case q == locator:
			return 400, refusal("INVALID_QUERY_LOCATOR", "invalid query locator")
		case strings.Contains(q, "Id > '"+rowID(2)+"'"):
			return pageOf(1, "", row(3, 2))
		default:
			return pageOf(3, locator, row(1, 1), row(2, 2))
		}
	}}
	s := openOrg(t, o)
	first := pull(t, s, "")
	require.EqualValues(t, 3, first.Total)
	second := pull(t, s, first.Next)
	require.Equal(t, []string{rowID(3)}, ids(second.Records))
	require.True(t, second.Done)
	require.EqualValues(t, 3, second.Total, "the total is that of the whole run")
	require.Len(t, o.queries, 3)
	require.Contains(t, o.queries[2], "SystemModstamp > 2026-05-01T12:02:00Z OR (SystemModstamp = 2026-05-01T12:02:00Z AND")
}

func TestPullGoesOnByKeysetWhenTheLocatorLeadsElsewhere(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]func() (int, string){
		"to itself":                        func() (int, string) { return pageOf(9, locator, row(3, 2)) },
		"to more rows than were announced": func() (int, string) { return pageOf(9, locator+"0", rows(9)...) },
		"to a query of another size":       func() (int, string) { return pageOf(8, "", row(4, 3)) },
		"to records of another object":     func() (int, string) { return pageOf(9, "", strings.Replace(row(4, 3), "Account", "Contact", 1)) },
		"before the last row":              func() (int, string) { return pageOf(9, "", row(1, 1)) },
		"to the last row":                  func() (int, string) { return pageOf(9, "", row(2, 2)) },
		"to nothing but a further link":    func() (int, string) { return pageOf(9, locator+"0") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &org{answer: func(q string) (int, string) {
				switch {
				case q == locator:
					return elsewhere()
				case strings.Contains(q, "Id > '"+rowID(2)+"'"):
					return pageOf(7, "", row(3, 2))
				default:
					return pageOf(9, locator, row(1, 1), row(2, 2))
				}
			}}
			s := openOrg(t, o)
			second := pull(t, s, pull(t, s, "").Next)
			require.Equal(t, []string{rowID(3)}, ids(second.Records))
			require.EqualValues(t, 9, second.Total)
			require.Len(t, o.queries, 3)
		})
	}
}

func TestPullTrustsNoStampOfARecordThatChangedDuringTheQuery(t *testing.T) {
	t.Parallel()
	const again = "/services/data/v60.0/query/01gxx-4000"
	o := &org{date: noon.Add(10 * time.Minute), answer: func(q string) (int, string) {
		switch q {
		case locator: // row 2 was changed at 12:30, while the query was open
			return pageOf(4, again, row(2, 30))
		case again:
			return 400, refusal("INVALID_QUERY_LOCATOR", "invalid query locator")
		}
		if strings.Contains(q, "WHERE") {
			return pageOf(3, "", row(1, 31))
		}
		return pageOf(4, locator, row(1, 1))
	}}
	s := openOrg(t, o)
	second := pull(t, s, pull(t, s, "").Next)
	third := pull(t, s, second.Next)
	require.Equal(t, []string{rowID(1)}, ids(third.Records), "a row that moved to the end is read again")
	require.Contains(t, o.queries[3], "SystemModstamp > 2026-05-01T12:01:00Z", "rows between 12:01 and 12:30 are not skipped")
}

func TestIncrementalRunsStartBeforeTheStartOfTheLastRun(t *testing.T) {
	t.Parallel()
	o := &org{answer: func(string) (int, string) { return pageOf(1, "", row(1, 1)) }}
	s := openOrg(t, o)
	first := pull(t, s, "")
	require.True(t, first.Done)
	o.date = noon.Add(3 * time.Hour)
	second := pull(t, s, first.Next)
	require.NotEqual(t, first.Next, second.Next)
	third := pull(t, s, second.Next)
	require.NotEqual(t, second.Next, third.Next, "the cursor moves even when nothing is new")
	require.NotContains(t, o.queries[0], "WHERE")
	require.Contains(t, o.queries[1], "SystemModstamp >= 2026-05-01T12:50:00Z ORDER")
	require.Contains(t, o.queries[2], "SystemModstamp >= 2026-05-01T14:50:00Z ORDER")
}

func TestPullDropsFieldsThatCannotBeReadAnyMore(t *testing.T) {
	t.Parallel()
	const nosuch = "SELECT Id, Segment__c FROM Account\n^\nERROR at Row:1:Column:2\nNo such column 'Segment__c' on entity 'Account'."
	for _, tc := range []struct {
		name, message string
		left          []string // what describe lists afterwards
	}{
		{"named by the refusal, still described", nosuch, orgFields},
		{"named by the refusal, gone from describe", nosuch, []string{"Id", "SystemModstamp", "Name", "Seats__c"}},
		{"not named, gone from describe", "unexpected text", []string{"Id", "SystemModstamp", "Name", "Seats__c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := &org{}
			o.answer = func(q string) (int, string) {
				if strings.Contains(q, "Segment__c") {
					o.fields = tc.left
					return 400, refusal("INVALID_FIELD", tc.message)
				}
				return pageOf(1, "", row(1, 1))
			}
			s := openOrg(t, o)
			req := connectors.PullRequest{Object: "Account", Fields: []string{"Segment__c", "Seats__c"}}
			page, err := s.Pull(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, page.Records, 1)
			require.Equal(t, []connectors.Warning{{Code: "field_lost", Message: "Account: no longer readable: Segment__c", Count: 1}}, page.Warnings)
			page, err = s.Pull(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, page.Warnings, 1, "the next run says so again")
			require.Len(t, o.queries, 3, "without asking for the field again")
		})
	}
}

func TestPullGivesUpWhenWhatItNeedsIsGone(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"a system field": "No such column 'SystemModstamp' on entity 'Account'.",
		"nobody knows":   "unexpected text",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openOrg(t, &org{answer: func(string) (int, string) { return 400, refusal("INVALID_FIELD", message) }})
			_, err := s.Pull(t.Context(), connectors.PullRequest{Object: "Account"})
			require.Equal(t, fault.SchemaDrift, fault.CodeOf(err))
		})
	}
}

func TestPullRefusesPagesThatDoNotAdvance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		next func(query string) (int, string)
		want fault.Code
	}{
		{"rows of another object", func(string) (int, string) { return pageOf(9, "", strings.Replace(row(2, 2), "Account", "Contact", 1)) }, fault.Unavailable},
		{"no link and not done", func(string) (int, string) { return 200, `{"totalSize":9,"done":false,"records":[]}` }, fault.Unavailable},
		{"not a query result", func(string) (int, string) { return 200, `{}` }, fault.Unavailable},
		{"a foreign link", func(string) (int, string) { return pageOf(9, "https://evil.example/services/data/x", row(2, 2)) }, fault.Denied},
		{"a link out of the API", func(string) (int, string) { return pageOf(9, "/secret", row(2, 2)) }, fault.Denied},
		{"the same rows by keyset", func(q string) (int, string) {
			if q == locator {
				return 400, refusal("INVALID_QUERY_LOCATOR", "")
			}
			return pageOf(9, locator, row(1, 1))
		}, fault.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			first := true
			s := openOrg(t, &org{answer: func(q string) (int, string) {
				if first {
					first = false
					return pageOf(9, locator, row(1, 1))
				}
				return tc.next(q)
			}})
			page := pull(t, s, "")
			_, err := s.Pull(t.Context(), connectors.PullRequest{Object: "Account", After: page.Next})
			require.Equal(t, tc.want, fault.CodeOf(err), "%v", err)
		})
	}
}

func rows(n int) []string {
	var out []string
	for i := range n {
		out = append(out, row(i+2, 1))
	}
	return out
}

func TestPullStopsAtItsShareOfTheDailyRequests(t *testing.T) {
	t.Parallel()
	o := &org{usage: "api-usage=899/1000", answer: func(string) (int, string) { return pageOf(9, locator, row(1, 1)) }}
	s := openOrg(t, o)
	page := pull(t, s, "")
	o.usage = "api-usage=900/1000"
	o.answer = func(string) (int, string) { return pageOf(9, locator+"1", row(2, 2)) }
	page = pull(t, s, page.Next)
	require.Len(t, page.Records, 1, "what was read is not thrown away")
	_, err := s.Pull(t.Context(), connectors.PullRequest{Object: "Account", After: page.Next})
	require.Equal(t, fault.QuotaDay, fault.CodeOf(err))
	require.Equal(t, 11*time.Hour+5*time.Minute, fault.RetryAfter(err))
	require.Len(t, o.queries, 2, "nothing more is asked")
}

func TestRefusalsAreClassified(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   fault.Code
	}{
		{"the daily limit", 403, refusal("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."), fault.QuotaDay},
		{"the concurrency limit", 403, refusal("REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded."), fault.Throttled},
		{"too many requests", 429, "", fault.Throttled},
		{"a missing permission", 403, refusal("INSUFFICIENT_ACCESS_OR_READONLY", ""), fault.ScopeMissing},
		{"a disabled API", 403, refusal("API_DISABLED_FOR_ORG", ""), fault.ScopeMissing},
		{"an unknown object", 400, refusal("INVALID_TYPE", ""), fault.SchemaDrift},
		{"a locked row", 400, refusal("UNABLE_TO_LOCK_ROW", ""), fault.Unavailable},
		{"a slow query", 400, refusal("QUERY_TIMEOUT", ""), fault.Unavailable},
		{"a wrong query", 400, refusal("MALFORMED_QUERY", ""), fault.Invalid},
		{"a busy server", 503, refusal("SERVER_UNAVAILABLE", ""), fault.Unavailable},
		{"a gateway's page", 502, "<html></html>", fault.Unavailable},
		{"a firewall's page", 403, "<html></html>", fault.Unavailable},
		{"a refused token twice", 401, refusal("INVALID_SESSION_ID", ""), fault.Unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := openOrg(t, &org{answer: func(string) (int, string) { return tc.status, tc.body }})
			_, err := s.Count(t.Context(), "Account")
			require.Equal(t, tc.want, fault.CodeOf(err), "%v", err)
		})
	}
}

func TestReadingAskForKnownObjectsOnly(t *testing.T) {
	t.Parallel()
	s := openOrg(t, &org{answer: func(string) (int, string) { return pageOf(0, "") }})
	_, err := s.Pull(t.Context(), connectors.PullRequest{Object: "Lead"})
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	_, err = s.Count(t.Context(), "Account; DROP")
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
	_, err = s.Deletions(context.WithoutCancel(t.Context()), connectors.DeletionsRequest{Object: "x"})
	require.Equal(t, fault.Invalid, fault.CodeOf(err))
}

func TestColumnsStayWithinARequest(t *testing.T) {
	t.Parallel()
	d := &describe{Fields: []describeField{{Name: "Id", Type: "id"}, {Name: "SystemModstamp", Type: "datetime"}, {Name: "Address", Type: "address"}}}
	for i := range 1000 {
		d.Fields = append(d.Fields, describeField{Name: fmt.Sprintf("A_rather_long_field_name_%04d__c", i), Type: "string"})
	}
	columns, missing := d.columns(nil, []string{"a_rather_long_field_name_0001__C"})
	require.Less(t, len(strings.Join(columns, ", ")), maxColumnText+200)
	require.Equal(t, 1001, len(columns)+len(missing))
	require.NotContains(t, columns, "Address")
	require.NotContains(t, columns, "A_rather_long_field_name_0001__c")
	columns, missing = d.columns([]string{"Id", "Nope", "Nope", "Address", "A_rather_long_field_name_0999__c"}, nil)
	require.Equal(t, []string{"Id", "SystemModstamp", "A_rather_long_field_name_0999__c"}, columns)
	require.Equal(t, []string{"Nope", "Address"}, missing)
}

func TestPullWarnsOfRowsThatNeverCame(t *testing.T) {
	t.Parallel()
	s := openOrg(t, &org{answer: func(string) (int, string) { return pageOf(5, "", row(1, 1), row(2, 2)) }})
	page := pull(t, s, "")
	require.Len(t, page.Warnings, 1)
	require.Equal(t, "rows_missing", page.Warnings[0].Code)
	require.EqualValues(t, 3, page.Warnings[0].Count)
}

func TestRecordsThatChangedLateAreReadByTheNextRun(t *testing.T) {
	t.Parallel()
	// Row 2 was stamped at 12:55 but committed only after the run that started at 13:00.
	late := false
	o := &org{answer: func(q string) (int, string) {
		if late && strings.Contains(q, "SystemModstamp >= 2026-05-01T12:50:00Z") {
			return pageOf(1, "", row(2, 55))
		}
		return pageOf(1, "", row(1, 59))
	}}
	s := openOrg(t, o)
	first := pull(t, s, "")
	late = true
	require.Equal(t, []string{rowID(2)}, ids(pull(t, s, first.Next).Records))
}
