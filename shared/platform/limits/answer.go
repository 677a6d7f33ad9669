package limits

import (
	"encoding/base64"
	"unicode/utf8"
)

// FunctionBody returns how many bytes a body takes in the JSON answer of a function, without the quotes around it. The
// body is a JSON string, or base64 where that is shorter or the body is not UTF-8.
func FunctionBody(body []byte) (size int, inBase64 bool) {
	coded := base64.StdEncoding.EncodedLen(len(body))
	for i := 0; i < len(body); {
		r, n := rune(body[i]), 1
		if r >= utf8.RuneSelf {
			if r, n = utf8.DecodeRune(body[i:]); r == utf8.RuneError && n == 1 {
				return coded, true
			}
		}
		size += escapedLen(r, n)
		i += n
	}
	if coded < size {
		return coded, true
	}
	return size, false
}

// escapedLen returns how many bytes encoding/json writes for a character of n bytes, without HTML escaping.
func escapedLen(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\b', r == '\f', r == '\n', r == '\r', r == '\t':
		return len(`\n`)
	case r < ' ', r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	}
	return n
}
