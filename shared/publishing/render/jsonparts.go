package render

import (
	"bytes"
	"encoding/json"
	"iter"
)

// jsonParts iterates over the values of a list or the members of an object, without copying them. b has to be valid
// JSON. Other values have no parts.
func jsonParts(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		b = bytes.TrimSpace(b)
		if len(b) == 0 || b[0] != '[' && b[0] != '{' {
			return
		}
		object := b[0] == '{'
		for at := 1; at < len(b)-1; at++ { // past the comma
			name := ""
			if object {
				key := b[at : at+valueEnd(b[at:])]
				_ = json.Unmarshal(key, &name)
				at += len(key) + 1 // past the colon
			}
			end := at + valueEnd(b[at:])
			if value := bytes.TrimSpace(b[at:end]); len(value) == 0 || !yield(name, value) {
				return
			}
			at = end
		}
	}
}

// valueEnd returns where a value ends: at the comma, colon or bracket after it.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}
