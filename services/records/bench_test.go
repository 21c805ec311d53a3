package records_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/models"
	"revarch/services/records"
)

const (
	benchAccounts   = 100_000
	contactsPerUnit = 3
	benchPage       = 2000
)

func benchID(prefix string, n int) string { return fmt.Sprintf("%s5g00000%07dAAA", prefix, n) }

func benchAccount(n int) connectors.Record {
	return live(benchID("001", n), n%50000, fmt.Sprintf(`{"Id":"%s","IsDeleted":false,"MasterRecordId":null,"CreatedDate":"2024-02-11T09:30:00.000+0000",`+
		`"LastModifiedDate":"2026-04-01T10:00:00.000+0000","SystemModstamp":"2026-04-01T10:00:00.000+0000","Name":"Maple Grove School District %d",`+
		`"Website":"https://www.maplegrove%d.k12.tx.us","BillingCity":"Maple Grove","BillingState":"TX","Type":"%s","ParentId":null,"OwnerId":"%s",`+
		`"LastActivityDate":"2026-03-20","Segment__c":"%s","Territory__c":"South Central","Buyer_Type__c":"K-12","NCES_ID__c":"48%05d","UNITID__c":null,`+
		`"Enrollment__c":%d.0,"ARR__c":%d.5,"Seats__c":%d.0,"Active_Users_28d__c":%d.0,"Active_Users_Prior_28d__c":%d.0,"Products_Owned__c":3.0,`+
		`"Products_Live__c":2.0,"Open_P1__c":0.0,"Open_Tickets__c":%d.0,"Tickets_90d__c":7.0,"CSAT_90d__c":4.2,"Overdue_Days__c":0.0,`+
		`"Renewal_Date__c":"2026-09-%02d","Onboarding_Pct__c":80.0,"Goals_Met_Pct__c":%d.0,"Competitor__c":null}`,
		benchID("001", n), n, n, []string{"Customer", "Prospect"}[n%2], benchID("005", n%50), []string{"Enterprise", "Mid-Market", "SMB"}[n%3],
		n, n%90000, n%200000, n%4000, n%3000, n%2900, n%9, n%28+1, n%100))
}

func benchContact(n int) connectors.Record {
	return live(benchID("003", n), n%50000, fmt.Sprintf(`{"Id":"%s","IsDeleted":false,"MasterRecordId":null,"CreatedDate":"2024-02-11T09:30:00.000+0000",`+
		`"LastModifiedDate":"2026-04-01T10:00:00.000+0000","SystemModstamp":"2026-04-01T10:00:00.000+0000","AccountId":"%s","FirstName":"Avery",`+
		`"LastName":"Lindqvist%d","Name":"Avery Lindqvist%d","Email":"avery.lindqvist%d@maplegrove.k12.tx.us","Phone":"+1 512 555 %04d",`+
		`"Title":"Director of Technology","OwnerId":"%s","Champion__c":%t,"Left_Date__c":null}`,
		benchID("003", n), benchID("001", n/contactsPerUnit), n, n, n, n%10000, benchID("005", n%50), n%11 == 0))
}

// BenchmarkLoad stores accounts and their contacts page by page and compares with COPY of the same rows into the same
// tables of an empty database. ratio is over raw and canonical rows alone; ratio_all over links, facts and revenue too.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		s := setup(b)
		s.exec("CHECKPOINT")
		start := time.Now()
		require.EqualValues(b, benchAccounts, benchObject(b, s, "Account", benchAccounts, benchAccount).Created)
		accounts := time.Since(start)
		require.EqualValues(b, benchAccounts*contactsPerUnit, benchObject(b, s, "Contact", benchAccounts*contactsPerUnit, benchContact).Created)
		ours := time.Since(start)
		b.Logf("accounts %v, all %v", accounts, ours)
		require.EqualValues(b, benchAccounts*contactsPerUnit, s.count("SELECT count(*) FROM contacts WHERE account_id IS NOT NULL"))

		strict := copyTime(b, s, "raw_records", "accounts", "contacts")
		rest := copyTime(b, s, "record_links", "feature_facts", "subscription_lines")
		b.ReportMetric(accounts.Seconds(), "accounts_s")
		b.ReportMetric(ours.Seconds(), "ours_s")
		b.ReportMetric(strict.Seconds(), "copy_s")
		b.ReportMetric((strict + rest).Seconds(), "copy_all_s")
		b.ReportMetric(ours.Seconds()/strict.Seconds(), "ratio")
		b.ReportMetric(ours.Seconds()/(strict+rest).Seconds(), "ratio_all")
	}
}

