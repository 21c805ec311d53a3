// Package scoring turns an account's features into the four scores (health, risk, expansion, priority) and explains
// them rule by rule. What belongs here: the feature catalogue, the rule language and its compiler, the default rules
// and weights, the arithmetic of composites, coverage and contributions, the compact stored form and its rendering,
// levers and severity levels. Nothing here reads a clock, a database or a random number.
//
// Unknown is not zero: a feature without a value makes the rules that need it null, and a null rule is left out of
// its category instead of being filled in. Money features are in whole currency units, ratios are fractions of one.
package scoring
