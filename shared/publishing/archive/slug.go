package archive

import (
	"strings"
	"unicode"
)

// maxSlug is the largest length of a slug in bytes: enough to recognise a title, and little of the 255 of a name.
const maxSlug = 48

// Slug returns a title as a part of a name that is safe everywhere: lower-case letters and digits of any script, with
// single hyphens between them. It returns "untitled" for a title without letters and digits.
func Slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			r = '-'
		}
		if r == '-' && (b.Len() == 0 || strings.HasSuffix(b.String(), "-")) {
			continue
		}
		if b.Len()+len(string(r)) > maxSlug {
			break
		}
		b.WriteRune(r)
	}
	if slug := strings.TrimSuffix(b.String(), "-"); slug != "" {
		return slug
	}
	return "untitled"
}
