package app

import (
	"net/url"
	"slices"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/view"
)

// frameAt returns the URL that a viewer frames for a place in the artifact, which is a path and maybe a fragment. It is
// that of the entrypoint for a file that is not listed or that no frame shows.
func frameAt(v view.View, place string) string {
	path, fragment, _ := strings.Cut(place, "#")
	i := slices.IndexFunc(v.Files, func(f view.File) bool { return f.Path == path })
	if i < 0 || !shownInFrames(path) {
		return v.Entrypoint.Frame()
	}
	return v.Files[i].URLs.Frame() + (&url.URL{Fragment: fragment}).String()
}

// shownInFrames reports whether a frame shows a file, by the page for its kind or because browsers show its bytes.
func shownInFrames(entrypoint string) bool {
	return media.ViewOf(entrypoint) != media.NoView || shownByBrowsers(entrypoint)
}

// shownByBrowsers reports whether browsers show a file in a frame instead of downloading it.
func shownByBrowsers(entrypoint string) bool {
	kind, _, _ := strings.Cut(media.Of(entrypoint).ContentType, ";")
	switch family, _, _ := strings.Cut(kind, "/"); family {
	case "text", "image", "audio", "video":
		return kind != "text/csv" // which they download
	}
	return kind == "application/json" || kind == "application/javascript" || kind == "application/xml"
}
