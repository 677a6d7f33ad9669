package content

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/content"
)

// fileResponse is the response for a file.
type fileResponse struct {
	content.File
	kind      media.Type
	html, svg bool
	text      bool   // becomes smaller when it is packed
	framed    bool   // loaded into a viewer frame
	worker    bool   // loaded as a worker, whose policy is that of its own file
	policy    string // content security policy
	script    string // element that is added to the file's bytes
	etag      string
}

// zipType is the media type of bundles.
const zipType = "application/zip"

func (h *Host) fileResponse(f content.File, r *http.Request) fileResponse {
	if f.Bundle {
		e := fileResponse{File: f, kind: media.Type{ContentType: zipType, Attachment: true}}
		e.policy = h.policies.choose(e)
		e.etag = `"` + f.SHA256.String() + `"`
		return e
	}
	e := fileResponse{
		File: f,
		kind: media.Of(f.Path),
		html: media.IsHTML(f.Path),
		svg:  media.IsSVG(f.Path),
	}
	e.text = media.Packs(e.kind.ContentType) || media.IsText(f.Path)
	e.framed = web.ViewerFrame(r) && !e.kind.Attachment
	dest := r.Header.Get("Sec-Fetch-Dest")
	e.worker = h.policies.worker != "" && e.Scripts && (dest == "worker" || dest == "sharedworker")
	if e.framed && e.html {
		e.script = frameElement
	}
	e.policy = h.policies.choose(e)
	e.etag = e.tag()
	return e
}

// tag returns the ETag of the body. It depends on revision, path, policy and script.
func (f fileResponse) tag() string {
	return web.ETag(string(f.Revision), f.Path, f.policy, f.script)
}

func (f fileResponse) length() int64 { return f.Size + int64(len(f.script)) }

// describe sets the headers that 200, 206, 304 and 416 share.
func (f fileResponse) describe(h http.Header) {
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", cacheControl(f.MaxAge))
	h.Set("Content-Type", f.kind.ContentType)
	h.Set("Content-Security-Policy", f.policy)
	if f.framed {
		h.Del("X-Frame-Options") // it cannot name an origin; frame-ancestors names the app's
	}
	if f.kind.Attachment {
		h.Set("Content-Disposition", disposition(f.Path))
	}
	if f.Bundle { // the digest is that of the whole archive, even if only a part follows (RFC 9530)
		h.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(f.SHA256[:])+":")
	}
	if f.NoIndex {
		h.Set("X-Robots-Tag", "noindex, nofollow")
	}
	// A body with a script has no ranges, because its length differs from the file's.
	if f.script == "" {
		h.Set("Accept-Ranges", "bytes")
	} else {
		h.Set("Accept-Ranges", "none")
	}
}

// cacheControl lets only the reader's own browser cache a file. Without a maxAge, the browser must revalidate each
// time.
func cacheControl(maxAge time.Duration) string {
	if maxAge < time.Second {
		return "private, no-cache"
	}
	return "private, max-age=" + strconv.Itoa(int(maxAge/time.Second))
}

// matches reports whether the body is one that the client's If-Match accepts (RFC 9110, section 13.1.1).
func (f fileResponse) matches(r *http.Request) bool {
	header := r.Header.Values("If-Match")
	for _, tag := range strings.Split(strings.Join(header, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == f.etag || tag == "*" {
			return true
		}
	}
	return len(header) == 0
}

// requested returns the part of the body that the client wants. Ranges apply to GET only, to bodies without a script
// only, and only if If-Range, where sent, has the current ETag.
func (f fileResponse) requested(r *http.Request) part {
	whole := part{size: f.Size}
	header := r.Header.Values("Range")
	if r.Method != http.MethodGet || f.script != "" || len(header) != 1 {
		return whole
	}
	if condition := r.Header.Values("If-Range"); len(condition) > 0 && (len(condition) > 1 || condition[0] != f.etag) {
		return whole
	}
	return partOf(header[0], f.Size)
}

// disposition returns a Content-Disposition that makes a browser save the file under its own name.
func disposition(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	value := `attachment; filename="` + strings.Map(plain, name) + `"`
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' }) {
		value += "; filename*=UTF-8''" + extended(name)
	}
	return value
}

// plain replaces characters that clients interpret differently in a quoted string.
func plain(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '_'
	}
	return r
}
