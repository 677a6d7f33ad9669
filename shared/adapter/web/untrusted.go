package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/platform/address"
)

// Untrusted returns a copy of the server for the files of strangers, on the content origin. It accepts no credential.
// It refuses the app's name, because content under that name would share the app's cookies. If strict, as in
// production, it answers only requests for the content origin's own name. It panics if an origin is not an absolute
// http URL.
func (s *Server) Untrusted(at address.Origins, strict bool) *Server {
	own, app := mustName(at.Content), mustName(at.App)
	out := *s
	out.untrusted = true
	out.Metadata = "" // the host accepts no credential, so it has no metadata about them
	out.Headers = map[string]string{"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "cross-origin"}
	out.Serves = func(name string) bool { return name == own || !strict && name != app }
	return &out
}

// mustName returns the host name of an origin.
func mustName(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic("web: not an absolute http origin: " + origin)
	}
	return strings.ToLower(u.Hostname())
}

// ViewerFrame reports whether a browser loads the response into a frame. Another client may claim that, which affects
// only its own response. It does not check Sec-Fetch-Site, because frame-ancestors admits only the app.
func ViewerFrame(r *http.Request) bool {
	dest, mode := r.Header.Get("Sec-Fetch-Dest"), r.Header.Get("Sec-Fetch-Mode")
	return (dest == "iframe" || dest == "frame") && (mode == "" || mode == "navigate")
}

// VaryByFrame tells caches that a response depends on ViewerFrame. It also lets a sandboxed frame, whose origin is
// opaque, read the response.
func VaryByFrame(h http.Header, r *http.Request) {
	h.Set("Vary", "Sec-Fetch-Dest, Sec-Fetch-Mode")
	if r.Header.Get("Origin") == "null" {
		h.Set("Vary", "Sec-Fetch-Dest, Sec-Fetch-Mode, Origin")
		h.Set("Access-Control-Allow-Origin", "null")
	}
}

// preflight lets a sandboxed frame read files by requests with headers of its own, such as those that libraries for
// JavaScript add. The answer is the same for each path, so that it tells nothing of files. Others get a 404.
func preflight(w http.ResponseWriter, r *http.Request) {
	asked := r.Header.Get("Access-Control-Request-Method")
	if r.Header.Get("Origin") != "null" || asked != http.MethodGet && asked != http.MethodHead {
		notFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Origin, Access-Control-Request-Method")
	h.Set("Access-Control-Allow-Origin", "null")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// ETag returns a strong ETag of an answer that the parts decide.
func ETag(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// Unchanged returns the ETag of the client's copy if that is a form of the text with this one, packed or not; else an
// empty text. It compares If-None-Match weakly.
func Unchanged(r *http.Request, etag string) string {
	for _, line := range r.Header.Values("If-None-Match") {
		for tag := range strings.SplitSeq(line, ",") {
			switch tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); {
			case tag == "*":
				return etag
			case plainTag(tag) == etag:
				return tag
			}
		}
	}
	return ""
}
