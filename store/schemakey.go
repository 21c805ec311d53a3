package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// SchemaKey is a short hash of all migrations: it changes whenever the schema does.
func SchemaKey() (string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return "", fmt.Errorf("list migrations: %w", err)
	}
	h := sha256.New()
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read migration: %w", err)
		}
		_, _ = fmt.Fprintf(h, "%s %d\n", name, len(text))
		_, _ = h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
