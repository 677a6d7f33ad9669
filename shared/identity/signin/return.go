package signin

import (
	"net/url"
	"strings"

	"vitrine/shared/platform/address"
)

const (
	home          = "/"
	maxReturnPath = 1024
)

// ReturnPath returns where a person goes after signing in: s if it is a page of the app host, or else "/". The result
// stays on the host, however often a browser or a proxy decodes and cleans it. It contains no control character.
func ReturnPath(s string) string {
	path, query, _ := strings.Cut(s, "?")
	if len(s) > maxReturnPath || !address.Plain(s) || !validEscapes(path, `/\%`) || !validEscapes(query, "") ||
		!isPagePath(path) {
		return home
	}
	return s
}

// validEscapes reports whether every escape in s is well-formed and decodes neither to a control character nor to a
// forbidden one.
func validEscapes(s, forbidden string) bool {
	for {
		_, after, more := strings.Cut(s, "%")
		if !more {
			return true
		}
		if len(after) < 2 {
			return false
		}
		// 0x20 lowers letters and leaves digits as they are.
		hi, lo := strings.IndexByte(hexDigits, after[0]|0x20), strings.IndexByte(hexDigits, after[1]|0x20)
		if hi < 0 || lo < 0 {
			return false
		}
		if c := byte(hi<<4 | lo); c < ' ' || c == 0x7f || strings.IndexByte(forbidden, c) >= 0 {
			return false
		}
		s = after[2:]
	}
}

const hexDigits = "0123456789abcdef"

// isPagePath reports whether a path is rooted, has no dot or empty segments, and is not a route of the API in any
// spelling. Returning to a route could sign in or out again.
func isPagePath(path string) bool {
	below, rooted := strings.CutPrefix(path, "/")
	steps := strings.Split(below, "/")
	if first, err := url.PathUnescape(steps[0]); !rooted || err != nil || first == "api" {
		return false
	}
	for n, step := range steps {
		last := n == len(steps)-1
		switch strings.ReplaceAll(strings.ToLower(step), "%2e", ".") {
		case ".", "..":
			return false
		case "":
			if !last {
				return false
			}
		}
	}
	return true
}
