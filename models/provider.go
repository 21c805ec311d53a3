package models

import "slices"

// Provider is the neutral code of an external system, as it stands in paths, tables and messages.
type Provider string

// The providers of the interface, and CSV, the pseudo-provider of imported files.
const (
	CRMA          Provider = "crm_a"
	CRMB          Provider = "crm_b"
	CRMC          Provider = "crm_c"
	WorkspaceA    Provider = "workspace_a"
	WorkspaceB    Provider = "workspace_b"
	DistrictIntel Provider = "district_intel"
	CSV           Provider = "csv"
)

// ProviderKind groups providers by what they hold.
type ProviderKind string

// The kinds of the interface, in the words that tools use.
const (
	KindCRM           ProviderKind = "crm"
	KindWorkspace     ProviderKind = "workspace"
	KindDistrictIntel ProviderKind = "district_intel"
)

// ProviderInfo describes a provider to people.
type ProviderInfo struct {
	Code        Provider
	Kind        ProviderKind
	DisplayName string
}

// Providers lists the six connectable providers in the order of the interface.
var Providers = []ProviderInfo{
	{CRMA, KindCRM, "Salesforce"},
	{CRMB, KindCRM, "HubSpot"},
	{CRMC, KindCRM, "Dynamics 365"},
	{WorkspaceA, KindWorkspace, "Google Workspace"},
	{WorkspaceB, KindWorkspace, "Microsoft 365"},
	{DistrictIntel, KindDistrictIntel, "District intelligence"},
}

// Info returns the description of p; ok is false for a code that is not a connectable provider.
func (p Provider) Info() (info ProviderInfo, ok bool) {
	i := slices.IndexFunc(Providers, func(x ProviderInfo) bool { return x.Code == p })
	if i < 0 {
		return ProviderInfo{}, false
	}
	return Providers[i], true
}
