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
	Rules           FileRules
	Left            *int // new artifacts that may be published today; nil: not known, or of no matter
}

// FileRules are what the scripts need to judge files as the command line does.
type FileRules struct {
	Noise       []string    `json:"noise"`
	Folders     []string    `json:"folders"`
	Files       []string    `json:"files"`
	Backups     []string    `json:"backups"`
	Entrypoints []string    `json:"entrypoints"`
	Secrets     SecretRules `json:"secrets"`
}

// SecretRules are the regular expressions of secrets in files, and what bounds them.
type SecretRules struct {
	Token   string `json:"token"`
	Head    string `json:"head"` // of a private key, as those below
	Gap     string `json:"gap"`
	Header  string `json:"header"`
	Body    string `json:"body"`
	Headers int    `json:"headers"`
	Part    int    `json:"part_bytes"`
	Secret  int    `json:"secret_bytes"`
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
