package upload

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// maxLintTime is when a draft is made without the warnings of what is not read yet.
const maxLintTime = time.Second

// lint returns findings in the pages of a draft, and in scripts that its entrypoint links. It never fails. It leaves out
// files that cannot be read, and those that are not checked within maxLintTime.
func (s *Service) lint(ctx context.Context, by credential.Actor, session *Session, files tree.Tree) lint.Report {
	ctx, cancel := context.WithTimeout(ctx, maxLintTime)
	defer cancel()
	pages := linted(files, session.Entrypoint)
	l := lint.New(lint.Revision{
		Entrypoint: session.Entrypoint,
		Listing:    session.Listing,
		Paths:      paths(files),
		Scripts:    by.Policy.Scripts.Run(false),
		Own:        s.Own,
		Loads:      s.Loads,
	})
	entry, _ := files.Find(session.Entrypoint)
	reports := []lint.Report{l.CheckSize(entry.Size)}
	// There is room for all, so that a read that outlasts the wait can still end.
	found := make(chan lint.Report, len(pages)+limits.LintedScripts)
	check := func(file tree.File) { found <- s.lintFile(ctx, l, session, file) }
	for _, file := range pages {
		go check(file)
	}
	for left := len(pages); left > 0; left-- {
		select {
		case r := <-found:
			reports = append(reports, r)
			for _, script := range r.Linked {
				if file, _ := files.Find(script); file.Size <= limits.LintedFile {
					left++
					go check(file)
				}
			}
		case <-ctx.Done():
			return lint.Join(reports...)
		}
	}
	return lint.Join(reports...)
}

// lintFile checks one file. It returns no findings if the check panics, because a draft must not depend on its
// warnings.
func (s *Service) lintFile(ctx context.Context, l *lint.Linter, session *Session, f tree.File) (r lint.Report) {
	defer func() {
		if recover() != nil {
			r = lint.Report{}
		}
	}()
	body, err := s.read(ctx, session, f.Path, f.Object, min(f.Size, limits.LintedFile))
	if err != nil || ctx.Err() != nil {
		return lint.Report{}
	}
	return l.Check(f.Path, body)
}

// linted returns the files to be read for lint.
func linted(files tree.Tree, entrypoint string) (out tree.Tree) {
	all := make([]lint.File, len(files))
	for n, f := range files {
		all[n] = lint.File{Path: f.Path, Size: f.Size}
	}
	for _, chosen := range lint.Choose(entrypoint, all) {
		file, _ := files.Find(chosen.Path)
		out = append(out, file)
	}
	return out
}

func paths(files tree.Tree) []string {
	out := make([]string, len(files))
	for n, f := range files {
		out[n] = f.Path
	}
	return out
}
