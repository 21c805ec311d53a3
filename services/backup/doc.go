// Package backup copies an installation into one file and back: the database as pg_dump writes it, and the keyset without
// which the stored grants cannot be read. What belongs here: the file's format, what makes a copy trustworthy (checksums,
// versions, policies that would hide rows), and running PostgreSQL's own tools. Where the database and the keyset are is
// the caller's business.
//
// The file is a plain tar: database.dump (pg_restore reads it), keyset.json, and manifest.json last, so that a file that
// was cut short has none and is refused.
package backup
