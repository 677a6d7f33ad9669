// Package media derives from the extension of a path how a file is served and shown.
//
// The content type that a client declares is ignored. Source: the table of the wire contract, section C.13, with the
// documented additions.
package media

import (
	"path"
	"slices"
	"strings"
)

// Mode is how a viewer shows a revision.
type Mode string

// The render modes of the contract.
const (
	HTML     Mode = "html"
	Markdown Mode = "markdown"
	Text     Mode = "text"
	Image    Mode = "image"
	Audio    Mode = "audio"
	Video    Mode = "video"
)

// Type is how a file is served.
type Type struct {
	ContentType string
	// Attachment makes browsers download the file instead of showing it.
	Attachment bool
}

const utf8 = "; charset=utf-8"

var unknown = Type{"application/octet-stream", true}

var types = map[string]Type{
	"html": {"text/html" + utf8, false}, "htm": {"text/html" + utf8, false},
	"css": {"text/css" + utf8, false}, "csv": {"text/csv" + utf8, false},
	"js": {"application/javascript" + utf8, false}, "mjs": {"application/javascript" + utf8, false},
	"json": {"application/json" + utf8, false}, "map": {"application/json" + utf8, false},
	"txt": {"text/plain" + utf8, false}, "log": {"text/plain" + utf8, false}, "xml": {"text/plain" + utf8, false},
	"md": {"text/markdown" + utf8, false}, "markdown": {"text/markdown" + utf8, false},
	"png": {"image/png", false}, "jpg": {"image/jpeg", false}, "jpeg": {"image/jpeg", false},
	"gif": {"image/gif", false}, "webp": {"image/webp", false}, "avif": {"image/avif", false},
	"svg": {"image/svg+xml", false}, "ico": {"image/x-icon", false},
	"mp3": {"audio/mpeg", false}, "wav": {"audio/wav", false}, "m4a": {"audio/mp4", false}, "ogg": {"audio/ogg", false},
	"mp4": {"video/mp4", false}, "webm": {"video/webm", false}, "mov": {"video/quicktime", false},
	"woff": {"font/woff", false}, "woff2": {"font/woff2", false}, "ttf": {"font/ttf", false}, "otf": {"font/otf", false},
	"wasm": {"application/wasm", false},
	"pdf":  {"application/pdf", true},
}

// Sources are the hosts beside an artifact's own files from which its pages may load. A host may have a port. A star
// stands for one label or more.
type Sources struct{ Scripts, Styles, Fonts, Images, Connect []string }

var (
	packageHosts   = []string{"cdn.jsdelivr.net", "unpkg.com", "cdnjs.cloudflare.com"}
	bootstrapHosts = []string{"stackpath.bootstrapcdn.com", "maxcdn.bootstrapcdn.com", "netdna.bootstrapcdn.com"}
)

// Running returns the hosts for pages in viewer frames where their scripts run, if a deployment names none. Each of them
// serves public files, and tells no publisher who asked.
func Running() Sources {
	scripts := append([]string{
		"cdn.jsdelivr.net", "unpkg.com", "cdnjs.cloudflare.com", "esm.sh", "cdn.tailwindcss.com", "code.jquery.com",
		"cdn.plot.ly", "d3js.org", "cdn.bokeh.org", "cdn.datatables.net", "code.highcharts.com", "ajax.googleapis.com",
	}, bootstrapHosts...)
	return Sources{
		Scripts: scripts,
		Styles:  append(slices.Clip(scripts), "fonts.googleapis.com", "use.fontawesome.com"),
		Fonts:   slices.Concat([]string{"fonts.gstatic.com", "use.fontawesome.com"}, packageHosts, bootstrapHosts),
		Images: append(slices.Clone(packageHosts), "tile.openstreetmap.org", "*.tile.openstreetmap.org",
			"*.basemaps.cartocdn.com"),
		Connect: append(slices.Clone(packageHosts), "esm.sh"),
	}
}

// Static returns the hosts for other pages, if a deployment names none. Section C.13 of the wire contract names them.
func Static() Sources {
	return Sources{Styles: append(slices.Clone(packageHosts), "fonts.googleapis.com"), Fonts: []string{"fonts.gstatic.com"}}
}

// Of returns how the file at a path is served.
func Of(file string) Type {
	if t, ok := types[extension(file)]; ok {
		return t
	}
	return unknown
}

// NotFoundPage is the file that web servers answer with for paths without a file.
const NotFoundPage = "404.html"

// IsHTML reports whether a path is served as HTML.
func IsHTML(file string) bool { return extension(file) == "html" || extension(file) == "htm" }

// IsMarkdown reports whether a path is served as markdown.
func IsMarkdown(file string) bool { return extension(file) == "md" || extension(file) == "markdown" }

// IsStyle reports whether a path is served as a style sheet.
func IsStyle(file string) bool { return extension(file) == "css" }

// IsScript reports whether a path is served as a script.
func IsScript(file string) bool { return extension(file) == "js" || extension(file) == "mjs" }

// IsSVG reports whether a path is served as SVG.
func IsSVG(file string) bool { return extension(file) == "svg" }

var modes = map[string]Mode{
	"html": HTML, "htm": HTML, "md": Markdown, "markdown": Markdown, "txt": Text, "text": Text,
	"png": Image, "jpg": Image, "jpeg": Image, "gif": Image, "webp": Image, "svg": Image,
	"mp3": Audio, "wav": Audio, "m4a": Audio, "ogg": Audio, "mp4": Video, "webm": Video, "mov": Video,
}

// ModeOf infers the render mode from the entrypoint. It returns HTML for an unknown extension.
func ModeOf(entrypoint string) Mode {
	if m, ok := modes[extension(entrypoint)]; ok {
		return m
	}
	return HTML
}

func extension(file string) string {
	return strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))
}

// Packs reports whether bodies of a content type become smaller when they are packed. Streams of events do not count,
// because each event has to leave at once.
func Packs(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "application/json", "application/javascript", "application/wasm", "application/xml", "font/otf", "font/ttf":
		return true
	case "text/event-stream":
		return false
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}
