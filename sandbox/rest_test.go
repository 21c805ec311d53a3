package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox"
	"revarch/sandbox/control"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("versions need no sign-in", func(t *testing.T) {
		res, err := s.http.Get(s.url + "/crm_a/services/data")
		require.NoError(t, err)
		defer res.Body.Close()
		var list []struct{ Version, URL string }
		require.NoError(t, json.NewDecoder(res.Body).Decode(&list))
		require.Contains(t, list, struct{ Version, URL string }{"62.0", rest})
	})
	t.Run("objects are listed with their prefixes and the use of the API", func(t *testing.T) {
		res := s.get(rest + "/sobjects")
		require.Regexp(t, `^api-usage=\d+/1000000$`, res.header.Get("Sforce-Limit-Info"))
		for _, name := range []string{"User", "Account", "Contact", "Opportunity", "Task", "Product2", "PricebookEntry", "OpportunityLineItem", "Asset"} {
			require.Contains(t, string(res.body), `"name":"`+name+`"`)
		}
	})
	t.Run("a described object says what each field is", func(t *testing.T) {
		res := s.get(rest + "/sobjects/Account/describe")
		var d struct {
			Fields []struct {
				Name, Type     string
				Custom         bool
				ReferenceTo    []string
				PicklistValues []struct{ Value string }
			}
		}
		require.NoError(t, json.Unmarshal(res.body, &d))
		types := map[string]string{}
		for _, f := range d.Fields {
			types[f.Name] = f.Type
			if f.Name == "Segment__c" {
				require.Len(t, f.PicklistValues, 3)
				require.True(t, f.Custom)
			}
			if f.Name == "OwnerId" {
				require.Equal(t, []string{"User"}, f.ReferenceTo)
			}
		}
		require.Equal(t, "currency", types["ARR__c"])
		require.Equal(t, "date", types["Renewal_Date__c"])
		require.Equal(t, "reference", types["MasterRecordId"])
		since := res.header.Get("Last-Modified")
		require.Equal(t, http.StatusNotModified, s.get(rest+"/sobjects/Account/describe", "If-Modified-Since", since).status)
		_, err := s.admin.Fail(t.Context(), control.Failure{Kind: control.HideField, Object: "Contact", Field: "Phone"})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, s.get(rest+"/sobjects/Account/describe", "If-Modified-Since", since).status)
	})
	t.Run("users have no mark of deletion, as at the provider", func(t *testing.T) {
		t.Parallel()
		require.NotContains(t, string(s.get(rest+"/sobjects/User/describe").body), "IsDeleted")
		require.Equal(t, http.StatusBadRequest, s.get(queryPath("queryAll", "SELECT Id FROM User WHERE IsDeleted = true")).status)
		require.NotEmpty(t, s.query("queryAll", "SELECT Id, Name, Email FROM User"))
	})
	t.Run("unknown objects and versions are 404", func(t *testing.T) {
		require.Equal(t, "NOT_FOUND", s.get(rest+"/sobjects/Nope/describe").errorCode(t))
		require.Equal(t, http.StatusNotFound, s.get("/services/data/v12.0/sobjects").status)
	})
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *sandbox.Config) { c.Accounts = 400 })
	t.Run("rows carry their attributes and only the fields asked for", func(t *testing.T) {
		t.Parallel()
		rows := s.query("query", "SELECT id, NAME FROM account ORDER BY Name LIMIT 3")
		require.Len(t, rows, 3)
		require.Len(t, rows[0], 3)
		id := rows[0]["Id"].(string)
		require.Len(t, id, 18)
		require.Equal(t, map[string]any{"type": "Account", "url": rest + "/sobjects/Account/" + id}, rows[0]["attributes"])
	})
	t.Run("pages hold as many rows as asked and the last one says done", func(t *testing.T) {
		t.Parallel()
		all := ids(s.query("query", "SELECT Id FROM Contact"))
		res := s.get(queryPath("query", "SELECT Id FROM Contact"), "Sforce-Query-Options", "batchSize=200")
		var p page
		var got []string
		for {
			require.NoError(t, json.Unmarshal(res.body, &p))
			require.Equal(t, len(all), p.TotalSize)
			got = append(got, ids(p.Records)...)
			if p.Done {
				break
			}
			require.Len(t, p.Records, 200)
			next := p.NextRecordsURL
			p = page{}
			res = s.get(next)
		}
		require.Equal(t, all, got)
		require.Greater(t, len(all), 1000)
	})
	t.Run("a keyset walk sees every row once, in order, also where many share a second", func(t *testing.T) {
		t.Parallel()
		want := ids(s.query("queryAll", "SELECT Id, SystemModstamp FROM Contact ORDER BY SystemModstamp, Id"))
		var got []string
		stamp, id := "1970-01-01T00:00:00Z", ""
		perSecond := map[string]int{}
		for {
			rows := s.query("queryAll", fmt.Sprintf("SELECT Id, SystemModstamp FROM Contact WHERE (SystemModstamp > %s OR (SystemModstamp = %s AND Id > '%s')) ORDER BY SystemModstamp, Id LIMIT 37", stamp, stamp, id))
			if len(rows) == 0 {
				break
			}
			got = append(got, ids(rows)...)
			last := rows[len(rows)-1]
			at, err := time.Parse("2006-01-02T15:04:05.000-0700", last["SystemModstamp"].(string))
			require.NoError(t, err)
			stamp, id = at.UTC().Format(time.RFC3339), last["Id"].(string)
			for _, r := range rows {
				perSecond[r["SystemModstamp"].(string)]++
			}
		}
		require.Equal(t, want, got)
		most := 0
		for _, n := range perSecond {
			most = max(most, n)
		}
		require.Greater(t, most, 37)
	})
	t.Run("COUNT answers with the total alone", func(t *testing.T) {
		t.Parallel()
		var p page
		require.NoError(t, json.Unmarshal(s.get(queryPath("query", "SELECT COUNT() FROM Account")).body, &p))
		require.Equal(t, 400, p.TotalSize)
		require.Empty(t, p.Records)
	})
	t.Run("mistakes are named as the provider names them", func(t *testing.T) {
		t.Parallel()
		for soql, code := range map[string]string{
			"SELECT Nope__c FROM Account": "INVALID_FIELD", "SELECT Id FROM Nope": "INVALID_TYPE", "SELECT FROM Account": "MALFORMED_QUERY",
			"SELECT Id FROM Account WHERE SystemModstamp > '2026-05-01T12:00:00Z'": "INVALID_FIELD",
			"SELECT Id FROM Account WHERE Competitor__c = 'x'":                     "INVALID_FIELD",
			"SELECT Id FROM Account WHERE Id = 'short'":                            "INVALID_QUERY_FILTER_OPERATOR", "": "MALFORMED_QUERY",
		} {
			res := s.get(queryPath("query", soql))
			require.Equal(t, http.StatusBadRequest, res.status, soql)
			require.Equal(t, code, res.errorCode(t), soql)
		}
		require.Equal(t, "INVALID_QUERY_LOCATOR", s.get(rest+"/query/01g5g000000000AAAA-2000").errorCode(t))
	})
}

