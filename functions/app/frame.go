package app

import (
	"strings"

	"vitrine/shared/platform/media"
)

// shownInFrames tells whether a frame shows a file: by its page, or because browsers show its bytes.
func shownInFrames(entrypoint string) bool {
	return media.ViewOf(entrypoint) != media.NoView || shownByBrowsers(entrypoint)
}

// shownByBrowsers tells whether a browser shows a file inside a frame instead of saving it.
func shownByBrowsers(entrypoint string) bool {
	kind, _, _ := strings.Cut(media.Of(entrypoint).ContentType, ";")
	switch family, _, _ := strings.Cut(kind, "/"); family {
	case "text", "image", "audio", "video":
		return kind != "text/csv"
	}
	return kind == "application/json" || kind == "application/javascript" || kind == "application/xml"
}
