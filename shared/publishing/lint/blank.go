package lint

import (
	"slices"
	"strings"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

// visible are elements that show something without a script and without text.
var visible = map[string]bool{
	"audio": true, "button": true, "embed": true, "frame": true, "hr": true, "iframe": true, "img": true, "input": true,
	"meter": true, "object": true, "progress": true, "select": true, "svg": true, "textarea": true, "video": true,
}

// Blank returns the addresses of the scripts without which readers of a page see nothing: all its scripts begin at the
// root of the host or are from hosts that the policy blocks, and its body has no text or drawing. It returns none for any
// other page or file.
func (l *Linter) Blank(path string, body []byte) []string {
	if !media.IsHTML(path) {
		return nil
	}
	p := &page{findings: &findings{path: path, seen: map[finding]bool{}}, Linter: l}
	p.read(body)
	if p.shows || p.scripts > len(p.failing) {
		return nil
	}
	return p.failing
}

// countScript records a script element by its src, which is empty for a program in the page.
func (p *page) countScript(src string) {
	p.scripts++
	at := strings.ReplaceAll(clean(src), `\`, "/")
	if strings.HasPrefix(at, "//") {
		at = "https:" + at
	}
	named := scheme.FindString(at)
	_, host := originOf(strings.ToLower(strings.TrimSuffix(named, ":")), at[len(named):])
	switch {
	case strings.HasPrefix(at, "/") && !p.revision.Own, host != "" && !p.allows(&aScript, host):
		p.failing = append(p.failing, shown(at))
	case named == "" && at != "":
		file, _, _ := strings.Cut(at, "?")
		path, outside := resolve(p.path, file)
		fresh := len(p.linked) < limits.LintedScripts && !slices.Contains(p.linked, path)
		if (!outside || p.revision.Own) && p.paths[path] && fresh {
			p.linked = append(p.linked, path)
		}
	}
}
