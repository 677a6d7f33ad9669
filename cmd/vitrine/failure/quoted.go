package failure

import (
	"regexp"
	"strings"
)

// plain is a path that needs no quotes in a shell. A leading dash would be parsed as a flag.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./+,@%][A-Za-z0-9_./+,@%-]*$`)

// Quoted quotes a path for a shell command in a hint.
func Quoted(path string) string {
	if plain.MatchString(path) {
		return path
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
