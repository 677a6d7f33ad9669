package edge

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// requestID is the client's X-Request-Id if it is 8 to 128 visible ASCII
// characters, and a new one otherwise.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	invisible := func(c rune) bool { return c < '!' || c > '~' }
	if len(given) < 8 || len(given) > 128 || strings.ContainsFunc(given, invisible) {
		return rand.Text()
	}
	return given
}
