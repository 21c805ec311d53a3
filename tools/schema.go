package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"revarch/fault"
)

// schema describes a tool's input or output and checks inputs against it.
type schema struct {
	registry huma.Registry
	root     *huma.Schema
}

func newSchema(t reflect.Type) *schema {
	huma.DefaultArrayNullable = false // never a nil slice out, so never null in a schema
	r := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	return &schema{r, r.Schema(t, false, t.Name())}
}

// document is the schema as clients see it: nested structs in place of references, no formats that say nothing. It
// panics on what a client could not use, since that is a defect of the definition.
func (s *schema) document(tool string) json.RawMessage {
	doc, err := s.inline(s.root, 0)
	if err == nil {
		err = walk(doc, tool)
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

func (s *schema) inline(sc *huma.Schema, depth int) (map[string]any, error) {
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
	if f, _ := doc["format"].(string); f == "int64" || f == "int32" || f == "double" || f == "float" {
		delete(doc, "format")
	}
	if len(sc.Properties) > 0 {
		props := map[string]any{}
		for name, p := range sc.Properties {
			if props[name], err = s.inline(p, depth+1); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if d := p.Description; d != "" {
				props[name].(map[string]any)["description"] = d
			}
		}
		doc["properties"] = props
	}
	if sc.Items != nil {
		if doc["items"], err = s.inline(sc.Items, depth+1); err != nil {
			return nil, err
		}
	}
	if ap, ok := sc.AdditionalProperties.(*huma.Schema); ok {
		if doc["additionalProperties"], err = s.inline(ap, depth+1); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// walk refuses what makes clients stumble: untyped properties, unions, and alternatives at the top.
func walk(doc map[string]any, path string) error {
	for _, k := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		if _, bad := doc[k]; bad {
			return fmt.Errorf("%s uses %s", path, k)
		}
	}
	switch t := doc["type"].(type) {
	case string:
	case []any:
		if len(t) != 2 || !slices.Contains(t, any("null")) {
			return fmt.Errorf("%s is a union", path)
		}
	default:
		return fmt.Errorf("%s has no type", path)
	}
	if props, ok := doc["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(props)) {
			if err := walk(props[name].(map[string]any), path+"."+name); err != nil {
				return err
			}
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if sub, ok := doc[k].(map[string]any); ok {
			if err := walk(sub, path+"."+k); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept drops nulls, fills in defaults and checks the arguments; what is wrong comes back in words, without values.
func (s *schema) accept(args json.RawMessage) (json.RawMessage, error) {
	in := map[string]any{}
	if len(bytes.TrimSpace(args)) > 0 && string(bytes.TrimSpace(args)) != "null" {
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.New(fault.Invalid, "the arguments must be a JSON object")
		}
	}
	maps.DeleteFunc(in, func(_ string, v any) bool { return v == nil })
	var bad []fault.FieldError
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if s.root.Properties[name] == nil {
			bad = append(bad, fault.FieldError{Field: name, Message: "unknown argument; valid ones: " + strings.Join(slices.Sorted(maps.Keys(s.root.Properties)), ", ")})
		}
	}
	for name, p := range s.root.Properties {
		if _, given := in[name]; !given && p.Default != nil {
			in[name] = p.Default
		}
	}
	if bad == nil {
		res := &huma.ValidateResult{}
		huma.Validate(s.registry, s.root, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, jsonValues(in), res)
		for _, err := range res.Errors {
			if d, ok := err.(huma.ErrorDetailer); ok {
				bad = append(bad, fault.FieldError{Field: d.ErrorDetail().Location, Message: d.ErrorDetail().Message})
			}
		}
	}
	if bad != nil {
		return nil, fault.WithFields("the arguments do not fit", bad...)
	}
	out, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return out, nil
}

// jsonValues makes defaults, which are Go values, look as if they had come as JSON.
func jsonValues(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		switch n := v.(type) {
		case int:
			out[k] = float64(n)
		case int64:
			out[k] = float64(n)
		default:
			out[k] = v
		}
	}
	return out
}
