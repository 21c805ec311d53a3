package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressFrom is how many bytes an answer has that is worth compressing: a large matrix shrinks to a twentieth.
const compressFrom = 16 << 10

// compress makes large answers of data small for clients that take it. Event streams and files of the web app, which
// the build compressed already, pass as they are. The random length of the header hides how well a secret fits an answer.
func compress(h http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.RandomJitter(32, 0, false),
		gzhttp.ContentTypeFilter(func(t string) bool {
			t, _, _ = strings.Cut(t, ";")
			return t == "application/json" || t == "text/csv"
		}))
	if err != nil {
		return nil, fmt.Errorf("make compression: %w", err)
	}
	return wrap(h), nil
}
