package crma

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"revarch/connectors"
	"revarch/fault"
)

// keyColumns carry a stream and cannot be given up.
var keyColumns = []string{"Id", "SystemModstamp"}

// systemColumns are read whether mapped or not, where the object has them.
var systemColumns = []string{"Id", "SystemModstamp", "CreatedDate", "LastModifiedDate"}

// maxColumnText bounds the column list of a query in bytes, so that its URL stays within what servers take.
const maxColumnText = 12000

// describe is an object's description.
type describe struct {
	Name      string          `json:"name"`
	Label     string          `json:"label"`
	Custom    bool            `json:"custom"`
	Queryable bool            `json:"queryable"`
	Fields    []describeField `json:"fields"`
}

type describeField struct {
	Name           string   `json:"name"`
	Label          string   `json:"label"`
	Type           string   `json:"type"`
	Custom         bool     `json:"custom"`
	Nillable       bool     `json:"nillable"`
	ReferenceTo    []string `json:"referenceTo"`
	PicklistValues []struct {
		Value  string `json:"value"`
		Label  string `json:"label"`
		Active bool   `json:"active"`
	} `json:"picklistValues"`
}

// unreadable are types that a query cannot read or that repeat other fields: compounds and blobs.
var unreadable = []string{"address", "location", "base64", "complexvalue", "json"}

func (d *describe) has(name string) bool {
	return slices.ContainsFunc(d.Fields, func(f describeField) bool { return f.Name == name && !slices.Contains(unreadable, f.Type) })
}

// columns returns the system columns and those of the wanted fields that may be read, in the order of the
// description; wanted nil means all that fit into a request. missing are wanted fields that cannot be read.
func (d *describe) columns(wanted, lost []string) (columns, missing []string) {
	isLost := func(name string) bool {
		return slices.ContainsFunc(lost, func(l string) bool { return strings.EqualFold(l, name) })
	}
	for _, c := range systemColumns {
		if d.has(c) && !isLost(c) {
			columns = append(columns, c)
		}
	}
	if wanted == nil {
		size := 0
		for _, f := range d.Fields {
			if !d.has(f.Name) || isLost(f.Name) || slices.Contains(columns, f.Name) {
				continue
			}
			if size += len(f.Name) + 3; size > maxColumnText {
				missing = append(missing, f.Name)
			} else {
				columns = append(columns, f.Name)
			}
		}
		return columns, missing
	}
	for _, name := range wanted {
		switch {
		case slices.Contains(columns, name):
		case d.has(name) && !isLost(name):
			columns = append(columns, name)
		case !slices.Contains(missing, name):
			missing = append(missing, name)
		}
	}
	return columns, missing
}

// describe returns the object's description, read once per session, and the fields that queries were refused for.
func (s *session) describe(ctx context.Context, object string) (*describe, []string, error) {
	s.mu.Lock()
	state := s.objects[object]
	if state == nil {
		state = &objectState{}
		s.objects[object] = state
	}
	desc, lost := state.desc, slices.Clone(state.lost)
	s.mu.Unlock()
	if desc != nil {
		return desc, lost, nil
	}
	desc = &describe{}
	if _, err := s.get(ctx, connectors.Call{Ref: s.p.dataPath + "/sobjects/" + url.PathEscape(object) + "/describe"}, desc); err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, nil, fault.Wrap(err, fault.SchemaDrift, "The provider has no object %s, or the connected user may not see it.", object)
		}
		return nil, nil, fmt.Errorf("describe %s: %w", object, err)
	}
	for _, key := range keyColumns {
		if !desc.has(key) {
			return nil, nil, fault.New(fault.SchemaDrift, "%s has no readable %s, which reading it needs.", object, key)
		}
	}
	s.mu.Lock()
	state.desc = desc
	s.mu.Unlock()
	return desc, lost, nil
}

// Discover describes the synced objects that the org has and up to twenty of its custom objects, by name.
func (s *session) Discover(ctx context.Context) (connectors.Schema, error) {
	var list struct {
		SObjects []struct {
			Name          string `json:"name"`
			Custom        bool   `json:"custom"`
			CustomSetting bool   `json:"customSetting"`
			Queryable     bool   `json:"queryable"`
		} `json:"sobjects"`
	}
	if _, err := s.get(ctx, connectors.Call{Ref: s.p.dataPath + "/sobjects"}, &list); err != nil {
		return connectors.Schema{}, fmt.Errorf("list objects: %w", err)
	}
	var known, custom []string
	for _, o := range list.SObjects {
		switch {
		case !o.Queryable || !identifier(o.Name):
		case supported(o.Name):
			known = append(known, o.Name)
		case o.Custom && !o.CustomSetting:
			custom = append(custom, o.Name)
		}
	}
	slices.SortFunc(known, func(a, b string) int { return objectIndex(a) - objectIndex(b) })
	slices.Sort(custom)
	custom = custom[:min(len(custom), maxCustomObjects)]
	schema := connectors.Schema{Objects: []connectors.Object{}}
	for _, name := range append(known, custom...) {
		s.mu.Lock()
		delete(s.objects, name) // discovery is asked for to see what changed
		s.mu.Unlock()
		desc, _, err := s.describe(ctx, name)
		if fault.Is(err, fault.SchemaDrift) || fault.Is(err, fault.ScopeMissing) {
			continue // the others are read without it
		}
		if err != nil {
			return connectors.Schema{}, err
		}
		schema.Objects = append(schema.Objects, desc.object())
	}
	return schema, nil
}

func objectIndex(name string) int {
	return slices.IndexFunc(objects, func(o connectors.ObjectSpec) bool { return o.Name == name })
}

// object turns a description into the neutral form.
func (d *describe) object() connectors.Object {
	out := connectors.Object{Name: d.Name, Label: d.Label, Custom: d.Custom, Supported: supported(d.Name), Fields: []connectors.Field{}}
	for _, f := range d.Fields {
		if slices.Contains(unreadable, f.Type) || !identifier(f.Name) {
			continue
		}
		field := connectors.Field{
			Name: f.Name, Label: f.Label, Type: neutralType(f.Type), SourceType: f.Type, Custom: f.Custom,
			Nullable: f.Nillable, PicklistValues: []connectors.PicklistValue{}, ReferenceTo: append([]string{}, f.ReferenceTo...),
		}
		for _, v := range f.PicklistValues {
			field.PicklistValues = append(field.PicklistValues, connectors.PicklistValue{Value: v.Value, Label: v.Label, Active: v.Active})
		}
		out.Fields = append(out.Fields, field)
	}
	return out
}

// neutralType maps a type of the provider; a type that is not known reads as text.
func neutralType(t string) connectors.FieldType {
	switch t {
	case "int", "long", "double", "percent":
		return connectors.TypeNumber
	case "currency":
		return connectors.TypeCurrency
	case "boolean":
		return connectors.TypeBoolean
	case "date":
		return connectors.TypeDate
	case "datetime":
		return connectors.TypeDatetime
	case "picklist":
		return connectors.TypePicklist
	case "multipicklist":
		return connectors.TypeMultiPicklist
	case "reference":
		return connectors.TypeReference
	case "email":
		return connectors.TypeEmail
	case "phone":
		return connectors.TypePhone
	case "url":
		return connectors.TypeURL
	default:
		return connectors.TypeString
	}
}
