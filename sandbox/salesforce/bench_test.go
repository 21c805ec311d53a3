package salesforce

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"revarch/sandbox/data"
)

// BenchmarkContactPage serves 2,000-row pages from the middle of 300,000 contacts, as a sync asks for them.
func BenchmarkContactPage(b *testing.B) {
	gen, err := data.New(data.Config{Seed: 1, Accounts: 100_000, OpportunitiesPerAccount: -1, TasksPerAccount: -1, Anchor: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(b, err)
	begun := time.Now()
	s := &Server{store: newStore(gen, time.Now, nil, func(string) map[string]bool { return nil }), locators: newLocators()}
	b.Logf("generated in %v", time.Since(begun))
	rows := s.store.byName["contact"].rows
	page := func(b *testing.B, where, order string) {
		b.Helper()
		r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/services/data/v62.0/query", nil)
		r.SetPathValue("v", "v62.0")
		q := r.URL.Query()
		q.Set("q", "SELECT Id, IsDeleted, MasterRecordId, CreatedDate, LastModifiedDate, SystemModstamp, AccountId, FirstName, LastName, Name, Email, Phone, Title, OwnerId, Champion__c, Left_Date__c FROM Contact WHERE "+where+" ORDER BY "+order+" LIMIT 2000")
		r.URL.RawQuery = q.Encode()
		for b.Loop() {
			w := httptest.NewRecorder()
			require.Nil(b, s.query(w, r))
			b.SetBytes(int64(w.Body.Len()))
		}
	}
	at := rows[len(rows)/2]
	stamp := time.UnixMilli(at.stamp).UTC().Format(time.RFC3339)
	b.Run("keyset", func(b *testing.B) {
		page(b, fmt.Sprintf("(SystemModstamp > %s OR (SystemModstamp = %s AND Id > '%s'))", stamp, stamp, at.id), "SystemModstamp, Id")
	})
	b.Run("by id", func(b *testing.B) { page(b, "Id > '"+at.id+"'", "Id") })
}
