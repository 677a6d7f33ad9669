package pages

import "strings"

// kinds name files by media type, by the first half of one, and by "" for all others. The script of the viewer gets
// them too.
var kinds = map[string]string{
	"text/html":                "Page",
	"text/markdown":            "Markdown",
	"text/css":                 "Style",
	"text/csv":                 "Table",
	"text":                     "Text",
	"application/javascript":   "Script",
	"application/json":         "Data",
	"application/wasm":         "Program",
	"application/pdf":          "PDF",
	"application/octet-stream": "File",
	"image":                    "Image",
	"audio":                    "Audio",
	"video":                    "Video",
	"font":                     "Font",
	"":                         "File",
}

// Kind returns what people call a file of a media type. kindOf in panel.js does the same.
func Kind(contentType string) string {
	whole, _, _ := strings.Cut(contentType, ";")
	whole = strings.ToLower(strings.TrimSpace(whole))
	family, _, _ := strings.Cut(whole, "/")
	for _, name := range []string{whole, family} {
		if word, ok := kinds[name]; ok {
			return word
		}
	}
	return kinds[""]
}
