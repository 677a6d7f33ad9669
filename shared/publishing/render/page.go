package render

import (
	_ "embed"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

// stylesheet has the rules of all pages. A comment names the views that need the rules below it.
//
//go:embed style.css
var stylesheet string

// styling is the style sheet of the pages of a view, with its hash in the form of a content security policy.
type styling struct{ text, hash string }

var stylings sync.Map // by view, once they are asked for

func styleOf(view media.View) styling {
	known, ok := stylings.Load(view)
	if !ok {
		text := rulesOf(view)
		known, _ = stylings.LoadOrStore(view, styling{text, script.Hash(text)})
	}
	return known.(styling)
}

// rulesOf returns the rules that the pages of a view need.
func rulesOf(view media.View) string {
	var out strings.Builder
	needed := true
	for rule := range strings.Lines(stylesheet) {
		if names, is := strings.CutPrefix(rule, "/* for "); is {
			names = strings.TrimSuffix(names, " */\n")
			needed = names == "all" || slices.Contains(strings.Fields(names), string(view))
		} else if needed {
			out.WriteString(rule)
		}
	}
	return out.String()
}

// StyleHash returns the hash of the style sheet of a page in the form of a content security policy, with quotation marks.
// The path is that of the file, empty for a folder and for a notice.
var StyleHash = func(file string) string { return styleOf(viewOf(file)).hash }

// write writes a page with its body.
func (s Source) write(w io.Writer, b *body) error {
	var p strings.Builder
	style := styleOf(s.view()).text
	p.Grow(len(style) + b.out.Len() + 4<<10)
	p.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<link rel="icon" href="data:,">`)
	font := s.mathStyle(b)
	if b.runner == nil {
		p.WriteString(s.inert(font))
	}
	p.WriteString(`<title>` + escape(clip(s.title(), 200)) + `</title><style>` + style + font +
		`</style></head><body><header class="top">`)
	s.trail(&p)
	if !s.folder() {
		p.WriteString(`<p class="facts"><span>` + size(s.File.Size) + `</span> <a href="` + escape(s.raw(s.Path)) + `">Raw file</a>`)
		if media.HasText(s.Path) {
			p.WriteString(` <a href="` + escape(s.pageOf(s.Path)) + `?as=text">Plain text</a>`)
		}
		p.WriteString(`</p>`)
	}
	p.WriteString(`</header><main class="body"`)
	if b.runner != nil {
		p.WriteString(b.runner.attributes(s))
	}
	p.WriteString(`>`)
	if len(b.notes) > 0 {
		p.WriteString(`<div class="notes">`)
		for _, note := range b.notes {
			p.WriteString(`<p>` + escape(note) + `</p>`)
		}
		if b.raw && !s.folder() {
			p.WriteString(`<p><a href="` + escape(s.raw(s.Path)) + `">Open the raw file</a></p>`)
		}
		p.WriteString(`</div>`)
	}
	p.WriteString(b.out.String())
	p.WriteString(`</main>`)
	if s.Framed {
		p.WriteString(`<script>` + heightScript + `</script>`)
	}
	if b.runner != nil {
		p.WriteString(b.runner.element())
	}
	p.WriteString(`</body></html>`)
	_, err := io.WriteString(w, p.String())
	return err
}

// Notice writes a page with one sentence, in place of a page that cannot be made now.
func Notice(w io.Writer, sentence string) error {
	_, err := io.WriteString(w, `<!doctype html><html lang="en"><head><meta charset="utf-8">`+
		`<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>Later</title><style>`+
		styleOf(media.DirectoryView).text+`</style></head><body><main class="body"><div class="notes"><p>`+escape(sentence)+
		`</p></div></main></body></html>`)
	return err
}

func (s Source) title() string {
	if s.Path == "" {
		return "Files"
	}
	return path.Base(s.Path)
}

// trail writes the folders above the source as links.
func (s Source) trail(p *strings.Builder) {
	p.WriteString(`<nav aria-label="Path"><ol class="trail">`)
	if s.Path == "" {
		p.WriteString(`<li><h1 aria-current="page">Files</h1></li></ol></nav>`)
		return
	}
	p.WriteString(`<li><a href="` + escape(s.pageOf("")) + `">Files</a></li>`)
	parts := strings.Split(s.Path, "/")
	for i, part := range parts[:len(parts)-1] {
		p.WriteString(`<li><a href="` + escape(s.pageOf(strings.Join(parts[:i+1], "/"))) + `"><bdi>` + escape(clip(part, 80)) + `</bdi></a></li>`)
	}
	p.WriteString(`<li><h1 aria-current="page"><bdi>` + escape(clip(parts[len(parts)-1], 120)) + `</bdi></h1></li></ol></nav>`)
}
