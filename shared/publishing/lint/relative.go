package lint

import (
	"bytes"
	"html"
	"strings"

	tokens "golang.org/x/net/html"

	"vitrine/shared/platform/media"
)

// Relative returns an HTML or CSS file in which addresses with a leading slash are relative to the file, if they name
// something in the revision, and the paths of these addresses as they were. In HTML it changes the values of attributes
// that hold addresses or style, and style elements. All other bytes stay as they are, and so do scripts and other files.
func (l *Linter) Relative(path string, body []byte) (rewritten []byte, changed []string) {
	r := &rewriter{Linter: l, path: path}
	switch {
	case media.IsHTML(path):
		r.page(body)
	case media.IsStyle(path):
		r.replace(body, 0, len(body), r.style(string(body)))
	}
	if len(r.changed) == 0 {
		return body, nil
	}
	return append(r.out, body[r.copied:]...), r.changed
}

// rewriter rewrites one file.
type rewriter struct {
	*Linter
	path    string
	out     []byte
	copied  int // length of the part of the file that out stands for
	changed []string
}

// replace writes a text instead of a part of the file.
func (r *rewriter) replace(body []byte, start, end int, by string) {
	r.out = append(append(r.out, body[r.copied:start]...), by...)
	r.copied = end
}

// page rewrites HTML. The base element stays, because the policy blocks it.
func (r *rewriter) page(body []byte) {
	z := tokens.NewTokenizer(bytes.NewReader(body))
	name := ""
	for start := 0; ; {
		kind := z.Next()
		if kind == tokens.ErrorToken {
			return
		}
		end := start + len(z.Raw())
		switch kind {
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			tag, _ := z.TagName()
			if name = string(tag); name != "base" {
				r.tag(body, start, end)
			}
		case tokens.EndTagToken:
			name = ""
		case tokens.TextToken:
			if name == "style" {
				r.replace(body, start, end, r.style(string(body[start:end])))
			}
		}
		start = end
	}
}

// tag rewrites the attributes of a start tag.
func (r *rewriter) tag(body []byte, start, end int) {
	values(string(body[start:end]), func(name, value string, at int) {
		by := value
		switch name {
		case "src", "href", "xlink:href", "poster":
			by = r.address(value)
		case "srcset", "imagesrcset":
			by = r.parts(value, candidates)
		case "style":
			plain := html.UnescapeString(value)
			if styled := r.style(plain); styled != plain {
				by = html.EscapeString(styled)
			}
		}
		if by != value {
			r.replace(body, start+at, start+at+len(value), by)
		}
	})
}

// style returns a style sheet with other addresses.
func (r *rewriter) style(text string) string {
	return r.parts(text, func(text string, visit func(start, end int)) {
		sheet(text, func(start, end int, _ *resource) { visit(start, end) })
	})
}

// parts returns a text in which the addresses that places visits are rewritten.
func (r *rewriter) parts(text string, places func(text string, visit func(start, end int))) string {
	var out strings.Builder
	copied := 0
	places(text, func(start, end int) {
		out.WriteString(text[copied:start] + r.address(text[start:end]))
		copied = end
	})
	return out.String() + text[copied:]
}

// address returns what to write instead of an address, which is the address itself if it stays.
func (r *rewriter) address(as string) string {
	end := len(as)
	if cut := strings.IndexAny(strings.ReplaceAll(as, "&#", "&&"), "?#"); cut >= 0 { // &# begins a character of HTML
		end = cut
	}
	instead := r.fromRoot(r.path, html.UnescapeString(clean(as[:end])))
	if instead == "" {
		return as
	}
	r.changed = append(r.changed, clean(as[:end]))
	return instead + as[end:]
}

// values visits the attributes of a start tag as they are written, with the places of their values in it. The tokenizer
// tells values only as they are meant.
func values(tag string, visit func(name, value string, at int)) {
	const space = " \t\r\n\f"
	at := 0
	until := func(marks string) string {
		end := len(tag)
		if n := strings.IndexAny(tag[at:], marks); n >= 0 {
			end = at + n
		}
		found := tag[at:end]
		at = end
		return found
	}
	skip := func(marks string) { at = len(tag) - len(strings.TrimLeft(tag[at:], marks)) }
	until(space + "/>")
	for {
		skip(space + "/")
		if at >= len(tag) || tag[at] == '>' {
			return
		}
		first := tag[at : at+1] // a name may begin with the sign that ends it elsewhere
		at++
		name := strings.ToLower(first + until(space+"/>="))
		if skip(space); !strings.HasPrefix(tag[at:], "=") {
			continue
		}
		at++
		skip(space)
		marks := space + ">"
		if strings.HasPrefix(tag[at:], `"`) || strings.HasPrefix(tag[at:], "'") {
			marks = tag[at : at+1]
			at++
		}
		start := at
		visit(name, until(marks), start)
		if marks == `"` || marks == "'" {
			at = min(at+1, len(tag))
		}
	}
}
