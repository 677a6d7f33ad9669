// Package lint finds what will not work in a page before a person opens it: missing files, loads that the content
// security policy blocks, secrets, and what a page should have.
package lint

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/text"
)

// Severity says how certain and how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Error Severity = "error"   // will certainly not work, or shows a secret
	Warn  Severity = "warning" // will not work if it is used
	Info  Severity = "info"    // works, but could be better
)

// rank orders severities, the worst first.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warn, Info}, s) }

// Warning is a finding about a file.
type Warning struct {
	Code     Code
	Severity Severity
	Path     string // of the file in the revision
	Line     int    // from 1; zero: the file as a whole
	Subject  string // what it is about, without secrets and with characters that are safe in a terminal
	Instead  string // what to write instead; empty: not known
}

// Report has the worst findings in a revision, and the number of other ones.
type Report struct {
	Warnings []Warning
	More     int
	// Linked are the scripts of the revision that the checked entrypoint links. They are worth checking, too.
	Linked []string
	// App means that the checked entrypoint is an app of one page: it loads a module, shows nothing without it, and no
	// other page is beside it.
	App bool
}

// Revision describes the revision of the files that are checked.
type Revision struct {
	Entrypoint string
	Listing    bool // the list of files opens, and not the entrypoint
	Paths      []string
	// Scripts means that scripts of pages run. They do not until a member claims the workspace.
	Scripts bool
	// Loads are the hosts that pages may load from.
	Loads media.Sources
	// Own means that pages whose scripts run have an origin of their own, whose root is that of the revision.
	Own bool
}

// Linter checks the files of a revision. It leaves out addresses that a program or a template puts together, because
// agents repair what it reports, even a wrong guess. It reads a file once and keeps no secret that it finds. Several
// goroutines may use it at once.
type Linter struct {
	revision Revision
	paths    map[string]bool
	folders  map[string]bool
	folded   map[string]string // paths by their lower case
}

// New returns a linter of a revision.
func New(r Revision) *Linter {
	l := &Linter{
		revision: r,
		paths:    make(map[string]bool, len(r.Paths)),
		folders:  map[string]bool{".": true},
		folded:   make(map[string]string, len(r.Paths)),
	}
	for _, p := range r.Paths {
		l.paths[p] = true
		for dir := path.Dir(p); !l.folders[dir]; dir = path.Dir(dir) {
			l.folders[dir] = true
		}
		l.folded[strings.ToLower(p)] = p
	}
	return l
}

// File is a file that may be worth checking.
type File struct {
	Path string
	Size int64
}

