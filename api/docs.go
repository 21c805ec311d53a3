package api

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

//go:embed docs.js
var docsJS []byte

//go:embed docs.css
var docsCSS []byte

const docsPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>RevArch API</title><link rel="stylesheet" href="/docs.css"></head>
<body><main><h1>RevArch API</h1><p>OpenAPI 3.1: <a href="/openapi.json">openapi.json</a></p>
<label>Filter <input id="filter" type="search"></label><div id="operations" aria-live="polite">Loading…</div></main>
<script src="/docs.js"></script></body></html>
`

// docs is a page that lists the operations from openapi.json; everything it loads is ours.
func (s *Server) docs(c *gin.Context) {
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(docsPage))
}

func (s *Server) docsScript(c *gin.Context) { c.Data(http.StatusOK, contentType("x.js"), docsJS) }

func (s *Server) docsStyle(c *gin.Context) { c.Data(http.StatusOK, contentType("x.css"), docsCSS) }