// BenchmarkAgain stores accounts that are there already: first as they are, then each with one changed feature.
func BenchmarkAgain(b *testing.B) {
	const n = 20_000
	for b.Loop() {
		s := setup(b)
		require.EqualValues(b, n, benchObject(b, s, "Account", n, benchAccount).Created)
		start := time.Now()
		require.EqualValues(b, n, benchObject(b, s, "Account", n, benchAccount).Unchanged)
		same := time.Since(start)
		start = time.Now()
		require.EqualValues(b, n, benchObject(b, s, "Account", n, func(i int) connectors.Record {
			rec := benchAccount(i)
			rec.Payload = bytes.Replace(rec.Payload, []byte(`"Products_Live__c":2.0`), []byte(`"Products_Live__c":3.0`), 1)
			return rec
		}).Updated)
		b.ReportMetric(n/same.Seconds(), "unchanged/s")
		b.ReportMetric(n/time.Since(start).Seconds(), "updated/s")
	}
}

func benchObject(b *testing.B, s *system, object string, n int, make func(int) connectors.Record) records.Counts {
	b.Helper()
	_, err := s.svc.BeginFull(b.Context(), s.org, models.CRMA, object, s.run)
	require.NoError(b, err)
	in := s.input(object)
	in.Full = true
	var got records.Counts
	for at := 0; at < n; at += benchPage {
		in.Page.Records = in.Page.Records[:0]
		for i := at; i < min(at+benchPage, n); i++ {
			in.Page.Records = append(in.Page.Records, make(i))
		}
		in.Page.Next, in.Page.Done = connectors.Cursor(fmt.Sprint(at)), at+benchPage >= n
		out, err := s.svc.StorePage(b.Context(), in)
		require.NoError(b, err)
		got = got.Add(out.Counts)
	}
	return got
}

// copyTime copies tables of s into themselves, emptied, as their owner, and returns how long COPY took.
func copyTime(b *testing.B, s *system, tables ...string) time.Duration {
	b.Helper()
	owner, err := pgx.Connect(b.Context(), s.urls.Owner)
	require.NoError(b, err)
	defer func() { _ = owner.Close(context.WithoutCancel(b.Context())) }()
	data := map[string][]byte{}
	for _, t := range tables {
		var buf bytes.Buffer
		_, err := s.admin.PgConn().CopyTo(b.Context(), &buf, "COPY "+t+" TO STDOUT BINARY")
		require.NoError(b, err)
		data[t] = buf.Bytes()
		s.exec("ALTER TABLE " + t + " NO FORCE ROW LEVEL SECURITY") // COPY is refused to an owner who is bound by policies
	}
	if tables[0] == "raw_records" {
		s.exec("CREATE TEMP TABLE held AS TABLE subscription_lines")
		s.exec("TRUNCATE raw_records, accounts, contacts CASCADE")
	} else {
		s.exec("INSERT INTO subscription_lines SELECT * FROM held ON CONFLICT DO NOTHING")
		var buf bytes.Buffer
		_, err := s.admin.PgConn().CopyTo(b.Context(), &buf, "COPY subscription_lines TO STDOUT BINARY")
		require.NoError(b, err)
		data["subscription_lines"] = buf.Bytes()
		s.exec("TRUNCATE record_links, feature_facts, subscription_lines")
	}
	s.exec("CHECKPOINT")
	start := time.Now()
	for _, t := range tables {
		_, err := owner.PgConn().CopyFrom(b.Context(), bytes.NewReader(data[t]), "COPY "+t+" FROM STDIN BINARY")
		require.NoError(b, err)
	}
	return time.Since(start)
}
