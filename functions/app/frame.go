package app

import (
	"net/url"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/view"
)

// frameAt returns the URL that a viewer frames for a place in the artifact, which is the path of a file, a page or a folder
// and maybe a query and a fragment. Signs that separate these are percent-encoded in the path. It is the one for no place if
// that is not listed, or no frame shows it.
func frameAt(v view.View, place string) string {
	path, fragment, _ := strings.Cut(place, "#")
	path, query, _ := strings.Cut(path, "?")
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	at := (&url.URL{RawQuery: query, Fragment: fragment}).String()
	if path == "" {
		if v.Revision.Listing {
			return v.Frame + at
		}
		return v.Frame
	}
	_, file := v.Tree.Find(path)
	page := v.Tree.Page(path)
	switch {
	case file && !shownInFrames(path):
		return v.Frame
	case file:
		return v.Location.Of(path).Frame() + at
	case v.Location.IsOwn() && (page != "" || routed(v, path)): // where pages see the path as it was asked for
		return v.Location.Of(path).Bytes + at
	case v.Tree.HasFolder(path):
		return v.Location.Folder(path) + at
	case page != "":
		return v.Location.Of(page).Frame() + at
	}
	return v.Frame
}

// ownFrameAt is frameAt for the own origin of the artifact. It is empty where the shared origin has what is on show: an older
// revision, a file that is no page, or a page whose scripts do not run.
func ownFrameAt(v view.View, place string) string {
	at, own := v.Location.Own()
	if !own || !v.Scripts || v.Revision.ID != v.Artifact.Current || frameAt(v, place) == v.Frame && !framed(v) {
		return ""
	}
	v.Location, v.Frame = at, v.Revision.Frame(at)
	return frameAt(v, place)
}

// routed reports whether the entrypoint of an app answers for a path.
func routed(v view.View, path string) bool {
	return v.Revision.App.Is() && tree.CheckStoredPath(strings.TrimSuffix(path, "/")) == nil
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
