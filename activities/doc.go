// Package activities is what workflows do to the world: one struct per concern with its dependencies as fields, one
// method per activity. The names of the methods are wire names, unique across all structs. What belongs here: bounded
// batches of work that may be repeated at any point, heartbeats, and the translation of faults for Temporal. What is
// stored goes through a service.
package activities
