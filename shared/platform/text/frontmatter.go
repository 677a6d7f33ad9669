package text

import "bytes"

// maxFrontMatter is how many bytes before a document are looked at.
const maxFrontMatter = 64 << 10

// CutFrontMatter cuts off the text between two lines of --- at the very start of a document.
func CutFrontMatter(source []byte) (head, rest []byte, found bool) {
	first, after, _ := bytes.Cut(source, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, source, false
	}
	for rest = after; len(rest) > 0 && len(after)-len(rest) <= maxFrontMatter; {
		line, next, _ := bytes.Cut(rest, []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return after[:len(after)-len(rest)], next, true
		}
		rest = next
	}
	return nil, source, false
}
