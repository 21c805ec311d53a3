// The providers by the names that people know them by; a run's subject is the provider's code.
const names: Record<string, string> = {
  crm_a: 'Salesforce', crm_b: 'HubSpot', crm_c: 'Dynamics 365', workspace_a: 'Google Workspace', workspace_b: 'Microsoft 365', district_intel: 'District intelligence',
};

export const providerName = (code: string) => names[code] ?? code;
