package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"revarch/fault"
)

// schema describes a tool's input or output and checks inputs against it.
type schema struct {
	registry huma.Registry
	root     *huma.Schema
	typ      reflect.Type
	// asInput refuses alternatives that clients stumble over when they fill in arguments.
	asInput bool
}

// arraysNeverNull changes a default of the generator's process: never a nil slice out, so never null in a schema.
var arraysNeverNull = sync.OnceFunc(func() { huma.DefaultArrayNullable = false })

func newSchema(t reflect.Type, asInput bool) *schema {
	arraysNeverNull()
	r := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	return &schema{r, r.Schema(t, false, t.Name()), t, asInput}
}

// document is the schema as clients see it: nested structs in place of references, no formats that say nothing. It
// panics on what a client could not use, since that is a defect of the definition.
func (s *schema) document(tool string) json.RawMessage {
	doc, err := s.inline(s.root, s.typ, 0)
	if err == nil {
		err = s.walk(doc, tool)
	}
	if err != nil {
		panic(fmt.Sprintf("schema of tool %s: %v", tool, err))
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}

func (s *schema) inline(sc *huma.Schema, t reflect.Type, depth int) (map[string]any, error) {
	if depth > 12 {
		return nil, fmt.Errorf("types are nested too deeply or in a circle")
	}
	if sc.Ref != "" {
		sc = s.registry.SchemaFromRef(sc.Ref)
	}
	raw, err := json.Marshal(sc)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	delete(doc, "$schema")
	delete(doc, "patternDescription") // for our messages, no keyword of JSON Schema
	if f, _ := doc["format"].(string); f == "int64" || f == "int32" || f == "double" || f == "float" {
		delete(doc, "format")
	}
	if len(sc.Properties) > 0 {
		if doc["properties"], err = s.properties(sc, t, depth); err != nil {
			return nil, err
		}
	}
	if sc.Items != nil {
		if doc["items"], err = s.inline(sc.Items, element(t), depth+1); err != nil {
			return nil, err
		}
	}
	if ap, ok := sc.AdditionalProperties.(*huma.Schema); ok {
		if doc["additionalProperties"], err = s.inline(ap, element(t), depth+1); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// properties describes the fields of a struct. The generator does not say of every pointer that it may be null, nor that
// null is among the values of an enumeration, so an answer would not fit its own schema: clients check, and it is said here.
func (s *schema) properties(sc *huma.Schema, t reflect.Type, depth int) (map[string]any, error) {
	fields, out := map[string]reflect.StructField{}, map[string]any{}
	jsonFields(t, fields)
	for name, p := range sc.Properties {
		f, ok := fields[name]
		if !ok {
			return nil, fmt.Errorf("%s is no field of %s", name, t)
		}
		doc, err := s.inline(p, f.Type, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if p.Description != "" {
			doc["description"] = p.Description
		}
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if typ, one := doc["type"].(string); one && f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			doc["type"] = []any{typ, "null"}
		}
		if _, nullable := doc["type"].([]any); nullable && doc["enum"] != nil {
			doc["enum"] = append(slices.Clone(doc["enum"].([]any)), nil)
		}
		out[name] = doc
	}
	return out, nil
}

// element is what a pointer, slice or map holds; a type of its own for everything else.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem()
	}
	return t
}

// jsonFields collects the fields of a struct by their JSON names, embedded ones included.
func jsonFields(t reflect.Type, into map[string]reflect.StructField) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			jsonFields(f.Type, into)
		case name == "":
			into[f.Name] = f
		default:
			into[name] = f
		}
	}
}

// walk refuses what makes clients stumble: untyped properties, unions, and alternatives at the top. An output may be
// null beside its one type.
func (s *schema) walk(doc map[string]any, path string) error {
	for _, k := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		if _, bad := doc[k]; bad {
			return fmt.Errorf("%s uses %s", path, k)
		}
	}
	switch t := doc["type"].(type) {
	case string:
	case []any:
		if s.asInput || len(t) != 2 || !slices.Contains(t, any("null")) {
			return fmt.Errorf("%s is a union", path)
		}
	default:
		return fmt.Errorf("%s has no type", path)
	}
	if props, ok := doc["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(props)) {
			if err := s.walk(props[name].(map[string]any), path+"."+name); err != nil {
				return err
			}
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if sub, ok := doc[k].(map[string]any); ok {
			if err := s.walk(sub, path+"."+k); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeArguments reads the arguments of a call; none at all are an empty object.
func decodeArguments(raw json.RawMessage) (map[string]any, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	var in map[string]any
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fault.New(fault.Invalid, "the arguments must be a JSON object")
	}
	return in, nil
}

// accept drops nulls, fills in defaults and checks the arguments; what is wrong comes back in words, without values.
func (s *schema) accept(in map[string]any) (json.RawMessage, error) {
	maps.DeleteFunc(in, func(_ string, v any) bool { return v == nil })
	var bad []fault.FieldError
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if s.root.Properties[name] == nil {
			bad = append(bad, fault.FieldError{Field: name, Message: "unknown argument; valid ones: " + s.names()})
		}
	}
	for name, p := range s.root.Properties {
		if _, given := in[name]; !given && p.Default != nil {
			in[name] = jsonValue(p.Default)
		}
	}
	if bad == nil {
		res := &huma.ValidateResult{}
		huma.Validate(s.registry, s.root, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, in, res)
		for _, err := range res.Errors {
			var d huma.ErrorDetailer
			if errors.As(err, &d) {
				bad = append(bad, fieldError(d.ErrorDetail()))
			}
		}
	}
	if bad != nil {
		return nil, fault.WithFields("the arguments do not fit: "+bad[0].Field+": "+bad[0].Message, bad...)
	}
	out, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return out, nil
}

func (s *schema) names() string {
	if len(s.root.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.root.Properties)), ", ")
}

// fieldError says which field is meant also where the validator names only the object around it.
func fieldError(d *huma.ErrorDetail) fault.FieldError {
	field := d.Location
	if rest, ok := strings.CutPrefix(d.Message, "expected required property "); ok && field == "" {
		field, _, _ = strings.Cut(rest, " ")
	}
	return fault.FieldError{Field: field, Message: d.Message}
}

// jsonValue makes a default, which is a Go value, look as if it had come as JSON.
func jsonValue(v any) any {
	switch n := v.(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	}
	return v
}
