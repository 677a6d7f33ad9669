package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/policy"
)

// policyImage is for an image that is opened by itself.
const policyImage = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// brandFile is a file of the brand that pages load.
type brandFile struct{ name, media, body string }

// brandFileOf names a file by its digest, so that browsers keep it for ever.
func brandFileOf(extension, media, body string) brandFile {
	sum := sha256.Sum256([]byte(body))
	return brandFile{hex.EncodeToString(sum[:8]) + extension, media, body}
}

func (f brandFile) path() string { return "/brand/" + f.name }

// siteOf returns what pages show of a brand, and its files by extension.
func siteOf(b policy.Brand) (pages.Site, map[string]brandFile) {
	site := pages.Site{
		Name:    b.Title(),
		Contact: pages.Link{Path: b.Contact, Text: b.ContactText()},
		Terms:   b.Terms,
		Privacy: b.Privacy,
	}
	files := map[string]brandFile{}
	if b.Accent != "" {
		rule := fmt.Sprintf(":root { --accent: %s; --on-accent: %s }\n", b.Accent, b.OnAccent())
		files[".css"] = brandFileOf(".css", "text/css; charset=utf-8", rule)
		site.Style = files[".css"].path()
	}
	if len(b.Logo.Data) > 0 {
		extension := map[string]string{"image/svg+xml": ".svg", "image/png": ".png"}[b.Logo.Type]
		files[extension] = brandFileOf(extension, b.Logo.Type, string(b.Logo.Data))
		site.Logo = files[extension].path()
	}
	return site, files
}

// brandFile serves a file of the brand. A path of another digest occurs while a deployment rolls out; it gets our file,
// and must not keep it.
func (h *Host) brandFile(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	f, ok := h.files[path.Ext(name)]
	if !ok {
		return fault.NewCode(fault.NotFound)
	}
	cache := "public, max-age=31536000, immutable"
	if name != f.name {
		cache = "no-store"
	}
	w.Header().Set(policyHeader, policyImage)
	return fixed(f.media, cache, f.body)(w, r)
}
