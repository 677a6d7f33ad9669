package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// policyImage is for an image that is opened by itself.
const policyImage = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// brandFile is a file of the brand that pages load. Its path has its digest, so that browsers keep it for ever.
type brandFile struct{ digest, media, body string }

func (f brandFile) serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set(policyHeader, policyImage)
	return fixed(f.media, cacheOf(r, f.digest), f.body)(w, r)
}

// recoverable tells who can still reach what was deleted, and for how long.
var recoverable = "Only the operator of this service can still reach what was deleted: for up to " +
	pages.Span(limits.RecoverableLife) + ", and longer where they keep copies."

// siteOf returns what pages show of a brand, and its files by name.
func siteOf(b policy.Brand) (pages.Site, map[string]brandFile) {
	files := map[string]brandFile{}
	add := func(name, media, body string) (path string) {
		sum := sha256.Sum256([]byte(body))
		f := brandFile{hex.EncodeToString(sum[:8]), media, body}
		files[name] = f
		return "/assets/" + f.digest + "/" + name
	}
	site := pages.Site{
		Name:    b.Title(),
		Contact: pages.Link{Path: b.Contact, Text: b.ContactText()},
		Terms:   b.Terms,
		Privacy: b.Privacy,
		Deleted: recoverable,
	}
	if b.Accent != "" {
		rule := fmt.Sprintf(":root { --accent: %s; --on-accent: %s }\n", b.Accent, b.OnAccent())
		site.Style = add("accent.css", "text/css; charset=utf-8", rule)
	}
	if len(b.Logo.Data) > 0 {
		extension := map[string]string{"image/svg+xml": ".svg", "image/png": ".png"}[b.Logo.Type]
		site.Logo = add("logo"+extension, b.Logo.Type, string(b.Logo.Data))
	}
	return site, files
}
