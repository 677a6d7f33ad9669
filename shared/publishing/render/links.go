package render

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// isPicture reports whether a data URL holds an image of a type that runs no script in an img element.
func isPicture(u *url.URL) bool { return picture.MatchString(u.Opaque) }

// page returns the URL of the page of a file or folder, or of the bytes of a file that has no page.
func (s Source) page(file string) string {
	if media.ViewOf(file) == media.NoView && s.has(file) {
		return s.raw(file)
	}
	return s.pageOf(file)
}

func (s Source) pageOf(file string) string {
	if file == "" {
		return strings.TrimSuffix(s.Pages, "/")
	}
	return s.Pages + address.Escape(file)
}

// raw returns the URL of the bytes of a file.
func (s Source) raw(file string) string { return s.Raw + address.Escape(file) }

func (s Source) has(file string) bool {
	if s.paths != nil {
		return s.paths[file]
	}
	_, ok := s.Files.Find(file)
	return ok
}

func (s Source) hasFolder(folder string) bool { return folder == "" || s.paths[folder+"/"] }

// pathsOf returns the paths of files, and of their folders with a trailing slash. It is a map, because a document may
// have 100,000 links, and each would search all files.
func pathsOf(files tree.Tree) map[string]bool {
	out := make(map[string]bool, len(files))
	for _, f := range files {
		out[f.Path] = true
		for end := strings.LastIndexByte(f.Path, '/'); end > 0 && !out[f.Path[:end+1]]; end = strings.LastIndexByte(f.Path[:end], '/') {
			out[f.Path[:end+1]] = true
		}
	}
	return out
}

// target is the destination of a reference in a document.
type target struct {
	file     string // within the revision; empty: the folder of all files
	folder   bool
	fragment string
	outside  string // absolute URL
	here     bool   // a place in the same document
}

var schemeShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// resolve resolves a reference in the document: a path of the revision, an outside address by http, https or mailto, or
// a place in the document. ok is false for any other scheme, and for a path that the revision does not have.
func (s Source) resolve(reference string) (t target, ok bool) {
	reference = strings.TrimSpace(reference)
	u, err := url.Parse(reference)
	switch {
	case err != nil || reference == "":
		return t, false
	case u.Scheme != "" || u.Host != "" || schemeShape.MatchString(reference):
		return outside(u)
	case u.Path == "" && u.Fragment != "":
		return target{here: true, fragment: u.Fragment}, true
	}
	base := path.Dir(s.Path)
	if strings.HasPrefix(u.Path, "/") {
		base = ""
	}
	file := strings.Trim(path.Join("/", base, u.Path), "/")
	t = target{file: file, fragment: u.Fragment}
	if s.has(file) {
		return t, true
	}
	t.folder = s.hasFolder(file)
	return t, t.folder
}

func outside(u *url.URL) (target, bool) {
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return target{outside: u.String()}, u.Host != ""
	case "mailto":
		return target{outside: u.String()}, u.Opaque != ""
	case "":
		u.Scheme = "https"
		return target{outside: u.String()}, u.Host != ""
	}
	return target{}, false
}

// link returns the URL of a target.
func (s Source) link(t target) string {
	switch {
	case t.outside != "":
		return t.outside
	case t.here:
		return "#" + t.escapedFragment()
	}
	to := s.pageOf(t.file)
	if !t.folder {
		to = s.page(t.file)
	}
	if t.fragment != "" {
		to += "#" + t.escapedFragment()
	}
	return to
}

func (t target) escapedFragment() string { return (&url.URL{Fragment: t.fragment}).EscapedFragment() }

// markup rewrites a publisher's markup for a page. Links lead to pages, and media to the bytes of this revision. Any
// other attribute with an address is dropped. It closes every element that it opens, so that the page around the markup
// stays whole.
type markup struct {
	source   Source
	out      *strings.Builder
	formulas *formulas
	eager    *int // images of the page that load at once
	open     []string
	links    int // open a elements with an address
	hidden   string
	depth    int // of hidden

	styled   bool                                        // drops elements that a style hides
	attached func(name string) (address string, is bool) // finds images inside the document; nil: it has none
}

// maxOpen bounds how many elements are open at once. Further start tags are dropped.
const maxOpen = 200

