package render

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"vitrine/shared/platform/media"
)

// maxPatch is how many bytes of a diff are read.
const maxPatch = 2 << 20

func init() { views[media.PatchView] = viewer{show: patchView, weight: 16, most: maxPatch} }

// patchView shows a unified diff file by file, with the old lines beside the new ones.
func patchView(ctx context.Context, s Source, b *body, _ Query) error {
	source, err := s.read(ctx, maxPatch)
	if err != nil {
		return err
	}
	if s.File.Size > maxPatch {
		b.note("Only the first %s of %s are shown.", size(maxPatch), size(s.File.Size))
	}
	text := b.shorten(strings.ReplaceAll(string(text8(source)), "\r\n", "\n"))
	p := patch{b: b}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if b.full() {
			b.note("The rest is too long to be shown.")
			break
		}
		p.line(i+1, line)
	}
	p.endFile()
	if p.hunks == 0 {
		b.out.Reset()
		colouring, cancel := context.WithTimeout(ctx, maxHighlightTime)
		defer cancel()
		numbered(b, highlight(colouring, lexerNamed("diff"), text), s.Path)
	}
	return nil
}

// patch is a diff that is being written.
type patch struct {
	b              *body
	hunks          int
	old, new       int // numbers of the next lines
	oldLeft        int // lines of the hunk that are still to come
	newLeft        int
	removed, added []change // to be written beside each other
	inFile, inHunk bool
	about          []string // lines before the first hunk of a file
	at             int      // line of the first of them
	name           string
}

// change is a line of one side.
type change struct {
	line   int // of the patch
	number int // of the file
	text   string
}

var hunkShape = regexp.MustCompile(`^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(.*)$`)

// line handles the next line of the patch.
func (p *patch) line(n int, text string) {
	if p.inHunk && (p.oldLeft > 0 || p.newLeft > 0 || strings.HasPrefix(text, `\`)) {
		p.inside(n, text)
		return
	}
	if found := hunkShape.FindStringSubmatch(text); found != nil {
		p.hunk(n, found)
		return
	}
	p.endHunk()
	if starts := strings.HasPrefix(text, "diff ") || strings.HasPrefix(text, "--- ") && p.inFile; starts {
		p.endFile()
	}
	if len(p.about) == 0 {
		p.at = n
	}
	if name, is := strings.CutPrefix(text, "--- "); is {
		p.name = strings.TrimPrefix(name, "a/")
	}
	if name, is := strings.CutPrefix(text, "+++ "); is && !strings.HasPrefix(name, "/dev/null") {
		p.name = strings.TrimPrefix(name, "b/")
	}
	p.about = append(p.about, text)
}

// inside handles a line of a hunk.
func (p *patch) inside(n int, text string) {
	kind, rest := byte(' '), text
	if text != "" {
		kind, rest = text[0], text[1:]
	}
	switch kind {
	case '-':
		p.removed = append(p.removed, change{n, p.old, rest})
		p.old, p.oldLeft = p.old+1, p.oldLeft-1
	case '+':
		p.added = append(p.added, change{n, p.new, rest})
		p.new, p.newLeft = p.new+1, p.newLeft-1
	case '\\':
		p.flush()
		p.b.printf(`<tr class="v-meta"><td colspan="4">%s</td></tr>`, escape(strings.TrimSpace(rest)))
	default:
		p.flush()
		p.b.printf(`<tr data-line="%d"><td class="v-nr">%d</td><td>%s</td><td class="v-nr">%d</td><td class="v-same">%s</td></tr>`,
			n, p.old, escape(rest), p.new, escape(rest))
		p.old, p.oldLeft = p.old+1, p.oldLeft-1
		p.new, p.newLeft = p.new+1, p.newLeft-1
	}
}

// flush writes the collected changes, with the old lines beside the new ones.
func (p *patch) flush() {
	for i := range max(len(p.removed), len(p.added)) {
		var old, fresh change
		left, right := `<td class="v-nr"></td><td class="v-none"></td>`, `<td class="v-nr"></td><td class="v-none"></td>`
		if i < len(p.removed) {
			old = p.removed[i]
			left = `<td class="v-nr">` + strconv.Itoa(old.number) + `</td><td class="v-del"><del>` + escape(old.text) + `</del></td>`
		}
		if i < len(p.added) {
			fresh = p.added[i]
			right = `<td class="v-nr">` + strconv.Itoa(fresh.number) + `</td><td class="v-ins"><ins>` + escape(fresh.text) + `</ins></td>`
		}
		line := old.line
		if line == 0 {
			line = fresh.line
		}
		p.b.printf(`<tr data-line="%d">%s%s</tr>`, line, left, right)
	}
	p.removed, p.added = nil, nil
}

func (p *patch) hunk(n int, found []string) {
	p.endHunk()
	p.beginFile(n)
	count := func(s string) int {
		if s == "" {
			return 1
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	p.old, p.oldLeft = count(found[1]), count(found[2])
	p.new, p.newLeft = count(found[3]), count(found[4])
	p.hunks++
	p.inHunk = true
	p.b.printf(`<tr class="v-meta" data-line="%d"><td colspan="4">%s</td></tr>`, n, escape(found[0]))
}

func (p *patch) beginFile(n int) {
	if p.inFile {
		return
	}
	p.inFile = true
	if len(p.about) == 0 {
		p.at = n
	}
	name, _, _ := strings.Cut(strings.TrimSpace(p.name), "\t")
	if name == "" {
		name = "Changes"
	}
	p.b.printf(`<section class="v-patch" data-line="%d"><h2 dir="auto">%s</h2>`, p.at, escape(clip(name, 300)))
	p.writeAbout()
	p.b.printf(`<div class="v-wide" tabindex="0"><table class="v-diff"><tbody>`)
}

// writeAbout writes the lines before a hunk, such as the names of the files.
func (p *patch) writeAbout() {
	if len(p.about) > 0 {
		p.b.printf(`<pre class="v-about" tabindex="0">%s</pre>`, escape(strings.Join(p.about, "\n")))
	}
	p.about = nil
}

func (p *patch) endHunk() {
	p.flush()
	p.inHunk = false
}

func (p *patch) endFile() {
	p.endHunk()
	if p.inFile {
		p.b.printf("</tbody></table></div></section>")
	}
	p.writeAbout()
	p.inFile, p.name = false, ""
}
