package api

import (
	"context"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"revarch/auth"
	"revarch/fault"
	"revarch/services/datasets"
)

// uploadTime is the longest that receiving a file may take.
const uploadTime = time.Hour

// Datasets is the platform's official education data, for operators.
type Datasets struct {
	Datasets *datasets.Service
	Runs     *Runs
}

type datasetsOutput struct {
	Body struct {
		Datasets []datasets.Dataset `json:"datasets"`
	}
}

type datasetInput struct {
	Dataset string `path:"dataset" maxLength:"40" doc:"ipeds_hd, saipe_districts or ccd_lea_directory"`
}

type datasetOutput struct{ Body datasets.Dataset }

// ingestParams are the query parameters of an ingestion.
var ingestParams = map[string]string{
	"name":    "The file's published name, which may tell its vintage; Content-Disposition does, too",
	"year":    "The vintage's year, where neither name nor content tell it: the end of the school year, or the year of the estimate",
	"release": "preliminary, provisional, final or revised, where the name does not tell",
	"partial": "true for a part of the country: loaded without the checks of a whole, never in place of a whole",
}

// Register adds the operations.
func (a *Datasets) Register(h huma.API, g *gin.RouterGroup) {
	huma.Register(h, operation("list-datasets", http.MethodGet, "/datasets", "List the official datasets and their releases", "Datasets", auth.PermPlatform),
		func(ctx context.Context, _ *struct{}) (*datasetsOutput, error) {
			out := &datasetsOutput{}
			all, err := a.Datasets.List(ctx, auth.From(ctx))
			out.Body.Datasets = append([]datasets.Dataset{}, all...)
			return out, problem(err)
		})
	get := operation("get-dataset", http.MethodGet, "/datasets/{dataset}", "Get a dataset and its releases", "Datasets", auth.PermPlatform)
	get.Errors = []int{404}
	huma.Register(h, get, func(ctx context.Context, in *datasetInput) (*datasetOutput, error) {
		d, err := a.Datasets.Get(ctx, auth.From(ctx), in.Dataset)
		return &datasetOutput{d}, problem(err)
	})

	ingest := operation("ingest-dataset", http.MethodPost, "/datasets/{dataset}/ingest",
		"Load an official file, as it was published; {dataset} may be auto", "Datasets", auth.PermPlatform)
	ingest.MaxBodyBytes = datasets.MaxFile
	ingest.RequestBody = &huma.RequestBody{
		Required: true, Description: "The file itself: CSV, text, .xls, or one of them in gzip or zip; at most 512 MiB",
		Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
	}
	for _, name := range slices.Sorted(maps.Keys(ingestParams)) {
		ingest.Parameters = append(ingest.Parameters, &huma.Param{Name: name, In: "query", Description: ingestParams[name], Schema: &huma.Schema{Type: "string"}})
	}
	ingest.Parameters = append(ingest.Parameters, &huma.Param{Name: "Prefer", In: "header", Description: "wait=N waits up to N seconds, at most 60, for the end", Schema: &huma.Schema{Type: "string"}})
	ingest.Responses = runStarted(h)
	document(h, ingest, "dataset")
	g.POST("/datasets/:dataset/ingest", mustAllow(auth.PermPlatform), a.ingest)
}

func (a *Datasets) ingest(c *gin.Context) {
	ctx := c.Request.Context()
	in, err := ingestInput(c)
	if err != nil {
		abortWith(c, err)
		return
	}
	// The server's own deadline is made for small bodies.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(uploadTime))
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(uploadTime + 2*maxWait))
	run, already, err := a.Datasets.Ingest(ctx, auth.From(ctx), in)
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

// ingestInput reads what the request says of its file.
func ingestInput(c *gin.Context) (datasets.IngestInput, error) {
	in := datasets.IngestInput{Dataset: c.Param("dataset"), Body: c.Request.Body}
	q := c.Request.URL.Query()
	var bad []fault.FieldError
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if _, ok := ingestParams[name]; !ok {
			bad = append(bad, fault.FieldError{Field: "query." + name, Message: "unknown; known are name, partial, release, year"})
		}
	}
	var err error
	if v := q.Get("year"); v != "" {
		if in.Year, err = strconv.Atoi(v); err != nil {
			bad = append(bad, fault.FieldError{Field: "query.year", Message: "a year, such as 2023"})
		}
	}
	if v := q.Get("partial"); v != "" {
		if in.Partial, err = strconv.ParseBool(v); err != nil {
			bad = append(bad, fault.FieldError{Field: "query.partial", Message: "true or false"})
		}
	}
	if len(bad) > 0 {
		return in, fault.WithFields("the request describes the file wrongly", bad...)
	}
	if strings.HasPrefix(c.ContentType(), "multipart/") {
		return in, fault.New(fault.Invalid, "send the file itself as the body and not as a form, such as: curl --data-binary @FILE")
	}
	if c.Request.ContentLength > datasets.MaxFile {
		return in, fault.New(fault.TooLarge, "the file is larger than %d MiB, the most that is taken", datasets.MaxFile>>20)
	}
	in.Release, in.Name = q.Get("release"), q.Get("name")
	if in.Name == "" {
		if _, params, err := mime.ParseMediaType(c.GetHeader("Content-Disposition")); err == nil {
			in.Name = params["filename"]
		}
	}
	return in, nil
}
