package connections

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"revarch/auth"
	"revarch/connectors"
	"revarch/fault"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/records"
	"revarch/services/runs"
	"revarch/store"
)

// MappingSet is the mapping of one provider with its version, which surfaces use as the entity tag.
type MappingSet struct {
	Provider models.Provider       `json:"provider"`
	Version  int64                 `json:"version"`
	Mappings []models.FieldMapping `json:"mappings"`
}

// Mappings returns the mapping of a provider. Faults: Denied, NotFound for an unknown provider.
func (s *Service) Mappings(ctx context.Context, p auth.Principal, provider models.Provider) (MappingSet, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return MappingSet{}, err
	}
	if _, ok := provider.Info(); !ok {
		return MappingSet{}, fault.New(fault.NotFound, "there is no provider of this name")
	}
	return s.MappingFor(ctx, p.OrgID, provider)
}

// MappingFor is Mappings for the work of an organization.
func (s *Service) MappingFor(ctx context.Context, org uuid.UUID, provider models.Provider) (set MappingSet, err error) {
	err = s.store.InOrg(ctx, org, func(tx *store.Tx) error {
		set, err = mappingIn(tx, provider)
		return err
	})
	return set, err
}

func mappingIn(tx *store.Tx, provider models.Provider) (MappingSet, error) {
	set := MappingSet{Provider: provider, Mappings: []models.FieldMapping{}}
	c, _, err := tx.Connection(provider)
	if err != nil {
		return set, err
	}
	set.Version = c.MappingVersion
	rows, err := tx.Mappings(provider)
	for _, r := range rows {
		set.Mappings = append(set.Mappings, r.FieldMapping)
	}
	return set, err
}

// AllMappings returns the mappings of every provider that has one, in the order of the interface. Faults: Denied.
func (s *Service) AllMappings(ctx context.Context, p auth.Principal) ([]MappingSet, error) {
	if err := p.Require(auth.PermRead); err != nil {
		return nil, err
	}
	out := []MappingSet{}
	err := s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		for _, info := range models.Providers {
			set, err := mappingIn(tx, info.Code)
			if err != nil {
				return err
			}
			if set.Version > 0 {
				out = append(out, set)
			}
		}
		return nil
	})
	return out, err
}

// PutMappings replaces the mapping of a provider and starts a run that maps the stored records again. ifMatch is the
// version the caller saw, 0 when the caller does not care. Faults: Denied, NotFound, NotConfigured, Conflict when nothing was
// discovered yet, Stale, Invalid with one field error per bad entry.
func (s *Service) PutMappings(ctx context.Context, p auth.Principal, provider models.Provider, entries []models.FieldMapping, ifMatch int64) (MappingSet, models.Run, error) {
	if err := p.Require(auth.PermAdmin); err != nil {
		return MappingSet{}, models.Run{}, err
	}
	impl, err := s.provider(provider)
	if err != nil {
		return MappingSet{}, models.Run{}, err
	}
	entries = slices.Clone(entries)
	var set MappingSet
	err = s.store.InOrg(ctx, p.OrgID, func(tx *store.Tx) error {
		c, ok, err := tx.LockConnection(provider)
		if err != nil {
			return err
		}
		if !ok || c.DiscoveredAt == nil {
			return fault.New(fault.Conflict, "Nothing has been discovered from this provider yet. Connect it before mapping its fields.")
		}
		if ifMatch != 0 && ifMatch != c.MappingVersion {
			return fault.New(fault.Stale, "The mapping was changed since it was read; it is at version %d now. Read it again.", c.MappingVersion)
		}
		schema, err := decodeSchema(c.Schema)
		if err != nil {
			return err
		}
		if err := records.Validate(impl.Objects(), schema, entries); err != nil {
			return err
		}
		before, err := tx.Mappings(provider)
		if err != nil {
			return err
		}
		fillSourceTypes(entries, schema)
		if _, err := tx.ReplaceMappings(provider, entries, s.now()); err != nil {
			return err
		}
		if set, err = mappingIn(tx, provider); err != nil {
			return err
		}
		return s.audit(tx, p, AuditEntry{
			Action: "update_mappings", Provider: provider,
			Before: map[string]any{"version": c.MappingVersion, "entries": len(before)},
			After:  map[string]any{"version": set.Version, "entries": len(set.Mappings)},
		})
	})
	if err != nil {
		return MappingSet{}, models.Run{}, err
	}
	run, _, err := s.Remap(ctx, p, provider)
	return set, run, err
}

// Remap starts a run that maps the stored records of a provider again, as part of a change that is logged. One that is
// running notices a newer mapping by itself and begins anew.
func (s *Service) Remap(ctx context.Context, p auth.Principal, provider models.Provider) (models.Run, bool, error) {
	return s.runs.Start(ctx, p, runs.StartInput{
		Kind: models.KindRemap, Subject: string(provider),
		WorkflowID: jobs.RemapID(p.OrgID, provider), Trigger: "manual", Logged: true,
	})
}

// fillSourceTypes notes the discovered type beside each source field, whatever the caller said it was.
func fillSourceTypes(entries []models.FieldMapping, schema connectors.Schema) {
	types := fieldTypes(schema)
	for i, e := range entries {
		entries[i].SourceType = string(types[e.Object+"."+e.SourceField])
	}
}
