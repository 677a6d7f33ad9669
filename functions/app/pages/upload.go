package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Upload is the part of a page that publishes files from a browser.
type Upload struct {
	Artifact, Title string // of a new revision; empty: a new artifact
	Limits          Limits
	Rules           map[string]any // by which the scripts judge files
	OwnOrigins      bool           // artifacts have origins of their own
	Left            *int           // new artifacts that may be published today; nil: not known, or of no matter
}

// Data returns what the script of the part needs, as JSON.
func (u Upload) Data() (string, error) {
	text, err := json.Marshal(map[string]any{
		"artifact": u.Artifact,
		"title":    u.Title,
		"limits": map[string]any{
			"files":          u.Limits.Files,
			"file_bytes":     u.Limits.FileSize,
			"artifact_bytes": u.Limits.ArtifactSize,
			"left":           u.Left,
		},
		"rules": u.Rules,
	})
	return ascii(string(text)), err
}

// ascii escapes what is not ASCII in JSON, because a title may have characters that disturb the text of a page.
func ascii(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < utf8.RuneSelf {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
