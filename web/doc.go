// Package web carries the built web app: the React sources live beside it, `npm run build` writes them to dist, and
// dist is embedded in the binary unless it is built with the tag no_ui. Nothing but the embedding belongs here; the
// api package decides how the files are served.
package web

// NoncePlaceholder stands in index.html wherever the content security policy's nonce belongs; it is replaced by a
// fresh random value on every request.
const NoncePlaceholder = "__CSP_NONCE__"
