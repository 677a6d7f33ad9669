package app

import (
	"net/url"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/view"
)

// frameAt returns the URL that a viewer frames for a place in the artifact, which is the path of a file or a folder and
// maybe a query and a fragment. Signs that separate these are percent-encoded in the path. It is the one for no place if
// that is not listed, or no frame shows it.
func frameAt(v view.View, place string) string {
	path, fragment, _ := strings.Cut(place, "#")
	path, query, _ := strings.Cut(path, "?")
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	at := (&url.URL{RawQuery: query, Fragment: fragment}).String()
	if path == "" && v.Revision.Listing {
		return v.Frame + at
	}
	for _, f := range v.Tree {
		switch {
		case f.Path == path && shownInFrames(path):
			return v.Location.Of(path).Frame() + at
		case strings.HasPrefix(f.Path, path+"/"):
			return v.Location.Folder(path) + at
		}
	}
	return v.Frame
}

// framed reports whether a frame shows what a view opens.
func framed(v view.View) bool { return v.Revision.Listing || shownInFrames(v.Revision.Entrypoint) }

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
