// Package fault gives every error that a caller can act on a stable code and a public text. What belongs here: the
// codes, the error type that carries them, and the functions that read them back. Edges (api, tools, activities)
// translate codes; nothing else does.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code names what went wrong in a way that is stable for callers. It appears in problem documents, tool errors, run
// rows and Temporal failure types.
type Code string

// The codes. Unclassified errors are Internal: the caller sees "internal error", the log sees the cause.
const (
	Invalid            Code = "invalid"                  // the request is wrong; sending it again does not help
	Unauthenticated    Code = "unauthenticated"          // no valid session or key
	Denied             Code = "denied"                   // known caller, not allowed
	NotFound           Code = "not_found"                // no such thing in this organization
	Conflict           Code = "conflict"                 // the state does not allow it
	Stale              Code = "stale_version"            // If-Match or version is not the current one
	TooLarge           Code = "too_large"                // over a stated limit
	Throttled          Code = "throttled"                // too many requests; RetryAfter says when
	ReauthRequired     Code = "reauthorization_required" // the provider's grant is dead; a person must reconnect
	ClientMisconfig    Code = "client_misconfigured"     // our client credentials at the provider are refused
	NotConfigured      Code = "not_configured"           // this installation has no settings for the provider
	ScopeMissing       Code = "scope_missing"            // the provider grants too little
	QuotaDay           Code = "quota_exhausted"          // a daily quota is used up; RetryAfter says when it resets
	CursorDead         Code = "cursor_expired"           // the provider no longer knows the cursor
	SchemaDrift        Code = "schema_drift"             // the provider's schema changed under a request
	Unavailable        Code = "unavailable"              // a dependency is down or answered nonsense; worth another attempt
	Canceled           Code = "cancelled"                // a person asked to stop
	BadFile            Code = "bad_file"                 // an uploaded file is not what it must be
	PreconditionNeeded Code = "precondition_required"    // If-Match is missing
	Internal           Code = "internal"                 // a defect or an unclassified failure
)

// Error is an error with a code and a text that may be shown to the caller.
type Error struct {
	Code   Code
	Public string        // safe to show: no secrets, no other organization's data, no provider text
	Fields []FieldError  // one per bad input field
	Retry  time.Duration // for Throttled, QuotaDay, Unavailable: wait this long, 0 if unknown
	Cause  error         // for the log only
}

// FieldError says what is wrong with one input field.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the public text and the cause, for logs.
func (e *Error) Error() string {
	if e.Cause != nil {
		return string(e.Code) + ": " + e.Public + ": " + e.Cause.Error()
	}
	return string(e.Code) + ": " + e.Public
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an error with a code and a public text.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Public: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause that only the log sees.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Public: fmt.Sprintf(format, args...), Cause: cause}
}

// WithFields makes an Invalid error that lists the bad fields.
func WithFields(public string, fields ...FieldError) *Error {
	return &Error{Code: Invalid, Public: public, Fields: fields}
}

// After returns a copy of e that says when another attempt is worthwhile.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.Retry = d
	return &c
}

// CodeOf returns the code of the first *Error in err's chain, Internal when there is none, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// Public returns the text that may be shown to the caller.
func Public(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != Internal {
		return e.Public
	}
	return "internal error"
}

// FieldsOf returns the field errors of err, nil if it has none.
func FieldsOf(err error) []FieldError {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
}

// RetryAfter returns how long to wait before another attempt, 0 if unknown.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Retry
	}
	return 0
}
