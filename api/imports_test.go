package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/api"
	"revarch/auth"
	"revarch/services/governance"
	"revarch/services/identity"
	"revarch/services/imports"
	"revarch/services/paging"
	"revarch/services/runs"
	"revarch/services/uploads"
	"revarch/testkit"
)

// newImportsAPI is the REST surface of imports with the key of an admin; nothing runs workflows: runs stay queued.
func newImportsAPI(t *testing.T) (s *datasetsAPI, viewer string) {
	t.Helper()
	s = &datasetsAPI{db: testkit.Database(t, testkit.Product(t))}
	st := testkit.OpenStore(t, s.db.App, 8)
	log := &governance.Service{Store: st, Clock: time.Now}
	r := runs.New(st, nil, nil, nil)
	surface := &api.Runs{Runs: r, StillValid: func(context.Context, auth.Principal) error { return nil }}
	server, err := api.New(&identity.Service{Store: st, Log: log, Clock: time.Now}, log, api.Options{Cursors: paging.New([]byte("secret"))}, surface,
		&api.Imports{Imports: &imports.Service{Store: st, Uploads: &uploads.Service{Store: st}, Runs: r, Log: log}, Runs: surface})
	require.NoError(t, err)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	s.url, s.platform = web.URL, s.db.NewOrg(t, "Org")
	s.tenants, viewer = s.key(t, s.platform.String()), s.key(t, s.platform.String())
	s.db.Exec(t, "UPDATE api_keys SET scopes = '{read}' WHERE hash = $1", auth.HashSecret(viewer))
	return s, viewer
}

// form makes a form with files, the first under field and the second under field2.
func form(t *testing.T, field string, files ...[]byte) (body []byte, contentType string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for i, data := range files {
		name := field
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		part, err := w.CreateFormFile(name, "accounts.csv")
		require.NoError(t, err)
		_, err = part.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return buf.Bytes(), w.FormDataContentType()
}

func TestImports(t *testing.T) {
	t.Parallel()
	s, viewer := newImportsAPI(t)
	for name, header := range map[string]string{
		"accounts": "external_id,name,segment,state,nces_id,unitid,arr_usd,status\r\n", "products": "sku,name,list_price_usd,active\r\n",
		"account_products": "account_external_id,sku,arr_usd,start_date,end_date,quantity\r\n",
	} {
		status, body := s.call(t, viewer, http.MethodGet, "/api/imports/"+name+"/template", nil)
		require.Equal(t, 200, status, body)
		require.Equal(t, header, body)
	}
	status, body := s.call(t, viewer, http.MethodGet, "/api/imports/contacts/template", nil)
	require.Equal(t, 404, status)
	require.Contains(t, body, "known are accounts, products, account_products")

	good := []byte("external_id,name\nA,One\n")
	inForm, formType := form(t, "file", good)
	otherField, otherType := form(t, "data", good)
	twoFiles, twoType := form(t, "file", good, good)
	for _, c := range []struct {
		key, path, says string
		body            []byte
		status          int
		headers         []string
	}{
		{viewer, "/api/imports/accounts", "", good, 403, nil},
		{viewer, "/api/imports/accounts?dry_run=true", "", good, 403, nil},
		{s.tenants, "/api/imports/contacts", "known are", good, 404, nil},
		{s.tenants, "/api/imports/accounts", "empty", nil, 422, []string{"Content-Type", "text/csv"}},
		{s.tenants, "/api/imports/accounts?dryrun=1", "query.dryrun", good, 422, nil},
		{s.tenants, "/api/imports/accounts?dry_run=perhaps", "query.dry_run", good, 422, nil},
		{s.tenants, "/api/imports/accounts", "valid columns are external_id, name", []byte("id,name\n"), 422, nil},
		{s.tenants, "/api/imports/accounts?dry_run=true", "valid columns are external_id, name", []byte("id,name\n"), 422, nil},
		{s.tenants, "/api/imports/accounts", "must be UTF-8", good, 422, []string{"Content-Type", "text/csv; charset=iso-8859-1"}},
		{s.tenants, "/api/imports/accounts", "text/csv", []byte("{}"), 422, []string{"Content-Type", "application/json"}},
		{s.tenants, "/api/imports/accounts", "body.data", otherField, 422, []string{"Content-Type", otherType}},
		{s.tenants, "/api/imports/accounts", "body.file2", twoFiles, 422, []string{"Content-Type", twoType}},
		{s.tenants, "/api/imports/accounts?dry_run=true", "body.file2", twoFiles, 422, []string{"Content-Type", twoType}},
		{s.tenants, "/api/imports/accounts", "before its last boundary", inForm[:len(inForm)-8], 422, []string{"Content-Type", formType}},
		{s.tenants, "/api/imports/accounts", "the form has no file", good, 422, []string{"Content-Type", "multipart/form-data; boundary=x"}},
	} {
		status, body := s.call(t, c.key, http.MethodPost, c.path, c.body, c.headers...)
		require.Equal(t, c.status, status, "%s: %s", c.path, body)
		require.Contains(t, body, c.says)
		require.Contains(t, body, `"code"`)
	}
	require.Zero(t, s.db.Count(t, "SELECT (SELECT count(*) FROM uploads) + (SELECT count(*) FROM runs)"))

	status, body = s.call(t, s.tenants, http.MethodPost, "/api/imports/accounts?dry_run=true", []byte("external_id,name,arr_usd\nA,One,1.005\nB,Two,2\n"), "Content-Type", "text/csv")
	require.Equal(t, 200, status, body)
	var report imports.Report
	require.NoError(t, json.Unmarshal([]byte(body), &report))
	require.Equal(t, imports.Report{Resource: "accounts", Rows: 2, Valid: 1, Bad: 1, Errors: []imports.Problem{
		{Line: 2, Column: "arr_usd", Reason: "must be an amount in dollars with at most two decimals, such as 1200.50"},
	}}, report)
	status, body = s.call(t, s.tenants, http.MethodPost, "/api/imports/accounts?dry_run=true", inForm, "Content-Type", formType)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"errors":[]`)
	require.Zero(t, s.db.Count(t, "SELECT (SELECT count(*) FROM uploads) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM accounts)"))

	status, body = s.call(t, s.tenants, http.MethodPost, "/api/imports/accounts", inForm, "Content-Type", formType, "Prefer", "wait=1")
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"kind":"import_file"`)
	require.Contains(t, body, `"subject":"accounts"`)
	status, body = s.call(t, s.tenants, http.MethodPost, "/api/imports/accounts", good, "Content-Type", "text/csv; charset=utf-8")
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"already_running":true`)
	require.EqualValues(t, 1, s.db.Count(t, "SELECT count(*) FROM uploads WHERE complete AND name = 'accounts.csv' AND octet_length(sha256) = 32"))
}
