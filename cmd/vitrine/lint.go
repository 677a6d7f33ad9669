package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"vitrine/cmd/vitrine/folder"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/lint"
)

// pageWarnings holds the findings in the pages of a revision, in the form of results.
type pageWarnings struct {
	PageWarnings        []contract.PageWarning `json:"page_warnings,omitempty"`
	PageWarningsOmitted int                    `json:"page_warnings_omitted,omitempty"`
}

// notePages writes one line for each finding, as compilers do. The line ends with the other pages that have the same
// one. With --json, the result has the findings instead.
func (a *app) notePages(found pageWarnings) {
	if a.screen.IsJSON() {
		return
	}
	var lines []string
	places := map[string][]string{}
	for _, w := range found.PageWarnings {
		line := fmt.Sprintf("%s: %s [%s]", w.Severity, w.Message, w.Code)
		place := w.Path
		if w.Line > 0 {
			place += ":" + strconv.Itoa(w.Line)
		}
		if places[line] == nil {
			lines = append(lines, line)
		}
		places[line] = append(places[line], place)
	}
	for _, line := range lines {
		also := ""
		if others := places[line][1:]; len(others) > 0 {
			also = ", also in " + folder.Few(others)
		}
		a.screen.Note("%s: %s%s", places[line][0], line, also)
	}
	if found.PageWarningsOmitted > 0 {
		a.screen.Note("And %d more findings in the pages", found.PageWarningsOmitted)
	}
}

// since returns the findings that an older revision did not have, regardless of line numbers.
func (p pageWarnings) since(old pageWarnings) (fresh pageWarnings) {
	for _, w := range p.PageWarnings {
		if !slices.ContainsFunc(old.PageWarnings, func(o contract.PageWarning) bool {
			o.Line = w.Line
			return o == w
		}) {
			fresh.PageWarnings = append(fresh.PageWarnings, w)
		}
	}
	if p.PageWarningsOmitted != old.PageWarningsOmitted {
		fresh.PageWarningsOmitted = p.PageWarningsOmitted
	}
	return fresh
}

// lint checks the pages of a folder as the server would. It assumes that scripts do not run if there is no account.
func (a *app) lint(files *folder.Folder, w publishFlags) (pageWarnings, error) {
	byPath := make(map[string]folder.File, len(files.Files))
	all := make([]lint.File, len(files.Files))
	for n, f := range files.Files {
		byPath[f.Path] = f
		all[n] = lint.File{Path: f.Path, Size: f.Size}
	}
	l := linter(files, w, media.Running())
	reports := []lint.Report{l.CheckSize(byPath[files.Entrypoint].Size)}
	var paths []string
	for _, chosen := range lint.Choose(files.Entrypoint, all) {
		paths = append(paths, chosen.Path)
	}
	for n := 0; n < len(paths); n++ { // paths grows by what the entrypoint links
		text, err := readPage(files, byPath[paths[n]])
		if err != nil {
			return pageWarnings{}, err
		}
		r := l.Check(paths[n], text)
		for _, script := range r.Linked {
			if byPath[script].Size <= limits.LintedFile {
				paths = append(paths, script)
			}
		}
		reports = append(reports, r)
	}
	found := lint.Join(reports...)
	return pageWarnings{found.Wire(media.Running()), found.More}, nil
}

// linter returns the linter of the files as a revision, where pages may load from these hosts.
func linter(files *folder.Folder, w publishFlags, loads media.Sources) *lint.Linter {
	paths := make([]string, len(files.Files))
	for n, f := range files.Files {
		paths[n] = f.Path
	}
	return lint.New(lint.Revision{
		Entrypoint: files.Entrypoint,
		Listing:    files.Listing,
		Paths:      paths,
		Scripts:    !w.ephemeral,
		Loads:      loads,
	})
}

// entitle chooses the title of a revision: that of --title, of its base, or what the first page calls itself. Without any
// it stays the name of the folder or file.
func (p *publication) entitle(files *folder.Folder, base *contract.AgentView, w publishFlags) error {
	if w.titled {
		return nil
	}
	if base != nil {
		files.Title = base.Title
		return nil
	}
	n := slices.IndexFunc(files.Files, func(f folder.File) bool { return f.Path == files.Entrypoint })
	if files.Listing || n < 0 {
		return nil
	}
	body, err := files.Body(files.Files[n])
	if err != nil {
		return err
	}
	defer body.Close()
	page, err := io.ReadAll(io.LimitReader(body, limits.LintedFile))
	if err != nil {
		return err
	}
	if title := lint.Title(files.Entrypoint, page); title != "" {
		files.Title = title
		p.screen.Note("The title is %q, as %s says; --title gives it another one", title, files.Entrypoint)
	}
	return nil
}

func readPage(files *folder.Folder, f folder.File) ([]byte, error) {
	body, err := files.Body(f)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
