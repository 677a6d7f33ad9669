package prose

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// page collects the text of pieces of HTML, token by token.
type page struct {
	out     strings.Builder
	gap     byte // that the next text begins with; 0: none
	scripts bool // one runs
	whole   bool // the file is HTML, and not a document with pieces of HTML
	tokens  int  // read so far
	open
}

// open are the open elements of a piece that matter.
type open struct {
	hidden  string // the one whose contents readers do not see; empty: none
	depth   int    // elements of its name
	spaced  int    // elements in which all space is kept
	drawing int    // svg elements
}

// hides are the elements whose contents readers do not see. Those of an annotation are the source of a formula.
var hides = map[string]bool{
	"annotation": true, "iframe": true, "noembed": true, "noframes": true, "noscript": true, "script": true, "style": true,
	"template": true,
}

// dropped are further elements that pages of Markdown and notebooks do not have.
var dropped = map[string]bool{"plaintext": true, "textarea": true, "title": true, "xmp": true}

// described are those that tell programs what a drawing is.
var described = map[string]bool{"desc": true, "metadata": true, "title": true}

// blocks are the elements that begin and end a line.
var blocks = setOf(`address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
	figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup option p
	pre search section select summary table tbody td textarea tfoot th thead title tr ul video`)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}

// read adds the text of a piece. Elements that it leaves open end with it.
func (p *page) read(markup []byte) {
	p.open = open{}
	for z := html.NewTokenizer(bytes.NewReader(markup)); ; p.tokens++ {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			p.gap = '\n'
			return
		case html.TextToken:
			p.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start(z, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(string(name))
		}
	}
}

// start begins an element. The attribute hidden does not count, because scripts and styles show such elements.
func (p *page) start(z *html.Tokenizer, closed bool) {
	raw, more := z.TagName()
	name := string(raw)
	switch {
	case name == p.hidden:
		p.depth++
	case p.hidden != "":
		return
	case hides[name], !p.whole && dropped[name], p.drawing > 0 && described[name]:
		p.hidden, p.depth = name, 1
	case name == "pre", name == "textarea":
		p.spaced++
	case name == "svg" && !closed:
		p.drawing++
	}
	p.scripts = p.scripts || runs(name, z, more)
	if p.hidden == "" && blocks[name] {
		p.gap = '\n'
	}
}

// runs reports whether an element is a script other than data, or has an event handler.
func runs(name string, z *html.Tokenizer, more bool) bool {
	kind, typed := "", false
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if len(key) > 2 && bytes.HasPrefix(key, []byte("on")) {
			return true
		}
		if string(key) == "type" && !typed {
			kind, typed = strings.ToLower(strings.TrimSpace(string(value))), true
		}
	}
	return name == "script" && (kind == "" || kind == "module" || strings.Contains(kind, "script"))
}

func (p *page) end(name string) {
	switch {
	case name == p.hidden:
		if p.depth--; p.depth == 0 {
			p.hidden = ""
		}
		return
	case p.hidden != "":
		return
	case name == "pre", name == "textarea":
		p.spaced = max(0, p.spaced-1)
	case name == "svg":
		p.drawing = max(0, p.drawing-1)
	}
	if blocks[name] {
		p.gap = '\n'
	}
}

// text adds the text between two tags.
func (p *page) text(s []byte) {
	if p.hidden != "" {
		return
	}
	if p.spaced > 0 {
		p.put(s)
		return
	}
	for len(s) > 0 {
		end := bytes.IndexAny(s, " \t\n\f\r")
		if end < 0 {
			end = len(s)
		}
		p.put(s[:end])
		if s = s[end:]; len(s) > 0 {
			s = s[1:]
			if p.gap == 0 {
				p.gap = ' '
			}
		}
	}
}

// verbatim adds a text that is a block.
func (p *page) verbatim(s []byte) {
	p.gap = '\n'
	p.put(s)
	p.gap = '\n'
}

// put writes a text as it is, after the gap before it. No gap is before the first text, and none after a line end.
func (p *page) put(s []byte) {
	if len(s) == 0 {
		return
	}
	if written := p.out.String(); p.gap != 0 && written != "" && written[len(written)-1] != '\n' {
		p.out.WriteByte(p.gap)
	}
	p.gap = 0
	p.out.Write(s)
}
