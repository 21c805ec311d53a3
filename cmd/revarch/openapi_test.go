package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
)

// componentPrefix is what references to the document's components begin with.
const componentPrefix = "#/components/schemas/"

// takesNull reports whether a schema, as it is written, lets a null through.
func takesNull(tb testing.TB, s *huma.Schema) bool {
	tb.Helper()
	raw, err := json.Marshal(s)
	require.NoError(tb, err)
	var doc struct {
		Ref   string           `json:"$ref"`
		Type  json.RawMessage  `json:"type"`
		Enum  []any            `json:"enum"`
		AnyOf []map[string]any `json:"anyOf"`
	}
	require.NoError(tb, json.Unmarshal(raw, &doc), string(raw))
	if slices.ContainsFunc(doc.AnyOf, func(x map[string]any) bool { return x["type"] == "null" }) {
		return doc.Ref == "" && doc.Type == nil
	}
	var types []string
	_ = json.Unmarshal(doc.Type, &types) // a single type is no list
	typed := doc.Type == nil && doc.Ref == "" && doc.AnyOf == nil || slices.Contains(types, "null")
	return typed && (doc.Enum == nil || slices.Contains(doc.Enum, nil))
}

// TestTheDocumentTellsWhatMayBeNull compares every type of the document with what Go writes of its zero value: what comes
// out as null must be nullable in the schema, and nothing else may be.
func TestTheDocumentTellsWhatMayBeNull(t *testing.T) {
	t.Parallel()
	srv, err := (&app{}).server(nil)
	require.NoError(t, err)
	schemas := srv.OpenAPI().Components.Schemas
	nullable := 0
	for name, s := range schemas.Map() {
		typ := schemas.TypeFromRef(componentPrefix + name)
		if typ == nil || s.Type != "object" {
			continue
		}
		raw, err := json.Marshal(reflect.New(typ).Interface())
		require.NoError(t, err, name)
		var zero map[string]any
		require.NoError(t, json.Unmarshal(raw, &zero), "%s: %s", name, raw)
		for property, p := range s.Properties {
			v, written := zero[property]
			field := fieldOf(typ, property)
			if reflect.PointerTo(field).Implements(reflect.TypeFor[huma.SchemaProvider]()) {
				continue // it says itself
			}
			kind := field.Kind()
			if kind == reflect.Slice || kind == reflect.Map {
				require.False(t, takesNull(t, p) && p.Type != "", "%s.%s is a list or a map, which is never null", name, property)
				continue
			}
			null := written && v == nil
			if null {
				nullable++
			}
			if p.Type != "" || p.Ref != "" || p.AnyOf != nil {
				require.Equal(t, null, takesNull(t, p), "%s.%s", name, property)
			}
		}
	}
	require.Greater(t, nullable, 100)
}

// TestNullsOfRequests keeps objects that may be null out of request bodies.
func TestNullsOfRequests(t *testing.T) {
	t.Parallel()
	srv, err := (&app{}).server(nil)
	require.NoError(t, err)
	doc := srv.OpenAPI()
	seen := map[*huma.Schema]bool{}
	var walk func(what string, s *huma.Schema)
	walk = func(what string, s *huma.Schema) {
		if s = deref(doc, s); s == nil || seen[s] {
			return
		}
		seen[s] = true
		require.Empty(t, s.AnyOf, "%s: the validator of requests knows no type null, so it would take anything", what)
		for name, p := range s.Properties {
			walk(what+"."+name, p)
		}
		walk(what+"[]", s.Items)
		if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
			walk(what+"{}", more)
		}
	}
	for _, op := range operations(doc) {
		if op.RequestBody == nil {
			continue
		}
		for _, media := range op.RequestBody.Content {
			walk(op.OperationID, media.Schema)
		}
	}
}

// fieldOf is the type of the field that becomes a property, embedded ones included.
func fieldOf(t reflect.Type, property string) reflect.Type {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == property {
			return f.Type
		}
	}
	return reflect.TypeFor[any]()
}
