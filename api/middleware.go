package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"revarch/auth"
	"revarch/fault"
	"revarch/models"
	"revarch/services/governance"
)

// SessionCookie is the name of the session cookie.
const SessionCookie = "revarch_session"

// requestID gives every request an id of ours; a caller's is not trusted.
func requestID(c *gin.Context) {
	id := models.NewID().String()
	c.Set("request_id", id)
	c.Header("X-Request-Id", id)
	c.Next()
}

// recovered answers a panic as an internal error and logs where it happened.
func recovered(c *gin.Context) {
	defer func() {
		if r := recover(); r != nil {
			if r == http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
				panic(r)
			}
			slog.ErrorContext(c, "panic in handler", "request_id", c.GetString("request_id"), "panic", r, "stack", string(debug.Stack()))
			if !c.Writer.Written() {
				writeProblem(c, http.StatusInternalServerError, string(fault.Internal), "internal error")
			}
		}
	}()
	c.Next()
}

// authenticate puts the principal of a Bearer key or a session cookie into the request. A bad credential is refused
// here, a missing one later, by the operation that needs a permission.
func (s *Server) authenticate(c *gin.Context) {
	if !strings.HasPrefix(c.Request.URL.Path, "/api/") {
		return
	}
	var p auth.Principal
	var err error
	header := c.GetHeader("Authorization")
	cookie, cookieErr := c.Cookie(SessionCookie)
	switch {
	case header != "":
		secret, ok := strings.CutPrefix(header, "Bearer ")
		if !ok {
			err = fault.New(fault.Unauthenticated, "send the API key as: Authorization: Bearer rk_…")
		} else {
			p, err = s.id.ByKey(c.Request.Context(), secret)
		}
	case cookieErr == nil && cookie != "" && c.FullPath() != "/api/mcp":
		if p, err = s.id.BySession(c.Request.Context(), cookie); fault.Is(err, fault.Unauthenticated) && isPublic(c) {
			err = nil // signing in with a dead cookie must work
		}
	}
	if err != nil {
		if fault.Is(err, fault.Unauthenticated) { // guesses count against the client, since there is no principal
			c.Header("WWW-Authenticate", `Bearer realm="revarch"`)
			if wait := s.limits.take("client:"+c.ClientIP(), time.Now()); wait > 0 {
				err = slowDown(wait)
			}
		}
		abortWith(c, err)
		return
	}
	p.RequestID = c.GetString("request_id")
	ctx := context.WithValue(auth.With(c.Request.Context(), p), secureKey{}, strings.HasPrefix(s.opts.PublicURL, "https://"))
	c.Request = c.Request.WithContext(ctx)
}

// isPublic reports whether the path works without a session.
func isPublic(c *gin.Context) bool {
	path := c.Request.URL.Path
	return path == "/api/auth/login" || path == "/api/auth/logout" || strings.HasPrefix(path, "/api/auth/invitations/")
}

// bearerOnly refuses the tool server to anyone without a key.
func bearerOnly(c *gin.Context) {
	if auth.From(c.Request.Context()).Kind != "key" {
		c.Header("WWW-Authenticate", `Bearer realm="revarch"`)
		writeProblem(c, http.StatusUnauthorized, string(fault.Unauthenticated), "send an API key as: Authorization: Bearer rk_…")
	}
}

// crossOrigin refuses unsafe requests that another site's page makes with the user's cookie. Browser clients with a key
// are legitimate, since a page cannot read someone else's key.
func (s *Server) crossOrigin(c *gin.Context) {
	if auth.From(c.Request.Context()).Kind == "key" {
		return
	}
	if err := http.NewCrossOriginProtection().Check(c.Request); err != nil {
		c.Set(refusedEarly, true)
		writeProblem(c, http.StatusForbidden, string(fault.Denied), "cross-origin requests cannot use the session cookie; use an API key")
	}
}

// refusedEarly marks a request that was refused before its operation saw it.
const refusedEarly = "refused_early"

// auditRefused logs writes that were denied or failed, with the path as it is declared and no values.
func (s *Server) auditRefused(c *gin.Context) {
	c.Next()
	p := auth.From(c.Request.Context())
	status := c.Writer.Status()
	if p.Kind == "" || status < 400 || status == http.StatusTooManyRequests || !writes(c) || logsItself(c) {
		return
	}
	s.log.RecordRefused(c.Request.Context(), p, governance.Entry{
		Tool: c.Request.Method + " " + c.FullPath(),
		Args: map[string]any{"status": status},
	}, status == http.StatusForbidden)
}

// writes reports whether the request asks for a change. Starting an authorization is one, although it is a GET.
func writes(c *gin.Context) bool {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return c.FullPath() == "/api/connectors/:provider/auth"
	}
	return c.FullPath() != ""
}

// logsItself reports whether the request came as far as the registry of tools, which logs what it refuses.
func logsItself(c *gin.Context) bool {
	if c.FullPath() == "/api/mcp" {
		return true
	}
	if !strings.HasPrefix(c.FullPath(), "/api/tools/") || c.GetBool(refusedEarly) {
		return false
	}
	switch c.Writer.Status() { // what is wrong with the body itself is found before
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return false
	}
	return true
}

