package content

import (
	"strings"
	"unicode"
)

// extended returns a file name as the value of filename* (RFC 8187). It replaces invisible characters by underscores,
// because those that reverse the writing direction can hide an extension.
func extended(name string) string {
	var b strings.Builder
	for _, r := range name {
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' ' {
			r = '_'
		}
		for _, c := range []byte(string(r)) {
			if isAttrChar(c) {
				b.WriteByte(c)
				continue
			}
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isAttrChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("!#$&+-.^_`|~", c) >= 0
}
