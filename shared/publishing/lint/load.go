package lint

import (
	"regexp"
	"strings"
)

// loads checks what an element loads or links to.
func (p *page) loads(e element) {
	missing := Error
	if e.has("onerror") {
		missing = Warn // the page has a handler for the failure
	}
	refer := func(address string, to *resource, missing Severity) {
		p.refer(p.findings, reference{
			address: address,
			line:    p.line,
			missing: missing,
			loads:   to,
			blocked: missing,
		})
	}
	src := e.attributes["src"]
	switch e.name {
	case "a", "area":
		refer(e.attributes["href"], nil, Warn)
	case "script":
		if runs(e) {
			refer(src, &aScript, missing)
		}
	case "link":
		if to := linked(e); to != nil {
			refer(e.attributes["href"], to, missing)
		}
	case "img":
		refer(src, &anImage, missing)
		candidates(e.attributes["srcset"], func(address string) { refer(address, &anImage, Warn) })
	case "source":
		refer(src, &aMedium, Warn) // the browser may choose another source
		candidates(e.attributes["srcset"], func(address string) { refer(address, &anImage, Warn) })
	case "video", "audio":
		refer(src, &aMedium, missing)
		refer(e.attributes["poster"], &anImage, missing)
	case "track":
		refer(src, &aMedium, missing)
	case "image":
		refer(e.attributes["href"]+e.attributes["xlink:href"], &anImage, missing)
	case "input":
		refer(src, &anImage, missing)
	case "body", "table", "td":
		refer(e.attributes["background"], &anImage, missing)
	case "iframe", "frame":
		refer(src, &aFrame, Error)
	case "embed":
		refer(src, &anObject, Error)
	case "object":
		refer(e.attributes["data"], &anObject, Error)
	}
}

// linked returns the kind of file that a link element loads, nil if it is not checked.
func linked(e element) *resource {
	for kind := range strings.FieldsSeq(strings.ToLower(e.attributes["rel"])) {
		switch kind {
		case "stylesheet":
			return &aStyle
		case "modulepreload":
			return &aScript
		case "preload":
			switch strings.ToLower(e.attributes["as"]) {
			case "script":
				return &aScript
			case "style":
				return &aStyle
			case "font":
				return &aFont
			case "image":
				return &anImage
			}
		}
	}
	return nil
}

// candidates visits the addresses of a srcset.
func candidates(set string, visit func(string)) {
	for {
		set = strings.TrimLeft(set, " \t\r\n\f,")
		if set == "" {
			return
		}
		end := strings.IndexAny(set, " \t\r\n\f")
		if end < 0 {
			end = len(set)
		}
		address := set[:end]
		set = set[end:]
		if trimmed := strings.TrimRight(address, ","); trimmed != address {
			visit(trimmed)
			continue
		}
		visit(address)
		if end = strings.IndexByte(set, ','); end < 0 {
			return
		}
		set = set[end+1:]
	}
}

// styled finds the addresses in a style sheet, and the marks that tell what they load.
var styled = regexp.MustCompile(`(?i)/\*|@font-face|}|` +
	`(@import)\s{1,9}(?:url\(\s{0,9})?["']?([^"')\s;]{1,500})|` +
	`\burl\(\s{0,9}(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'|([^"'()\s]{0,500}))\s{0,9}\)`)

// style checks the addresses in a style sheet or a style attribute.
func (p *page) style(sheet string) {
	font, line := false, p.line
	for sheet != "" {
		at := styled.FindStringSubmatchIndex(sheet)
		if at == nil {
			return
		}
		part := func(n int) string { return sheet[max(at[2*n], 0):max(at[2*n+1], 0)] }
		found := sheet[at[0]:at[1]]
		line += strings.Count(sheet[:at[0]], "\n")
		r := reference{
			line:    line,
			missing: Warn,
			loads:   &anImage,
			blocked: Warn,
		}
		next := at[1]
		switch {
		case found == "/*":
			end := strings.Index(sheet[next:], "*/")
			if end < 0 {
				return
			}
			next += end
		case found == "}":
			font = false
		case strings.EqualFold(found, "@font-face"):
			font = true
		case part(1) != "":
			r.address, r.loads = part(2), &aStyle
			p.refer(p.findings, r)
		default:
			r.address = part(3) + part(4) + part(5)
			if font {
				r.loads = &aFont
			}
			p.refer(p.findings, r)
		}
		line += strings.Count(sheet[at[0]:next], "\n")
		sheet = sheet[next:]
	}
}