func TestDeletesAndMerges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	list, err := s.admin.IDs(ctx, "Account")
	require.NoError(t, err)
	winner, loser, gone, purged := list[0], list[1], list[2], list[3]
	before := s.clock.Now().Add(-time.Minute)
	require.NoError(t, s.admin.Merge(ctx, "Account", winner, loser))
	require.NoError(t, s.admin.Delete(ctx, "Account", gone))
	require.NoError(t, s.admin.Purge(ctx, "Account", purged))

	live := ids(s.query("query", "SELECT Id FROM Account"))
	require.Len(t, live, 57)
	require.NotContains(t, live, loser)
	rows := s.query("queryAll", "SELECT Id, IsDeleted, MasterRecordId, SystemModstamp FROM Account WHERE IsDeleted = true")
	require.ElementsMatch(t, []string{loser, gone}, ids(rows))
	for _, r := range rows {
		require.Equal(t, s.clock.Now().UTC().Format("2006-01-02T15:04:05.000-0700"), r["SystemModstamp"])
		if r["Id"] == loser {
			require.Equal(t, winner, r["MasterRecordId"])
		} else {
			require.Nil(t, r["MasterRecordId"])
		}
	}
	require.Empty(t, s.query("queryAll", "SELECT Id FROM Contact WHERE AccountId = '"+loser+"' AND IsDeleted = false"))

	window := url.Values{"start": {before.Format(time.RFC3339)}, "end": {s.clock.Now().Add(time.Hour).Format(time.RFC3339)}}
	res := s.get(rest + "/sobjects/Account/deleted/?" + window.Encode())
	for _, id := range []string{loser, gone, purged} {
		require.Contains(t, string(res.body), id)
	}
	window.Set("start", before.AddDate(0, 0, -40).Format(time.RFC3339))
	require.Equal(t, "INVALID_REPLICATION_DATE", s.get(rest+"/sobjects/Account/deleted/?"+window.Encode()).errorCode(t))
	require.Equal(t, http.StatusNotFound, s.get(rest+"/sobjects/Account/"+gone).status)

	s.clock.advance(time.Minute)
	require.NoError(t, s.admin.Undelete(ctx, "Account", loser))
	require.Contains(t, ids(s.query("query", "SELECT Id FROM Account WHERE MasterRecordId = null")), loser)
}

