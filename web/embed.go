//go:build !no_ui

package web

import (
	"embed"
	"io/fs"
)

// dist always holds at least its .keep file, so the module compiles before the app has been built.
//
//go:embed all:dist
var dist embed.FS

// Files returns the built web app with index.html at its root; ok is false when the app has not been built yet.
func Files() (files fs.FS, ok bool) {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, false
	}
	if _, err := fs.Stat(sub, "index.html"); err != nil {
		return nil, false
	}
	return sub, true
}