var (
	// dropped elements are removed with their contents.
	dropped = []string{"script", "style", "iframe", "object", "embed", "template", "noscript", "noembed", "noframes", "title",
		"textarea", "select", "svg", "math", "xmp", "plaintext", "head", "form", "button", "frameset", "canvas", "map"}
	// void elements have no end tag.
	void = []string{"br", "hr", "img", "input", "wbr", "col", "source", "area", "base", "link", "meta", "track", "param"}
	// implied elements need no end tag.
	implied = []string{"p", "li", "dt", "dd", "td", "th", "tr", "thead", "tbody", "tfoot", "rt", "rp"}
)

// rewrite appends the markup of a document.
func (s Source) rewrite(b *body, text string) { s.markup(b).rewrite(text) }

func (s Source) markup(b *body) *markup {
	return &markup{source: s, out: &b.out, formulas: b.formulas, eager: &b.eager}
}

func (m *markup) rewrite(text string) {
	t := html.NewTokenizer(strings.NewReader(text))
	for t.Next() != html.ErrorToken {
		m.token(t.Token())
	}
	for i := len(m.open) - 1; i >= 0; i-- {
		m.end(m.open[i])
	}
}

func (m *markup) token(t html.Token) {
	if m.hidden != "" {
		m.skip(t)
		return
	}
	switch t.Type {
	case html.TextToken:
		m.out.WriteString(t.String())
	case html.StartTagToken, html.SelfClosingTagToken:
		m.start(t)
	case html.EndTagToken:
		m.close(t.Data)
	}
}

// skip skips tokens up to the end of a dropped element.
func (m *markup) skip(t html.Token) {
	switch {
	case t.Data != m.hidden:
	case t.Type == html.StartTagToken:
		m.depth++
	case t.Type == html.EndTagToken:
		if m.depth--; m.depth == 0 {
			m.hidden = ""
		}
	}
}

func (m *markup) start(t html.Token) {
	if formula, is := m.formulas.at(t); is {
		m.out.WriteString(formula)
		return
	}
	_, mathematical := mathElements[t.Data]
	switch {
	case slices.Contains(dropped, t.Data), m.styled && unseen(t):
		if t.Type == html.StartTagToken {
			m.hidden, m.depth = t.Data, 1
		}
		return
	case t.Data == "img":
		m.image(t)
		return
	case t.Data == "input":
		m.checkbox(t)
		return
	case slices.Contains(void, t.Data):
		m.out.WriteString(html.Token{Type: html.StartTagToken, Data: t.Data}.String())
		return
	case mathematical, len(m.open) >= maxOpen:
		return
	}
	t.Attr = m.attributes(t)
	t.Type = html.StartTagToken
	if t.Data == "a" && attribute(t, "href") != "" {
		m.links++
	}
	m.open = append(m.open, t.Data)
	m.out.WriteString(t.String())
}

// close ends an element and the open elements inside it.
func (m *markup) close(name string) {
	at := -1
	for i := len(m.open) - 1; i >= 0 && at < 0; i-- {
		if m.open[i] == name {
			at = i
		}
	}
	if at < 0 {
		return
	}
	for i := len(m.open) - 1; i > at; i-- {
		if !slices.Contains(implied, m.open[i]) {
			m.end(m.open[i])
		}
	}
	m.end(name)
	m.open = m.open[:at]
}

func (m *markup) end(name string) {
	if name == "a" && m.links > 0 {
		m.links--
	}
	m.out.WriteString("</" + name + ">")
}

// attributes returns the attributes of a tag with addresses rewritten. It drops those that only the views may write.
func (m *markup) attributes(t html.Token) (out []html.Attribute) {
	for _, a := range t.Attr {
		switch {
		case a.Key == "href" && t.Data == "a":
			if to, ok := m.source.resolve(a.Val); ok {
				out = append(out, html.Attribute{Key: "href", Val: m.source.link(to)})
			}
		case a.Key == "src" && (t.Data == "audio" || t.Data == "video"):
			if to, ok := m.source.resolve(a.Val); ok && to.file != "" && !to.folder {
				out = append(out, html.Attribute{Key: "src", Val: m.source.raw(to.file)},
					html.Attribute{Key: "controls"}, html.Attribute{Key: "preload", Val: "none"})
			}
		case slices.Contains([]string{"src", "controls", "preload", "tabindex", "role", "aria-sort"}, a.Key) &&
			!ours(t, a.Key):
		case a.Key == "class" && t.Data == "div" && jupyterAlert(a.Val) != "":
			out = append(out, html.Attribute{Key: "class", Val: jupyterAlert(a.Val)})
		default:
			out = append(out, a)
		}
	}
	if t.Data == "pre" && attribute(t, "tabindex") == "" {
		out = append(out, html.Attribute{Key: "tabindex", Val: "0"}) // for the keyboard, because it may scroll
	}
	return out
}

