package lint

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/text"
)

// Title returns what a page calls itself, as a title of an artifact: the title element of HTML, and the title in the
// front matter of markdown or its first heading. It reads the first limits.LintedFile bytes, and returns "" if it finds
// nothing there.
func Title(path string, body []byte) string {
	body = body[:min(len(body), limits.LintedFile)]
	found := ""
	switch {
	case media.IsHTML(path):
		found = titleElement(body)
	case media.IsMarkdown(path):
		found = firstHeading(body)
	}
	return strings.TrimSpace(text.Cut(text.OneLine(strings.ToValidUTF8(found, "")), limits.TitleRunes))
}

// titleElement returns the text of the title of the page, which is not that of a drawing in it.
func titleElement(body []byte) string {
	drawing := 0
	for z := html.NewTokenizer(bytes.NewReader(body)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return ""
		}
		name, _ := z.TagName()
		switch tag := string(name); {
		case tag == "svg" && kind == html.StartTagToken:
			drawing++
		case tag == "svg" && kind == html.EndTagToken:
			drawing--
		case tag == "title" && kind == html.StartTagToken && drawing == 0:
			if z.Next() == html.TextToken {
				return string(z.Text())
			}
		}
	}
}

var (
	titleField = regexp.MustCompile(`^title:[ \t]+(?:"([^"\\]+)"|'([^']+)'|([^"'>|&*!\[{#%@\x60][^#]*))[ \t]*(?:#.*)?$`)
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	underline  = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*$`)
	image      = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	anchor     = regexp.MustCompile(`\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])`)
	tag        = regexp.MustCompile(`<[^<>]+>`)
	emphasis   = strings.NewReplacer("**", "", "__", "", "*", "", "`", "")
)

// firstHeading returns the title of a markdown file.
func firstHeading(body []byte) string {
	head, body, _ := text.CutFrontMatter(body)
	for line := range strings.Lines(string(head)) {
		if m := titleField.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			return m[1] + m[2] + m[3]
		}
	}
	var open fence
	last := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\r\n")
		if open.holds(line) {
			last = ""
			continue
		}
		found := ""
		if m := heading.FindStringSubmatch(line); m != nil {
			found = m[1]
		} else if underline.MatchString(line) {
			found = last
		}
		if found = plain(found); found != "" {
			return found
		}
		last = line
	}
	return ""
}

// plain returns a heading without its markup.
func plain(heading string) string {
	heading = anchor.ReplaceAllString(image.ReplaceAllString(heading, ""), "$1")
	return strings.TrimSpace(html.UnescapeString(emphasis.Replace(tag.ReplaceAllString(heading, ""))))
}
