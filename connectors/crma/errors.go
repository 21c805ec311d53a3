package crma

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"revarch/connectors"
)

// apiError is one entry of an error answer, which is an array of them.
type apiError struct {
	Message   string `json:"message"`
	ErrorCode string `json:"errorCode"`
}

// classify says what an error answer of the REST API means.
func classify(a connectors.Answer, now time.Time) *connectors.Refusal {
	var list []apiError
	r := &connectors.Refusal{Class: connectors.ClassTransient}
	if json.Unmarshal(a.Body, &list) == nil && len(list) > 0 {
		r.Code, r.Message = list[0].ErrorCode, list[0].Message
	}
	switch {
	case a.Status == http.StatusUnauthorized, badOAuthToken(a):
		r.Class = connectors.ClassTokenExpired
	case r.Code == "REQUEST_LIMIT_EXCEEDED":
		r.Class = connectors.ClassThrottled
		if strings.Contains(r.Message, "TotalRequests") {
			r.Class = connectors.ClassQuotaDay
			if r.Retry = connectors.RetryAfter(a.Header, now); r.Retry == 0 {
				r.Retry = untilReset(now)
			}
		}
	case a.Status == http.StatusTooManyRequests:
		r.Class = connectors.ClassThrottled
	case a.Status >= 500 || a.Status == http.StatusRequestTimeout:
		r.Class = connectors.ClassTransient
	default:
		r.Class = classOfCode(r.Code, a.Status)
	}
	return r
}

func classOfCode(code string, status int) connectors.Class {
	switch code {
	case "INVALID_QUERY_LOCATOR":
		return connectors.ClassCursorDead
	case "INVALID_FIELD", "INVALID_TYPE":
		return connectors.ClassSchemaDrift
	case "UNABLE_TO_LOCK_ROW", "QUERY_TIMEOUT", "SERVER_UNAVAILABLE", "":
		if status == http.StatusNotFound {
			return connectors.ClassNotFound
		}
		return connectors.ClassTransient
	case "API_DISABLED_FOR_ORG", "API_CURRENTLY_DISABLED", "INSUFFICIENT_ACCESS", "INSUFFICIENT_ACCESS_OR_READONLY":
		return connectors.ClassScopeMissing
	}
	switch status {
	case http.StatusForbidden:
		return connectors.ClassScopeMissing
	case http.StatusNotFound:
		return connectors.ClassNotFound
	}
	return connectors.ClassRejected
}

// badOAuthToken recognizes how the identity endpoints refuse an expired access token: 403 and a bare word.
func badOAuthToken(a connectors.Answer) bool {
	return a.Status == http.StatusForbidden && len(a.Body) < 200 && bytes.Contains(a.Body, []byte("_OAuth_Token"))
}

// refusedWith reports whether err is a refusal of the class, and returns it.
func refusedWith(err error, class connectors.Class) (*connectors.Refusal, bool) {
	r, ok := errors.AsType[*connectors.Refusal](err)
	return r, ok && r.Class == class
}

var noSuchColumn = regexp.MustCompile(`No such column '([^']+)' on entity`)

// lostField reads the name of the field that a query may no longer read out of an INVALID_FIELD message.
func lostField(message string) string {
	if m := noSuchColumn.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}
