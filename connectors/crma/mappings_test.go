package crma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"revarch/connectors"
	"revarch/models"
)

func TestEverySourceNamesACanonicalField(t *testing.T) {
	t.Parallel()
	targets, known := map[models.RecordType]map[string]bool{}, map[string]bool{}
	for _, f := range models.TargetFields {
		if targets[f.Record] == nil {
			targets[f.Record] = map[string]bool{}
		}
		targets[f.Record][f.Name], known[f.Name] = true, true
	}
	for _, spec := range objects {
		for name := range sources[spec.Name] {
			require.True(t, targets[spec.Record][name], "%s.%s", spec.Name, name)
		}
		require.Len(t, sources[spec.Name], len(targets[spec.Record]), "every canonical field of %s has a source", spec.Name)
	}
	for name := range synonyms {
		require.True(t, known[name], name)
	}
}

func field(name, label string, t connectors.FieldType) connectors.Field {
	return connectors.Field{Name: name, Label: label, Type: t, Custom: true}
}

func TestMappingsOfAnotherOrgAreGuessedByNameLabelAndType(t *testing.T) {
	t.Parallel()
	p := &Provider{}
	got := p.DefaultMappings(connectors.Schema{Objects: []connectors.Object{{Name: "Account", Fields: []connectors.Field{
		{Name: "Name", Label: "Account Name", Type: connectors.TypeString},
		field("Seats__c", "Seats", connectors.TypeNumber),
		field("Licensed_Seats__c", "Licensed seats", connectors.TypeNumber), // the known name wins
		field("X1__c", "Annual Recurring Revenue", connectors.TypeCurrency), // by label
		field("LEAID__c", "District", connectors.TypeString),                // by a synonym
		field("CSAT__c", "CSAT", connectors.TypeString),                     // the type does not fit
		field("Renewal_Date__c", "Ends", connectors.TypeDate),
		{Name: "Region", Label: "Region", Type: connectors.TypeString}, // not the org's own
		field("Unrelated__c", "Unrelated", connectors.TypeString),
	}}, {Name: "Invoice__c", Custom: true, Fields: []connectors.Field{field("Seats__c", "Seats", connectors.TypeNumber)}}}})
	require.Equal(t, []models.FieldMapping{
		{Object: "Account", SourceField: "Name", TargetField: "name", Required: true, SourceType: "string"},
		{Object: "Account", SourceField: "Renewal_Date__c", TargetField: "renewal_date", SourceType: "date"},
		{Object: "Account", SourceField: "Seats__c", TargetField: "seats", SourceType: "number"},
		{Object: "Account", SourceField: "LEAID__c", TargetField: "nces_id", SourceType: "string"},
		{Object: "Account", SourceField: "X1__c", TargetField: "arr_cents", SourceType: "currency"},
	}, got)
}