// jupyterAlert returns our class for an alert in a notebook, empty if the classes are not those of an alert.
func jupyterAlert(classes string) string {
	names := strings.Fields(classes)
	for of, ours := range map[string]string{
		"alert-info":    "v-note",
		"alert-success": "v-tip",
		"alert-warning": "v-warning",
		"alert-danger":  "v-caution",
	} {
		if slices.Contains(names, "alert") && slices.Contains(names, of) {
			return "v-alert " + ours
		}
	}
	return ""
}

var undisplayed = regexp.MustCompile(`(?i)(^|;)\s*display\s*:\s*none`)

// unseen reports whether a style hides an element. It knows only elements that always have an end tag.
func unseen(t html.Token) bool {
	return slices.Contains([]string{"div", "span", "section", "article", "table", "figure", "pre"}, t.Data) &&
		undisplayed.MatchString(attribute(t, "style"))
}

// ours reports whether the views of this package write such an attribute.
func ours(t html.Token, key string) bool {
	return key == "tabindex" && (t.Data == "pre" || t.Data == "div" || t.Data == "figure") || key == "role" && t.Data != "table"
}

// image writes an image of the revision. An image from another host becomes a link, because a page must load files from
// no other host.
func (m *markup) image(t html.Token) {
	alt := attribute(t, "alt")
	source, _ := url.PathUnescape(attribute(t, "src"))
	if name, is := strings.CutPrefix(source, "attachment:"); is && m.attached != nil {
		if address, found := m.attached(name); found {
			attrs := []html.Attribute{{Key: "src", Val: address}, {Key: "alt", Val: alt}}
			m.out.WriteString(html.Token{Type: html.StartTagToken, Data: "img", Attr: attrs}.String())
			return
		}
	}
	to, ok := m.source.resolve(attribute(t, "src"))
	if ok && to.file != "" && !to.folder {
		attrs := []html.Attribute{{Key: "src", Val: m.source.raw(to.file)}, {Key: "alt", Val: alt}, {Key: "decoding", Val: "async"}}
		if m.lazy(t) {
			attrs = append(attrs, html.Attribute{Key: "loading", Val: "lazy"})
		}
		for _, a := range t.Attr {
			if slices.Contains([]string{"width", "height", "title", "align", "data-line"}, a.Key) {
				attrs = append(attrs, a)
			}
		}
		m.out.WriteString(html.Token{Type: html.StartTagToken, Data: "img", Attr: attrs}.String())
		return
	}
	if strings.TrimSpace(alt) == "" {
		alt = "image"
	}
	if ok && to.outside != "" && m.links == 0 {
		m.out.WriteString(`<a class="v-outside" href="` + escape(to.outside) + `">` + escape(alt) + `</a>`)
		return
	}
	m.out.WriteString(`<span class="v-outside">` + escape(alt) + `</span>`)
}

// maxEager is how many images of unknown size load with a page. The text below moves when such an image comes.
const maxEager = 50

// lazy reports whether an image loads only when its reader comes near it: one whose room the markup tells, and each beyond
// the first maxEager.
func (m *markup) lazy(t html.Token) bool {
	if attribute(t, "width") != "" && attribute(t, "height") != "" {
		return true
	}
	*m.eager++
	return *m.eager > maxEager
}

// checkbox writes a disabled checkbox.
func (m *markup) checkbox(t html.Token) {
	if !strings.EqualFold(attribute(t, "type"), "checkbox") {
		return
	}
	attrs := []html.Attribute{{Key: "type", Val: "checkbox"}, {Key: "disabled"}, {Key: "aria-label", Val: "To do"}}
	if slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
		attrs[2].Val = "Done"
		attrs = append(attrs, html.Attribute{Key: "checked"})
	}
	m.out.WriteString(html.Token{Type: html.StartTagToken, Data: "input", Attr: attrs}.String())
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