// Choose returns the files to check: the entrypoint, and others by path, at most limits.LintedFiles. It leaves out
// files of other kinds and those above limits.LintedFile, of which Check takes the beginning if it is the entrypoint.
func Choose(entrypoint string, files []File) []File {
	out := slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return !media.IsHTML(f.Path) && !media.IsMarkdown(f.Path) || f.Size == 0 ||
			f.Size > limits.LintedFile && f.Path != entrypoint
	})
	slices.SortFunc(out, func(a, b File) int {
		switch entrypoint {
		case a.Path:
			return -1
		case b.Path:
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	most := limits.LintedFiles
	if len(out) > 0 && out[0].Path != entrypoint {
		most-- // the place of the entrypoint stays free
	}
	return out[:min(len(out), most)]
}

// Check returns the findings in a file, of which it reads the first limits.LintedFile bytes. Only HTML and markdown files
// have any, and scripts, of which it knows only that the entrypoint links them.
func (l *Linter) Check(path string, body []byte) Report {
	body = body[:min(len(body), limits.LintedFile)]
	f := &findings{path: path, seen: map[finding]bool{}}
	switch {
	case media.IsHTML(path):
		p := &page{findings: f, Linter: l}
		p.read(body)
		if path == l.revision.Entrypoint {
			f.report.Linked = p.linked
			f.report.App = p.module && !p.shows && l.alone(path)
		}
	case media.IsScript(path):
		p := &page{findings: f, Linter: l, line: 1, program: true}
		p.script(body, false)
	case media.IsMarkdown(path):
		d := &document{findings: f, Linter: l}
		d.read(body)
	default:
		return Report{}
	}
	f.secrets(body)
	return f.report
}

// alone reports whether a page lies at the root of the revision, and no other page beside it. The page for paths without a
// file does not count.
func (l *Linter) alone(page string) bool {
	return path.Dir(page) == "." && !slices.ContainsFunc(l.revision.Paths, func(p string) bool {
		return path.Dir(p) == "." && media.IsHTML(p) && p != page && p != media.NotFoundPage
	})
}

// CheckSize returns the finding about the size of the entrypoint, if that is a page that opens first. A video plays while
// it arrives.
func (l *Linter) CheckSize(size int64) Report {
	entrypoint := l.revision.Entrypoint
	if l.revision.Listing || size <= limits.LargeEntrypoint || !media.IsHTML(entrypoint) && !media.IsMarkdown(entrypoint) {
		return Report{}
	}
	f := &findings{path: entrypoint, seen: map[finding]bool{}}
	f.add(EntrypointLarge, Warn, 0, text.Size(size), "")
	return f.report
}

// Join returns the findings of several reports, the worst first and then by path and line, at most limits.LintWarnings.
func Join(reports ...Report) (all Report) {
	for _, r := range reports {
		all.Warnings = append(all.Warnings, r.Warnings...)
		all.More += r.More
		all.App = all.App || r.App
	}
	slices.SortStableFunc(all.Warnings, func(a, b Warning) int {
		return cmp.Or(a.Severity.rank()-b.Severity.rank(), cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	return all.Worst(limits.LintWarnings)
}

// Worst returns at most so many of the first findings of a joined report, and counts the others.
func (r Report) Worst(most int) Report {
	if dropped := len(r.Warnings) - most; dropped > 0 {
		return Report{Warnings: r.Warnings[:most:most], More: r.More + dropped}
	}
	return r
}

// Under returns the report where scripts run so. It leaves out what is said of scripts until they run where they do, and
// says instead that they never run where they do not.
func (r Report) Under(scripts limits.Scripts) Report {
	if scripts == limits.ScriptsAsk {
		return r
	}
	out := Report{More: r.More}
	for _, w := range r.Warnings {
		if scripts == limits.ScriptsOff {
			w.Code = w.withoutScripts()
		}
		if w.Code != ScriptUnclaimed && w.Code != StorageBlocked && w.Code != OriginUnclaimed {
			out.Warnings = append(out.Warnings, w)
		}
	}
	return out
}

// withoutScripts returns the code where what waits for a claim never comes.
func (w Warning) withoutScripts() Code {
	switch {
	case w.Code == ScriptUnclaimed:
		return ScriptsOff
	case w.Code == OriginUnclaimed && w.Instead != "":
		return RootRelative
	case w.Code == OriginUnclaimed:
		return NeedsOrigin
	}
	return w.Code
}

// Urgent counts the findings that are more than hints.
func (r Report) Urgent() (n int) {
	for _, w := range r.Warnings {
		if w.Severity != Info {
			n++
		}
	}
	return n
}

// Wire returns the findings in their wire form, where pages may load from these hosts. It leaves out codes that this
// release does not know.
func (r Report) Wire(loads media.Sources) (out []contract.PageWarning) {
	for _, w := range r.Warnings {
		if message := w.Message(loads); message != "" {
			out = append(out, contract.PageWarning{
				Code:     string(w.Code),
				Severity: string(w.Severity),
				Path:     w.Path,
				Line:     w.Line,
				Message:  message,
			})
		}
	}
	return out
}

// MemorySize returns roughly how many bytes of memory the report takes.
func (r Report) MemorySize() (n int64) {
	for _, w := range r.Warnings {
		n += int64(len(w.Path)+len(w.Subject)+len(w.Instead)) + 128
	}
	return n
}

// maxFound bounds the findings of one file that are kept. More are only counted.
const maxFound = 256

// findings collects the findings of one file.
type findings struct {
	path   string
	report Report
	seen   map[finding]bool
}

// finding identifies findings that are reported once, at their first line.
type finding struct {
	code    Code
	subject string
}

// maxSubject bounds the shown length of a subject.
const maxSubject = 120

// add records a finding, unless the file already has the same one.
func (f *findings) add(c Code, s Severity, line int, subject, instead string) {
	subject, instead = shown(subject), shown(instead)
	key := finding{c, subject}
	switch {
	case f.seen[key]:
		return
	case len(f.report.Warnings) >= maxFound:
		f.report.More++
		return
	}
	f.seen[key] = true
	f.report.Warnings = append(f.report.Warnings, Warning{
		Code:     c,
		Severity: s,
		Path:     f.path,
		Line:     line,
		Subject:  subject,
		Instead:  instead,
	})
}

// shown returns a text of a file in a form for messages: one line, cut, and without secrets.
func shown(subject string) string {
	if hasSecret(subject) {
		return "(a secret)"
	}
	one := text.OneLine(strings.ToValidUTF8(subject, ""))
	if short := text.Cut(one, maxSubject); short != one {
		return short + "…"
	}
	return one
}
