package store

// ProgramSchema is the version of the newest migration that this program knows.
func ProgramSchema() (int64, error) { return newestMigration() }
