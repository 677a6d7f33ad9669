package failure

import (
	"regexp"
	"strings"
)

// plain are paths that a shell takes as they are; a leading dash would be read as a flag.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./+,@%][A-Za-z0-9_./+,@%-]*$`)

// Quoted writes a path for a command in a hint, so that a shell gives it back.
func Quoted(path string) string {
	if plain.MatchString(path) {
		return path
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
