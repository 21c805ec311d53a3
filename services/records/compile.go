package records

import (
	"slices"

	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Mapping is the mapping of one object, compiled for reading many records. It does not change and may be shared.
type Mapping struct {
	Object string
	Record models.RecordType

	fields   map[string][]field // by source field
	required []int              // columns that must have a value
	labels   []string           // canonical fields by column
	entries  map[string]string  // canonical field to provider field
	columns  int
	links    []link

	name, normalized, first, last int // columns, -1 if the record has none
	ifNull                        map[int]bool
}

// link is a column that names another record, by its external id in an object of the same provider.
type link struct {
	column int
	object string // "" when the provider has none
}

// field is one entry of a mapping.
type field struct {
	source   string
	label    string
	column   int
	required bool
	convert  converter
}

// Compile prepares the mapping of an object; objects are all of the provider's, so that references find their object.
// An object without entries, an unknown field or transform, and a missing required field are Invalid.
func Compile(objects []connectors.ObjectSpec, object string, mapping []models.FieldMapping) (*Mapping, error) {
	i := slices.IndexFunc(objects, func(o connectors.ObjectSpec) bool { return o.Name == object })
	if i < 0 {
		return nil, fault.New(fault.Invalid, "the provider has no object %s", object)
	}
	m := &Mapping{
		Object: object, Record: objects[i].Record, fields: map[string][]field{}, entries: map[string]string{},
		ifNull: map[int]bool{},
	}
	m.locate()
	for _, l := range store.Links(m.Record) {
		to := link{column: m.column(l.External)}
		if i := slices.IndexFunc(objects, func(o connectors.ObjectSpec) bool { return o.Record == l.Record }); i >= 0 {
			to.object = objects[i].Name
		}
		m.links = append(m.links, to)
	}
	for _, e := range mapping {
		if e.Object != object {
			continue
		}
		target, ok := targetField(m.Record, e.TargetField)
		if !ok {
			return nil, fault.New(fault.Invalid, "%s has no canonical field %s", object, e.TargetField)
		}
		convert, ok := converterFor(target, e.Transform)
		if !ok {
			return nil, fault.New(fault.Invalid, "%s cannot be filled by transform %s", e.TargetField, e.Transform)
		}
		if _, twice := m.entries[e.TargetField]; twice {
			return nil, fault.New(fault.Invalid, "%s.%s is mapped twice", object, e.TargetField)
		}
		m.entries[e.TargetField] = e.SourceField
		f := field{
			source: e.SourceField, label: target.Label, column: m.column(target.Name),
			required: e.Required || target.Required && !m.canDerive(target.Name), convert: convert,
		}
		m.fields[e.SourceField] = append(m.fields[e.SourceField], f)
		if f.required {
			m.required = append(m.required, f.column)
		}
	}
	if m.columns > 0 {
		if len(m.entries) == 0 {
			return nil, fault.New(fault.Invalid, "%s has no field mapping", object)
		}
		if missing := missingTargets(m.Record, m.entries); len(missing) > 0 {
			return nil, fault.New(fault.Invalid, "%s needs a mapping for %s", object, missing[0])
		}
	}
	return m, nil
}

// locate finds the columns that have a meaning beyond their value.
func (m *Mapping) locate() {
	columns := store.CanonicalColumns(m.Record)
	m.columns = len(columns)
	m.labels = make([]string, len(columns))
	for i, c := range columns {
		m.labels[i] = c.Name
	}
	m.name, m.normalized = m.column("name"), m.column(store.NormalizedName)
	m.first, m.last = m.column("first_name"), m.column("last_name")
	for name, value := range map[string]bool{"is_closed": false, "is_won": false, "active": true} {
		if c := m.column(name); c >= 0 {
			m.ifNull[c] = value
		}
	}
}

func (m *Mapping) column(name string) int { return slices.Index(m.labels, name) }

// canDerive reports whether a required field has another way to its value: a contact's name is made of its parts.
func (m *Mapping) canDerive(target string) bool {
	return m.Record == models.RecordContact && target == "name"
}

func (m *Mapping) ref(p models.Provider) store.ObjectRef {
	return store.ObjectRef{Provider: p, Object: m.Object, Record: m.Record}
}

func targetField(record models.RecordType, name string) (models.TargetField, bool) {
	i := slices.IndexFunc(models.TargetFields, func(f models.TargetField) bool { return f.Record == record && f.Name == name })
	if i < 0 {
		return models.TargetField{}, false
	}
	return models.TargetFields[i], true
}

// missingTargets lists the required canonical fields that a mapping leaves out.
func missingTargets(record models.RecordType, entries map[string]string) []string {
	var out []string
	for _, f := range models.TargetFields {
		if f.Record != record || !f.Required || entries[f.Name] != "" {
			continue
		}
		if record == models.RecordContact && f.Name == "name" && entries["last_name"] != "" {
			continue
		}
		out = append(out, f.Name)
	}
	return out
}
