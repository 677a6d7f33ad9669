package lint

import (
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
	images := func(set string) {
		candidates(set, func(start, end int) { refer(set[start:end], &anImage, Warn) })
	}
	src := e.attributes["src"]
	switch e.name {
	case "a", "area":
		refer(e.attributes["href"], nil, Warn)
	case "script":
		if runs(e) {
			refer(src, &aScript, missing)
			p.countScript(src)
		}
	case "link":
		if to := linked(e); to != nil {
			refer(e.attributes["href"], to, missing)
		}
	case "img":
		refer(src, &anImage, missing)
		images(e.attributes["srcset"])
	case "source":
		refer(src, &aMedium, Warn) // the browser may choose another source
		images(e.attributes["srcset"])
	case "video", "audio":
		refer(src, &aMedium, missing)
		refer(e.attributes["poster"], &anImage, missing)
	case "track":
		refer(src, &aMedium, missing)
	case "image":
		refer(e.attributes["href"]+e.attributes["xlink:href"], &anImage, missing)
	case "use":
		refer(e.attributes["href"]+e.attributes["xlink:href"], &aDrawing, missing)
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

// candidates visits the places of the addresses in a srcset.
func candidates(set string, visit func(start, end int)) {
	for at := 0; ; {
		rest := strings.TrimLeft(set[at:], " \t\r\n\f,")
		if rest == "" {
			return
		}
		at = len(set) - len(rest)
		end := len(set)
		if n := strings.IndexAny(rest, " \t\r\n\f"); n >= 0 {
			end = at + n
		}
		address := strings.TrimRight(set[at:end], ",")
		visit(at, at+len(address))
		if at+len(address) < end { // the comma ends the candidate
			at = end
			continue
		}
		comma := strings.IndexByte(set[end:], ',')
		if comma < 0 {
			return
		}
		at = end + comma
	}
}

// styled finds the addresses in a style sheet, and the marks that tell what they load.
var styled = later(`(?i)/\*|@font-face|}|` +
	`@import\s{0,9}(?:url\(\s{0,9})?["']?([^"')\s;]{1,500})|` +
	`\burl\(\s{0,9}(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'|([^"'()\s]{0,500}))\s{0,9}\)`)

// sheet visits the places of the addresses in a style sheet, with what they load.
func sheet(text string, visit func(start, end int, loads *resource)) {
	font := false
	for from := 0; from < len(text); {
		at := styled().FindStringSubmatchIndex(text[from:])
		if at == nil {
			return
		}
		loads, next := &anImage, from+at[1]
		switch found := text[from+at[0] : next]; {
		case found == "/*":
			end := strings.Index(text[next:], "*/")
			if end < 0 {
				return
			}
			next += end
		case found == "}":
			font = false
		case strings.EqualFold(found, "@font-face"):
			font = true
		case at[2] >= 0:
			loads = &aStyle
		case font:
			loads = &aFont
		}
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				visit(from+at[group], from+at[group+1], loads)
			}
		}
		from = next
	}
}

// style checks the addresses in a style sheet or a style attribute.
func (p *page) style(text string) {
	line, counted := p.line, 0
	sheet(text, func(start, end int, loads *resource) {
		line += strings.Count(text[counted:start], "\n")
		counted = start
		p.refer(p.findings, reference{
			address: text[start:end],
			line:    line,
			missing: Warn,
			loads:   loads,
			blocked: Warn,
		})
	})
}
