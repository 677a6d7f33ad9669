package lint

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"vitrine/shared/platform/limits"
)

// page reads an HTML file, token by token, and records what it has seen.
type page struct {
	*findings
	*Linter
	line    int  // of the token, from 1
	program bool // the file is a script

	whole     bool // the file is a document and not a piece of one
	htmlLine  int  // of the html element
	language  bool
	title     bool
	viewport  bool
	inTitle   bool
	inert     int // open elements whose contents are not part of the page
	drawing   int // open svg elements
	unlabeled int // images without alt text
	unlabel1  int // line of the first one

	linked  []string // scripts of the revision
	scripts int      // scripts that it links, and programs in the page
	failing []string // addresses of those that cannot load
	shows   bool     // the body has text or a drawing
	module  bool     // it loads a module
}

// element is a start tag with the attributes that lint uses.
type element struct {
	name       string
	attributes map[string]string
	handler    bool // an attribute has a script
}

// has reports whether the element has an attribute.
func (e element) has(name string) bool {
	_, ok := e.attributes[name]
	return ok
}

// attributes are the attributes that lint uses, besides event handlers.
var attributes = map[string]bool{
	"action": true, "alt": true, "aria-hidden": true, "as": true, "background": true, "content": true, "data": true,
	"formaction": true, "formmethod": true, "href": true, "lang": true, "method": true, "name": true, "onerror": true,
	"onsubmit": true, "poster": true, "rel": true, "role": true, "src": true, "srcset": true, "style": true,
	"type": true, "xlink:href": true, "xml:lang": true,
}

// read goes through the file once.
func (p *page) read(body []byte) {
	z := html.NewTokenizer(bytes.NewReader(body))
	p.line = 1
	var raw element // the script or style whose text comes next
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		lines := bytes.Count(z.Raw(), []byte("\n")) // counted first, because reading attributes changes the bytes
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			raw = elementOf(z)
			p.start(raw, kind == html.SelfClosingTagToken)
		case html.TextToken:
			p.text(raw, z.Raw())
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(string(name))
			raw = element{}
		case html.DoctypeToken:
			p.whole = true
		}
		p.line += lines
	}
	if len(body) < limits.LintedFile { // else more may follow
		p.judge()
	}
}

// elementOf reads a start tag. The first of several equal attributes counts.
func elementOf(z *html.Tokenizer) element {
	name, more := z.TagName()
	e := element{name: string(name)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch {
		case attributes[string(key)]:
			if e.attributes == nil {
				e.attributes = map[string]string{}
			}
			if !e.has(string(key)) {
				e.attributes[string(key)] = string(value)
			}
		case len(key) > 2 && bytes.HasPrefix(key, []byte("on")):
			e.handler = true
		}
	}
	e.handler = e.handler || e.has("onerror") || e.has("onsubmit")
	return e
}

// start checks an element.
func (p *page) start(e element, closed bool) {
	switch e.name {
	case "template", "noscript":
		if !closed {
			p.inert++
		}
	case "svg":
		if !closed {
			p.drawing++
		}
	}
	if p.inert > 0 {
		return
	}
	p.describe(e)
	p.shows = p.shows || visible[e.name]
	p.module = p.module || loadsModule(e)
	p.loads(e)
	p.acts(e)
	if style := e.attributes["style"]; style != "" {
		p.style(style)
	}
}

// describe records what the page says about itself.
func (p *page) describe(e element) {
	switch e.name {
	case "html":
		p.whole, p.htmlLine = true, p.line
		p.language = strings.TrimSpace(e.attributes["lang"]+e.attributes["xml:lang"]) != ""
	case "head", "body":
		p.whole = true
	case "title":
		p.inTitle = p.drawing == 0
	case "meta":
		p.viewport = p.viewport || strings.EqualFold(strings.TrimSpace(e.attributes["name"]), "viewport")
	case "img":
		hidden := e.attributes["aria-hidden"] == "true" || e.attributes["role"] == "presentation" ||
			e.attributes["role"] == "none"
		if e.has("alt") || hidden {
			return
		}
		if p.unlabeled++; p.unlabeled == 1 {
			p.unlabel1 = p.line
		}
	}
}

// acts reports elements that need scripts, and records those that send forms.
func (p *page) acts(e element) {
	link := strings.ToLower(strings.TrimSpace(e.attributes["href"]))
	script := e.name == "script" && runs(e) || e.handler || strings.HasPrefix(link, "javascript:") &&
		!strings.HasPrefix(link, "javascript:void") && link != "javascript:;" && link != "javascript:"
	if script && !p.revision.Scripts {
		p.add(ScriptUnclaimed, Info, p.line, "", "")
	}
	if e.handler {
		p.scripts++
	}
	p.submits(e)
	if at := clean(e.attributes["href"]); e.name == "base" && e.has("href") && (!p.revision.Own || scheme.MatchString(at) ||
		strings.HasPrefix(at, "//")) {
		p.add(BaseBlocked, Warn, p.line, "", "")
	}
}

// submits reports elements that send a form to where it is not sent. A GET form may lead to a page of the artifact.
func (p *page) submits(e element) {
	address := strings.TrimSpace(e.attributes["action"] + e.attributes["formaction"])
	posts := strings.EqualFold(e.attributes["method"]+e.attributes["formmethod"], "post")
	switch named := strings.ToLower(scheme.FindString(address)); {
	case address == "" || address[0] == '#' || named == "javascript:":
	case posts, named != "", strings.HasPrefix(address, "//"):
		p.add(FormBlocked, Warn, p.line, "", "")
	}
}

// runs reports whether a browser runs a script element as a program.
func runs(e element) bool {
	switch strings.ToLower(strings.TrimSpace(e.attributes["type"])) {
	case "", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript":
		return true
	}
	return false
}

// loadsModule reports whether a page has a module with an element.
func loadsModule(e element) bool {
	return e.name == "script" && module(e) || e.name == "link" && strings.EqualFold(e.attributes["rel"], "modulepreload")
}

// module reports whether a script element is a module, which can import others.
func module(e element) bool {
	return strings.EqualFold(strings.TrimSpace(e.attributes["type"]), "module")
}

// text checks the text of an element.
func (p *page) text(of element, raw []byte) {
	switch {
	case p.inTitle:
		p.title = p.title || len(bytes.TrimSpace(raw)) > 0
	case p.inert > 0:
	case of.name == "style":
		p.style(string(raw))
	case of.name == "script" && runs(of):
		p.title = p.title || bytes.Contains(raw, []byte("document.title"))
		p.script(raw, module(of))
	case of.name != "script":
		p.shows = p.shows || len(bytes.TrimSpace(raw)) > 0
	}
}

// end closes an element.
func (p *page) end(name string) {
	switch name {
	case "template", "noscript":
		p.inert = max(0, p.inert-1)
	case "svg":
		p.drawing = max(0, p.drawing-1)
	case "title":
		p.inTitle = false
	}
}

// judge reports what the page as a whole lacks.
func (p *page) judge() {
	if p.unlabeled > 0 {
		images := "1 image has"
		if p.unlabeled > 1 {
			images = fmt.Sprintf("%d images have", p.unlabeled)
		}
		p.add(MissingAlt, Info, p.unlabel1, images, "")
	}
	if !p.whole {
		return // a piece, which a script or another page includes
	}
	if !p.title {
		p.add(MissingTitle, Info, 0, "", "")
	}
	if p.htmlLine > 0 && !p.language {
		p.add(MissingLang, Info, p.htmlLine, "", "")
	}
	if !p.viewport {
		p.add(MissingViewport, Info, 0, "", "")
	}
}
