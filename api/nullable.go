package api

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// tellNulls makes the document say of every field that may be null that it may: a pointer that is written even when it
// is nil. The generator does so for most scalars alone. It forgets pointers to ids, which are arrays to it, leaves null
// out of the values of an enumeration, and has no way to say it of an object that is referred to.
func tellNulls(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas
	for _, name := range slices.Sorted(maps.Keys(schemas.Map())) {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		s := schemas.Map()[name]
		for property, f := range fieldsOf(t) {
			p, ok := s.Properties[property]
			if !ok {
				continue
			}
			_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.Properties[property] = withNull(p, f.Type, !strings.Contains(options, "omit"))
		}
	}
}

// withNull is the schema of a value of type t, which may itself be null only where null is written.
func withNull(s *huma.Schema, t reflect.Type, written bool) *huma.Schema {
	pointer := false
	for t.Kind() == reflect.Pointer {
		pointer, t = true, t.Elem()
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok && t.Kind() == reflect.Map {
		s.AdditionalProperties = withNull(more, t.Elem(), true)
	}
	if s.Items != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		s.Items = withNull(s.Items, t.Elem(), true)
	}
	switch {
	case !pointer || !written || s.AnyOf != nil:
		return s
	case s.Ref != "":
		return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
	case s.Type == "":
		return s // anything at all
	}
	s.Nullable = true
	if s.Enum != nil && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	return s
}

// fieldsOf lists the fields of a struct by the names they have in JSON; an outer field hides one of an embedded struct.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if old, taken := out[name]; name != "" && f.IsExported() && (!taken || len(f.Index) < len(old.Index)) {
			out[name] = f
		}
	}
	return out
}
