package address

import "strings"

// Plain reports whether s is printable ASCII without the characters that URLs cannot contain. It refuses "#" as well,
// because fragments never reach a server.
func Plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte("\\#\"<>^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}
