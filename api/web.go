package api

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"revarch/fault"
)

// noncePlaceholder stands in index.html where the request's nonce goes.
const noncePlaceholder = "__CSP_NONCE__"

// securityHeaders sets what every answer carries. The content security policy allows our own files and, by a nonce per
// request, the styles that the web app's component library adds.
func (s *Server) securityHeaders(c *gin.Context) {
	b := make([]byte, 18)
	_, _ = rand.Read(b)
	nonce := base64.RawURLEncoding.EncodeToString(b)
	c.Set("nonce", nonce)
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'nonce-"+nonce+"'; style-src 'self' 'nonce-"+nonce+
		"'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
	if strings.HasPrefix(s.opts.PublicURL, "https://") {
		h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
	if strings.HasPrefix(c.Request.URL.Path, "/api/") {
		h.Set("Cache-Control", "no-store")
	}
}

// webApp serves the built files and, for every other path outside /api, the app's shell, whose routes are its own.
func (s *Server) webApp() gin.HandlerFunc {
	var shell []byte
	if s.opts.Web != nil {
		shell, _ = fs.ReadFile(s.opts.Web, "index.html")
	}
	return func(c *gin.Context) {
		p := c.Request.URL.Path
		if strings.HasPrefix(p, "/api/") || p == "/api" || c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
			writeProblem(c, http.StatusNotFound, string(fault.NotFound), "there is nothing at this path; see /docs")
			return
		}
		name := strings.TrimPrefix(path.Clean(p), "/")
		if s.opts.Web != nil && name != "" && name != "index.html" {
			if info, err := fs.Stat(s.opts.Web, name); err == nil && !info.IsDir() {
				if strings.HasPrefix(name, "assets/") {
					c.Header("Cache-Control", "public, max-age=31536000, immutable") // names carry a hash
				}
				serveFile(c, s.opts.Web, name)
				return
			}
		}
		if shell == nil {
			c.String(http.StatusNotFound, "This server was built without the web app; the API is at /api, its documentation at /docs.\n")
			return
		}
		c.Header("Cache-Control", "no-store")
		c.Data(http.StatusOK, "text/html; charset=utf-8", bytes.ReplaceAll(shell, []byte(noncePlaceholder), []byte(c.GetString("nonce"))))
	}
}

// serveFile answers a file, from its .gz twin when the build made one and the client takes it.
func serveFile(c *gin.Context, files fs.FS, name string) {
	c.Status(http.StatusOK)
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		if data, err := fs.ReadFile(files, name+".gz"); err == nil {
			c.Header("Vary", "Accept-Encoding")
			c.Header("Content-Encoding", "gzip")
			c.Data(http.StatusOK, contentType(name), data)
			return
		}
	}
	http.ServeFileFS(c.Writer, c.Request, files, name)
}

func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json", ".webmanifest":
		return "application/json"
	case ".woff2":
		return "font/woff2"
	}
	return "application/octet-stream"
}
