package api

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/imports"
)

// Imports takes CSV files of accounts, products and what accounts bought.
type Imports struct {
	Imports *imports.Service
	Runs    *Runs
}

// csvTypes are what clients call a CSV file; curl says that everything is a form.
var csvTypes = []string{"", "text/csv", "text/plain", "application/csv", "application/vnd.ms-excel", "application/octet-stream", "application/x-www-form-urlencoded"}

// Register adds the operations.
func (a *Imports) Register(h huma.API, g *gin.RouterGroup) {
	op := operation("import-file", http.MethodPost, "/imports/{resource}",
		"Import a CSV file of accounts, products or account_products: all of its rows or none", "Imports", auth.PermOperate)
	op.MaxBodyBytes = imports.MaxFile
	file := &huma.Schema{Type: "string", Format: "binary"}
	op.RequestBody = &huma.RequestBody{
		Required: true, Description: "CSV in UTF-8 whose first line names columns of the template; at most 512 MiB",
		Content: map[string]*huma.MediaType{
			"text/csv":            {Schema: &huma.Schema{Type: "string"}},
			"multipart/form-data": {Schema: &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{"file": file}, Required: []string{"file"}}},
		},
	}
	resource := &huma.Param{Name: "resource", In: "path", Required: true, Schema: &huma.Schema{Type: "string", Enum: []any{"accounts", "products", "account_products"}}}
	op.Parameters = []*huma.Param{
		resource,
		{Name: "dry_run", In: "query", Description: "true checks every row and writes nothing", Schema: &huma.Schema{Type: "boolean"}},
		{Name: "Prefer", In: "header", Description: "wait=N waits up to N seconds, at most 60, for the end", Schema: &huma.Schema{Type: "string"}},
	}
	op.Responses = runStarted(h)
	started, report := op.Responses["202"].Content["application/json"].Schema, jsonContent(h, reflect.TypeFor[imports.Report]())["application/json"].Schema
	op.Responses["200"] = &huma.Response{Description: ended + "; of a dry run, what it found", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{AnyOf: []*huma.Schema{started, report}}},
	}}
	document(h, op)
	g.POST("/imports/:resource", mustAllow(auth.PermOperate), a.post)

	template := operation("get-import-template", http.MethodGet, "/imports/{resource}/template", "Get the header of a resource's CSV files", "Imports", auth.PermRead)
	template.Responses = map[string]*huma.Response{"200": {Description: "The header", Content: textContent("text/csv")}}
	template.Parameters = []*huma.Param{resource}
	document(h, template)
	g.GET("/imports/:resource/template", mustAllow(auth.PermRead), noQuery, a.template)
}

func (a *Imports) template(c *gin.Context) {
	header, err := a.Imports.Template(auth.From(c.Request.Context()), c.Param("resource"))
	if err != nil {
		abortWith(c, err)
		return
	}
	c.Header("Content-Disposition", `attachment; filename="`+c.Param("resource")+`.csv"`)
	c.Data(http.StatusOK, "text/csv; charset=utf-8", header)
}

func (a *Imports) post(c *gin.Context) {
	ctx := c.Request.Context()
	dry, err := dryRun(c)
	if err != nil {
		abortWith(c, err)
		return
	}
	// The server's own deadline is made for small bodies.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(uploadTime))
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(uploadTime + 2*maxWait))
	in, err := importFile(c)
	if err != nil {
		abortWith(c, err)
		return
	}
	if dry {
		report, err := a.Imports.DryRun(ctx, auth.From(ctx), in)
		if err != nil {
			abortWith(c, err)
			return
		}
		c.JSON(http.StatusOK, report)
		return
	}
	a.start(ctx, c, in)
}

func (a *Imports) start(ctx context.Context, c *gin.Context, in imports.ImportInput) {
	run, already, err := a.Imports.Import(ctx, auth.From(ctx), in)
	if err != nil {
		abortWith(c, err)
		return
	}
	out, err := a.Runs.started(ctx, run, already, c.GetHeader("Prefer"))
	if err != nil {
		abortWith(c, err)
		return
	}
	c.Header("Location", out.Location)
	c.JSON(out.Status, out.Body)
}

// dryRun reads the query.
func dryRun(c *gin.Context) (dry bool, err error) {
	q := c.Request.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if name != "dry_run" {
			return false, fault.WithFields("the request has an unknown parameter", fault.FieldError{Field: "query." + name, Message: "unknown; known is dry_run"})
		}
	}
	if v := q.Get("dry_run"); v != "" {
		if dry, err = strconv.ParseBool(v); err != nil {
			return false, fault.WithFields("the request has a wrong parameter", fault.FieldError{Field: "query.dry_run", Message: "true or false"})
		}
	}
	return dry, nil
}

// importFile finds the file in the request: the body itself, or the field file of a form.
func importFile(c *gin.Context) (imports.ImportInput, error) {
	in := imports.ImportInput{Resource: c.Param("resource"), Body: c.Request.Body}
	if c.Request.ContentLength > imports.MaxFile+1<<16 {
		return in, fault.New(fault.TooLarge, "the file is larger than %d MiB, the most that is taken", imports.MaxFile>>20)
	}
	kind, params, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil && c.GetHeader("Content-Type") != "" {
		return in, fault.New(fault.Invalid, "the content type cannot be read; send text/csv")
	}
	if kind == "multipart/form-data" {
		return formFile(c, in)
	}
	if !slices.Contains(csvTypes, kind) {
		return in, fault.New(fault.Invalid, "send the file as text/csv, or as field file of multipart/form-data")
	}
	if charset := strings.ToLower(params["charset"]); charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return in, fault.New(fault.BadFile, "The file must be UTF-8. Save it as CSV UTF-8 and send it again.")
	}
	if _, params, err := mime.ParseMediaType(c.GetHeader("Content-Disposition")); err == nil {
		in.Name = params["filename"]
	}
	return in, nil
}

// formFile takes the file out of a form as it streams by.
func formFile(c *gin.Context, in imports.ImportInput) (imports.ImportInput, error) {
	form, err := c.Request.MultipartReader()
	if err != nil {
		return in, fault.New(fault.Invalid, "the form cannot be read; send the file as its field file")
	}
	part, err := form.NextPart()
	if errors.Is(err, io.EOF) {
		return in, fault.WithFields("the form has no file", fault.FieldError{Field: "body.file", Message: "missing"})
	}
	if err != nil {
		return in, fault.New(fault.Invalid, "the form cannot be read; send the file as its field file")
	}
	if part.FormName() != "file" {
		return in, fault.WithFields("the form has an unknown field", fault.FieldError{Field: "body." + part.FormName(), Message: "unknown; the file is the field file"})
	}
	in.Name, in.Body = part.FileName(), &onlyPart{form, part}
	return in, nil
}

// onlyPart reads a part of a form and refuses a further one: a file that nobody reads must not seem to be taken.
type onlyPart struct {
	form *multipart.Reader
	part io.Reader
}

func (p *onlyPart) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	if errors.Is(err, io.EOF) {
		var more *multipart.Part
		if more, err = p.form.NextPart(); err == nil {
			return n, fault.WithFields("send one file at a time", fault.FieldError{Field: "body." + more.FormName(), Message: "comes behind the file"})
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fault.New(fault.Invalid, "the form ends before its last boundary; send it again")
	}
	return n, err
}
