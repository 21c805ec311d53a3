package records

import (
	"fmt"
	"slices"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
)

// convertible lists the neutral types whose values a kind of canonical field can take; a kind that is not listed takes all.
var convertible = map[models.FieldKind][]connectors.FieldType{
	models.KindInteger: {connectors.TypeNumber, connectors.TypeCurrency, connectors.TypeString, connectors.TypePicklist},
	models.KindDecimal: {connectors.TypeNumber, connectors.TypeCurrency, connectors.TypeString, connectors.TypePicklist},
	models.KindPercent: {connectors.TypeNumber, connectors.TypeString, connectors.TypePicklist},
	models.KindMoney:   {connectors.TypeCurrency, connectors.TypeNumber, connectors.TypeString},
	models.KindBool:    {connectors.TypeBoolean, connectors.TypeString, connectors.TypePicklist},
	models.KindDate:    {connectors.TypeDate, connectors.TypeDatetime, connectors.TypeString},
	models.KindInstant: {connectors.TypeDate, connectors.TypeDatetime, connectors.TypeString},
	models.KindLink:    {connectors.TypeReference, connectors.TypeString},
}

// Validate checks a mapping against the discovered schema. Its error is Invalid with one field error per bad entry, named
// mappings[i].source_field and so on. An object that no entry names is not synced, which is no error.
func Validate(objects []connectors.ObjectSpec, schema connectors.Schema, mapping []models.FieldMapping) error {
	var bad []fault.FieldError
	add := func(i int, name, format string, args ...any) {
		bad = append(bad, fault.FieldError{Field: fmt.Sprintf("mappings[%d].%s", i, name), Message: fmt.Sprintf(format, args...)})
	}
	entries := map[string]map[string]string{}
	for i, e := range mapping {
		spec := slices.IndexFunc(objects, func(o connectors.ObjectSpec) bool { return o.Name == e.Object })
		found := slices.IndexFunc(schema.Objects, func(o connectors.Object) bool { return o.Name == e.Object })
		if spec < 0 || found < 0 {
			add(i, "object", "there is no object %s to sync", e.Object)
			continue
		}
		if entries[e.Object] == nil {
			entries[e.Object] = map[string]string{}
		}
		target, ok := targetField(objects[spec].Record, e.TargetField)
		if !ok {
			add(i, "target_field", "%s is no field of %s", e.TargetField, objects[spec].Record)
			continue
		}
		if entries[e.Object][e.TargetField] != "" {
			add(i, "target_field", "%s of %s is mapped already", e.TargetField, e.Object)
			continue
		}
		entries[e.Object][e.TargetField] = e.SourceField
		source := slices.IndexFunc(schema.Objects[found].Fields, func(f connectors.Field) bool { return f.Name == e.SourceField })
		if source < 0 {
			add(i, "source_field", "%s has no field %s", e.Object, e.SourceField)
			continue
		}
		f := schema.Objects[found].Fields[source]
		if types, limited := convertible[target.Kind]; limited && !slices.Contains(types, f.Type) {
			add(i, "source_field", "%s is of type %s, which does not convert to %s", e.SourceField, f.Type, target.Kind)
			continue
		}
		if _, ok := converterFor(target, e.Transform); !ok {
			add(i, "transform", "there is no transform %q for %s", e.Transform, e.TargetField)
		}
	}
	for _, spec := range objects {
		if entries[spec.Name] == nil {
			continue
		}
		for _, target := range missingTargets(spec.Record, entries[spec.Name]) {
			bad = append(bad, fault.FieldError{Field: "mappings", Message: fmt.Sprintf("%s needs a field for %s", spec.Name, target)})
		}
	}
	if len(bad) > 0 {
		return fault.WithFields("The mapping does not fit the provider's schema.", bad...)
	}
	return nil
}
