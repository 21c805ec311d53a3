//go:build no_ui

package web

import "io/fs"

// Files returns nothing: this binary was built without the web app.
func Files() (files fs.FS, ok bool) { return nil, false }
