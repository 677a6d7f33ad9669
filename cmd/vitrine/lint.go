package main

import (
	"context"
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

// lint checks the pages of a folder as the server would. It assumes that scripts do not run if there is no account. Only
// findings cost a request, because some do not hold where artifacts have origins of their own.
func (a *app) lint(ctx context.Context, files *folder.Folder, w publishFlags) (pageWarnings, error) {
	found, err := lintWith(files, linter(files, w, media.Running(), false))
	if err != nil || len(found.Warnings) == 0 {
		return pageWarnings{}, err
	}
	if l, own := a.deployedLinter(ctx, files, w); own {
		if found, err = lintWith(files, l); err != nil {
			return pageWarnings{}, err
		}
	}
	return pageWarnings{found.Wire(media.Running()), found.More}, nil
}

func lintWith(files *folder.Folder, l *lint.Linter) (lint.Report, error) {
	byPath := make(map[string]folder.File, len(files.Files))
	all := make([]lint.File, len(files.Files))
	for n, f := range files.Files {
		byPath[f.Path] = f
		all[n] = lint.File{Path: f.Path, Size: f.Size}
	}
	reports := []lint.Report{l.CheckSize(byPath[files.Entrypoint].Size)}
	var paths []string
	for _, chosen := range lint.Choose(files.Entrypoint, all) {
		paths = append(paths, chosen.Path)
	}
	for n := 0; n < len(paths); n++ { // paths grows by what the entrypoint links
		text, err := readPage(files, byPath[paths[n]])
		if err != nil {
			return lint.Report{}, err
		}
		r := l.Check(paths[n], text)
		for _, script := range r.Linked {
			if byPath[script].Size <= limits.LintedFile {
				paths = append(paths, script)
			}
		}
		reports = append(reports, r)
	}
	return lint.Join(reports...), nil
}

// deployedLinter is linter as the deployment is, or as most are if it cannot be asked. own says that artifacts have origins
// of their own there.
func (a *app) deployedLinter(ctx context.Context, files *folder.Folder, w publishFlags) (l *lint.Linter, own bool) {
	if a.deployment == nil {
		if _, err := a.discover(ctx); err != nil {
			return linter(files, w, media.Running(), false), false
		}
	}
	loads, hosts := media.Running(), a.deployment.Hosts
	if hosts.LoadsFrom != nil {
		loads = media.Sources(*hosts.LoadsFrom)
	}
	return linter(files, w, loads, hosts.OwnOrigins), hosts.OwnOrigins
}

// linter returns the linter of the files as a revision, where pages may load from these hosts and may have origins of their
// own.
func linter(files *folder.Folder, w publishFlags, loads media.Sources, own bool) *lint.Linter {
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
		Own:        own,
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
