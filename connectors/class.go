package connectors

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"revarch/fault"
)

// Class is what a provider's refusal means, in words that are the same for all providers.
type Class string

// The classes. ClassTokenExpired never leaves the client: it renews the grant and replays the request once.
const (
	ClassTokenExpired Class = "token_expired"
	ClassGrantDead    Class = "grant_dead"
	ClassClientBad    Class = "client_bad"
	ClassScopeMissing Class = "scope_missing"
	ClassThrottled    Class = "throttled"
	ClassQuotaDay     Class = "quota_day"
	ClassCursorDead   Class = "cursor_dead"
	ClassSchemaDrift  Class = "schema_drift"
	ClassNotFound     Class = "not_found"
	ClassRejected     Class = "rejected"
	ClassTransient    Class = "transient"
)

// Refusal is a provider's answer that is not a result. As an error it shows status and code only: messages and bodies
// of providers may repeat values, addresses and credentials.
type Refusal struct {
	Class  Class
	Status int
	Code   string        // the provider's own error code, "" if it gave none
	Retry  time.Duration // how long to wait, 0 when the provider does not say
	// Message is the provider's text. It is for provider packages to read (which field, which limit), never to show or log.
	Message string
}

// Error returns class, status and code.
func (r *Refusal) Error() string {
	return fmt.Sprintf("provider answered %d %s (%s)", r.Status, safeCode(r.Code), r.Class)
}

// Fault turns a refusal into the fault that callers act on; the texts are ours.
func (r *Refusal) Fault() error {
	switch r.Class {
	case ClassGrantDead:
		return fault.Wrap(r, fault.ReauthRequired, "The provider no longer accepts this connection. Connect it again.")
	case ClassClientBad:
		return fault.Wrap(r, fault.ClientMisconfig, "The provider refuses this installation's client credentials.")
	case ClassScopeMissing:
		return fault.Wrap(r, fault.ScopeMissing, "The connected user may not read this. Grant the permission at the provider or connect as another user.")
	case ClassThrottled:
		return fault.Wrap(r, fault.Throttled, "The provider asks to slow down.").After(orDefault(r.Retry, 30*time.Second))
	case ClassQuotaDay:
		return fault.Wrap(r, fault.QuotaDay, "The provider's daily request quota is used up.").After(orDefault(r.Retry, time.Hour))
	case ClassCursorDead:
		return fault.Wrap(r, fault.CursorDead, "The provider no longer knows the position of the last sync.")
	case ClassSchemaDrift:
		return fault.Wrap(r, fault.SchemaDrift, "The provider's schema changed: an object or field is gone or no longer readable.")
	case ClassNotFound:
		return fault.Wrap(r, fault.NotFound, "The provider does not know this resource.")
	case ClassRejected:
		return fault.Wrap(r, fault.Invalid, "The provider refused the request as wrong.")
	case ClassTokenExpired:
		return fault.Wrap(r, fault.Unavailable, "The provider refuses an access token that it has just issued.")
	default:
		return fault.Wrap(r, fault.Unavailable, "The provider is not available at the moment.").After(r.Retry)
	}
}

// RetryAfter reads the Retry-After header, in seconds or as a date; 0 when absent or nonsense. It never exceeds a day.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	raw := h.Get("Retry-After")
	if raw == "" {
		return 0
	}
	var d time.Duration
	if s, err := strconv.ParseFloat(raw, 64); err == nil && s >= 0 && s <= 86400 {
		d = time.Duration(s * float64(time.Second))
	} else if at, err := http.ParseTime(raw); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), 24*time.Hour)
}

var codePattern = regexp.MustCompile(`^[A-Za-z0-9_.\- ]{1,64}$`)

// safeCode passes what looks like an error code and hides the rest: a provider may answer anything.
func safeCode(code string) string {
	if code == "" {
		return "without a code"
	}
	if !codePattern.MatchString(code) {
		return "with an unprintable code"
	}
	return code
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}