func TestWrites(t *testing.T) {
	t.Parallel()
	s := setup(t)
	account := ids(s.query("query", "SELECT Id FROM Account LIMIT 1"))[0]
	send := func(method, path string, body any) response {
		res, err := s.do(method, rest+path, body)
		require.NoError(t, err)
		return res
	}
	t.Run("a task is created, linked and found", func(t *testing.T) {
		res := send(http.MethodPost, "/sobjects/Task", map[string]any{"WhatId": account[:15], "Subject": `Call "Núñez"`, "ActivityDate": "2026-05-09"})
		require.Equal(t, http.StatusCreated, res.status, string(res.body))
		var made struct {
			ID      string
			Success bool
		}
		require.NoError(t, json.Unmarshal(res.body, &made))
		require.True(t, made.Success)
		rows := s.query("query", "SELECT AccountId, Subject, Status, IsClosed, SystemModstamp FROM Task WHERE Id = '"+made.ID+"'")
		require.Len(t, rows, 1)
		require.Equal(t, account, rows[0]["AccountId"])
		require.Equal(t, `Call "Núñez"`, rows[0]["Subject"])
		require.Equal(t, "Not Started", rows[0]["Status"])
		require.Equal(t, http.StatusNoContent, send(http.MethodPatch, "/sobjects/Task/"+made.ID, map[string]any{"Status": "Completed"}).status)
		require.Equal(t, true, s.query("query", "SELECT IsClosed FROM Task WHERE Id = '"+made.ID+"'")[0]["IsClosed"])
	})
	t.Run("an external id makes a write repeatable", func(t *testing.T) {
		task := map[string]any{"WhatId": account, "Subject": "Once"}
		first := send(http.MethodPatch, "/sobjects/Task/RevArch_Key__c/k-1", task)
		require.Equal(t, http.StatusCreated, first.status, string(first.body))
		second := send(http.MethodPatch, "/sobjects/Task/RevArch_Key__c/k-1", task)
		require.Equal(t, http.StatusOK, second.status)
		require.Contains(t, string(second.body), `"created":false`)
		require.Len(t, s.query("query", "SELECT Id FROM Task WHERE RevArch_Key__c = 'k-1'"), 1)
	})
	t.Run("bad writes are refused with a code", func(t *testing.T) {
		for _, c := range []struct {
			body any
			code string
		}{
			{map[string]any{"Nope": 1}, "INVALID_FIELD"},
			{map[string]any{"IsClosed": true}, "INVALID_FIELD_FOR_INSERT_UPDATE"},
			{map[string]any{"Subject": strings.Repeat("x", 256)}, "STRING_TOO_LONG"},
			{map[string]any{"ActivityDate": "soon"}, "JSON_PARSER_ERROR"},
			{map[string]any{"WhatId": "x"}, "MALFORMED_ID"},
			{[]int{1}, "JSON_PARSER_ERROR"},
		} {
			res := send(http.MethodPost, "/sobjects/Task", c.body)
			require.Equal(t, http.StatusBadRequest, res.status)
			require.Equal(t, c.code, res.errorCode(t))
		}
		require.Equal(t, "REQUIRED_FIELD_MISSING", send(http.MethodPost, "/sobjects/Contact", map[string]any{"FirstName": "A"}).errorCode(t))
		require.Equal(t, http.StatusForbidden, send(http.MethodPost, "/sobjects/User", map[string]any{}).status)
	})
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	t.Run("changes move the stamp, and a burst is the same for the same seed", func(t *testing.T) {
		t.Parallel()
		var seen [][]byte
		for range 2 {
			s := setup(t)
			out, err := s.admin.Burst(t.Context(), 200, 7)
			require.NoError(t, err)
			require.Equal(t, 200, out.Created+out.Updated+out.Deleted)
			changed := s.query("queryAll", "SELECT Id FROM Account WHERE SystemModstamp >= "+s.clock.Now().Format(time.RFC3339))
			require.NotEmpty(t, changed)
			seen = append(seen, s.get(queryPath("queryAll", "SELECT Id, Name, Title FROM Contact ORDER BY SystemModstamp, Id")).body)
		}
		require.Equal(t, string(seen[0]), string(seen[1]))
	})
	t.Run("administration may set what clients cannot", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		made, err := s.admin.Create(t.Context(), "Account", control.Fields{"Name": strings.Repeat("n", 2000), "ARR__c": -5.25, "SystemModstamp": "2026-01-02T03:04:05Z"})
		require.NoError(t, err)
		row := s.query("query", "SELECT Name, ARR__c FROM Account WHERE SystemModstamp = 2026-01-02T03:04:05Z")[0]
		require.Len(t, row["Name"], 2000)
		require.InDelta(t, -5.25, row["ARR__c"], 0)
		got, err := s.admin.Get(t.Context(), "Account", made.ID)
		require.NoError(t, err)
		require.JSONEq(t, string(made.Fields), string(got.Fields))
	})
	t.Run("foreign hosts and foreign pages are refused", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		for header, value := range map[string]string{"Host": "evil.example", "Sec-Fetch-Site": "cross-site"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/_sandbox/crm_a/grants/revoke", nil)
			require.NoError(t, err)
			if req.Header.Set(header, value); header == "Host" {
				req.Host = value
			}
			res, err := s.http.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusForbidden, res.StatusCode, header)
		}
	})
}

func TestStatusCountsTheTables(t *testing.T) {
	t.Parallel()
	s := setup(t)
	st, err := s.admin.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, st.Grants)
	i := slices.IndexFunc(st.Objects, func(o control.ObjectCount) bool { return o.Object == "Contact" })
	require.Len(t, s.query("query", "SELECT Id FROM Contact"), st.Objects[i].Live)
	require.Len(t, s.query("queryAll", "SELECT Id FROM Contact"), st.Objects[i].Live+st.Objects[i].Deleted)
}