// requirePermission enforces the permission an operation declares.
func requirePermission(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		perm, _ := ctx.Operation().Metadata["permission"].(auth.Permission)
		p := auth.From(ctx.Context())
		switch {
		case perm == "":
		case p.Kind == "":
			_ = huma.WriteErr(api, ctx, http.StatusUnauthorized, "sign in, or send an API key as: Authorization: Bearer rk_…")
			return
		default:
			if err := p.Require(perm); err != nil {
				_ = huma.WriteErr(api, ctx, http.StatusForbidden, fault.Public(err))
				return
			}
		}
		next(ctx)
	}
}

// mustAllow is requirePermission for plain gin routes.
func mustAllow(perm auth.Permission) gin.HandlerFunc {
	return func(c *gin.Context) {
		p := auth.From(c.Request.Context())
		if p.Kind == "" {
			writeProblem(c, http.StatusUnauthorized, string(fault.Unauthenticated), "sign in, or send an API key as: Authorization: Bearer rk_…")
			return
		}
		if err := p.Require(perm); err != nil {
			abortWith(c, err)
		}
	}
}

// noQuery refuses query parameters on a plain gin route that takes none, as huma does on its operations.
func noQuery(c *gin.Context) {
	var unknown []fault.FieldError
	for _, name := range slices.Sorted(maps.Keys(c.Request.URL.Query())) {
		unknown = append(unknown, fault.FieldError{Field: "query." + name, Message: "unknown query parameter"})
	}
	if len(unknown) > 0 {
		abortWith(c, fault.WithFields("validation failed", unknown...))
	}
}

// patient takes back the time limit for reading a body once it is read: net/http would cancel a request whose answer takes
// longer than its body was allowed to.
func patient(c *gin.Context) {
	if c.Request.Body != nil {
		c.Request.Body = &readBody{c.Request.Body, http.NewResponseController(c.Writer)}
	}
	c.Next()
}

// readBody lifts the read deadline at the end of a body.
type readBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// refuseBody refuses fields sent to an operation that takes none, as others refuse fields they do not know: whoever sends
// them expects something of them. An empty object says nothing and passes.
func refuseBody(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if op := ctx.Operation(); op.RequestBody == nil && op.Method != http.MethodGet {
			body, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), 1<<10))
			if err != nil {
				_ = huma.WriteErr(api, ctx, http.StatusBadRequest, "the request cannot be read")
				return
			}
			if text := strings.Join(strings.Fields(string(body)), ""); text != "" && text != "{}" {
				var fields map[string]json.RawMessage
				_ = json.Unmarshal(body, &fields) // only to name them
				unknown := []error{}
				for _, name := range slices.Sorted(maps.Keys(fields)) {
					unknown = append(unknown, &huma.ErrorDetail{Location: "body." + name, Message: "unexpected property"})
				}
				if len(unknown) == 0 {
					unknown = append(unknown, &huma.ErrorDetail{Location: "body", Message: "unexpected"})
				}
				_ = huma.WriteErr(api, ctx, http.StatusUnprocessableEntity, "this operation takes no body", unknown...)
				return
			}
		}
		next(ctx)
	}
}

// limiter is a token bucket per principal, or per client address before one is known.
type limiter struct {
	mu      sync.Mutex
	rate    rate.Limit
	burst   int
	buckets map[string]*bucket
	swept   time.Time
}

type bucket struct {
	lim  *rate.Limiter
	used time.Time
}

func newLimiter(perSecond float64, burst int) *limiter {
	if perSecond == 0 {
		perSecond = 100
	}
	if burst == 0 {
		burst = 400
	}
	return &limiter{rate: rate.Limit(perSecond), burst: burst, buckets: map[string]*bucket{}}
}

func (l *limiter) limit(c *gin.Context) {
	if !strings.HasPrefix(c.Request.URL.Path, "/api/") {
		return
	}
	key := "client:" + c.ClientIP()
	if p := auth.From(c.Request.Context()); p.Kind != "" {
		key = p.Actor()
	}
	if wait := l.take(key, time.Now()); wait > 0 {
		abortWith(c, slowDown(wait))
	}
}

func slowDown(wait time.Duration) error {
	return fault.New(fault.Throttled, "too many requests; slow down").After(wait)
}

// take uses one token and returns 0, or returns how long to wait. Buckets unused for ten minutes are dropped.
func (l *limiter) take(key string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > time.Minute {
		for k, b := range l.buckets {
			if now.Sub(b.used) > 10*time.Minute {
				delete(l.buckets, k)
			}
		}
		l.swept = now
	}
	b := l.buckets[key]
	if b == nil {
		b = &bucket{lim: rate.NewLimiter(l.rate, l.burst)}
		l.buckets[key] = b
	}
	b.used = now
	r := b.lim.ReserveN(now, 1)
	if d := r.DelayFrom(now); d > 0 {
		r.CancelAt(now)
		return d
	}
	return 0
}
