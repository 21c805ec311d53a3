package api

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/fault"
)

// Problem is an error answer, RFC 9457.
type Problem struct {
	Type   string         `json:"type" doc:"Always about:blank; code tells problems apart"`
	Title  string         `json:"title" doc:"The status in words"`
	Status int            `json:"status" doc:"HTTP status"`
	Code   string         `json:"code" doc:"Stable code of the problem"`
	Detail string         `json:"detail" doc:"What is wrong and what to do"`
	Errors []ProblemField `json:"errors,omitempty" doc:"One entry per bad field"`

	retryAfter int // seconds, 0 for none
}

// ProblemField says what is wrong with one field.
type ProblemField struct {
	Location string `json:"location" doc:"Where the field is, such as body.name"`
	Message  string `json:"message" doc:"What is wrong with it"`
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of problems.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders adds Retry-After where waiting helps.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	return h
}

// statuses maps fault codes to HTTP.
var statuses = map[fault.Code]int{
	fault.Invalid: 422, fault.Unauthenticated: 401, fault.Denied: 403, fault.NotFound: 404, fault.Conflict: 409, fault.Stale: 412,
	fault.PreconditionNeeded: 428, fault.TooLarge: 413, fault.Throttled: 429, fault.ReauthRequired: 409, fault.ClientMisconfig: 502, fault.NotConfigured: 409,
	fault.ScopeMissing: 409, fault.QuotaDay: 503, fault.CursorDead: 409, fault.SchemaDrift: 409, fault.Unavailable: 503,
	fault.Canceled: 409, fault.BadFile: 422, fault.Internal: 500,
}

// problem turns an error of a service into an answer: the code and the public text leave, the cause goes to the log.
func problem(err error) error {
	if err == nil {
		return nil
	}
	code := fault.CodeOf(err)
	p := &Problem{Type: "about:blank", Status: statuses[code], Code: string(code), Detail: fault.Public(err)}
	if p.Status == 0 {
		p.Status = http.StatusInternalServerError
	}
	if p.Status >= 500 {
		slog.Error("request failed", "code", code, "error", err)
	}
	p.Title = http.StatusText(p.Status)
	p.retryAfter = int(math.Ceil(fault.RetryAfter(err).Seconds()))
	for _, f := range fault.FieldsOf(err) {
		p.Errors = append(p.Errors, ProblemField{Location: f.Field, Message: f.Message})
	}
	return p
}

var humaOnce sync.Once

// setupHuma replaces huma's process-wide defaults: its own errors echo the offending value, credentials included, and
// its arrays may be null.
func setupHuma() {
	humaOnce.Do(func() {
		huma.DefaultArrayNullable = false
		huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
			p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: codeOfStatus(status), Detail: msg}
			for _, err := range errs {
				if d, ok := err.(huma.ErrorDetailer); ok {
					detail := d.ErrorDetail()
					p.Errors = append(p.Errors, ProblemField{Location: detail.Location, Message: safeMessage(detail.Message)})
				}
			}
			if status >= 500 {
				slog.Error("request failed", "status", status, "detail", msg, "errors", errs)
				p.Detail = "internal error"
			}
			if len(p.Errors) == 0 && status == http.StatusBadRequest {
				p.Detail = "the request body is not valid JSON"
			}
			return p
		}
		huma.NewErrorWithContext = func(_ huma.Context, status int, msg string, errs ...error) huma.StatusError {
			return huma.NewError(status, msg, errs...)
		}
	})
}

// safeMessage keeps huma's texts that name no value and shortens the rest.
func safeMessage(m string) string {
	if i := strings.IndexAny(m, "\n\r"); i >= 0 {
		m = m[:i]
	}
	return m
}

func codeOfStatus(status int) string {
	for code, s := range statuses {
		if s == status && code != fault.BadFile && code != fault.ReauthRequired && code != fault.ScopeMissing && code != fault.CursorDead &&
			code != fault.SchemaDrift && code != fault.Canceled && code != fault.QuotaDay {
			return string(code)
		}
	}
	switch status {
	case http.StatusBadRequest:
		return string(fault.Invalid)
	case http.StatusRequestTimeout:
		return "timeout"
	case http.StatusUnsupportedMediaType:
		return "unsupported_media_type"
	case http.StatusNotAcceptable:
		return "not_acceptable"
	}
	return string(fault.Internal)
}

// writeProblem answers from gin, outside huma.
func writeProblem(c *gin.Context, status int, code, detail string) {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
	abort(c, p)
}

// abortWith answers a service's error from gin.
func abortWith(c *gin.Context, err error) {
	if p, ok := errors.AsType[*Problem](problem(err)); ok {
		abort(c, p)
	}
}

func abort(c *gin.Context, p *Problem) {
	for k, v := range p.GetHeaders() {
		c.Header(k, v[0])
	}
	c.Header("Content-Type", p.ContentType(""))
	c.AbortWithStatusJSON(p.Status, p)
}
