package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/store"
)

// Drift is how a schema differs from the one discovered before, as "Object.Field".
type Drift struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Retyped []string `json:"retyped"`
	// Unmapped are removed fields that a mapping reads: their targets keep what they hold until the mapping changes.
	Unmapped []string `json:"unmapped"`
}

// Discovery is what an account may read, when that was found out, and what a mapping of it could look like.
type Discovery struct {
	Schema       connectors.Schema     `json:"schema"`
	DiscoveredAt *time.Time            `json:"discovered_at"`
	Drift        Drift                 `json:"drift"`
	Suggested    []models.FieldMapping `json:"suggested_mappings"`
}

// Discover asks the provider which objects and fields there are, stores the answer and says what changed since the
// last time. Faults: Denied, Conflict, ReauthRequired and what the provider answers.
func (s *Service) Discover(ctx context.Context, p auth.Principal, provider models.Provider) (Discovery, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return Discovery{}, err
	}
	impl, err := s.provider(provider)
	if err != nil {
		return Discovery{}, err
	}
	if _, err := s.usable(ctx, p.OrgID, provider); err != nil {
		return Discovery{}, err
	}
	schema, drift, err := s.discover(ctx, p.OrgID, impl)
	if err != nil {
		return Discovery{}, err
	}
	now := s.now()
	return Discovery{Schema: schema, DiscoveredAt: &now, Drift: drift, Suggested: orEmpty(impl.DefaultMappings(schema))}, nil
}

// DiscoverFor is Discover for the sync of an organization: every run reads the schema anew.
func (s *Service) DiscoverFor(ctx context.Context, org uuid.UUID, provider models.Provider) (connectors.Schema, Drift, error) {
	impl, err := s.provider(provider)
	if err != nil {
		return connectors.Schema{}, Drift{}, err
	}
	return s.discover(ctx, org, impl)
}

// Schema returns what was discovered last, without asking the provider. Faults: Denied, NotFound when nothing was
// discovered yet.
func (s *Service) Schema(ctx context.Context, p auth.Principal, provider models.Provider) (Discovery, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return Discovery{}, err
	}
	impl, err := s.provider(provider)
	if err != nil {
		return Discovery{}, err
	}
	c, err := s.load(ctx, p.OrgID, provider)
	if err != nil {
		return Discovery{}, err
	}
	if c.DiscoveredAt == nil {
		return Discovery{}, fault.New(fault.NotFound, "nothing has been discovered from this provider yet; connect it first")
	}
	schema, err := decodeSchema(c.Schema)
	if err != nil {
		return Discovery{}, err
	}
	return Discovery{Schema: schema, DiscoveredAt: utc(c.DiscoveredAt), Drift: emptyDrift(), Suggested: orEmpty(impl.DefaultMappings(schema))}, nil
}

// discover reads the schema, stores it, and maps as suggested what nobody could map yet: everything at first, later the
// objects that came since, with a permission or with a new version of RevArch.
func (s *Service) discover(ctx context.Context, org uuid.UUID, impl connectors.Provider) (connectors.Schema, Drift, error) {
	p := impl.Code()
	fresh, err := impl.Open(&tokens{s: s, org: org, provider: p}).Discover(ctx)
	if err != nil {
		return connectors.Schema{}, Drift{}, fmt.Errorf("discover: %w", err)
	}
	raw, err := json.Marshal(fresh)
	if err != nil {
		return connectors.Schema{}, Drift{}, fmt.Errorf("encode schema: %w", err)
	}
	drift := emptyDrift()
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		c, ok, err := tx.LockConnection(p)
		if err != nil || !ok {
			return errors.Join(err, notConnected(p))
		}
		old, err := decodeSchema(c.Schema)
		if err != nil {
			return err
		}
		if err := tx.SaveSchema(p, raw, s.now()); err != nil {
			return err
		}
		if c.MappingVersion == 0 {
			_, err = tx.ReplaceMappings(p, impl.DefaultMappings(fresh), s.now())
			return err
		}
		mapped, err := tx.Mappings(p)
		if err != nil {
			return err
		}
		drift = diff(old, fresh, mapped, c.DiscoveredAt == nil)
		if more := newcomers(old, mapped, impl.DefaultMappings(fresh)); len(more) > 0 {
			for _, m := range mapped {
				more = append(more, m.FieldMapping)
			}
			_, err = tx.ReplaceMappings(p, more, s.now())
		}
		return err
	})
	return fresh, drift, err
}

// newcomers are the suggested mappings of objects that the schema did not hold before and that are not mapped.
func newcomers(old connectors.Schema, mapped []models.StoredMapping, suggested []models.FieldMapping) []models.FieldMapping {
	known := map[string]bool{}
	for _, o := range old.Objects {
		known[o.Name] = true
	}
	for _, m := range mapped {
		known[m.Object] = true
	}
	var out []models.FieldMapping
	for _, m := range suggested {
		if !known[m.Object] {
			out = append(out, m)
		}
	}
	return out
}

func diff(old, fresh connectors.Schema, mapped []models.StoredMapping, first bool) Drift {
	d := emptyDrift()
	if first {
		return d
	}
	before, after := fieldTypes(old), fieldTypes(fresh)
	for name, kind := range after {
		if was, ok := before[name]; !ok {
			d.Added = append(d.Added, name)
		} else if was != kind {
			d.Retyped = append(d.Retyped, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			d.Removed = append(d.Removed, name)
		}
	}
	for _, m := range mapped {
		name := m.Object + "." + m.SourceField
		if _, ok := after[name]; !ok && !slices.Contains(d.Unmapped, name) {
			d.Unmapped = append(d.Unmapped, name)
		}
	}
	for _, list := range [][]string{d.Added, d.Removed, d.Retyped, d.Unmapped} {
		slices.Sort(list)
	}
	return d
}

func fieldTypes(schema connectors.Schema) map[string]connectors.FieldType {
	out := map[string]connectors.FieldType{}
	for _, o := range schema.Objects {
		for _, f := range o.Fields {
			out[o.Name+"."+f.Name] = f.Type
		}
	}
	return out
}

func emptyDrift() Drift {
	return Drift{Added: []string{}, Removed: []string{}, Retyped: []string{}, Unmapped: []string{}}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// The parts of a discovered schema, named here for those who show it.
type (
	Object        = connectors.Object
	Field         = connectors.Field
	PicklistValue = connectors.PicklistValue
)
