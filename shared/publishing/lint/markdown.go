package lint

import (
	"regexp"
	"strings"
)

// document reads a markdown file, line by line.
type document struct {
	*findings
	*Linter
	fence   fence // of the open block of code
	comment bool  // an HTML comment is open
	blank   bool  // an indented line is code, because the last line was empty or code
}

var (
	fenced     = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	inlineCode = later("``[^`]{1,500}``|`[^`]{1,500}`")
	inlineLink = later(`\]\(\s{0,9}(?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))` +
		`(?:\s{1,9}(?:"[^"]{0,200}"|'[^']{0,200}'))?\s{0,9}\)`)
	definition = later(`^ {0,3}\[[^\]^][^\]]{0,200}\]:\s{0,9}<?([^\s<>]{1,500})>?\s*(?:["'(].*)?$`)
	inlineHTML = later(`(?i)<(?:img|a)\s[^<>]{0,300}?\b(?:src|href)\s{0,9}=\s{0,9}["']([^"'<>]{1,500})["']`)
	comments   = regexp.MustCompile(`<!--.*?-->`)
)

// fence is the fence that ends the open block of code; empty: none is open.
type fence string

// holds reports whether a line belongs to a block of code with fences, which it may begin or end.
func (f *fence) holds(line string) bool {
	mark, open := fenced.FindStringSubmatch(line), string(*f)
	switch {
	case open == "" && mark == nil:
		return false
	case open == "":
		*f = fence(mark[1])
	case mark != nil && strings.HasPrefix(mark[1], open) && strings.Trim(line, " \t"+open[:1]) == "":
		*f = ""
	}
	return true
}

// maxLine is how many bytes of a line are checked.
const maxLine = 16 << 10

// read goes through the file once.
func (d *document) read(body []byte) {
	d.blank = true
	number := 0
	for line := range strings.Lines(string(body)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		d.line(number, line[:min(len(line), maxLine)])
	}
}

func (d *document) line(number int, line string) {
	if !d.comment && d.fence.holds(line) {
		return
	}
	blank := strings.TrimSpace(line) == ""
	code := d.blank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"))
	d.blank = blank || code
	if !blank && !code {
		d.links(number, d.uncommented(line))
	}
}

// uncommented returns a line without comments and inline code.
func (d *document) uncommented(line string) string {
	if d.comment {
		_, after, ended := strings.Cut(line, "-->")
		if !ended {
			return ""
		}
		d.comment, line = false, after
	}
	line = comments.ReplaceAllString(inlineCode().ReplaceAllString(line, ""), "")
	if before, _, opened := strings.Cut(line, "<!--"); opened {
		d.comment, line = true, before
	}
	return line
}

// links checks the links and images of a line.
func (d *document) links(number int, line string) {
	for _, m := range inlineLink().FindAllStringSubmatch(line, -1) {
		d.link(number, m[1]+m[2])
	}
	for _, m := range inlineHTML().FindAllStringSubmatch(line, -1) {
		d.link(number, m[1])
	}
	if m := definition().FindStringSubmatch(line); m != nil {
		d.link(number, m[1])
	}
}

// link checks an address. It skips one with backslashes, which escape characters.
func (d *document) link(number int, address string) {
	if strings.ContainsRune(address, '\\') {
		return
	}
	d.refer(d.findings, reference{address: address, line: number, missing: Warn})
}
