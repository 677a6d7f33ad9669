package app

import (
	"strings"

	"vitrine/shared/platform/media"
)

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
