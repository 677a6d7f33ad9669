package app

import (
	"net/http"
	"sync"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/pack"
)

// forever lets browsers keep what is at a path for good.
const forever = "public, max-age=31536000, immutable"

// cacheOf says how long an asset may be kept whose path names a build. A path of another build occurs while a deployment
// rolls out; it gets our bytes, and must not keep them.
func cacheOf(r *http.Request, build string) string {
	if r.PathValue("build") != build {
		return "no-store"
	}
	return forever
}

// asset serves files that pages load. The path names the build, so that browsers keep them for ever.
func (h *Host) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if f, ok := h.files[name]; ok {
		return f.serve(w, r)
	}
	a, ok := pages.FindAsset(name)
	if !ok {
		return fault.NewCode(fault.NotFound)
	}
	cache := cacheOf(r, pages.Build())
	c := web.AcceptedCoding(r)
	if c == "" || len(a.Body) < pack.MinSize {
		return fixed(a.Type, cache, string(a.Body))(w, r)
	}
	packed := packedAsset(name, c, a.Body)
	web.Packed(w, r, c, int64(len(packed)), int64(len(a.Body)))
	return fixed(a.Type, cache, packed)(w, r)
}

// assetForm identifies a packed asset.
type assetForm struct {
	name   string
	coding pack.Coding
}

var packedAssets sync.Map // of functions that return an asset, by assetForm

// packedAsset returns an asset in a coding. It is packed when it is first asked for.
func packedAsset(name string, c pack.Coding, body []byte) string {
	once, _ := packedAssets.LoadOrStore(assetForm{name, c}, sync.OnceValue(func() string { return pack.Tightly(c, body) }))
	return once.(func() string)()
}
