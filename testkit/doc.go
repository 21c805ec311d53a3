// Package testkit gives tests of the whole repository what they share: a database of their own in a cluster that runs
// for one command, and the address of a Temporal server. What belongs here: anything several packages' tests need and no
// program does. It is, beside config, the one package that reads the environment, which cmd/testdb fills.
package testkit
