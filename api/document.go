package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// document adds an operation that plain gin serves to the OpenAPI document.
func document(h huma.API, op huma.Operation, params ...string) {
	op.Path = "/api" + op.Path
	for _, name := range params {
		schema := &huma.Schema{Type: huma.TypeString}
		if name == "id" {
			schema.Format = "uuid"
		}
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: schema})
	}
	h.OpenAPI().AddOperation(&op)
}

// jsonContent is a body of a type.
func jsonContent(h huma.API, t reflect.Type) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: h.OpenAPI().Components.Schemas.Schema(t, true, "")}}
}

// textContent is a body of a media type that is no JSON.
func textContent(media string) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{media: {Schema: &huma.Schema{Type: huma.TypeString}}}
}

// runStarted is what a request that starts a run answers.
func runStarted(h huma.API) map[string]*huma.Response {
	started := jsonContent(h, reflect.TypeFor[StartedRun]())
	return map[string]*huma.Response{"200": {Description: ended, Content: started}, "202": {Description: "The run has started", Content: started}}
}

const ended = "The run has ended; Prefer: wait made the answer wait for it"

// completeAnswers documents what any operation may answer and none says of itself: a problem, and of a run that was
// waited for, its end.
func completeAnswers(doc *huma.OpenAPI) {
	problems := doc.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch} {
			if op == nil {
				continue
			}
			r := op.Responses
			if r["default"] == nil {
				r["default"] = &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{}}
			}
			r["default"].Content["application/problem+json"] = &huma.MediaType{Schema: problems}
			if r["200"] == nil && r["202"] != nil {
				r["200"] = &huma.Response{Description: ended, Content: r["202"].Content, Headers: r["202"].Headers}
			}
		}
	}
}
