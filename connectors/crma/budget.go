package crma

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"revarch/connectors"
	"revarch/fault"
)

// budgetFresh is how long a reading of the org's request count is believed: other integrations use the same budget,
// and it resets while a session stays open.
const budgetFresh = 15 * time.Minute

// budget watches the org's daily requests, which every integration of the org shares, and stops reading before the
// org's people are locked out.
type budget struct {
	share float64
	clock func() time.Time

	mu          sync.Mutex
	used, limit int64
	at          time.Time
}

var apiUsage = regexp.MustCompile(`api-usage=(\d+)/(\d+)`)

// seen reads the usage that every answer carries.
func (b *budget) seen(a connectors.Answer) {
	m := apiUsage.FindStringSubmatch(a.Header.Get("Sforce-Limit-Info"))
	if m == nil {
		return
	}
	used, err1 := strconv.ParseInt(m[1], 10, 64)
	limit, err2 := strconv.ParseInt(m[2], 10, 64)
	if err1 != nil || err2 != nil || limit <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used, b.limit, b.at = used, limit, b.clock()
}

// check refuses with QuotaDay once the configured share is used up.
func (b *budget) check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	if b.limit == 0 || now.Sub(b.at) > budgetFresh || float64(b.used) < b.share*float64(b.limit) {
		return nil
	}
	return fault.Wrap(fmt.Errorf("api usage %d of %d", b.used, b.limit), fault.QuotaDay,
		"Reading stopped at %.0f%% of the organization's daily requests, so that the rest stays for others.", b.share*100).After(untilReset(now))
}

// untilReset is how long to wait once the daily requests are used up. The provider counts over the last 24 hours and
// does not say when enough will be free again. Waiting until shortly after midnight UTC, and a quarter of an hour at
// the least, lets a working day's use age; if it was too early, the next answer says so at the cost of one request.
func untilReset(now time.Time) time.Duration {
	now = now.UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 5, 0, 0, time.UTC)
	return max(midnight.Sub(now), 15*time.Minute)
}
