// Package models holds what RevArch stores: one struct per table, the enums and the ids they use. Data and Validate
// only: no queries, no I/O; gorm appears in tags alone.
package models
