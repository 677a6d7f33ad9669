package address

import "strings"

// Plain tells whether all of s is printable ASCII without what URLs do not hold; "#" is among that, since fragments never
// reach a server.
func Plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte("\\#\"<>^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}
