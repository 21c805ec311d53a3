// Package readiness judges whether an organization's data is good enough to act on. What belongs here: the issue
// codes and their exact definitions per account, the tally over all accounts, and the level that follows. It reads no
// clock: ages come in as numbers. Unknown is not zero: what is not known is a nil pointer.
package readiness
