package tools

// all lists every tool that is built, once. What is not built is not listed.
var all = []func() Tool{
	getDashboard, getPipelineSummary, searchAccounts, getAccount360, getAccountHealth, getScoringRules,
	createTask, updateTask, getGovernanceLog,
	getDataReadiness, getAffectedRecords,
	listTasks,
	getExpansionSummary, getExpansionSignals, getExpansionAffinity,
	listConnectors, getSyncLog,
}
