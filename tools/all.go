package tools

// all lists every tool that is built, once. What is not built is not listed.
var all = []func() Tool{
	getGovernanceLog,
}
